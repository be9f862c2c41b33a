// The embedded device "cpu": mxcheck's own production quantizer, behind the same table as any
// plug-in. Used by the device registry, by bench and by the device's tests. Linked in, so it
// exports no symbol.
#pragma once

#include <string_view>
#include <vector>

#include "device/abi/mx_device.h"

// The table; it lives as long as the program.
const mx_device_api* mx_cpu_device_api(void);

namespace mx::cpu {

// The instruction sets this program holds and this machine can run, best first: "AVX3" (AVX-512),
// "AVX2", "SSE4", "NEON", ... and last "SCALAR", which uses no vectors, or,
// with a later Highway than 1.0.3, "SSE2" or "NEON".
std::vector<std::string_view> cpu_targets();

// The instruction set in use.
std::string_view cpu_target();

// For tests and bench: uses that instruction set from now on, in the whole program. Returns false,
// and changes nothing, when the name is not one of cpu_targets(). "best" is the first of them.
bool set_cpu_target(std::string_view name);

}  // namespace mx::cpu
