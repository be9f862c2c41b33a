// House rule: which folder may include which, as the table of ARCHITECTURE.md has it: no edge that
// the table lacks, no row or entry that nothing uses, no folder without a row, and no entry that
// stands below its row, so that there is no circle.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>

#include "conformance/test/house_rules.hpp"

namespace mx::house {
namespace {

constexpr const char* page = "conformance/ARCHITECTURE.md";
constexpr std::string_view section = "## Who includes whom";

// A row of the table. An entry is a folder with a row of its own, or one file of such a folder.
struct Room {
    std::string folder;
    std::vector<std::string> includes, included_by_tests;
    int line = 0;
};

// What stands between backquotes.
std::vector<std::string> quoted_in(std::string_view cell) {
    std::vector<std::string> words;
    for (std::size_t open = cell.find('`'); open != std::string_view::npos;) {
        const std::size_t close = cell.find('`', open + 1);
        if (close == std::string_view::npos) break;
        words.emplace_back(cell.substr(open + 1, close - open - 1));
        open = cell.find('`', close + 1);
    }
    return words;
}

std::vector<std::string_view> cells_of(std::string_view row) {
    std::vector<std::string_view> cells;
    row.remove_prefix(1);
    for (std::size_t end = row.find('|'); end != std::string_view::npos; end = row.find('|')) {
        cells.push_back(row.substr(0, end));
        row.remove_prefix(end + 1);
    }
    return cells;
}

// | `folder` | job | what it includes | what its tests include beside that |
std::vector<Room> rooms_of(const Tree& tree) {
    std::vector<Room> rooms;
    const auto file = std::ranges::find(tree.files, page, &SourceFile::path);
    if (file == tree.files.end()) return rooms;
    bool is_inside = false;
    int number = 0;
    for (const std::string_view line : lines_of(file->raw)) {
        ++number;
        if (line.starts_with("## ")) is_inside = line == section;
        if (!is_inside || !line.starts_with("| `")) continue;
        const auto cells = cells_of(line);
        const auto names = quoted_in(cells.front());
        if (cells.size() == 4 && names.size() == 1)
            rooms.push_back({names.front(), quoted_in(cells[2]), quoted_in(cells[3]), number});
    }
    return rooms;
}

// Libraries, and headers of our own, that have one home each.
struct Library {
    std::string_view prefix;
    std::initializer_list<std::string_view> homes;
};
const Library libraries[] = {
    {"boost/", {"reference/exact"}},
    {"cuda",
     {"device/nvhost", "device/cuda", "device/cublaslt", "device/hopper", "device/peers",
      "conformance/sweep", "conformance/mutants/gpu", "bench"}},
    {"hip/", {"device/hip"}},
    {"cublas", {"device/cublaslt", "device/hopper"}},
    {"hwy/", {"device/cpu", "bench"}},
    {"benchmark/", {"bench"}},
    {"toml++/", {"conformance/waivers", "device/rtl"}},
    {"device/host/isolated_device.hpp", {"device/host"}},  // others take a Client
};

struct Include {
    std::string_view target;
    bool is_quoted;
};

std::optional<Include> include_on(std::string_view code_line, std::string_view raw_line) {
    const std::size_t hash = code_line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || code_line[hash] != '#') return std::nullopt;
    const std::size_t word = code_line.find_first_not_of(" \t", hash + 1);
    if (word == std::string_view::npos || !code_line.substr(word).starts_with("include"))
        return std::nullopt;
    const std::size_t open = raw_line.find_first_of("\"<", word);
    if (open == std::string_view::npos) return std::nullopt;
    const bool is_quoted = raw_line[open] == '"';
    const std::size_t close = raw_line.find(is_quoted ? '"' : '>', open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    return Include{raw_line.substr(open + 1, close - open - 1), is_quoted};
}

// The row of the innermost folder that holds the file.
const Room* room_of(std::string_view path, const std::vector<Room>& rooms) {
    const Room* innermost = nullptr;
    for (const Room& room : rooms)
        if (is_under(path, room.folder) &&
            (innermost == nullptr || room.folder.size() > innermost->folder.size()))
            innermost = &room;
    return innermost;
}

bool is_of_tests(std::string_view path) {
    return path.find("/test/") != std::string_view::npos;
}

// Entries that an include needs.
struct Use {
    std::set<std::pair<const Room*, std::string>> entries, entries_of_tests;
};

// The entry of the row that lets the target in, "" for none.
std::string entry_for(const std::vector<std::string>& entries, std::string_view target,
                      const Room& home) {
    for (const std::string& entry : entries)
        if (entry == target || entry == home.folder) return entry;
    return "";
}

bool is_allowed(const Room& room, const SourceFile& file, std::string_view target,
                const std::vector<Room>& rooms, Use& use) {
    const Room* home = room_of(target, rooms);
    if (home == nullptr) return false;
    if (home == &room) return true;
    const bool by_tests = is_of_tests(file.path);
    if (const std::string entry = entry_for(room.includes, target, *home); !entry.empty()) {
        if (!by_tests) use.entries.insert({&room, entry});
        return true;
    }
    const std::string entry = by_tests ? entry_for(room.included_by_tests, target, *home) : "";
    use.entries_of_tests.insert({&room, entry});
    return !entry.empty();
}

std::string complaint_about(const Include& include, const Room& room, const SourceFile& file,
                            const Tree& tree, const std::vector<Room>& rooms, Use& use) {
    const std::string target(include.target);
    // The example shows what a plug-in outside this tree writes: the contract by its bare name.
    if (target == "mx_device.h" && is_under(file.path, "device/example")) return "";
    // The one header that the build writes: version and commit, for the program and the library.
    if (target == "mx_version.hpp" &&
        (is_under(file.path, "conformance/cli") || is_under(file.path, "conformance/library")))
        return "";
    for (const Library& library : libraries) {
        const bool at_home =
            std::any_of(library.homes.begin(), library.homes.end(),
                        [&file](std::string_view home) { return is_under(file.path, home); });
        if (target.starts_with(library.prefix) && !at_home)
            return "<" + target + "> has no place here, in " + file.path;
    }
    if (!include.is_quoted) return "";
    if (!tree.has(target)) return "\"" + target + "\" is no file counted from the root";
    if (is_allowed(room, file, target, rooms, use)) return "";
    return room.folder + " may not include " + target;
}

void check_file(const SourceFile& file, const Tree& tree, const std::vector<Room>& rooms, Use& use,
                Violations& found) {
    const Room* room = room_of(file.path, rooms);
    if (room == nullptr) {
        found.push_back({file.path, 0, std::string("is in no folder that ") + page + " knows"});
        return;
    }
    const auto code = lines_of(file.code);
    const auto raw = lines_of(file.raw);
    for (std::size_t line = 0; line < code.size(); ++line) {
        const auto include = include_on(code[line], raw[line]);
        if (!include) continue;
        const std::string complaint = complaint_about(*include, *room, file, tree, rooms, use);
        if (!complaint.empty()) found.push_back({file.path, static_cast<int>(line) + 1, complaint});
    }
}

// What the table allows and nobody does: the page would say more than is true.
void check_unused(const std::vector<Room>& rooms, const Tree& tree, const Use& use,
                  Violations& found) {
    for (const Room& room : rooms) {
        const bool has_file = std::ranges::any_of(tree.files, [&](const SourceFile& file) {
            return file.is_cpp() && room_of(file.path, rooms) == &room;
        });
        if (!has_file) found.push_back({page, room.line, room.folder + " has no file"});
        for (const std::string& entry : room.includes)
            if (!use.entries.contains({&room, entry}))
                found.push_back({page, room.line, room.folder + " does not include " + entry});
        for (const std::string& entry : room.included_by_tests)
            if (!use.entries_of_tests.contains({&room, entry}))
                found.push_back(
                    {page, room.line, "no test of " + room.folder + " alone includes " + entry});
    }
}

// A circle of folders has an entry that points down.
void check_order(const std::vector<Room>& rooms, Violations& found) {
    for (const Room& room : rooms)
        for (const std::string& entry : room.includes) {
            const Room* home = room_of(entry, rooms);
            if (home == nullptr || home->line < room.line) continue;
            found.push_back(
                {page, room.line,
                 room.folder + " includes " + entry + ", which does not stand above it"});
        }
}

}  // namespace

Violations check_includes(const Tree& tree) {
    const std::vector<Room> rooms = rooms_of(tree);
    Violations found;
    Use use;
    for (const SourceFile& file : tree.files)
        if (file.is_cpp()) check_file(file, tree, rooms, use, found);
    check_unused(rooms, tree, use, found);
    check_order(rooms, found);
    return found;
}

}  // namespace mx::house
