// See grid.hpp.
#include "conformance/selftest/grid.hpp"

#include <algorithm>

namespace mx::selftest {
namespace {

std::string padded(const Cells& cells, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += (i == 0 ? "" : "  ") + cells[i];
        if (i + 1 < cells.size()) line.append(widths[i] - cells[i].size(), ' ');
    }
    return line + "\n";
}

std::string markdown_row(const Cells& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line.append(" ").append(cell).append(" |");
    return line + "\n";
}

}  // namespace

std::string aligned(const Grid& grid) {
    std::vector<std::size_t> widths;
    for (const std::string& head : grid.head) widths.push_back(head.size());
    for (const Cells& row : grid.rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text = padded(grid.head, widths);
    for (const Cells& row : grid.rows) text += padded(row, widths);
    return text;
}

std::string markdown(const Grid& grid) {
    std::string text = markdown_row(grid.head) + markdown_row(Cells(grid.head.size(), "---"));
    for (const Cells& row : grid.rows) text += markdown_row(row);
    return text;
}

}  // namespace mx::selftest
