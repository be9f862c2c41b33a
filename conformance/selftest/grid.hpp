// A table of words as text and as Markdown. Used by the kill table.
#pragma once

#include <string>
#include <vector>

namespace mx::selftest {

using Cells = std::vector<std::string>;
struct Grid {
    Cells head;
    std::vector<Cells> rows;
};

// Columns under each other.
std::string aligned(const Grid& grid);
std::string markdown(const Grid& grid);

}  // namespace mx::selftest
