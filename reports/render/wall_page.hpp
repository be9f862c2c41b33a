// The wall of libraries and devices, and the page of findings. Used by the program.
#pragma once

#include <string>

#include "reports/model/wall.hpp"

namespace mx::reports {

std::string render_wall_html(const Wall& wall);
std::string render_wall_markdown(const Wall& wall);
std::string render_findings_markdown(const Wall& wall);

}  // namespace mx::reports
