// CUDA's conversions: every NaN to FP8, and the conversion to E8M0 on the GPU against the same
// header compiled for the host.
#include <cuda_fp8.h>

#include <bit>
#include <memory>
#include <thread>

#include "device/cuda/facts/exact.cuh"
#include "device/cuda/facts/instructions.cuh"
#include "device/cuda/facts/measure.cuh"

namespace mx::cuda::facts {
namespace {

template <__nv_saturation_t saturation, cudaRoundMode rounding>
struct ToE8m0 {
    __host__ __device__ std::uint32_t operator()(float value) const {
        return __nv_cvt_float_to_e8m0(value, saturation, rounding);
    }
};
template <typename Conversion>
struct OnPattern {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return Conversion{}(__uint_as_float(input));
    }
};

// Inputs from `first` on, to the next run, have this result.
struct Run {
    std::uint32_t first;
    std::uint32_t result;
};

// Appends the runs of inputs first to last.
template <typename Conversion>
void append_runs(std::vector<Run>& runs, std::uint32_t first, std::uint32_t last) {
    for (std::uint64_t input = first; input <= last; ++input) {
        const auto pattern = static_cast<std::uint32_t>(input);
        const std::uint32_t result = Conversion{}(std::bit_cast<float>(pattern));
        if (runs.empty() || runs.back().result != result) runs.push_back({pattern, result});
    }
}

// What the host makes of all 2^32 inputs, on all its cores.
template <typename Conversion>
std::vector<Run> host_runs() {
    constexpr std::uint32_t parts = 64;
    constexpr std::uint32_t part_size = (1ull << 32) / parts;
    const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::vector<Run>> found(parts);
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker)
        threads.emplace_back([&found, worker, workers] {
            for (unsigned part = worker; part < parts; part += workers)
                append_runs<Conversion>(found[part], part * part_size,
                                        part * part_size + (part_size - 1));
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<Run> runs;
    for (const std::vector<Run>& part : found) runs.insert(runs.end(), part.begin(), part.end());
    return runs;
}

// The result of the run that an input lies in.
struct Looked {
    const Run* runs;
    std::uint32_t count;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        std::uint32_t low = 0;
        for (std::uint32_t high = count; high - low > 1;) {
            const std::uint32_t middle = low + (high - low) / 2;
            (runs[middle].first <= input ? low : high) = middle;
        }
        return runs[low].result;
    }
};

template <__nv_saturation_t saturation, cudaRoundMode rounding>
Fact against_host(const std::string& name, const std::string& row) {
    using Conversion = ToE8m0<saturation, rounding>;
    return {{"e8m0." + name, "__nv_cvt_float_to_e8m0, " + name + ", on the GPU is that on the host",
             row, all_patterns},
            [] {
                const std::vector<Run> runs = host_runs<Conversion>();
                const OnGpu<Run> copy(runs);
                return measure(all_patterns, OnPattern<Conversion>{},
                               Looked{copy.data(), static_cast<std::uint32_t>(runs.size())});
            }};
}

template <Target target>
Fact every_nan(const std::string& name) {
    return fact({"cvt." + name + ".nan",
                 "cvt.rn.satfinite." + name + "x2.f32 of NaN is 0x7F, whatever sign and payload",
                 "nv, te-specialised, megatron-round-up, triton-round-down", nans},
                ElementPair<target>{}, Always{0x7F7F});
}

}  // namespace

Facts facts_about_conversions() {
    Facts facts;
    facts.push_back(every_nan<Target::e4m3>("e4m3"));
    facts.push_back(every_nan<Target::e5m2>("e5m2"));
    facts.push_back(against_host<__NV_SATFINITE, cudaRoundPosInf>("rp.satfinite",
                                                                  "cuda-e8m0-rp-satfinite, nv"));
    facts.push_back(against_host<__NV_NOSAT, cudaRoundPosInf>("rp", "cuda-e8m0-rp"));
    facts.push_back(
        against_host<__NV_SATFINITE, cudaRoundZero>("rz.satfinite", "cuda-e8m0-rz-satfinite"));
    facts.push_back(against_host<__NV_NOSAT, cudaRoundZero>("rz", "cuda-e8m0-rz"));
    return facts;
}

}  // namespace mx::cuda::facts
