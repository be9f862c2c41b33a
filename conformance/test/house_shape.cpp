// House rules about size: lines of a file, columns of a line, lines of a function. Functions are
// found by their braces; a table or a class may be as long as its file.
#include <algorithm>

#include "conformance/test/house_rules.hpp"

namespace mx::house {
namespace {

constexpr int file_lines_max = 800;
constexpr int columns_max = 100;
constexpr int function_lines_max = 70;

// Columns as a reader counts them: UTF-8 continuation bytes take no column.
int columns_of(std::string_view line) {
    return static_cast<int>(std::count_if(line.begin(), line.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u;
    }));
}

// Preprocessor lines and their continuations, turned to spaces: their braces are not ours.
std::string without_preprocessor(std::string_view code) {
    std::string result(code);
    std::size_t at = 0;
    bool continued = false;
    for (std::string_view line : lines_of(code)) {
        const std::size_t first = line.find_first_not_of(" \t");
        const bool directive = continued || (first != std::string_view::npos && line[first] == '#');
        if (directive) std::fill_n(result.begin() + static_cast<long>(at), line.size(), ' ');
        continued = directive && line.ends_with('\\');
        at += line.size() + 1;
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// The word at `position` stands alone.
bool has_word(std::string_view text, std::string_view word, std::size_t& position) {
    for (position = text.find(word); position != std::string_view::npos;
         position = text.find(word, position + 1)) {
        const std::size_t end = position + word.size();
        const bool starts = position == 0 || !is_identifier_character(text[position - 1]);
        if (starts && (end == text.size() || !is_identifier_character(text[end]))) return true;
    }
    return false;
}

// What stands before an opening brace outside any function: does it open a function's body?
bool opens_function(std::string_view head) {
    head = trimmed(head);
    std::size_t position = 0;
    if (has_word(head, "namespace", position)) return false;
    for (std::string_view word : {"struct", "class", "union", "enum"})
        if (has_word(head, word, position) && head.find('(', position) == std::string_view::npos)
            return false;
    const std::size_t close = head.rfind(')');
    if (close == std::string_view::npos) return false;
    const std::string_view tail = trimmed(head.substr(close + 1));
    return tail.empty() || is_identifier_character(tail[0]) ||
           std::string_view("&-:,[").find(tail[0]) != std::string_view::npos;
}

struct Function {
    int first_line = 0;
    int last_line = 0;
    std::string head;
};

// Walks over the code of one file, brace by brace.
class FunctionFinder {
public:
    explicit FunctionFinder(std::string_view code) : code_(without_preprocessor(code)) {}

    std::vector<Function> run() {
        for (at_ = 0; at_ < code_.size(); ++at_) depth_ > 0 ? step_inside() : step_outside();
        return std::move(functions_);
    }

private:
    std::string_view head() const {
        return std::string_view(code_).substr(head_start_, at_ - head_start_);
    }

    void step_inside() {
        if (code_[at_] == '{') ++depth_;
        if (code_[at_] != '}' || --depth_ > 0) return;
        if (counts_) {
            current_.last_line = line_at(code_, at_);
            functions_.push_back(current_);
        }
        if (parentheses_ == 0) head_start_ = at_ + 1;
    }

    void step_outside() {
        switch (code_[at_]) {
            case '(':
                ++parentheses_;
                break;
            case ')':
                parentheses_ = std::max(0, parentheses_ - 1);
                break;
            case '{':
                open_brace();
                break;
            case '}':
                head_start_ = at_ + 1;
                break;
            case ':':
                skip_access_specifier();
                break;
            case ';':
                if (parentheses_ == 0) head_start_ = at_ + 1;
                break;
            default:
                break;
        }
    }

    // A brace inside parentheses is a default argument or the like: passed over, not counted.
    void open_brace() {
        counts_ = parentheses_ == 0 && opens_function(head());
        if (counts_) {
            const std::size_t first = code_.find_first_not_of(" \t\n", head_start_);
            current_ = {line_at(code_, first), 0, std::string(trimmed(head()))};
        }
        if (counts_ || parentheses_ > 0)
            depth_ = 1;
        else
            head_start_ = at_ + 1;
    }

    void skip_access_specifier() {
        const std::string_view word = trimmed(head());
        if (word == "public" || word == "private" || word == "protected") head_start_ = at_ + 1;
    }

    std::string code_;
    std::size_t at_ = 0;
    std::size_t head_start_ = 0;
    int depth_ = 0;  // braces open since a function began; 0 outside of functions
    int parentheses_ = 0;
    bool counts_ = false;
    Function current_;
    std::vector<Function> functions_;
};

}  // namespace

Violations check_file_lengths(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files) {
        const int lines = static_cast<int>(lines_of(file.raw).size());
        if ((file.is_cpp() || file.is_script()) && lines > file_lines_max)
            found.push_back({file.path, 0, "has " + std::to_string(lines) + " lines"});
    }
    return found;
}

Violations check_columns(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!file.is_cpp() && !file.is_script()) continue;
        int number = 0;
        for (std::string_view line : lines_of(file.raw)) {
            ++number;
            if (columns_of(line) > columns_max)
                found.push_back({file.path, number, std::to_string(columns_of(line)) + " columns"});
        }
    }
    return found;
}

Violations check_functions(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!file.is_cpp()) continue;
        for (const Function& function : FunctionFinder(file.code).run()) {
            const int lines = function.last_line - function.first_line + 1;
            if (lines > function_lines_max)
                found.push_back({file.path, function.first_line,
                                 std::to_string(lines) + " lines: " + function.head});
        }
    }
    return found;
}

}  // namespace mx::house
