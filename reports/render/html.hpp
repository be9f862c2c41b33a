// One self-contained page that opens from disk without a network. Used by the
// program; a pure function of its material. Must not touch files.
#pragma once

#include <string>

#include "reports/model/material.hpp"

namespace mx::reports {

std::string render_html(const Material& material);

}  // namespace mx::reports
