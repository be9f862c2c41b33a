// GEMMs of a device against the models of its arithmetic: which are asked, as sweeps on a GPU.
// Used by `mxcheck run` for a device that multiplies. Must not include a CUDA header.
#pragma once

#include <string>
#include <vector>

#include "conformance/sweep/gemm_check.hpp"
#include "conformance/sweep/gpu_sweep.hpp"

namespace mx::sweep {

// GEMMs of one kind: the same types, scales and accumulation, over data, C, alpha and shapes.
struct GemmFamily {
    std::string name;    // "gemm e4m3 x e5m2 to bf16, tensor scales, fast"
    std::string domain;  // "9 kinds of data, ..."
    std::vector<DrawnGemm> gemms;
};

// quick: some 10^7 outputs, in seconds. full: more than 10^9.
enum class GemmEffort { quick, full };
std::vector<GemmFamily> gemm_families(GemmEffort effort);

// Each asks every algorithm that the device lists. The device is opened once, when the first sweep
// is asked, and a source that is an error is told then. It takes tensors in GPU memory and runs in
// this process, so that one that crashes takes the program along.
std::vector<GpuSweep> gemm_sweeps(const Expected<DeviceSource>& source, GemmEffort effort);

// The same for MX factors, of FP8 with scales of blocks of 32.
std::vector<GemmFamily> mx_gemm_families(GemmEffort effort);
std::vector<GpuSweep> mx_gemm_sweeps(const Expected<DeviceSource>& source, GemmEffort effort);

// The sweeps of a device that this program carries, by its name: the kernels of `cuda` over whole
// domains, the GEMMs of `cublaslt` and the MX ones of `hopper`. None of any other.
std::vector<GpuSweep> sweeps_of(const std::string& device, const Expected<DeviceSource>& source,
                                GemmEffort effort);

}  // namespace mx::sweep
