// The oracle's C library dressed as a device: what it answers, the harness must find clean. The
// library walks the tensors on its own, so the harness's way of laying out blocks is checked as
// well. Used by the self-test; never one of the devices a user can name.
#pragma once

#include "device/abi/mx_device.h"

namespace mx::selftest {

// The table; it lives as long as the program.
const mx_device_api* oracle_device_api();

}  // namespace mx::selftest
