// See real_scale.hpp. Every step of a rule is one operation on floats; the last one, to the bits of
// an element, is that of scalar.hpp.
#include "device/cpu/real_scale.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <span>
#include <vector>

#include "device/cpu/blocks.hpp"
#include "device/cpu/rotation.hpp"
#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

static_assert(FLT_EVAL_METHOD == 0, "each step is rounded to binary32");

constexpr std::uint8_t all_ones = 0x7F;
constexpr std::uint8_t e8m0_of_one = 127;

float largest_of(ElementType element) {
    return number_of(element, static_cast<std::uint8_t>(element_of(element).grid.code_max));
}

// The largest value of a type: f32, bf16, f16.
float largest_of(ValueType type) {
    return type == ValueType::f32    ? FLT_MAX
           : type == ValueType::bf16 ? std::bit_cast<float>(0x7F7F0000u)
                                     : 65504.0f;
}

float not_infinite(float x) {
    return std::isinf(x) ? FLT_MAX : x;
}

float larger_amax(NanInAmax rule, float amax, float lane) {
    if (std::isnan(lane)) return rule == NanInAmax::kept ? std::fabs(lane) : amax;
    return std::isnan(amax) ? amax : std::max(amax, std::fabs(lane));
}

struct TensorNumbers {
    float amax = 0;
    float scale = 1;
};

TensorNumbers tensor_numbers(const RealScaleRule& rule, ElementType element, float number) {
    const float range = largest_of(element) * rule.scale_max;
    switch (rule.number) {
        case TensorNumber::none:
            break;
        case TensorNumber::range_over_amax: {
            const float scale = not_infinite(range / number);
            return {number, number == 0 || scale == 0 ? 1 : scale};
        }
        case TensorNumber::amax_over_range:
            return {number, number / range};
        case TensorNumber::amax_times_inverse_range:
            return {number, number * (1 / range)};
        case TensorNumber::amax_over_range_1em30: {
            const float counted = std::isnan(number) ? 0 : not_infinite(number);
            return {number, std::max(counted / range, 1e-30f)};
        }
        case TensorNumber::scale_of_history:
            return {0, number};
    }
    return {};
}

float kept_number(const RealScaleRule& rule, const TensorNumbers& tensor) {
    return rule.way_back == WayBack::scale_and_amax ? tensor.amax : tensor.scale;
}

// The grid of a scale of a byte.
Element byte_scale(RealScaleType type) {
    return element_of(type == RealScaleType::ue4m3 ? ElementType::e4m3 : ElementType::ue5m3);
}

std::uint8_t nearest_byte(RealScaleType type, float x) {
    const Element scale = byte_scale(type);
    Conversion how;
    how.nan_code = static_cast<std::uint8_t>(scale.special_from);
    return element_code(scale, how, {std::bit_cast<std::uint32_t>(x), 0, 0});
}

float number_of_byte(RealScaleType type, std::uint8_t code) {
    return std::bit_cast<float>(dequantized(byte_scale(type), {code, e8m0_of_one}, ValueType::f32));
}

float power_of_two_below(float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7F800000u);
}
float power_of_two_above(float x) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & f32_magnitude_mask;
    const std::uint32_t field = (magnitude + 0x7FFFFFu) >> 23;
    return std::bit_cast<float>(std::clamp(field, 1u, 254u) << 23);
}

// The number of a block's scale, and what its elements are multiplied by.
struct BlockScale {
    float number;
    float factor;
};

// What one rule makes of the blocks of one tensor.
class BlockRule {
public:
    BlockRule(const RealScaleJob& job, const TensorNumbers& tensor)
        : rule_(job.rule),
          element_(element_of(job.element)),
          scale_type_(job.scale_type),
          largest_(largest_of(job.element)),
          largest_input_(largest_of(job.values.type)),
          tensor_(tensor) {
        how_.rounding = rule_.rounding;
        how_.random_digits = rule_.rounding == Rounding::stochastic ? 8 : 0;
        how_.overflow = rule_.overflow;
        how_.nan_code = job.element == ElementType::e2m1 ? rule_.nan_of_e2m1 : all_ones;
        for (std::size_t code = 0; code < numbers_.size(); ++code)
            numbers_[code] = number_of(job.element, static_cast<std::uint8_t>(code));
    }

    // `lanes` are those of the block where the rule compares two scales; else nobody reads them.
    BlockScale scale_of(float amax, std::span<const float> lanes) const {
        float ratio = ratio_of(std::max(amax, rule_.amax_min));
        if (ratio < rule_.ratio_min && rule_.ratio_min > 0) ratio = rule_.ratio_min;
        const bool has_two =
            rule_.grid == ScaleGrid::least_absolute || rule_.grid == ScaleGrid::least_squares;
        const BlockScale first = scale_from(number_of_ratio(ratio));
        if (!has_two) return first;
        const BlockScale second = scale_from(number_of_ratio(ratio * 1.5f));
        return error_of(second, lanes) < error_of(first, lanes) ? second : first;
    }

    float stored(const BlockScale& scale) const {
        return rule_.scaling == LaneScaling::times_scale ? 1 / scale.number : scale.number;
    }

    std::uint8_t code_of(const BlockScale& scale, float lane, std::uint32_t random) const {
        if (rule_.drops_sign_of_zero && lane == 0) lane = 0;
        const bool divides = rule_.scaling == LaneScaling::divided ||
                             rule_.scaling == LaneScaling::divided_by_product;
        const float scaled = divides ? lane / scale.factor : lane * scale.factor;
        if (rule_.looks_up && std::isinf(scaled)) return 0;
        const std::uint8_t code =
            element_code(element_, how_, {std::bit_cast<std::uint32_t>(scaled), 0, random});
        return rule_.looks_up && numbers_[code] == 0 ? 0 : code;
    }

private:
    float ratio_of(float amax) const {
        switch (rule_.ratio) {
            case Ratio::divided:
                return amax / largest_;
            case Ratio::times_inverse:
                return amax * (1 / largest_);
            case Ratio::divided_over_number:
                return amax / largest_ / tensor_.scale;
            case Ratio::over_number_divided:
                return amax / tensor_.scale / largest_;
            case Ratio::times_inverse_over_number:
                return amax * (1 / largest_) / tensor_.scale;
            case Ratio::divided_times_number:
                return amax / largest_ * tensor_.scale;
            case Ratio::times_scaled_number:
                return not_infinite(amax * (tensor_.scale * (1 / largest_)));
            case Ratio::encode:
                return largest_ / amax;
            case Ratio::encode_within_f32:
                return encode_within(FLT_MAX, amax);
            case Ratio::encode_within_input:
                return encode_within(largest_input_, amax);
            case Ratio::number:
                break;
        }
        return tensor_.scale;
    }

    float encode_within(float instead_of_infinity, float amax) const {
        if (amax == 0 || !std::isfinite(amax)) return 1;
        const float ratio = largest_ / amax;
        return std::isinf(ratio) ? instead_of_infinity : ratio;
    }

    float number_of_ratio(float ratio) const {
        switch (rule_.grid) {
            case ScaleGrid::f32:
                return ratio;
            case ScaleGrid::power_of_two_below:
                return power_of_two_below(ratio);
            case ScaleGrid::power_of_two_above:
                return power_of_two_above(ratio);
            case ScaleGrid::nearest:
            case ScaleGrid::least_absolute:
            case ScaleGrid::least_squares:
                break;
        }
        return number_of_byte(scale_type_, nearest_byte(scale_type_, ratio));
    }

    BlockScale scale_from(float number) const {
        switch (rule_.scaling) {
            case LaneScaling::times_scale:
                return {number, number};
            case LaneScaling::times_inverse:
                return {number, 1 / number};
            case LaneScaling::times_inverse_of_product:
                return {number, not_infinite(1 / (number * (1 / tensor_.scale)))};
            case LaneScaling::times_inverse_number_over_scale:
                return {number, 1 / tensor_.scale / number};
            case LaneScaling::times_bf16_quotient: {
                const float quotient = rounded_to_bf16(tensor_.scale / number);
                return {number, std::isinf(quotient) ? largest_of(ValueType::bf16) : quotient};
            }
            case LaneScaling::divided_by_product:
                return {number, number * tensor_.scale};
            case LaneScaling::divided:
                break;
        }
        return {number, number};
    }

    // Of what the block is on its way back, one lane after the other.
    float error_of(const BlockScale& scale, std::span<const float> lanes) const {
        const float range = largest_ * rule_.scale_max;
        float sum = 0;
        for (const float lane : lanes) {
            const float number = numbers_[code_of(scale, lane, 0)];
            const float error = number * scale.number * tensor_.amax / range - lane;
            sum += rule_.grid == ScaleGrid::least_squares ? error * error : std::fabs(error);
        }
        return sum;
    }

    const RealScaleRule& rule_;
    Element element_;
    RealScaleType scale_type_;
    float largest_;
    float largest_input_;
    TensorNumbers tensor_;
    Conversion how_;
    std::array<float, 256> numbers_{};
};

// Calls action(place) for each block. A tensor that is one block is one even where it is empty.
template <typename Action>
void for_each_real_block(const RealScaleJob& job, Action action) {
    const std::ptrdiff_t lanes = job.extent.lanes;
    const std::ptrdiff_t lines = lanes == 0 ? 0 : job.extent.lines;
    if (job.block.lines == 0) return action(BlockPlace{0, 0, 0, lines, 0, lanes});
    BlockPlace place{};
    for (place.first_line = 0; place.first_line < lines; place.first_line += job.block.lines) {
        place.line = place.first_line / job.block.lines;
        place.end_line = std::min(place.first_line + job.block.lines, lines);
        for (place.first_lane = 0; place.first_lane < lanes; place.first_lane += job.block.lanes) {
            place.lane = place.first_lane / job.block.lanes;
            place.end_lane = std::min(place.first_lane + job.block.lanes, lanes);
            action(place);
        }
    }
}

float load_f32(const Plane& plane) {
    return value_at({ValueType::f32, plane}, 0, 0);
}

class Quantizing {
public:
    explicit Quantizing(const RealScaleJob& job) : job_(job) {}

    void run() {
        TensorNumbers tensor;
        if (job_.kept) {
            const float number = job_.given ? load_f32(*job_.given) : amax_of_tensor();
            tensor = tensor_numbers(job_.rule, job_.element, number);
            store_value({ValueType::f32, *job_.kept}, 0, 0, kept_number(job_.rule, tensor));
        }
        const BlockRule rule(job_, tensor);
        for_each_real_block(job_, [&](const BlockPlace& place) { quantize(rule, place); });
    }

private:
    // A line of a block, rotated where the rule says so.
    std::span<const float> read(std::ptrdiff_t line, std::ptrdiff_t first, std::ptrdiff_t end) {
        lanes_.clear();
        for (std::ptrdiff_t lane = first; lane < end; ++lane)
            lanes_.push_back(value_at(job_.values, line, lane));
        if (job_.rule.rotates)
            for (std::size_t i = 0; i < lanes_.size(); i += rotation_size)
                rotate(std::span<float, rotation_size>(lanes_.data() + i, rotation_size));
        return lanes_;
    }

    float amax_of(const BlockPlace& place, NanInAmax nan_in_amax) {
        float amax = 0;
        if (place.first_lane == place.end_lane) return amax;  // of however many lines
        for (std::ptrdiff_t line = place.first_line; line < place.end_line; ++line)
            for (const float lane : read(line, place.first_lane, place.end_lane))
                amax = larger_amax(nan_in_amax, amax, lane);
        return amax;
    }

    float amax_of_tensor() {
        const RealScaleRule& rule = job_.rule;
        return amax_of({0, 0, 0, job_.extent.lines, 0, job_.extent.lanes},
                       rule.keeps_nan_of_tensor ? NanInAmax::kept : rule.nan_in_amax);
    }

    // Rules that look at the lanes for the scale have blocks of one line.
    void quantize(const BlockRule& rule, const BlockPlace& place) {
        const float amax = amax_of(place, job_.rule.nan_in_amax);
        const BlockScale scale = rule.scale_of(amax, lanes_);
        store_scale(place, rule.stored(scale));
        for (std::ptrdiff_t line = place.first_line; line < place.end_line; ++line) {
            const bool is_read = place.end_line - place.first_line == 1;
            if (!is_read) read(line, place.first_lane, place.end_lane);
            std::ptrdiff_t lane = place.first_lane;
            for (const float value : lanes_) {
                job_.codes.data[line * job_.codes.line_stride + lane * job_.codes.lane_stride] =
                    rule.code_of(scale, value, random_at(line, lane));
                ++lane;
            }
        }
    }

    std::uint32_t random_at(std::ptrdiff_t line, std::ptrdiff_t lane) const {
        if (!job_.random) return 0;
        const Plane& words = *job_.random;
        const std::ptrdiff_t place = line * words.line_stride + lane * words.lane_stride;
        return load_f32_bits(ValueType::f32, words.data + place * 4);
    }

    void store_scale(const BlockPlace& place, float stored) const {
        if (job_.scale_type == RealScaleType::f32)
            return store_value({ValueType::f32, job_.scales}, place.line, place.lane, stored);
        const Plane& scales = job_.scales;
        scales.data[place.line * scales.line_stride + place.lane * scales.lane_stride] =
            nearest_byte(job_.scale_type, stored);
    }

    const RealScaleJob& job_;
    std::vector<float> lanes_;
};

// What an element is multiplied by on its way back.
float factor_back(const RealScaleJob& job, float scale, float kept) {
    switch (job.rule.way_back) {
        case WayBack::scale:
            break;
        case WayBack::scale_and_number:
            return kept * scale;
        case WayBack::scale_and_amax:
            return scale * kept * (1 / (largest_of(job.element) * job.rule.scale_max));
    }
    return scale;
}

}  // namespace

void quantize_real_scales(const RealScaleJob& job) {
    Quantizing(job).run();
}

// The sign bit of a scale byte is its sign, as in the libraries, which convert it from E4M3.
void dequantize_real_scales(const RealScaleJob& job) {
    std::array<float, 256> numbers{};
    for (std::size_t code = 0; code < numbers.size(); ++code)
        numbers[code] = number_of(job.element, static_cast<std::uint8_t>(code));
    const float kept = job.given ? load_f32(*job.given) : 1;
    for_each_real_block(job, [&](const BlockPlace& place) {
        if (place.first_line == place.end_line || place.first_lane == place.end_lane) return;
        const Plane& scales = job.scales;
        const std::ptrdiff_t at = place.line * scales.line_stride + place.lane * scales.lane_stride;
        const float scale = job.scale_type == RealScaleType::f32
                                ? value_at({ValueType::f32, scales}, place.line, place.lane)
                                : number_of_byte(job.scale_type, scales.data[at]);
        const float factor = factor_back(job, scale, kept);
        for_each_cell(place, [&](Cell cell) {
            const std::uint8_t code =
                job.codes
                    .data[cell.line * job.codes.line_stride + cell.lane * job.codes.lane_stride];
            store_value(job.values, cell.line, cell.lane, numbers[code] * factor);
        });
    });
}

}  // namespace mx::cpu
