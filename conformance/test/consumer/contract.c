/* Includes the device contract by its path in the package, as C. Built by consumer_test from the
 * package alone; only has to compile. */
#include "device/abi/mx_device.h"

const unsigned contract_version = MX_DEVICE_ABI_VERSION;
