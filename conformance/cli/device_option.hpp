// A device that a command takes beside its own work, and may do without. Used by accuracy and
// train.
#pragma once

#include <cstdint>
#include <optional>

#include "conformance/accuracy/request.hpp"
#include "conformance/cli/device_choice.hpp"

namespace mx::cli {

using accuracy::NamedClient;

// Nothing where none is named.
inline Expected<std::optional<NamedClient>> open_named(const DeviceChoice& choice,
                                                       std::uint64_t timeout_seconds) {
    if (choice.device.empty() && choice.command.empty()) return std::optional<NamedClient>();
    DeviceChoice named = choice;
    if (named.device.empty()) named.device = DeviceChoice().device;
    auto client = open_device(named, timeout_seconds);
    if (!client) return client.error();
    return std::optional(NamedClient{std::move(client).value(), shown_name(named)});
}

}  // namespace mx::cli
