// What this program is and where it runs: version, commit, CPU, operating system, tables, devices.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "device/host/device_registry.hpp"

namespace mx::cli {

// "mxcheck 0.1.0 (commit 1a2b3c4, clean)"
std::string version_text();
std::string program_version();
std::string program_commit();
bool is_dirty();

// CPU, cores, operating system, compiler. What cannot be found out is "unknown".
std::vector<results::Field> environment_facts();

// SHA-256 of the format table, the dialect table and the suites, as text.
std::vector<results::Field> table_hashes();

// SHA-256 of the bytes of a file, "unknown" if it cannot be read.
std::string file_hash(const std::string& path);

// Now, in UTC: "2026-11-21T08:00:00Z".
std::string utc_now();

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
};
inline constexpr OptionalDevice optional_devices[] = {
    {"nvhost", "", "NVIDIA's cuda_fp8.h compiled for the host, no GPU needed",
     "NVIDIA's cuda_fp8.h (set CUDA_HOME and configure again)", "", "row col"},
    {"cuda", "mx_cuda.so", "mxcheck's kernels on an NVIDIA GPU: Hopper, and Blackwell unverified",
     "nvcc of CUDA 12.9 or later", "exhaustive", "row col tile both"},
    {"cublaslt", "mx_cublaslt.so", "NVIDIA's GEMM library on a GPU: Blackwell unverified",
     "cublasLt.h and libcublasLt of CUDA 12.9 or later", "quick", ""},
    {"hopper", "mx_hopper.so", "MX GEMMs on a Hopper GPU, which has no MX tensor cores",
     "nvcc, cublasLt.h and libcublasLt of CUDA 12.9 or later (it runs on GPUs of compute "
     "capability 9.0 alone)",
     "quick", ""},
};

// No sum says what GELU gives.
inline constexpr const char* gelu_text = "judged under a model only";

// Plug-ins of ours compute on a GPU.
bool is_our_gpu_device(const std::string& name);

// The folder of this executable, "" if it cannot be found out.
std::string executable_folder();

}  // namespace mx::cli
