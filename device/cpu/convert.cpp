// convert.hpp: lines that are contiguous on both sides go through the vector kernel, compiled once
// per instruction set, when they are rounded to nearest even; everything else, and tails, through
// the scalar arithmetic.
#include "device/cpu/convert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"
#include "device/cpu/scalar.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
namespace {
#if MX_CPU_HAS_LANES

template <typename Source>
std::size_t convert_vectors(const ConvertJob& line) {
    const auto count = static_cast<std::size_t>(line.extent.lanes);
    const BlockStep step = block_step(set(127));
    const BlockStep steps[4] = {step, step, step, step};
    const ElementLanes element = lanes_of(line.element_type, line.how);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        BitsV bits[4];
        for (std::size_t v = 0; v < 4; ++v) {
            bits[v] = Source::load(line.values.data + (i + v * lanes) * Source::width);
        }
        const BytesV codes = packed_codes<SignBit>(Wild(), element, bits, steps);
        hn::StoreU(codes, Bytes(), line.codes.data + i);
    }
    return i;
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

// Returns how many lanes of the first line it has done.
std::size_t convert_lanes(const ConvertJob& line) {
#if MX_CPU_HAS_LANES
    switch (line.value_type) {
        case ValueType::f32:
            return convert_vectors<F32Source>(line);
        case ValueType::bf16:
            return convert_vectors<Bf16Source>(line);
        case ValueType::f16:
            return convert_vectors<F16Source>(line);
    }
#endif
    (void)line;
    return 0;
}

}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::cpu {

HWY_EXPORT(convert_lanes);

namespace {

// The random bits of a lane. A shared word gives its low half to the first two lanes of four.
std::uint32_t random_of(const ConvertJob& line, std::ptrdiff_t lane) {
    const std::ptrdiff_t shared = line.how.random_shared;
    const std::ptrdiff_t place = shared == 0 ? lane : lane / shared;
    const std::uint32_t word =
        load_f32_bits(ValueType::f32, line.random.data + place * line.random.lane_stride * 4);
    return shared != 0 && lane % shared >= 2 ? word >> 16 : word;
}

// A value as it lies in memory: its sign at the top of the word, its mantissa below the exponent.
struct RawValue {
    bool negative;
    bool is_nan;
    std::uint32_t first_bits;  // the first two of the mantissa
};

RawValue raw_value(ValueType type, const std::uint8_t* at) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, at, static_cast<std::size_t>(width_of(type)));
    const Grid grid = grid_of(type);
    const std::uint32_t magnitude = bits & (grid.code_overflow | (grid.code_overflow - 1));
    return {bits != magnitude, magnitude > grid.code_overflow,
            magnitude >> (grid.mantissa_bits - 2) & 3};
}

// E5M2 has two bits for what a NaN says, E4M3 one NaN.
std::uint8_t code_of_payload(const Element& element, const RawValue& nan) {
    const bool has_room = element.grid.mantissa_bits == 2;
    const std::uint32_t magnitude =
        has_room ? element.special_from | 2u | nan.first_bits : element.special_from;
    return static_cast<std::uint8_t>(magnitude | (nan.negative ? 1u << element.sign_place : 0u));
}

// What the NaN form of the conversion makes of a code.
std::uint8_t with_nan_form(const ConvertJob& line, const std::uint8_t* value, std::uint8_t code) {
    const Element element = element_of(line.element_type);
    if (line.how.nan_form == NanForm::payload_kept) {
        const RawValue raw = raw_value(line.value_type, value);
        return raw.is_nan ? code_of_payload(element, raw) : code;
    }
    const std::uint32_t all_ones = (1u << element.sign_place) - 1;
    return (code & all_ones) == all_ones ? line.how.nan_code : code;
}

// A format without sign begins at zero.
std::uint8_t with_a_beginning(const ConvertJob& line, std::uint32_t f32_bits, std::uint8_t code) {
    const std::uint32_t magnitude = f32_bits & f32_magnitude_mask;
    if (f32_bits == magnitude || magnitude > f32_infinity) return code;
    const bool saturates = line.how.overflow == OverflowMode::saturate;
    return magnitude == 0 || saturates ? std::uint8_t{0} : line.how.nan_code;
}

bool has_sign(ElementType element) {
    return element_of(element).sign_place < 8;
}

// One line of the job, from `first` on.
void convert_scalar(const ConvertJob& line, std::ptrdiff_t first) {
    const std::ptrdiff_t width = width_of(line.value_type);
    const Element element = element_of(line.element_type);
    for (std::ptrdiff_t lane = first; lane < line.extent.lanes; ++lane) {
        ScaledValue value{};
        const std::uint8_t* const at = line.values.data + lane * line.values.lane_stride * width;
        value.f32_bits = load_f32_bits(line.value_type, at);
        if (line.how.subnormals == Subnormals::inputs_flushed)
            value.f32_bits = flushed_input(line.value_type, value.f32_bits);
        if (line.how.rounding == Rounding::stochastic) value.random = random_of(line, lane);
        std::uint8_t code = element_code(element, line.how, value);
        if (!has_sign(line.element_type)) code = with_a_beginning(line, value.f32_bits, code);
        if (line.how.nan_form != NanForm::one_code) code = with_nan_form(line, at, code);
        line.codes.data[lane * line.codes.lane_stride] = code;
    }
}

}  // namespace

void convert(const ConvertJob& job) {
    const bool vectors = job.values.lane_stride == 1 && job.codes.lane_stride == 1 &&
                         job.how.rounding == Rounding::nearest_even &&
                         job.how.nan_form == NanForm::one_code && has_sign(job.element_type) &&
                         job.how.subnormals == Subnormals::honoured;
    const std::ptrdiff_t width = width_of(job.value_type);
    for (std::ptrdiff_t i = 0; i < job.extent.lines; ++i) {
        ConvertJob line = job;
        line.values.data += i * job.values.line_stride * width;
        line.codes.data += i * job.codes.line_stride;
        if (job.how.rounding == Rounding::stochastic)
            line.random.data += i * job.random.line_stride * 4;
        const std::size_t done = vectors ? HWY_DYNAMIC_DISPATCH(convert_lanes)(line) : 0;
        convert_scalar(line, static_cast<std::ptrdiff_t>(done));
    }
}

}  // namespace mx::cpu
#endif
