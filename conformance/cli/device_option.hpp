// A device that a command takes beside its own work, and may do without. Used by accuracy and
// train.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conformance/cli/device_choice.hpp"

namespace mx::cli {

struct Subject {
    IsolatedDevice device;
    std::string name;
};

// Nothing where none is named.
inline Expected<std::optional<Subject>> open_subject(const DeviceChoice& choice,
                                                     std::uint64_t timeout_seconds) {
    if (choice.device.empty() && choice.command.empty()) return std::optional<Subject>();
    DeviceChoice named = choice;
    if (named.device.empty()) named.device = DeviceChoice().device;
    auto device = open_device(named, timeout_seconds);
    if (!device) return device.error();
    return std::optional(Subject{std::move(device).value(), shown_name(named)});
}

}  // namespace mx::cli
