// The record of a whole-domain sweep on a GPU: from how often it differs to a verdict. A sweep is
// no case: it asks code inside this program, compiled from the same sources as the plug-in, over a
// domain that fits through no ABI. Used by the program, after the cases of a run.
#pragma once

#include "conformance/results/record.hpp"
#include "conformance/sweep/gpu_sweep.hpp"

namespace mx {

// What --suite calls the sweeps.
inline constexpr const char* sweep_suite = "sweep";

// "sweep map=\"device elements mxfp8-e4m3 ocp\"", what stands for a case.
std::string text_of(const sweep::GpuSweep& sweep);

// Of a sweep that was asked to its end, or that the GPU failed; `index` is left for the caller.
results::CaseResult result_of(const sweep::GpuSweep& sweep, const sweep::Gpu& gpu,
                              const Expected<sweep::SweepAnswer>& answer);

// Of a sweep that cannot be asked here.
results::CaseResult not_supported(const sweep::GpuSweep& sweep, const std::string& reason);

// "" where the GPU can be asked, otherwise why not.
std::string missing_on(const sweep::Gpu& gpu, const sweep::GpuSweep& sweep);

}  // namespace mx
