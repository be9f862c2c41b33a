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
    for (const OptionalDevice& device : optional_devices)
        if (choice.device == device.name && *device.sweeps_from != '\0')
            return level_holds(level, device.sweeps_from);
    return false;
}

}  // namespace

std::vector<sweep::GpuSweep> device_sweeps(const DeviceChoice& choice, const std::string& level) {
    if (!has_sweeps(choice, level)) return {};
    const auto effort = level == "quick" ? sweep::GemmEffort::quick : sweep::GemmEffort::full;
    return sweep::sweeps_of(choice.device, device_source(choice), effort);
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
