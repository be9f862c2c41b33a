// Answers held against the right bits, as JSON: made by the judge of conformance/run, so that the
// library and a run say the same of the same bits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/library/oracle_call.hpp"

namespace mx::library {

// Of calls whose outputs hold the answers.
std::string comparison_of(const std::vector<OracleCall>& calls, std::size_t places_max);

}  // namespace mx::library
