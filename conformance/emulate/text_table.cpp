// See text_table.hpp.
#include "conformance/emulate/text_table.hpp"

#include <algorithm>

#include "reference/spec/assert.hpp"

namespace mx::emulate {
namespace {

constexpr std::string_view indent = "  ";

std::string padded(const std::string& cell, std::size_t width, Align align) {
    const std::string blanks(width - cell.size(), ' ');
    return align == Align::right ? blanks + cell : cell + blanks;
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
    MX_ASSERT_COMPARE(cells.size(), ==, columns_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::print() const {
    std::vector<std::string> headers;
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        headers.push_back(columns_[column].header);
        widths.push_back(headers.back().size());
        for (const auto& row : rows_) widths.back() = std::max(widths.back(), row[column].size());
    }
    std::string text;
    const auto add_line = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t column = 0; column < cells.size(); ++column)
            line +=
                std::string(indent) + padded(cells[column], widths[column], columns_[column].align);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    add_line(headers);
    for (const auto& row : rows_) add_line(row);
    return text;
}

std::string paragraph(std::string_view text) {
    std::string result;
    std::string line(indent);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        if (line.size() + 1 + word.size() > text_width) {
            result += line + "\n";
            line = std::string(indent) + std::string(indent);
        }
        if (line.back() != ' ') line += ' ';
        line += word;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result + line + "\n";
}

void LaneNotes::add(int lane, const std::string& note) {
    const auto same = std::find_if(notes_.begin(), notes_.end(),
                                   [&note](const Note& earlier) { return earlier.text == note; });
    if (same == notes_.end())
        notes_.push_back({note, {lane}});
    else
        same->lanes.push_back(lane);
}

std::string LaneNotes::print() const {
    std::string text;
    for (const Note& note : notes_) text += paragraph(lanes_text(note.lanes) + ": " + note.text);
    return text;
}

std::string lanes_text(const std::vector<int>& lanes) {
    std::string text = lanes.size() == 1 ? "lane " : "lanes ";
    for (std::size_t first = 0; first < lanes.size();) {
        std::size_t last = first;
        while (last + 1 < lanes.size() && lanes[last + 1] == lanes[last] + 1) ++last;
        if (first > 0) text += ", ";
        text += std::to_string(lanes[first]);
        if (last > first) text += "-" + std::to_string(lanes[last]);
        first = last + 1;
    }
    return text;
}

}  // namespace mx::emulate
