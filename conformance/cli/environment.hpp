// What this program is: version, commit, and the devices that it carries.
#pragma once

#include <string>

#include "conformance/session/provenance.hpp"
#include "device/host/device_registry.hpp"

namespace mx::cli {

// "mxcheck 0.1.0 (commit 1a2b3c4, clean)"
std::string version_text();
std::string program_version();
const session::Build& this_build();

// The devices in this binary.
DeviceRegistry built_in_devices();

// A device that a build may lack.
struct OptionalDevice {
    const char* name;
    const char* file;         // of the plug-in, "" for what is part of the program
    const char* description;  // for lists
    const char* needs;        // of a build that has it
    const char* sweeps_from;  // the level from which a run has sweeps of it, "" for none
    const char* axes;         // that it quantizes along, "" where it does not quantize
    const char* place;        // of tensors in the memory where it computes
};
inline constexpr OptionalDevice optional_devices[] = {
    {"nvhost", "", "NVIDIA's cuda_fp8.h compiled for the host, no GPU needed",
     "NVIDIA's cuda_fp8.h (set CUDA_HOME and configure again)", "", "row col", "host"},
    {"cuda", "mx_cuda.so", "mxcheck's kernels on an NVIDIA GPU: Hopper, and Blackwell unverified",
     "nvcc of CUDA 12.9 or later", "exhaustive", "row col tile both", "cuda"},
    {"hip", "mx_hip.so",
     "general kernels of cuda on an AMD GPU: unverified, no such GPU has run them",
     "hipcc of ROCm (5.2.3 was seen to compile it) and libamdhip64", "", "row col tile both",
     "hip"},
    {"cublaslt", "mx_cublaslt.so", "NVIDIA's GEMM library on a GPU: Blackwell unverified",
     "cublasLt.h and libcublasLt of CUDA 12.9 or later", "quick", "", "cuda"},
    {"hopper", "mx_hopper.so", "MX GEMMs on a Hopper GPU, which has no MX tensor cores",
     "nvcc, cublasLt.h and libcublasLt of CUDA 12.9 or later (it runs on GPUs of compute "
     "capability 9.0 alone)",
     "quick", "", "cuda"},
};

// In whose memory a device of ours computes: "host", "cuda" or "hip"; of any other "host".
std::string place_of_device(const std::string& name);

// The folder of this executable, "" if it cannot be found out.
std::string executable_folder();

// Where things may be kept that can be made again: MXCHECK_CACHE, or mxcheck in the user's folder
// for such things.
std::string cache_folder();

}  // namespace mx::cli
