// Where a device comes from: a function of this program, or a file, and how it is configured; and
// how long it may take. Made by the registry, opened by open_client or Device; says nothing about
// what the device can do.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "device/abi/mx_device.h"

namespace mx {

// Either get_api is set (built in) or path is.
struct DeviceSource {
    std::string name = {};         // "cpu", or the file name of the plug-in
    std::string description = {};  // one line for `list devices`
    mx_device_get_api_function get_api = nullptr;
    std::string path = {};
    std::string configuration = {};  // what open_configured gets, "" for `open`
};

struct Limits {
    std::chrono::milliseconds call = std::chrono::seconds(60);  // for one supports, run or close
    std::chrono::milliseconds open = std::chrono::seconds(60);
    // Bytes that the tensors of one call in place may take; 0: what is free.
    std::size_t memory_max = 0;
};

// "lib/mine.so:bug=x" is the device "lib/mine.so" with the configuration "bug=x". It begins behind
// the first ':' that a key and '=' follow: letters, digits, '_' and '-'.
struct DeviceText {
    std::string_view device;
    std::string_view configuration;  // "" without one
};
DeviceText split_device_text(std::string_view text);

}  // namespace mx
