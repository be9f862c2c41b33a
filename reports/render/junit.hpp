// JUnit XML for continuous integration: one test case per case of the run. Used by the
// program; a pure function of the run. Must not touch files.
#pragma once

#include <string>

#include "conformance/results/record.hpp"

namespace mx::reports {

std::string render_junit(const results::Run& run);

}  // namespace mx::reports
