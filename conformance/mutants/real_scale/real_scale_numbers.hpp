// From an amax to the number of a tensor, to the scale of a block and to elements, in steps of
// binary32. Bugs of these are planted here. Shares no line with reference/ or device/cpu.
#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "conformance/mutants/mutant_elements.hpp"
#include "conformance/mutants/real_scale/real_scale_bug.hpp"
#include "conformance/mutants/real_scale/real_scale_request.hpp"

namespace mx::mutants::real_scale {

inline float at_most_largest(float x) {
    return std::isinf(x) ? FLT_MAX : x;
}

inline float element_number(std::uint32_t code, const Format& format) {
    return static_cast<float>(decode(code, format));
}

inline float largest_of(const Format& element) {
    const bool is_mistaken = has(Bug::e5m2_largest_of_e4m3) && element == e5m2;
    return element_number(is_mistaken ? 0x7E : element.code_max, is_mistaken ? e4m3 : element);
}

// What NaN does to an amax is a choice of the library.
inline float larger_amax(const RealScaleRequest& request, float amax, float lane) {
    bool keeps_nan = request.keeps_nan();
    if (has(Bug::nan_passed_over)) keeps_nan = false;
    if (has(Bug::nan_spreads)) keeps_nan = true;
    if (std::isnan(lane)) return keeps_nan ? lane : amax;
    return std::isnan(amax) ? amax : std::max(amax, std::fabs(lane));
}

// The largest element times the largest scale that is wanted.
inline float range_of(const RealScaleRequest& request) {
    if (has(Bug::range_of_448_squared)) return 448.0f * 448.0f;
    const bool is_256 = request.rules.picks_four_or_six && !has(Bug::range_of_256_forgotten);
    return largest_of(request.element) * (is_256 ? 256.0f : 448.0f);
}

struct TensorNumber {
    float amax = 0;
    float scale = 1;  // "S"
};

inline float encode_number(const RealScaleRequest& request, float amax) {
    const float number = at_most_largest(range_of(request) / amax);
    const bool is_unguarded = (has(Bug::zero_amax_unguarded) && amax == 0) ||
                              (has(Bug::infinite_amax_unguarded) && number == 0);
    return (amax == 0 || number == 0) && !is_unguarded ? 1 : number;
}

inline TensorNumber tensor_number(const RealScaleRequest& request, float given) {
    if (request.rules.has_history) return {0, has(Bug::history_scale_inverted) ? 1 / given : given};
    const float amax = has(Bug::subnormal_amax_flushed) && given < FLT_MIN ? 0 : given;
    const bool encodes = request.rules.library == Library::te_nvfp4;
    if (encodes != has(Bug::number_inverted)) return {amax, encode_number(request, amax)};
    return {amax, amax / range_of(request)};
}

inline float kept_number(const RealScaleRequest& request, const TensorNumber& tensor) {
    const bool is_amax = request.rules.library == Library::te_nvfp4;
    return is_amax && !has(Bug::scale_kept_for_amax) ? tensor.amax : tensor.scale;
}

// The E4M3 scale next to a ratio.
inline std::uint32_t scale_code(float ratio) {
    Manner manner;
    if (has(Bug::scale_ties_away)) manner.rounding = Rounding::nearest_away;
    if (has(Bug::scale_toward_zero)) manner.rounding = Rounding::toward_zero;
    if (has(Bug::scale_overflows_to_nan)) manner.overflow = Overflow::overflow;
    const double number = static_cast<double>(ratio);
    return encode_element(has(Bug::ratio_through_bf16) ? through_bf16(number) : number, e4m3,
                          manner);
}

// A block's scale as it is stored, and what its elements are multiplied by.
struct BlockScale {
    float number = 1;
    float factor = 1;
};

// Everything that the blocks of one tensor have in common.
class BlockMaker {
public:
    BlockMaker(const RealScaleRequest& request, const TensorNumber& tensor)
        : request_(request), tensor_(tensor), largest_(largest_of(request.element)) {
        manner_.rounding =
            request.rules.is_stochastic ? Rounding::stochastic : Rounding::nearest_even;
        if (request.rules.is_stochastic) manner_.random_digits = 8;
        const bool overflows = request.rules.library == Library::deepgemm ||
                               (has(Bug::elements_overflow) && request.element != e2m1);
        if (overflows) manner_.overflow = Overflow::overflow;
        if (has(Bug::elements_ties_away) && !request.rules.is_stochastic)
            manner_.rounding = Rounding::nearest_away;
        if (has(Bug::elements_ties_toward_zero) && !request.rules.is_stochastic)
            manner_.rounding = Rounding::nearest_toward_zero;
    }

    BlockScale scale_of(float amax, const std::vector<float>& lanes) const {
        switch (request_.rules.library) {
            case Library::te_nvfp4:
                return te_nvfp4_scale(amax, lanes);
            case Library::torchao_nvfp4:
                return torchao_scale(amax);
            case Library::te_fp8:
                return te_fp8_scale(amax);
            case Library::deepgemm:
                break;
        }
        const float least = has(Bug::amax_min_forgotten) ? 0.0f : 1e-4f;
        return divided_by(std::max(amax, least) / largest_);
    }

    std::uint32_t code_of(const BlockScale& scale, float lane, std::uint32_t random = 0) const {
        const Library library = request_.rules.library;
        const float unit = library == Library::te_nvfp4 ? 1 / tensor_.scale : tensor_.scale;
        const bool is_quotient = has(Bug::quotient_for_product) && library != Library::te_fp8;
        const float scaled = is_quotient ? lane / (scale.number * unit) : lane * scale.factor;
        if (std::isnan(scaled) && request_.element == e2m1) {
            if (has(Bug::nan_as_zero)) return 0;
            if (library == Library::torchao_nvfp4) return 3;
        }
        Manner manner = manner_;
        manner.random_bits = random;
        if (has(Bug::random_carry_early) && manner.random_digits > 0) ++manner.random_bits;
        const std::uint32_t code =
            encode_element(static_cast<double>(scaled), request_.element, manner);
        const bool is_minus_zero = code == request_.element.magnitude_mask() + 1;
        return has(Bug::minus_zero_lost) && is_minus_zero ? 0 : code;
    }

private:
    static BlockScale divided_by(float number) { return {number, 1 / number}; }

    BlockScale te_nvfp4_scale(float amax, const std::vector<float>& lanes) const {
        float number = has(Bug::number_ignored) ? 1 : tensor_.scale;
        if (has(Bug::number_applied_twice)) number *= number;
        if (!request_.rules.picks_four_or_six) {
            const float ratio = has(Bug::amax_divided_by_6) ? amax / largest_ * number
                                                            : amax * (number * (1 / largest_));
            return te_nvfp4_rounded(at_most_largest(ratio));
        }
        const float six = amax / largest_ * number, four = six * 1.5f;
        const BlockScale of_six = te_nvfp4_rounded(six), of_four = te_nvfp4_rounded(four);
        const bool is_early = has(Bug::compared_before_rounding);
        const float error_of_six = error_of(is_early ? te_nvfp4_factor(six) : of_six, lanes);
        const float error_of_four = error_of(is_early ? te_nvfp4_factor(four) : of_four, lanes);
        if (has(Bug::tie_goes_to_four) && error_of_four == error_of_six) return of_four;
        return error_of_four < error_of_six ? of_four : of_six;
    }

    BlockScale te_nvfp4_rounded(float ratio) const {
        return te_nvfp4_factor(element_number(scale_code(ratio), e4m3));
    }

    BlockScale te_nvfp4_factor(float number) const {
        const float inverse = 1 / tensor_.scale;
        float factor = 1 / (number * inverse);
        if (has(Bug::product_not_rounded))
            factor = static_cast<float>(
                1 / (static_cast<double>(number) * static_cast<double>(inverse)));
        if (has(Bug::reciprocal_one_ulp_up)) factor = std::nextafter(factor, HUGE_VALF);
        return {number, has(Bug::zero_scale_unguarded) ? factor : at_most_largest(factor)};
    }

    // What a block loses on its way there and back.
    float error_of(const BlockScale& scale, const std::vector<float>& lanes) const {
        float sum = 0;
        for (const float lane : lanes) {
            const float element = element_number(code_of(scale, lane), request_.element);
            const float error = element * scale.number * tensor_.amax / range_of(request_) - lane;
            sum += has(Bug::errors_with_signs) ? error : std::fabs(error);
        }
        return sum;
    }

    BlockScale torchao_scale(float amax) const {
        const float sixth = amax / largest_;
        const bool is_whole = request_.rules.has_number;
        const float ratio = is_whole && !has(Bug::number_ignored) ? sixth / tensor_.scale : sixth;
        const float least = has(Bug::least_scale_forgotten) ? 0.0f : 0x1p-6f;
        const float number = element_number(scale_code(std::max(ratio, least)), e4m3);
        return is_whole ? BlockScale{number, 1 / tensor_.scale / number} : divided_by(number);
    }

    // The scale that is stored is the inverse of what elements are multiplied by.
    BlockScale te_fp8_scale(float amax) const {
        float factor = request_.rules.has_history ? tensor_.scale : te_fp8_factor(amax);
        if (request_.rules.is_power_of_two) {
            std::uint32_t bits = std::bit_cast<std::uint32_t>(factor);
            if (has(Bug::power_of_two_above)) bits += 0x7FFFFF;
            factor = std::bit_cast<float>(bits & 0x7F800000u);
        }
        return {has(Bug::encode_scale_stored) ? factor : 1 / factor, factor};
    }

    float te_fp8_factor(float amax) const {
        if (amax == 0 && !has(Bug::zero_block_unguarded)) return 1;
        if (std::isinf(amax) && !has(Bug::infinite_block_unguarded)) return 1;
        if (std::isnan(amax)) return 1;
        const float factor = largest_ / amax;
        const bool is_of_input =
            request_.blocks.axis != kit::Axis::tensor && !has(Bug::largest_f32_for_input);
        const Format& type = is_of_input ? request_.values.format : f32;
        return std::isinf(factor) ? element_number(type.code_max, type) : factor;
    }

    const RealScaleRequest& request_;
    TensorNumber tensor_;
    float largest_;
    Manner manner_;
};

// What elements of a block are multiplied by on their way back.
inline float factor_back(const RealScaleRequest& request, float scale, float kept) {
    if (!request.rules.has_number || request.rules.has_history) return scale;
    if (has(Bug::dequantize_forgets_number)) return scale;
    const bool has_amax = request.rules.library == Library::te_nvfp4;
    if (!has_amax || has(Bug::dequantize_amax_as_scale)) return kept * scale;
    return scale * kept * (1 / range_of(request));
}

}  // namespace mx::mutants::real_scale
