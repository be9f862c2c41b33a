// A hardware design as a device: from "rtl:FILE" to a plug-in that the host opens as any other.
// Used by the command line.
#pragma once

#include <string>
#include <string_view>

#include "device/host/device_source.hpp"
#include "reference/base/status.hpp"

namespace mx {

// Whether the user names a design.
bool is_design(std::string_view device);

// Builds what is not in `cache` yet. Behind the file's name may stand ":KEY=VALUE,...": a parameter
// or a constant of the description, or trace=FILE.vcd (or .fst).
Expected<DeviceSource> design_device(std::string_view device, const std::string& cache);

// What builds a design here, with versions; as Error what is missing.
Expected<std::string> design_tools();

}  // namespace mx
