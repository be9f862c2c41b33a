// Text in columns and paragraphs, 120 characters wide at most. Used by the explanations; knows no
// numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mx::emulate {

inline constexpr std::size_t text_width = 120;

enum class Align { left, right };
struct Column {
    std::string header;
    Align align = Align::left;
};

// Rows under headers, each column as wide as its longest cell, two blanks between them.
class TextTable {
public:
    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
    // One cell for each column.
    void add(std::vector<std::string> cells);
    std::string print() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// A line of its own behind an empty one.
inline std::string heading(const std::string& text) {
    return "\n" + text + "\n";
}

// Lines of at most text_width, broken at blanks, each after the first one indented by two more.
std::string paragraph(std::string_view text);

// Remarks about lanes; the same remark about several lanes is one line, in the order first made.
class LaneNotes {
public:
    void add(int lane, const std::string& note);
    std::string print() const;

private:
    struct Note {
        std::string text;
        std::vector<int> lanes;
    };
    std::vector<Note> notes_;
};

// "lane 3", "lanes 0-2, 5, 7-31". The lanes stand in growing order.
std::string lanes_text(const std::vector<int>& lanes);

}  // namespace mx::emulate
