// See device_elements.hpp: the kernels, one for each set of element rules, so that the compiler
// folds the rules into both sides.
#include <cuda_runtime.h>

#include <array>
#include <utility>

#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/element_kernels.hpp"
#include "conformance/sweep/element_oracle.hpp"
#include "conformance/sweep/gpu_calls.cuh"
#include "device/cuda/element.cuh"
#include "device/cuda/rules.hpp"
#include "device/cuda/scale.cuh"

namespace mx::sweep {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr std::uint64_t inputs_per_part = pairs_per_part / 256;

struct Found {
    unsigned long long asked;
    unsigned long long count;
    unsigned long long contradictions;  // groups that differ, while none of their pairs does
    std::uint32_t input;
    std::uint8_t scale, actual, expected;
};

__device__ void note(Found* found, Pair place, std::uint32_t actual, std::uint32_t expected) {
    if (atomicAdd(&found->count, 1ull) != 0) return;
    found->input = place.code;
    found->scale = static_cast<std::uint8_t>(place.scale);
    found->actual = static_cast<std::uint8_t>(actual);
    found->expected = static_cast<std::uint8_t>(expected);
}

// What the kernels of device/cuda write: FP8 in pairs by the conversion instruction, the other
// formats by arithmetic.
template <cuda::Element element>
__device__ std::uint32_t device_elements_of(std::uint8_t nan_code, Pair pair) {
    const float factor = cuda::factor_of(static_cast<std::uint8_t>(pair.scale));
    const float first = __fmul_rn(__uint_as_float(pair.code), factor);
    const float second = __fmul_rn(__uint_as_float(pair.code + 1), factor);
    if constexpr (cuda::is_fp8(element)) return cuda::fp8_pair<element>(first, second);
    const cuda::Encoding how{cuda::grid_of(element), nan_code, cuda::Overflow::saturate};
    return cuda::element_code(how, first) | cuda::element_code(how, second) << 8;
}

template <std::size_t Row, std::size_t Format>
struct Comparison {
    using Oracle = ElementOracle<Row, Format>;
    static constexpr cuda::Element element = device_element(mx_block_formats[Format].element());
    std::uint8_t nan_code;

    // A group that shares its target: whether any of its pairs differs. `first` is its first value,
    // scaled.
    __device__ __forceinline__ bool differs(Pair group_start, const fast::Unpacked& first) const {
        const fast::Target target = Oracle::target(first);
        const auto significand = static_cast<std::uint32_t>(first.significand);  // of 24 bits
        std::uint32_t differing = 0;
#pragma unroll
        for (std::uint32_t i = 0; i < group; i += 2) {
            const Pair pair{group_start.code + i, group_start.scale};
            differing |= device_elements_of<element>(nan_code, pair) ^
                         Oracle::elements(target, significand + i);
        }
        return differing != 0;
    }

    // Any group, value by value. Returns how many pairs of the two sides' answers are not equal.
    __device__ __noinline__ int each(Pair group_start, Found* found) const {
        int wrong = 0;
#pragma unroll 1
        for (std::uint32_t i = 0; i < group; i += 2) {
            const Pair pair{group_start.code + i, group_start.scale};
            const std::uint32_t actual = device_elements_of<element>(nan_code, pair);
            const std::uint32_t expected = Oracle::elements(pair);
            const std::uint32_t differing = actual ^ expected;
            if (differing == 0) continue;
            ++wrong;
            if ((differing & 0xFF) != 0) note(found, pair, actual & 0xFF, expected & 0xFF);
            if (differing >> 8 != 0)
                note(found, {pair.code + 1, pair.scale}, actual >> 8, expected >> 8);
        }
        return wrong;
    }
};

template <std::size_t Row, std::size_t Format>
__global__ void __launch_bounds__(threads_per_block)
    compare(std::uint8_t nan_code, std::uint32_t first_input, Found* found) {
    using Oracle = ElementOracle<Row, Format>;
    const Comparison<Row, Format> comparison{nan_code};
    const std::uint32_t first = first_input + group * (blockIdx.x * blockDim.x + threadIdx.x);
    const fast::Unpacked value = Oracle::value(first);
    const bool alike = are_alike(value, Oracle::value(first + group - 1));
    std::uint32_t asked = 0;
#pragma unroll 1
    for (std::uint32_t scale = 0; scale < 256; ++scale) {
        asked += group;
        const fast::Unpacked scaled = Oracle::scaled(value, scale);
        const bool shared = alike && is_rounded(scaled);
        if (shared && !comparison.differs({first, scale}, scaled)) continue;
        const int wrong = comparison.each({first, scale}, found);
        if (shared && wrong == 0) atomicAdd(&found->contradictions, 1ull);
    }
    count_asked(&found->asked, asked);
}

using Kernel = void (*)(std::uint8_t, std::uint32_t, Found*);

template <std::size_t Row, std::size_t Format>
constexpr Kernel kernel_of() {
    if constexpr (has_kernel({Row, Format})) return compare<Row, Format>;
    return nullptr;
}

template <std::size_t... Combination>
std::array<Kernel, sizeof...(Combination)> all_kernels(std::index_sequence<Combination...>) {
    return {
        kernel_of<Combination % e8m0_quantizers.size(), Combination / e8m0_quantizers.size()>()...};
}

Kernel find_kernel(const DeviceElements& sweep) {
    static const auto kernels =
        all_kernels(std::make_index_sequence<e8m0_quantizers.size() * mx_block_formats.size()>{});
    const ElementRow row = kernel_row(sweep.dialect, sweep.format);
    return row.format == npos ? nullptr
                              : kernels[row.format * e8m0_quantizers.size() + row.dialect];
}

}  // namespace

Expected<ElementDifferences> compare_elements(const DeviceElements& sweep, int part) {
    const cuda::Element element = *cuda::find_block_format(sweep.format.name);
    const cuda::DialectRule rule = *cuda::find_dialect_rule(sweep.dialect.name, element);
    const Kernel compare_part = find_kernel(sweep);
    MX_ASSERT(compare_part != nullptr);
    GpuCalls calls;
    const GpuValue<Found> found(calls);
    GpuTimer timer(calls);
    const auto first = static_cast<std::uint32_t>(inputs_per_part * static_cast<unsigned>(part));
    constexpr auto blocks = static_cast<unsigned>(inputs_per_part / group / threads_per_block);
    if (calls.ok()) compare_part<<<blocks, threads_per_block>>>(rule.nan_code, first, found.at());
    calls.note("the sweep of elements", cudaGetLastError());
    const double seconds = timer.seconds();
    Found answer{};
    found.read(&answer);
    if (!calls.ok()) return calls.error();
    if (answer.asked != pairs_per_part) return unasked(answer.asked, pairs_per_part);
    if (answer.contradictions != 0)
        return Error{ErrorKind::device,
                     "the GPU: " + std::to_string(answer.contradictions) +
                         " groups of elements differ, but none of their elements does: it "
                         "contradicts itself"};
    return ElementDifferences{answer.count,  answer.input,    answer.scale,
                              answer.actual, answer.expected, seconds};
}

}  // namespace mx::sweep
