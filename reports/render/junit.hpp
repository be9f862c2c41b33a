// JUnit XML for continuous integration: one test case per case of the run. Used by the
// program; a pure function of its material. Must not touch files.
#pragma once

#include <string>

#include "reports/model/material.hpp"

namespace mx::reports {

std::string render_junit(const Material& material);

}  // namespace mx::reports
