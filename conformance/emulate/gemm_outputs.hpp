// All outputs of a GEMM of files, by as many threads as there are. Used by mxcheck gemm.
#pragma once

#include <cstdint>
#include <functional>

#include "conformance/emulate/gemm_tensor.hpp"

namespace mx::emulate {

// One piece, of some ten milliseconds; called by many threads at once.
using OutputWork = std::function<void(gemm::OutputRange)>;

// Told how many outputs are done, by the thread that called; answers whether to go on.
using OutputWatch = std::function<bool(std::int64_t done)>;

// Each output once. 0 jobs are one for each core. Returns how many were done.
std::int64_t do_outputs(const TensorGemm& problem, std::uint64_t jobs, const OutputWork& work,
                        const OutputWatch& watch);

}  // namespace mx::emulate
