// The house rules as functions over a source tree: each returns what breaks it. Used by
// house_rules_test.cpp, first on planted violations, then on the real tree. Knows no compiler.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mx::house {

// One text file of the tree. All views have the same line breaks, so a line number fits all.
struct SourceFile {
    std::string path;  // from the root, with '/'
    std::string raw;
    std::string uncommented;  // comments are spaces
    std::string code;         // comments and the insides of literals are spaces

    bool is_cpp() const;     // C, C++ or CUDA; only then do the last two views mean anything
    bool is_script() const;  // CMake or shell
};

struct Tree {
    std::filesystem::path root;
    std::vector<SourceFile> files;  // sorted by path

    bool has(std::string_view path) const;
};

// Reads every text file of the rooms and of the top level, build folders aside.
Tree read_tree(const std::filesystem::path& root);

struct Violation {
    std::string path;
    int line = 0;  // from 1; 0 when the whole file is meant
    std::string message;
};
using Violations = std::vector<Violation>;

// One line per violation, empty when there is none.
std::string describe(const Violations& violations);

// The lines of a view, without their line breaks.
std::vector<std::string_view> lines_of(std::string_view text);
int line_at(std::string_view text, std::size_t position);
bool is_under(std::string_view path, std::string_view folder);
bool is_identifier_character(char character);

// A rule takes the tree and returns its violations.
Violations check_includes(const Tree& tree);       // an edge that the picture of rooms lacks
Violations check_file_lengths(const Tree& tree);   // over 800 lines
Violations check_columns(const Tree& tree);        // over 100 columns
Violations check_functions(const Tree& tree);      // over 70 lines
Violations check_oracle_words(const Tree& tree);   // float, log2 and the like in an oracle
Violations check_markers(const Tree& tree);        // marks of unfinished work
Violations check_gone(const Tree& tree);           // a form that was replaced, by its name
Violations check_proofs_named(const Tree& tree);   // a fast header that names no proof
Violations check_pragma_once(const Tree& tree);    // a header without it
Violations check_integer_types(const Tree& tree);  // in a header that lacks <cstdint>
Violations check_readmes(const Tree& tree);        // a room without its page
Violations check_waivers(const Tree& tree);        // one without owner, link or expiry
Violations check_names_unique(const Tree& tree);   // one name in two rows of reference/spec
Violations check_retired_names(const Tree& tree);  // what the code had before and must not have
Violations check_flat_rows(const Tree& tree);      // a quantizer made from another row
// A reader that leaves before the end of its input, where `pipefail` makes the writer's SIGPIPE a
// failure: by chance, once in some hundred runs.
Violations check_early_readers(const Tree& tree);

}  // namespace mx::house
