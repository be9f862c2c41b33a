// The clocks of the GPU while something is measured, from NVIDIA's management library where the
// driver brings it. Used by the benchmark.
#pragma once

#include <string>

namespace mx::cuda {

// "SM 1980 MHz, memory 3201 MHz", or why that is not known.
std::string clocks_text();

}  // namespace mx::cuda
