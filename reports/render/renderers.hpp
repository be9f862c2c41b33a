// The formats a run can be printed in: one row each. Used by the program and by tests that hold
// every format to the same promises. Must not know where the text goes.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "reports/render/html.hpp"
#include "reports/render/junit.hpp"
#include "reports/render/markdown.hpp"

namespace mx::reports {

struct Renderer {
    std::string_view name;       // "html"
    std::string_view file_name;  // "report.html"
    std::string (*render)(const Material& material);
};

inline constexpr std::array renderers{
    Renderer{"html", "report.html", render_html},
    Renderer{"markdown", "report.md", render_markdown},
    Renderer{"junit", "junit.xml", render_junit},
};

}  // namespace mx::reports
