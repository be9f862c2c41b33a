// Where a search begins, and the data that it goes on with. Used by gemm_search.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/identify/gemm_machine.hpp"
#include "conformance/identify/gemm_probes.hpp"

namespace mx::identify {

// Machines of every kind that a row can be, with numbers of no row in particular: from each of them
// the fields lead on.
std::vector<GemmMachine> beginnings_of(const GemmProblem& setting);

// Rows in which a few products or all of them lie over few or many binades, with and without what
// takes one away again: where machines that look alike differ. Every seed gives others.
GemmProbes adversarial_probes(const GemmProblem& setting, std::int64_t depth, std::size_t count,
                              std::uint64_t seed);

}  // namespace mx::identify
