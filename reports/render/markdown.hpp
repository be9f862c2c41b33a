// A short text for a pull request: the verdict, the matrix, the largest clusters. Used by the
// program; a pure function of its material. Must not touch files.
#pragma once

#include <string>

#include "reports/model/material.hpp"

namespace mx::reports {

std::string render_markdown(const Material& material);

}  // namespace mx::reports
