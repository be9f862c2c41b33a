// A device that is a command: every call of the table becomes a request of protocol.md. Used by the
// command line for --device-cmd. Runs in a process of its own, as open_client makes it: when the
// command ends in the middle of a call, that process ends the same way.
#pragma once

#include <string>

#include "device/abi/mx_device.h"
#include "device/host/device_source.hpp"

// Its configuration is the text of the command, as it stands.
const mx_device_api* mx_subprocess_device_api(void);

namespace mx {

// What there is to open of a command.
DeviceSource command_device(const std::string& command);

}  // namespace mx
