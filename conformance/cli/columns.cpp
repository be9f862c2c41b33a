// See columns.hpp.
#include "conformance/cli/columns.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace mx::cli {
namespace {

constexpr std::size_t width_of_pipes = 80, width_min = 40;

std::size_t width_asked_for() {
    const char* const columns = std::getenv("COLUMNS");
    std::size_t width = 0;
    if (columns == nullptr) return 0;
    const std::string_view text = columns;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    return error == std::errc{} && end == text.data() + text.size() ? width : 0;
}

std::size_t width_of_terminal() {
    winsize size{};
    return ioctl(1, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Where a word that is longer than the width may end: behind the last '/' or ':' within it. The
// whole word where there is none.
std::size_t piece_of(std::string_view word, std::size_t width) {
    if (word.size() <= width) return word.size();
    const std::size_t mark = word.substr(0, width).find_last_of("/:");
    return mark == std::string_view::npos ? word.size() : mark + 1;
}

}  // namespace

std::size_t output_width() {
    std::size_t width = width_asked_for();
    if (width == 0) width = width_of_terminal();
    return std::max(width == 0 ? width_of_pipes : width, width_min);
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width, std::size_t taken) {
    std::vector<std::string> lines(1);
    bool is_word_begin = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        const std::string_view piece = word.substr(0, piece_of(word, width));
        const std::string_view blank = is_word_begin && !lines.back().empty() ? " " : "";
        const std::size_t used = lines.back().size() + (lines.size() == 1 ? taken : 0);
        if (used + blank.size() + piece.size() > width && used > 0)
            lines.emplace_back(piece);
        else
            lines.back() += std::string(blank) + std::string(piece);
        is_word_begin = piece.size() == word.size();
        text.remove_prefix(std::min(piece.size() + (is_word_begin ? 1 : 0), text.size()));
    }
    return lines;
}

std::string beside(std::string_view head, std::size_t column, std::string_view text,
                   std::size_t width) {
    const std::size_t room = width > column + width_min / 2 ? width - column : width_min / 2;
    const std::size_t taken = head.size() < column ? 0 : head.size() + 1 - column;
    std::string result(head);
    result += std::string(column + taken - head.size(), ' ');
    const std::vector<std::string> lines = lines_of(text, room, taken);
    for (std::size_t i = 0; i < lines.size(); ++i)
        result += (i == 0 ? "" : "\n" + std::string(column, ' ')) + lines[i];
    return result + "\n";
}

}  // namespace mx::cli
