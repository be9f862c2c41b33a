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

// One line of the job, from `first` on.
void convert_scalar(const ConvertJob& line, std::ptrdiff_t first) {
    const std::ptrdiff_t width = width_of(line.value_type);
    const Element element = element_of(line.element_type);
    for (std::ptrdiff_t lane = first; lane < line.extent.lanes; ++lane) {
        ScaledValue value{};
        value.f32_bits = load_f32_bits(line.value_type,
                                       line.values.data + lane * line.values.lane_stride * width);
        if (line.how.subnormals == Subnormals::inputs_flushed)
            value.f32_bits = flushed_input(line.value_type, value.f32_bits);
        if (line.how.rounding == Rounding::stochastic) value.random = random_of(line, lane);
        line.codes.data[lane * line.codes.lane_stride] = element_code(element, line.how, value);
    }
}

}  // namespace

void convert(const ConvertJob& job) {
    const bool vectors = job.values.lane_stride == 1 && job.codes.lane_stride == 1 &&
                         job.how.rounding == Rounding::nearest_even &&
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
