// What the child process of IsolatedDevice does: opens the device and answers until told to end.
// The only place where a plug-in's code runs in a conformance run.
#pragma once

#include "device/host/child_process.hpp"
#include "device/host/device_source.hpp"
#include "device/host/shared_memory.hpp"

namespace mx {

// Returns when the parent closes the channel or is gone.
void serve_device(const DeviceSource& source, ParentChannel parent, SharedMemory& memory);

}  // namespace mx
