// House rule: which room may include which. The table is the picture of rooms in words; a path
// that no row covers is a violation too, so a new folder must be given its place here.
#include <algorithm>
#include <initializer_list>
#include <optional>

#include "conformance/test/house_rules.hpp"

namespace mx::house {
namespace {

// A room may include itself and everything under one of the folders it names.
struct Room {
    std::string_view folder;
    std::initializer_list<std::string_view> may_include;
    std::string_view closed = "";  // a folder that stays shut though one above it is open
};

// The first row whose folder holds the file counts. status.hpp is how every room but reference/ and
// the plug-ins says what went wrong, so it is named alone where the rest of device/host is shut.
const Room rooms[] = {
    {"reference/spec", {}},
    {"reference/exact", {"reference/spec"}},
    {"reference/fast", {"reference/spec"}},
    {"reference/gemm", {"reference/spec", "reference/fast"}},
    {"reference/self_check", {"reference/spec", "reference/exact", "reference/fast"}},
    {"reference/proof", {"reference/spec", "reference/exact", "reference/fast", "reference/gemm"}},
    {"reference/test", {"reference"}},
    {"device/abi", {}},
    {"device/kit", {"device/abi"}},
    {"device/host", {"device/abi"}},
    {"device/test", {"device"}},
    {"device/cpu", {"device/abi", "device/kit"}},
    {"device/nvhost", {"device/abi", "device/kit"}},
    {"device/cuda", {"device/abi", "device/kit"}},
    {"device/cublaslt", {"device/abi", "device/kit"}},
    // A client of cuBLASLt like the one above, whose calls of the library it makes.
    {"device/hopper", {"device/abi", "device/kit", "device/cublaslt"}},
    {"device/subprocess", {"device/abi", "device/host", "device/kit"}},
    {"device/example", {"device/abi", "device/kit"}},
    {"conformance/test/consumer", {"reference/spec", "reference/fast", "device/abi"}},
    {"conformance/cli", {"reference", "device", "conformance", "reports", "bench", "fuzz"}},
    {"conformance/mutants", {"device/abi", "device/kit"}},
    // 2^40 pairs are compared where both sides run, in one kernel: so it sees both.
    // The GEMMs that it asks have the tensors and data of cases.
    {"conformance/sweep",
     {"reference", "device/host", "device/cuda", "conformance/data/gemm_codes.hpp",
      "conformance/data/gemm_tensors.hpp"}},
    // Relations need no oracle, so they see none: widths and signs, and how tensors lie.
    {"conformance/relation/test", {"reference/spec", "device/host", "conformance"}},
    {"conformance/relation",
     {"reference/spec", "device/host", "conformance/data/philox.hpp",
      "conformance/data/inputs.hpp", "conformance/run/tensor_layout.hpp"}},
    {"conformance", {"reference", "device/host", "device/abi", "device/kit"}, "conformance/cli"},
    {"fuzz",
     {"reference", "device/host", "device/abi", "device/subprocess",
      "device/cpu/cpu_device.hpp", "device/nvhost/nvhost_device.hpp", "conformance/case",
      "conformance/data", "conformance/emulate", "conformance/results", "conformance/waivers",
      "reports"}},
    // The benchmark measures the embedded device itself, so it opens the one door of device/cpu.
    {"bench",
     {"reference", "device/host", "device/abi", "device/cpu/cpu_device.hpp", "conformance/case",
      "conformance/data", "conformance/results/bench_record.hpp"}},
    {"reports", {"conformance/results", "device/host/status.hpp"}},
};

// Libraries that have one home each.
struct Library {
    std::string_view prefix;
    std::initializer_list<std::string_view> homes;
};
const Library libraries[] = {
    {"boost/", {"reference/exact"}},
    {"cuda",
     {"device/nvhost", "device/cuda", "device/cublaslt", "device/hopper", "conformance/sweep",
      "conformance/mutants/gpu", "bench"}},
    {"cublas", {"device/cublaslt", "device/hopper"}},
    {"hwy/", {"device/cpu", "bench"}},
    {"benchmark/", {"bench"}},
    {"toml++/", {"conformance/waivers"}},
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

const Room* room_of(std::string_view path) {
    for (const Room& room : rooms)
        if (is_under(path, room.folder)) return &room;
    return nullptr;
}

bool is_allowed(const Room& room, std::string_view target) {
    if (!room.closed.empty() && is_under(target, room.closed)) return false;
    if (is_under(target, room.folder)) return true;
    return std::any_of(room.may_include.begin(), room.may_include.end(),
                       [target](std::string_view folder) { return is_under(target, folder); });
}

std::string complaint_about(const Include& include, const Room& room, const SourceFile& file,
                            const Tree& tree) {
    const std::string target(include.target);
    // The example shows what a plug-in outside this tree writes: the contract by its bare name.
    if (target == "mx_device.h" && is_under(file.path, "device/example")) return "";
    // The one header that the build writes: version and commit, for the program alone.
    if (target == "mx_version.hpp" && is_under(file.path, "conformance/cli")) return "";
    if (include.is_quoted) {
        if (!tree.has(target)) return "\"" + target + "\" is no file counted from the root";
        if (is_allowed(room, target)) return "";
        return std::string(room.folder) + " may not include " + target;
    }
    for (const Library& library : libraries) {
        const bool at_home =
            std::any_of(library.homes.begin(), library.homes.end(),
                        [&file](std::string_view home) { return is_under(file.path, home); });
        if (target.starts_with(library.prefix) && !at_home)
            return "<" + target + "> has no place here, in " + file.path;
    }
    return "";
}

void check_file(const SourceFile& file, const Tree& tree, Violations& found) {
    const Room* room = room_of(file.path);
    if (room == nullptr) {
        found.push_back({file.path, 0, "is in no room that the table of rooms knows"});
        return;
    }
    const auto code = lines_of(file.code);
    const auto raw = lines_of(file.raw);
    for (std::size_t line = 0; line < code.size(); ++line) {
        const auto include = include_on(code[line], raw[line]);
        if (!include) continue;
        const std::string complaint = complaint_about(*include, *room, file, tree);
        if (!complaint.empty())
            found.push_back({file.path, static_cast<int>(line) + 1, complaint});
    }
}

}  // namespace

Violations check_includes(const Tree& tree) {
    Violations found;
    for (const SourceFile& file : tree.files)
        if (file.is_cpp()) check_file(file, tree, found);
    return found;
}

}  // namespace mx::house
