// A short text for a pull request: the verdict, the matrix, the largest clusters. Used by the
// program; a pure function of the run. Must not touch files.
#pragma once

#include <string>

#include "conformance/results/record.hpp"

namespace mx::reports {

std::string render_markdown(const results::Run& run);

}  // namespace mx::reports
