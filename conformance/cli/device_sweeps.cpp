// See device_sweeps.hpp.
#include "conformance/cli/device_sweeps.hpp"

#include "conformance/sweep/gemm_sweeps.hpp"

namespace mx::cli {

std::vector<sweep::GpuSweep> device_sweeps(const DeviceChoice& choice, const std::string& level) {
    if (!choice.command.empty()) return {};
    if (choice.device == "cuda" && level == "exhaustive") return sweep::gpu_sweeps();
    if (choice.device != "cublaslt" || level == "smoke") return {};
    const sweep::DeviceOpener open = [choice]() -> Expected<Device> {
        const auto source = device_source(choice);
        if (!source) return source.error();
        return Device::open(source.value());
    };
    return sweep::gemm_sweeps(
        open, level == "quick" ? sweep::GemmEffort::quick : sweep::GemmEffort::full);
}

}  // namespace mx::cli
