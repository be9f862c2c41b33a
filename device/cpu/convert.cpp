// convert.hpp: lines that are contiguous on both sides go through the vector kernel, compiled once
// per instruction set; everything else, and tails, through the scalar arithmetic.
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

template <typename Source, typename Grid>
std::size_t convert_vectors(const ConvertJob& line) {
    const auto count = static_cast<std::size_t>(line.extent.lanes);
    const BlockStep step = block_step<Grid>(set(127));
    const BlockStep steps[4] = {step, step, step, step};
    const Ceiling ceiling = ceiling_of<Grid>(line.overflow);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        BitsV bits[4];
        for (std::size_t v = 0; v < 4; ++v) {
            bits[v] = Source::load(line.values.data + (i + v * lanes) * Source::width);
        }
        const BytesV codes = packed_codes<Grid>(Wild(), bits, steps, ceiling);
        hn::StoreU(codes, Bytes(), line.codes.data + i);
    }
    return i;
}

template <typename Source>
std::size_t convert_source(const ConvertJob& line) {
    if (line.element_type == ElementType::e4m3) return convert_vectors<Source, E4m3Codes>(line);
    return convert_vectors<Source, E5m2Codes>(line);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

// Returns how many lanes of the first line it has done.
std::size_t convert_lanes(const ConvertJob& line) {
#if MX_CPU_HAS_LANES
    switch (line.value_type) {
        case ValueType::f32:
            return convert_source<F32Source>(line);
        case ValueType::bf16:
            return convert_source<Bf16Source>(line);
        case ValueType::f16:
            return convert_source<F16Source>(line);
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

// One line of the job, from `first` on.
void convert_scalar(const ConvertJob& line, std::ptrdiff_t first) {
    const std::ptrdiff_t width = width_of(line.value_type);
    const ElementStep step{line.element_type, line.overflow, 0};
    for (std::ptrdiff_t lane = first; lane < line.extent.lanes; ++lane) {
        const std::uint8_t* at = line.values.data + lane * line.values.lane_stride * width;
        line.codes.data[lane * line.codes.lane_stride] =
            element_code(load_f32_bits(line.value_type, at), step);
    }
}

}  // namespace

void convert(const ConvertJob& job) {
    const bool contiguous = job.values.lane_stride == 1 && job.codes.lane_stride == 1;
    const std::ptrdiff_t width = width_of(job.value_type);
    for (std::ptrdiff_t i = 0; i < job.extent.lines; ++i) {
        ConvertJob line = job;
        line.values.data += i * job.values.line_stride * width;
        line.codes.data += i * job.codes.line_stride;
        const std::size_t done = contiguous ? HWY_DYNAMIC_DISPATCH(convert_lanes)(line) : 0;
        convert_scalar(line, static_cast<std::ptrdiff_t>(done));
    }
}

}  // namespace mx::cpu
#endif
