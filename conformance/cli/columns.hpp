// How wide standard output is, and text broken to fit it. Used by the commands that print tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mx::cli {

// What COLUMNS says, else the width of the terminal, else 80, as of a pipe; at least 40.
std::size_t output_width();

// Lines of at most `width`, broken at blanks. A word that is longer is broken after a '/' or a ':',
// as those in paths, and nowhere else. Never empty. `taken` is what the first line has less.
std::vector<std::string> lines_of(std::string_view text, std::size_t width, std::size_t taken = 0);

// `head`, then the text to its right: lines_of, each below the first. A head that reaches into the
// text's column shortens the first line.
std::string beside(std::string_view head, std::size_t column, std::string_view text,
                   std::size_t width);

}  // namespace mx::cli
