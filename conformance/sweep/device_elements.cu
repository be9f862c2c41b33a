// See device_elements.hpp: the kernel. A thread takes two neighbouring codes of f32, unpacks them
// once and asks both sides for them under every scale.
#include <cuda_runtime.h>

#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/gpu_calls.cuh"
#include "device/cuda/element.cuh"
#include "device/cuda/rules.hpp"
#include "device/cuda/scale.cuh"
#include "reference/fast/block.hpp"

namespace mx::sweep {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr std::uint64_t inputs_per_part = pairs_per_part / 256;

struct Found {
    unsigned long long asked;
    unsigned long long count;
    std::uint32_t input;
    std::uint8_t scale, actual, expected;
};

struct Sides {
    Dialect dialect;
    BlockFormat format;
    cuda::Element element;
    cuda::Encoding encoding;
};

// What the kernels of device/cuda write: FP8 in pairs by the conversion instruction, the other
// formats by arithmetic.
__device__ std::uint32_t device_pair(const Sides& sides, float first, float second, float factor) {
    first = __fmul_rn(first, factor);
    second = __fmul_rn(second, factor);
    if (sides.element == cuda::Element::e4m3)
        return cuda::fp8_pair<cuda::Element::e4m3>(first, second);
    if (sides.element == cuda::Element::e5m2)
        return cuda::fp8_pair<cuda::Element::e5m2>(first, second);
    return cuda::element_code(sides.encoding, first) | cuda::element_code(sides.encoding, second)
                                                           << 8;
}

__device__ std::uint32_t oracle_code(const Sides& sides, Code scale, const fast::Unpacked& value) {
    return fast::quantize_element(sides.dialect, sides.format, scale, value, {}).bits;
}

__device__ void note(Found* found, std::uint32_t input, std::uint32_t scale, std::uint32_t actual,
                     std::uint32_t expected) {
    if (atomicAdd(&found->count, 1ull) != 0) return;
    found->input = input;
    found->scale = static_cast<std::uint8_t>(scale);
    found->actual = static_cast<std::uint8_t>(actual);
    found->expected = static_cast<std::uint8_t>(expected);
}

__global__ void __launch_bounds__(threads_per_block)
    compare(Sides sides, std::uint32_t first_input, Found* found) {
    constexpr ElementFormat f32 = formats::f32;
    const std::uint32_t low = first_input + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const std::uint32_t high = low + 1;
    const fast::Unpacked low_value = fast::read_input(sides.dialect.subnormals, f32, Code{low});
    const fast::Unpacked high_value = fast::read_input(sides.dialect.subnormals, f32, Code{high});
    std::uint32_t asked = 0;
    for (std::uint32_t scale = 0; scale < 256; ++scale) {
        const float factor = cuda::factor_of(static_cast<std::uint8_t>(scale));
        const std::uint32_t actual =
            device_pair(sides, __uint_as_float(low), __uint_as_float(high), factor);
        const std::uint32_t expected = oracle_code(sides, Code{scale}, low_value) |
                                       oracle_code(sides, Code{scale}, high_value) << 8;
        asked += 2;
        if (actual == expected) continue;
        const std::uint32_t differing = actual ^ expected;
        if ((differing & 0xFF) != 0) note(found, low, scale, actual & 0xFF, expected & 0xFF);
        if (differing >> 8 != 0) note(found, high, scale, actual >> 8, expected >> 8);
    }
    count_asked(&found->asked, asked);
}

}  // namespace

Expected<ElementDifferences> compare_elements(const DeviceElements& sweep, int part) {
    const cuda::Element element = *cuda::find_block_format(sweep.format.name);
    const cuda::DialectRule rule = *cuda::find_dialect_rule(sweep.dialect.name, element);
    const Sides sides{sweep.dialect,
                      sweep.format,
                      element,
                      {cuda::grid_of(element), rule.nan_code, cuda::Overflow::saturate}};
    GpuCalls calls;
    const GpuValue<Found> found(calls);
    GpuTimer timer(calls);
    const auto first = static_cast<std::uint32_t>(inputs_per_part * static_cast<unsigned>(part));
    constexpr auto blocks = static_cast<unsigned>(inputs_per_part / 2 / threads_per_block);
    if (calls.ok()) compare<<<blocks, threads_per_block>>>(sides, first, found.at());
    calls.note("the sweep of elements", cudaGetLastError());
    const double seconds = timer.seconds();
    Found answer{};
    found.read(&answer);
    if (!calls.ok()) return calls.error();
    if (answer.asked != pairs_per_part) return unasked(answer.asked, pairs_per_part);
    return ElementDifferences{answer.count,  answer.input,    answer.scale,
                              answer.actual, answer.expected, seconds};
}

}  // namespace mx::sweep
