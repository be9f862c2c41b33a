// See device_sweeps.hpp.
#include "conformance/cli/device_sweeps.hpp"

#include "conformance/sweep/gemm_sweeps.hpp"

namespace mx::cli {

std::vector<sweep::GpuSweep> device_sweeps(const DeviceChoice& choice, const std::string& level) {
    if (!choice.command.empty()) return {};
    if (choice.device == "cuda" && level == "exhaustive") return sweep::gpu_sweeps();
    const bool multiplies_mx = choice.device == "hopper";
    if ((choice.device != "cublaslt" && !multiplies_mx) || level == "smoke") return {};
    const sweep::DeviceOpener open = [choice]() -> Expected<Device> {
        const auto source = device_source(choice);
        if (!source) return source.error();
        return Device::open(source.value());
    };
    const auto effort = level == "quick" ? sweep::GemmEffort::quick : sweep::GemmEffort::full;
    std::vector<sweep::GpuSweep> sweeps =
        multiplies_mx ? sweep::mx_gemm_sweeps(open, effort) : sweep::gemm_sweeps(open, effort);
    for (sweep::GpuSweep& sweep : sweeps) sweep.device = choice.device;
    return sweeps;
}

}  // namespace mx::cli
