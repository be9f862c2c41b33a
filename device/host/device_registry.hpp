// From what the user typed to a device. An object that the command line owns: it adds the devices
// that were built in. Opens nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/host/device_source.hpp"
#include "reference/base/status.hpp"

namespace mx {

class DeviceRegistry {
public:
    // A built-in device {name, description, get_api}. A second one of the same name replaces it.
    void add(DeviceSource built_in);

    // The name of a built-in device; otherwise a path when it has a '/' or ends in ".so". A
    // configuration may follow either: "./mine.so:KEY=VALUE". Whether the file is there and is a
    // device shows when it is opened.
    Expected<DeviceSource> resolve(std::string_view text) const;

    // The built-in devices, in the order they were added.
    const std::vector<DeviceSource>& list() const { return built_in_; }

private:
    std::vector<DeviceSource> built_in_;
};

}  // namespace mx
