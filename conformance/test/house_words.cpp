// House rules about words: what an oracle may not say, marks of unfinished work, proofs that are
// named, one home for every name. The words themselves are split here, so this file passes.
#include <algorithm>
#include <array>
#include <map>
#include <regex>

#include "conformance/test/house_rules.hpp"

namespace mx::house {
namespace {

constexpr std::array<std::string_view, 6> room_folders{"reference", "device", "conformance",
                                                       "fuzz",      "bench",  "reports"};
constexpr std::array<std::string_view, 15> oracle_words{
    "float", "double", "log2",   "log2f", "pow",  "powf",  "frexp", "frexpf",
    "ldexp", "ldexpf", "scalbn", "cmath", "exp2", "exp2f", "ilogb"};
// Two tables became one, of quantizers and of block formats.
constexpr std::array<std::string_view, 8> retired_names{
    "find_dialect", "find_recipe",    "find_recipe_format", "RecipeFormat",
    "OpenRecipe",   "recipe_formats", "BlockRatio",         "ConstantDivision"};
constexpr std::array<std::string_view, 3> markers{
    "FIX"
    "ME",
    "TO"
    "DO",
    "XX"
    "X"};

// Forms that were replaced: a case of strings, looked up again wherever it was asked.
constexpr std::array<std::string_view, 13> gone{
    "case_of_slice", "block_format_of", "value_format_of", "model_row_name", "GemmFactorWord",
    "parse_gemm_output", "check_case_names", "check_gemm_names", "complete_gemm",
    "find_scale_layout_of_case",
    // A GEMM as text beside the typed one, and a second table of scalings.
    "GemmSetting", "GemmScaling", "find_gemm_scaling"};

template <typename Action>
void for_each_word(std::string_view text, Action&& action) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (!is_identifier_character(text[at])) {
            ++at;
            continue;
        }
        const std::size_t start = at;
        while (at < text.size() && is_identifier_character(text[at])) ++at;
        action(text.substr(start, at - start), start);
    }
}

template <typename Words>
void find_words(const SourceFile& file, std::string_view view, const Words& words,
                Violations& found) {
    for_each_word(view, [&](std::string_view word, std::size_t start) {
        if (std::find(words.begin(), words.end(), word) != words.end())
            found.push_back({file.path, line_at(view, start), "says " + std::string(word)});
    });
}

bool is_oracle(std::string_view path) {
    return is_under(path, "reference/fast") || is_under(path, "reference/exact");
}

struct NamedRow {
    std::string name;
    std::size_t position;
};

// Where the brace opened at `open` closes, literals passed over.
std::size_t closing_brace(const SourceFile& file, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < file.code.size(); ++at) {
        if (file.code[at] == '{') ++depth;
        if (file.code[at] == '}' && --depth == 0) return at;
    }
    return file.code.size();
}

// A braced row opens with its name and holds something besides names; a list of nothing but names
// refers to rows and defines none.
void find_braced_rows(const SourceFile& file, std::vector<NamedRow>& rows) {
    static const std::regex first_name(R"rx(^\{\s*"([a-z][a-z0-9_-]*)")rx");
    static const std::regex only_names(R"rx(^\{(\s*"[a-z][a-z0-9_-]*"\s*,?)*\s*\}$)rx");
    for (std::size_t at = file.code.find('{'); at != std::string::npos;
         at = file.code.find('{', at + 1)) {
        const std::size_t next = file.code.find_first_not_of(" \t\n", at + 1);
        if (next == std::string::npos || file.code[next] != '"') continue;
        const std::string row = file.uncommented.substr(at, closing_brace(file, at) + 1 - at);
        std::smatch match;
        if (std::regex_search(row, match, first_name) && !std::regex_match(row, only_names))
            rows.push_back({match[1], at});
    }
}

// `.name = "x"` and `some_row("x", ...)`.
void find_assigned_names(const SourceFile& file, std::vector<NamedRow>& rows) {
    static const std::regex assigned(R"rx((\.name\s*=|\w_row\s*\()\s*"([a-z][a-z0-9_-]*)")rx");
    const auto& text = file.uncommented;
    for (std::sregex_iterator match(text.begin(), text.end(), assigned), end; match != end; ++match)
        rows.push_back({(*match)[2], static_cast<std::size_t>(match->position())});
}

// Every reference/proof/*.cpp that a header says it is proved by.
std::vector<std::string> proofs_named_by(const SourceFile& file) {
    static const std::regex named(R"(Proved by (reference/proof/\w+\.cpp))");
    std::vector<std::string> proofs;
    for (std::sregex_iterator match(file.raw.begin(), file.raw.end(), named), end; match != end;
         ++match)
        proofs.push_back((*match)[1]);
    return proofs;
}

}  // namespace

Violations check_oracle_words(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files)
        if (file.is_cpp() && is_oracle(file.path)) find_words(file, file.code, oracle_words, found);
    return found;
}

Violations check_retired_names(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files)
        if (file.is_cpp()) find_words(file, file.code, retired_names, found);
    return found;
}

Violations check_markers(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files) find_words(file, file.raw, markers, found);
    return found;
}

Violations check_gone(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files)
        if (file.is_cpp() && !is_under(file.path, "conformance/test"))
            find_words(file, file.code, gone, found);
    return found;
}

Violations check_proofs_named(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!is_under(file.path, "reference/fast") || !file.path.ends_with(".hpp")) continue;
        const auto proofs = proofs_named_by(file);
        if (proofs.empty())
            found.push_back({file.path, 0, "has no line \"Proved by reference/proof/....cpp\""});
        for (const std::string& proof : proofs)
            if (!tree.has(proof)) found.push_back({file.path, 0, "names no file: " + proof});
    }
    return found;
}

Violations check_pragma_once(const Tree& tree) {
    static const std::regex once(R"((^|\n)#pragma once)");
    // Highway reads a -inl header once per instruction set, and its guard hangs on this word.
    static const std::regex once_per_target(R"((^|\n)#if.*\bHWY_TARGET_TOGGLE\b)");
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!file.path.ends_with(".hpp")) continue;
        const bool inlined = file.path.ends_with("-inl.hpp");
        if (!std::regex_search(file.code, inlined ? once_per_target : once))
            found.push_back({file.path, 0, "can be included twice: it has no #pragma once"});
    }
    return found;
}

// What another header happens to include differs from one standard library to the next.
Violations check_integer_types(const Tree& tree) {
    static const std::regex named(R"(\bstd::u?int(8|16|32|64|ptr)_t\b)");
    static const std::regex included(R"((^|\n)#include <cstdint>)");
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!file.path.ends_with(".hpp") && !file.path.ends_with(".cuh")) continue;
        std::smatch match;
        if (std::regex_search(file.code, match, named) && !std::regex_search(file.code, included))
            found.push_back({file.path,
                             line_at(file.code, static_cast<std::size_t>(match.position())),
                             "names " + match.str() + " without <cstdint>"});
    }
    return found;
}

Violations check_readmes(const Tree& tree) {
    Violations found;
    for (std::string_view room : room_folders)
        if (!tree.has(std::string(room) + "/README.md"))
            found.push_back({std::string(room), 0, "has no README.md"});
    return found;
}

Violations check_waivers(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!is_under(file.path, "conformance/waivers") || !file.path.ends_with(".toml")) continue;
        const auto lines = lines_of(file.raw);
        std::size_t begin = 0;
        while (begin < lines.size() && lines[begin] != "[[waiver]]") ++begin;
        if (begin == lines.size()) found.push_back({file.path, 0, "holds no [[waiver]]"});
        while (begin < lines.size()) {
            std::size_t end = begin + 1;
            while (end < lines.size() && lines[end] != "[[waiver]]") ++end;
            for (const std::string_view key : {"owner", "link", "expires"}) {
                const bool given =
                    std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                lines.begin() + static_cast<std::ptrdiff_t>(end), [key](auto line) {
                                    const std::string start = std::string(key) + " = ";
                                    return line.starts_with(start) && line != start + "\"\"";
                                });
                if (!given)
                    found.push_back({file.path, static_cast<int>(begin) + 1,
                                     "a waiver without " + std::string(key)});
            }
            begin = end;
        }
    }
    return found;
}

Violations check_names_unique(const Tree& tree) {
    Violations found;
    std::map<std::string, std::string> homes;
    for (const SourceFile& file : tree.files) {
        if (!is_under(file.path, "reference/spec") || !file.is_cpp()) continue;
        std::vector<NamedRow> rows;
        find_braced_rows(file, rows);
        find_assigned_names(file, rows);
        for (const NamedRow& row : rows) {
            const int line = line_at(file.code, row.position);
            const std::string here = file.path + ":" + std::to_string(line);
            const auto [home, is_new] = homes.try_emplace(row.name, here);
            if (!is_new)
                found.push_back(
                    {file.path, line, "\"" + row.name + "\" is a row of " + home->second});
        }
    }
    return found;
}

// Fields of another row, functions that make rows, and rows outside the table. That a row names
// every field is the compiler's to say: -Wmissing-field-initializers is an error.
Violations check_flat_rows(const Tree& tree) {
    static const std::regex derived(
        R"(\w\s*\.\s*\w|\[|constexpr (?!std::array)|\b(?!formats_named\()\w+\()");
    Violations found;
    for (const SourceFile& file : tree.files) {
        if (!file.path.starts_with("reference/spec/quantizer_rows_")) continue;
        int number = 0;
        for (const std::string_view line : lines_of(file.code)) {
            ++number;
            if (line.starts_with("#")) continue;
            if (std::regex_search(line.begin(), line.end(), derived))
                found.push_back({file.path, number, "makes a row from another"});
        }
    }
    return found;
}

Violations check_early_readers(const Tree& tree) {
    static const std::regex reader(R"((^|[^|])\|\s*(head\b|grep\s+-\w*[qm]))");
    Violations found;
    for (const SourceFile& file : tree.files) {
        // The scenes set it for those that source them.
        const bool breaks = file.raw.find("pipefail") != std::string::npos ||
                            file.raw.find("scenes.sh") != std::string::npos;
        if (!file.is_script() || !breaks) continue;
        int number = 0;
        for (const std::string_view line : lines_of(file.raw)) {
            ++number;
            if (std::regex_search(line.begin(), line.end(), reader))
                found.push_back({file.path, number, "leaves its input before the end"});
        }
    }
    return found;
}

}  // namespace mx::house
