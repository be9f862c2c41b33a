// A check of TOML text that its reader needs to be made first. Used by the readers of waivers and
// of designs.
#pragma once

#include <cstddef>
#include <string_view>

namespace mx {

// Where a character beyond ASCII stands outside texts and comments, which TOML allows nowhere else;
// npos when there is none. toml++ has undefined behaviour where it meets one while it looks for a
// blank (is_non_ascii_horizontal_whitespace of 3.3 ends in __builtin_unreachable).
std::size_t stray_toml_character(std::string_view text);

}  // namespace mx
