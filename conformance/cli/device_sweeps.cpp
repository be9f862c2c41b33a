// See device_sweeps.hpp.
#include "conformance/cli/device_sweeps.hpp"

#include <algorithm>

#include "conformance/cli/environment.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/sweep/gemm_sweeps.hpp"

namespace mx::cli {
namespace {

bool has_sweeps(const DeviceChoice& choice, const std::string& level) {
    if (!choice.command.empty()) return false;
    const auto wanted = std::ranges::find(levels, level);
    for (const OptionalDevice& device : optional_devices)
        if (choice.device == device.name && *device.sweeps_from != '\0')
            return wanted != levels.end() &&
                   wanted >= std::ranges::find(levels, std::string_view(device.sweeps_from));
    return false;
}

}  // namespace

std::vector<sweep::GpuSweep> device_sweeps(const DeviceChoice& choice, const std::string& level) {
    if (!has_sweeps(choice, level)) return {};
    if (choice.device == "cuda") return sweep::gpu_sweeps();
    const bool multiplies_mx = choice.device == "hopper";
    const auto source = device_source(choice);
    const auto effort = level == "quick" ? sweep::GemmEffort::quick : sweep::GemmEffort::full;
    std::vector<sweep::GpuSweep> sweeps =
        multiplies_mx ? sweep::mx_gemm_sweeps(source, effort) : sweep::gemm_sweeps(source, effort);
    for (sweep::GpuSweep& sweep : sweeps) sweep.device = choice.device;
    return sweeps;
}

std::string who_has_sweeps() {
    std::string text;
    for (const OptionalDevice& device : optional_devices)
        if (*device.sweeps_from != '\0')
            text += (text.empty() ? "" : ", ") + std::string(device.name) +
                    (text.empty() ? " has them" : "") + " from level " + device.sweeps_from + " on";
    return text;
}

}  // namespace mx::cli
