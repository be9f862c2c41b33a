// Reads the source tree for the house rules and separates code from comments and literals.
// Understands just enough of C++ for that: comments, strings, raw strings, digit separators.
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

#include "conformance/test/house_rules.hpp"

namespace mx::house {
namespace {

constexpr std::array<std::string_view, 9> cpp_endings{".hpp", ".cpp", ".h",   ".c",  ".cu",
                                                      ".cuh", ".hip", ".inc", ".def"};
constexpr std::array<std::string_view, 3> script_endings{".cmake", ".sh", "CMakeLists.txt"};
constexpr std::array<std::string_view, 10> text_endings{".md",   ".py", ".js",    ".css",  ".html",
                                                        ".json", ".in", ".suite", ".toml", ".txt"};
constexpr std::array<std::string_view, 2> scripts_by_name{"bootstrap", ".ci/run"};
constexpr std::array<std::string_view, 4> foreign_folders{".git", "build", "out", "shared"};

bool ends_with_any(std::string_view path, const auto& endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [path](std::string_view ending) { return path.ends_with(ending); });
}

// Walks over a text once and writes the two views beside it.
class Separator {
public:
    explicit Separator(SourceFile& file) : file_(file), text_(file.raw) {
        file_.uncommented = file_.raw;
        file_.code = file_.raw;
    }

    void run() {
        while (position_ < text_.size()) step();
    }

private:
    bool sees(std::string_view what) const { return text_.substr(position_).starts_with(what); }

    void step() {
        if (sees("//")) return blank_comment(text_.find('\n', position_));
        if (sees("/*")) return blank_comment(past(text_.find("*/", position_ + 2), 2));
        if (sees("R\"") && starts_literal()) return blank_literal(end_of_raw_string());
        if (sees("\"")) return blank_literal(end_of_quoted('"'));
        if (sees("'") && starts_literal()) return blank_literal(end_of_quoted('\''));
        ++position_;
    }

    static std::size_t past(std::size_t found, std::size_t length) {
        return found == std::string_view::npos ? found : found + length;
    }

    // False for the ' of 1'000 and for an R that ends a longer name. A prefix (u8, L) is not one.
    bool starts_literal() const {
        std::size_t start = position_;
        while (start > 0 && is_identifier_character(text_[start - 1])) --start;
        const std::string_view before = text_.substr(start, position_ - start);
        return before.empty() || before == "u8" || before == "u" || before == "U" || before == "L";
    }

    std::size_t end_of_quoted(char quote) const {
        for (std::size_t at = position_ + 1; at < text_.size() && text_[at] != '\n'; ++at) {
            if (text_[at] == '\\')
                ++at;
            else if (text_[at] == quote)
                return at + 1;
        }
        return text_.find('\n', position_);
    }

    std::size_t end_of_raw_string() const {
        const std::size_t open = text_.find('(', position_);
        if (open == std::string_view::npos) return open;
        std::string close = ")";
        close += text_.substr(position_ + 2, open - position_ - 2);
        close += '"';
        return past(text_.find(close, open), close.size());
    }

    void blank_comment(std::size_t end) {
        end = std::min(end, text_.size());
        blank(file_.uncommented, {position_, end});
        blank(file_.code, {position_, end});
        position_ = end;
    }

    void blank_literal(std::size_t end) {
        end = std::min(end, text_.size());
        blank(file_.code, {position_ + 1, end - 1});
        position_ = end;
    }

    struct Range {
        std::size_t begin, end;
    };
    static void blank(std::string& view, Range range) {
        for (std::size_t at = range.begin; at < range.end; ++at)
            if (view[at] != '\n') view[at] = ' ';
    }

    SourceFile& file_;
    std::string_view text_;
    std::size_t position_ = 0;
};

SourceFile read_file(const std::filesystem::path& root, const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    SourceFile file;
    file.path = std::filesystem::relative(path, root).generic_string();
    file.raw = text.str();
    if (file.is_cpp()) Separator(file).run();
    return file;
}

bool is_text(const SourceFile& file) {
    return file.is_cpp() || file.is_script() || ends_with_any(file.path, text_endings);
}

}  // namespace

bool SourceFile::is_cpp() const {
    return ends_with_any(path, cpp_endings);
}

bool SourceFile::is_script() const {
    return ends_with_any(path, script_endings) ||
           std::find(scripts_by_name.begin(), scripts_by_name.end(), path) != scripts_by_name.end();
}

bool Tree::has(std::string_view path) const {
    return std::any_of(files.begin(), files.end(),
                       [path](const SourceFile& file) { return file.path == path; });
}

Tree read_tree(const std::filesystem::path& root) {
    Tree tree{root, {}};
    auto walk = std::filesystem::recursive_directory_iterator(root);
    for (auto entry = begin(walk); entry != end(walk); ++entry) {
        const std::string name = entry->path().filename().string();
        const bool foreign = std::find(foreign_folders.begin(), foreign_folders.end(), name) !=
                             foreign_folders.end();
        if (entry.depth() == 0 && foreign && entry->is_directory()) {
            entry.disable_recursion_pending();
            continue;
        }
        SourceFile named;
        named.path = std::filesystem::relative(entry->path(), root).generic_string();
        if (entry->is_regular_file() && is_text(named))
            tree.files.push_back(read_file(root, entry->path()));
    }
    std::sort(tree.files.begin(), tree.files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return tree;
}

std::string describe(const Violations& violations) {
    std::ostringstream text;
    for (const Violation& violation : violations)
        text << violation.path << ':' << violation.line << ": " << violation.message << '\n';
    return text.str();
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

int line_at(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, position);
    return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

bool is_under(std::string_view path, std::string_view folder) {
    return path == folder ||
           (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

bool is_identifier_character(char character) {
    return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

}  // namespace mx::house
