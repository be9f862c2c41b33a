// The probes: rows that machines of different arithmetic answer differently. Which field each is
// made for stands beside it; what it tells, gemm_fit.cpp finds out.
// Used by gemm_identify.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/data/gemm_codes.hpp"
#include "conformance/identify/gemm_machine.hpp"

namespace mx::identify {

using GemmProbes = std::vector<GemmProbe>;

// With alpha 1, without C, all scales 1: the sum itself.
GemmProbes sum_probes(const GemmProblem& setting, std::int64_t depth);
// NaN, Inf and zeros of both signs.
GemmProbes special_probes(const GemmProblem& setting, std::int64_t depth);
// With C, and alpha and beta of 1.
GemmProbes addend_probes(const GemmProblem& setting, std::int64_t depth);
// Alpha, beta and C that round wherever they can.
GemmProbes factor_probes(const GemmProblem& setting, std::int64_t depth);
// Scales that are not 1, with and without C; none where the setting has no scales.
GemmProbes scale_probes(const GemmProblem& setting, std::int64_t depth);
// For K so long that a device may split it.
GemmProbes split_probes(const GemmProblem& setting, std::int64_t depth);

// Random rows of one family. Every seed gives others.
GemmProbes random_probes(const GemmProblem& setting, std::int64_t depth, std::size_t count,
                         GemmData data, std::uint64_t seed);

// Random scales for all blocks.
void add_scales(const GemmProblem& setting, std::uint64_t seed, GemmProbes& probes);

// The length of a part of a split that the answer to a split probe points to; 0 if to none.
std::int64_t part_seen(const GemmProblem& setting, const GemmProbe& probe, Code answer);

}  // namespace mx::identify
