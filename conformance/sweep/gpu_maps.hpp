// What a GPU is asked over whole domains, and what the exact oracle says to the same: the fast
// oracle compiled for the GPU, and the GPU's own conversion instructions. Used by `mxcheck prove
// --gpu`.
#pragma once

#include <cstdint>
#include <functional>

#include "conformance/sweep/gpu_runs.hpp"

namespace mx::sweep {

struct NamedMap {
    std::string name;    // that of the proof with the same answers; of an instruction "ptx lane"
    std::string domain;  // "all 2^32 codes of f32"
    GpuMap map;
    std::function<std::vector<exact::Run>()> exact_runs;
    int first_architecture = 0;  // that has it
};

std::vector<NamedMap> gpu_maps();

// Inputs on which two lists of runs over the same domain differ, and the first few of them.
struct RunDifferences {
    std::uint64_t count = 0;
    struct Place {
        std::uint32_t input = 0;
        std::uint64_t actual = 0;
        std::uint64_t expected = 0;
    };
    std::vector<Place> first;
};
RunDifferences differences(const std::vector<exact::Run>& actual,
                           const std::vector<exact::Run>& expected);

// How many inputs the runs cover, from 0 on.
std::uint64_t inputs_of(const std::vector<exact::Run>& runs);

}  // namespace mx::sweep
