// The records of the wall: what came of asking one library or device, and the differences that are
// faults. Written by device/peers/peers.py and by hand; read by reports. Plain data and its JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"

namespace mx::results {

// All cases of one operation on one format under one row of the table of quantizers.
struct WallRow {
    std::string operation, format, dialect;
    std::string verdict;  // that of its worst case, by its name in results.jsonl
    std::uint64_t cases = 0, refused = 0, bytes = 0;
    std::uint64_t elements = 0, elements_differ = 0, scales = 0, scales_differ = 0;
    std::vector<std::string> inputs, axes, data;
    std::vector<std::string> deviations;  // of open decisions, a sentence each
};

struct WallRecord {
    std::string peer, library, vendor, version;
    std::string source;     // repository@commit, "" of what came from a registry
    std::string place;      // the hardware
    std::string mxcheck;    // the commit that compared
    std::string date;       // of the answers
    std::string run_again;  // a command
    std::vector<WallRow> rows;
};

struct Finding {
    std::string peer;  // "" where no peer shows it
    std::string library, versions, what, witness, expected, actual, effect;
    std::string reported;  // where, or "no"
    std::string seen;      // how: "run" and when, or what was read
};

struct Findings {
    std::vector<Finding> findings;
};

Expected<WallRecord> parse_wall_record(std::string_view text, const std::string& name);
Expected<std::vector<Finding>> parse_findings(std::string_view text, const std::string& name);

}  // namespace mx::results
