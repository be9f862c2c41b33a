// From a description to a plug-in: verilates, generates, compiles, in a folder that is kept for
// next time; descriptions that verilate the same share that. Starts verilator and the compiler;
// opens no device.
#pragma once

#include <string>

#include "device/rtl/generate.hpp"

namespace mx::rtl {

// The path of the plug-in in `cache`. A description, a source or a Verilator that changes makes
// another one.
Expected<std::string> built(const Description& description, Trace trace, const std::string& cache);

// Verilator and the compiler with their versions; as Error which of them is missing.
Expected<std::string> tools();

}  // namespace mx::rtl
