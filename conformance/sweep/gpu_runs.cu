// See gpu_runs.hpp. One thread asks a map for some hundred consecutive inputs and notes where its
// result changes; the notes, in any order, are sorted on the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

#include "conformance/sweep/gpu_calls.cuh"
#include "conformance/sweep/gpu_runs.hpp"
#include "device/cuda/scale.cuh"
#include "reference/fast/round.hpp"
#include "reference/fast/scale.hpp"

namespace mx::sweep {
namespace {

constexpr std::uint32_t borders_max = 1u << 20;
constexpr std::uint32_t inputs_per_thread = 256;
constexpr unsigned threads_per_block = 256;

struct Border {
    std::uint32_t first;
    std::uint64_t result;
};

struct Rounded {
    RoundMap map;
    __device__ std::uint64_t operator()(std::uint32_t bits) const {
        const fast::Unpacked value = fast::unpack(map.input, Code{bits});
        const Code saturating =
            fast::round(map.format, map.rounding, Overflow::saturate, value, {});
        const Code overflowing =
            fast::round(map.format, map.rounding, Overflow::overflow, value, {});
        return saturating.bits | std::uint64_t{overflowing.bits} << 32;
    }
};

struct Scaled {
    ScaleMap map;
    __device__ std::uint64_t operator()(std::uint32_t bits) const {
        const fast::Unpacked amax = fast::read_input(map.dialect.subnormals, map.input, Code{bits});
        return fast::encode_scale(map.dialect, map.format, amax).bits;
    }
};

struct Cast {
    CastMap map;
    __device__ std::uint64_t operator()(std::uint32_t bits) const {
        return fast::cast_to_scale(map.cast, fast::unpack(map.input, Code{bits})).bits;
    }
};

// Two lanes go in and two come out, as the PTX text says; the high lane is named first.
#define MX_PAIR_OF_F32(ptx)                                                \
    std::uint16_t out;                                                     \
    asm volatile(ptx " %0, %1, %2;"                                        \
                 : "=h"(out)                                               \
                 : "f"(__uint_as_float(high)), "f"(__uint_as_float(low))); \
    return out;
#define MX_PAIR_OF_F16(ptx)                                                        \
    std::uint16_t out;                                                             \
    asm volatile(ptx " %0, %1;" : "=h"(out) : "r"((high << 16) | (low & 0xFFFF))); \
    return out;
#define MX_CODES_TO_F16(ptx)                                                          \
    std::uint32_t out;                                                                \
    const auto codes = static_cast<std::uint16_t>((high & 0xFF) << 8 | (low & 0xFF)); \
    asm volatile(ptx " %0, %1;" : "=r"(out) : "h"(codes));                            \
    return out;
#define MX_PAIR_TO_E2M1(ptx)                                               \
    std::uint16_t out;                                                     \
    asm volatile("{ .reg .b8 pair, none; mov.b16 {pair, none}, 0; " ptx    \
                 " pair, %1, %2; "                                         \
                 "mov.b16 %0, {pair, none}; }"                             \
                 : "=h"(out)                                               \
                 : "f"(__uint_as_float(high)), "f"(__uint_as_float(low))); \
    return (out & 0xFu) | (out & 0xF0u) << 4;

#define MX_FORM_pair_of_f32 MX_PAIR_OF_F32
#define MX_FORM_pair_of_f16 MX_PAIR_OF_F16
#define MX_FORM_codes_to_f16 MX_CODES_TO_F16
#define MX_FORM_pair_to_e2m1 MX_PAIR_TO_E2M1

#if defined(__CUDA_ARCH__)
constexpr int architecture = __CUDA_ARCH__ / 10;
#else
constexpr int architecture = 0;
#endif

template <std::size_t Row>
struct Convert;

enum Row : std::size_t {
#define MX_INSTRUCTION(name, ptx, input, output, form, sign, architecture) row_##name,
#include "conformance/sweep/instructions.def"
#undef MX_INSTRUCTION
};

#define MX_INSTRUCTION(name, ptx, input, output, form, sign, needed)                  \
    template <>                                                                       \
    struct Convert<row_##name> {                                                      \
        template <int Here>                                                           \
        static __device__ std::uint32_t both(std::uint32_t low, std::uint32_t high) { \
            if constexpr (Here >= needed) {                                           \
                MX_FORM_##form(ptx)                                                   \
            }                                                                         \
            return 0;                                                                 \
        }                                                                             \
    };
#include "conformance/sweep/instructions.def"
#undef MX_INSTRUCTION

// The other lane gets the complement of the bits: another sign, another size, another kind.
template <std::size_t Row>
struct Converted {
    Lane lane;
    __device__ std::uint64_t operator()(std::uint32_t bits) const {
        constexpr bool to_f16 = instructions[Row].form == Form::codes_to_f16;
        constexpr int width = to_f16 ? 16 : 8;
        const std::uint32_t other = ~bits;
        const std::uint32_t out =
            lane == Lane::low ? Convert<Row>::template both<architecture>(bits, other)
                              : Convert<Row>::template both<architecture>(other, bits) >> width;
        return out & ((1u << width) - 1);
    }
};

// The scale rule of a kernel of device/cuda.
struct DeviceScaled {
    DeviceScaleMap map;
    __device__ std::uint64_t operator()(std::uint32_t bits) const {
        return cuda::scale_of(map.rule, bits);
    }
};

// What the threads leave behind beside the borders: work that was never done must not look like
// work that found nothing.
struct Tally {
    unsigned long long asked;
    std::uint32_t borders;
};

template <typename Map>
__global__ void find_borders(Map map, std::uint64_t count, Border* borders, Tally* tally) {
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t first = min(thread * inputs_per_thread, count);
    const std::uint64_t end = min(first + inputs_per_thread, count);
    std::uint64_t before = first == 0 ? 0 : map(static_cast<std::uint32_t>(first - 1));
    std::uint32_t asked = 0;
    for (std::uint64_t input = first; input < end; ++input) {
        const std::uint64_t result = map(static_cast<std::uint32_t>(input));
        ++asked;
        if (input == 0 || result != before) {
            const std::uint32_t at = atomicAdd(&tally->borders, 1u);
            if (at < borders_max) borders[at] = {static_cast<std::uint32_t>(input), result};
        }
        before = result;
    }
    count_asked(&tally->asked, asked);
}

std::vector<exact::Run> runs_between(std::vector<Border> borders, std::uint64_t count) {
    std::sort(borders.begin(), borders.end(),
              [](const Border& a, const Border& b) { return a.first < b.first; });
    std::vector<exact::Run> runs;
    for (std::size_t i = 0; i < borders.size(); ++i) {
        const std::uint64_t end = i + 1 < borders.size() ? borders[i + 1].first : count;
        runs.push_back({borders[i].first, static_cast<std::uint32_t>(end - 1), borders[i].result});
    }
    return runs;
}

template <typename Map>
Expected<GpuRuns> runs_of(const Map& map, std::uint64_t count) {
    GpuCalls calls;
    const GpuValue<Border> borders(calls, borders_max);
    const GpuValue<Tally> found(calls);
    GpuTimer timer(calls);
    const std::uint64_t threads = (count + inputs_per_thread - 1) / inputs_per_thread;
    const auto blocks =
        static_cast<unsigned>((threads + threads_per_block - 1) / threads_per_block);
    if (calls.ok())
        find_borders<<<blocks, threads_per_block>>>(map, count, borders.at(), found.at());
    calls.note("the sweep", cudaGetLastError());
    const double seconds = timer.seconds();
    Tally tally{};
    found.read(&tally);
    std::vector<Border> list(std::min(tally.borders, borders_max));
    borders.read(list.data(), list.size());
    if (!calls.ok()) return calls.error();
    if (tally.asked != count) return unasked(tally.asked, count);
    if (tally.borders > borders_max)
        return Error{ErrorKind::device, "the GPU's results change more than " +
                                            std::to_string(borders_max) + " times"};
    return GpuRuns{runs_between(std::move(list), count), seconds};
}

template <std::size_t Row = 0>
Expected<GpuRuns> runs_of_instruction(const InstructionMap& map, std::uint64_t count) {
    if constexpr (Row + 1 < instructions.size())
        if (map.row != Row) return runs_of_instruction<Row + 1>(map, count);
    return runs_of(Converted<Row>{map.lane}, count);
}

struct Ask {
    std::uint64_t count;
    auto operator()(const RoundMap& map) const { return runs_of(Rounded{map}, count); }
    auto operator()(const ScaleMap& map) const { return runs_of(Scaled{map}, count); }
    auto operator()(const CastMap& map) const { return runs_of(Cast{map}, count); }
    auto operator()(const DeviceScaleMap& map) const { return runs_of(DeviceScaled{map}, count); }
    auto operator()(const InstructionMap& map) const { return runs_of_instruction(map, count); }
};

}  // namespace

Expected<Gpu> find_gpu() {
    cudaDeviceProp properties{};
    const cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    GpuCalls calls;
    calls.note("none can be used", error);
    const bool is_none = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    if (is_none) return Error{ErrorKind::system, calls.error().message};
    if (!calls.ok()) return calls.error();
    cudaFuncAttributes attributes{};
    if (cudaFuncGetAttributes(&attributes, find_borders<Rounded>) != cudaSuccess)
        return Error{ErrorKind::system, std::string("the GPU: ") + properties.name +
                                            " is none that this mxcheck has code for"};
    return Gpu{properties.name, properties.major * 10 + properties.minor};
}

Expected<GpuRuns> gpu_runs(const GpuMap& map, std::uint64_t count) {
    return std::visit(Ask{count}, map);
}

}  // namespace mx::sweep
