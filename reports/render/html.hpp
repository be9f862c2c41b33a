// One self-contained page that opens from disk without a network. Used by the
// program; a pure function of the run. Must not touch files.
#pragma once

#include <string>

#include "conformance/results/record.hpp"

namespace mx::reports {

std::string render_html(const results::Run& run);

}  // namespace mx::reports
