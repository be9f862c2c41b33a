// A device that is a command: every call of the table becomes a request of protocol.md. Used by the
// command line for --device-cmd. Runs in a process of its own (IsolatedDevice): when the command
// ends in the middle of a call, that process ends the same way.
#pragma once

#include "device/abi/mx_device.h"

// Its configuration is the text of the command, as it stands.
const mx_device_api* mx_subprocess_device_api(void);
