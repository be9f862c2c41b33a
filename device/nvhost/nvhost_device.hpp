// The built-in device "nvhost": cuda_fp8.h compiled for the host, NVIDIA's own arithmetic
// on a machine with no GPU. Used by whoever lists the built-in devices; built only where the CUDA
// headers are. Knows nothing of expected bits.
#pragma once

#include "device/abi/mx_device.h"

extern "C" const mx_device_api* mx_nvhost_device_api(void);
