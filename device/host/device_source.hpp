// Where a device comes from: a function of this program, or a file. Made by the registry, opened by
// Device; says nothing about what the device can do.
#pragma once

#include <string>

#include "device/abi/mx_device.h"

namespace mx {

// Either get_api is set (built in) or path is.
struct DeviceSource {
    std::string name = {};         // "cpu", or the file name of the plug-in
    std::string description = {};  // one line for `list devices`
    mx_device_get_api_function get_api = nullptr;
    std::string path = {};
    std::string argument = {};  // built in only, e.g. a command: where `open` stores the handle it
                                // finds this text's address; NULL without one
};

}  // namespace mx
