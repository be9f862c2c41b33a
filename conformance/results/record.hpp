// The record of a run: what results.jsonl holds and everything downstream (console, HTML, JUnit,
// Markdown) prints. Plain data; knows nothing of devices or oracles. Text fields are ready to
// print; bit patterns are hex strings ("0x3e600000"), so no reader can change a bit by parsing a
// number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/histogram.hpp"

namespace mx::results {

inline constexpr int format_version = 1;

// A key and a value in a fixed order; a value nobody could establish is "unknown", never a guess.
struct Field {
    std::string key;
    std::string value;
    bool operator==(const Field&) const = default;
};

// First those that may stand in a passing run, then those that may not.
enum class Verdict {
    pass_exact,
    pass_bounded,
    deviation,      // differs only where the dialect's source leaves the answer open
    not_supported,  // the device said so, with a reason
    waived,
    insufficient_data,  // the data could not have failed: neither a pass nor a fault
    flaky,              // two runs of the same case differ
    fail,
    oracle_disagreement,  // fast and exact differ: our own fault
    device_error,
    crash,
    timeout,
    untested,
};
inline constexpr int verdict_count = 13;

std::string_view name_of(Verdict verdict);
// Returns false when the name is no verdict. Older records call insufficient data "mistrusted".
bool verdict_from_name(std::string_view name, Verdict& verdict);
// True for the verdicts that may stand in a passing run.
bool may_pass(Verdict verdict);

// What a verdict is worth when two runs are compared, the worst first.
enum class Worth { fails, refused, open, passes };
Worth worth_of(Verdict verdict);

// Every class that a mismatch can have; schema.json lists the same.
inline constexpr std::array<std::string_view, 16> mismatch_classes{
    // of a scale, and of the elements under a wrong one
    "scale",
    // of an element or a dequantized value
    "sign_of_zero", "special", "saturation", "tie", "subnormal",
    "rounding",  // a neighbour of the right code
    "value",     // further away
    // of a whole output
    "packing",    // right with the codes of a byte in another order
    "layout",     // right with the scales in another order
    "padding",    // pads that are not written as 0, or that are read
    "unwritten",  // never written
    "flaky",      // two runs differ
    // of memory that is not the device's to write
    "red_zone", "input_modified",
    "unclassified",  // counted, but not looked at; elements of a sweep
};

// A class that the program writes. One that is not in the list does not compile.
struct MismatchClass {
    std::string_view name;
    consteval MismatchClass(const char* literal) : name(literal) {
        for (const std::string_view known : mismatch_classes)
            if (known == name) return;
        throw "not in mismatch_classes";
    }
};

// One cluster of like mismatches, with its first witness. `count` is exact.
struct Mismatch {
    std::string mismatch_class;  // one of mismatch_classes
    std::string stage;           // first stage that diverged: scale, element, buffer
    std::string direction;       // "+1 code", "-3 codes", "zero to one", ...; as printed
    std::string open_decision;   // what the source leaves open, "" if the expected bits are binding
    std::uint64_t count = 0;     // elements (or scales) in this cluster
    std::uint64_t of = 0;        // elements (or scales) compared in the case
    std::string axis = {};       // of a case of axis both: "row" or "col", whose blocks are wrong
    std::uint64_t block = 0;  // of the witness, in block order of the case, or of that axis of it;
                              // of a gemm its row
    std::uint32_t lane = 0;
    std::string input_bits;   // of the witness lane, "0x3e600000"
    std::string input_value;  // "0.21875"
    std::string amax_value;
    std::string expected_scale, actual_scale;      // "0x7a"; "" when the operation has no scale
    std::string expected_element, actual_element;  // "0x36"; "" when the mismatch is a scale
    std::string expected_value, actual_value;      // decoded, "1.75"
    std::string exact_value;  // the exact scaled value as a fraction, "29/16", and what it is near
    std::string source;       // clause or file that makes the expected bits right
    std::string note;         // one sentence, e.g. "all ties, all away from zero"
    std::string repro;        // a whole command line
    std::vector<std::uint64_t> lanes;  // mismatches per lane (32 entries) or empty
    bool operator==(const Mismatch&) const = default;
};

// An excuse that somebody has signed: these mismatches of this device are known until that day.
// What the file of waivers says, and what became of it when the run began.
struct Waiver {
    std::string device;          // a pattern over the device's name
    std::string case_pattern;    // words of a case, each with wildcards
    std::string mismatch_class;  // one of mismatch_classes
    std::string axis = {};       // of blocks along this axis alone; "" for any
    std::string reason, link, owner;
    std::string expires;  // the last day it holds, "2027-01-31", UTC
    std::string state;    // one of waiver_states
    bool operator==(const Waiver&) const = default;
};
// What it covers, as people read it: "tie", or "tie of axis col".
std::string mismatches_of(const Waiver& waiver);
inline constexpr std::array<std::string_view, 4> waiver_states{
    "in force", "expired",
    "unmatched",     // no case of the run fits its pattern
    "other device",  // of no concern to this run
};

// One line per case. Holds no clock reading, so the same run gives the same bytes.
struct CaseResult {
    std::uint64_t index = 0;  // position in the run's case list
    std::string suite;        // "quantize"
    std::string case_text;    // parses back to the case; of a sweep `sweep map="NAME"`
    std::string operation, format, dialect,
        input;  // repeated from the case for readers of the file
    Verdict verdict = Verdict::untested;
    std::string reason;          // why not_supported, what crashed, which decision was open, ...
    std::uint64_t elements = 0;  // element codes (or values) compared bit for bit
    std::uint64_t scales = 0;    // scale bytes compared bit for bit
    std::uint64_t mismatched_elements = 0;
    std::uint64_t mismatched_scales = 0;
    std::vector<Mismatch> mismatches;
    // Of a waived case: places in RunHeader::waivers, counted from 1.
    std::vector<std::uint64_t> waivers = {};
    // Mismatches whose input is a value, by the bfloat16 that its leading bits make, and by
    // 256 * lane (of 32, as in Mismatch::lanes) + the exponent field of that bfloat16.
    Histogram input_cells = {}, lane_cells = {};
    // How often each scale byte was expected, where these are few or not all are right; and how
    // often the device wrote it, empty where every scale is as expected.
    Histogram expected_scale_codes = {}, actual_scale_codes = {};
    // Of a gemm under a bound: the largest error as a share of its bound.
    std::optional<double> bound_share = {};
    // Of a failing case: the hypotheses that each explain every difference looked at, one kind or
    // "KIND + KIND"; and how many differences were. Nothing where none was looked at.
    std::vector<std::string> explanations = {};
    std::optional<std::uint64_t> looked_at = {};
    bool operator==(const CaseResult&) const = default;
};

// Of one mismatch: one that hangs on an open decision is a deviation even in a case that fails
// elsewhere.
Verdict verdict_of(const CaseResult& result, const Mismatch& mismatch);

struct RunHeader {
    int version = format_version;
    std::string program_version, commit;
    bool dirty = false;
    std::vector<std::string> argv;
    std::string started;   // UTC, ISO 8601
    std::string level;     // smoke quick full exhaustive
    std::string suites;    // glob of --suite
    std::string dialects;  // as given to --dialect, or "all"
    std::uint64_t seed = 0;
    std::string shard = "0/1";
    std::uint64_t case_count = 0;
    std::string device;  // "cpu", or the plug-in's file name
    std::vector<Field> device_facts;
    std::vector<Field> environment;    // CPU, cores, OS, compiler, flags
    std::vector<Field> table_hashes;   // formats, dialects, suites; the plug-in and input files
    std::vector<Waiver> waivers = {};  // of --waivers, in the order of the file
    std::vector<Field> demands = {};   // "require", "max-not-supported", as given
    bool operator==(const RunHeader&) const = default;
};

// Written once, last. No footer means the run was interrupted.
struct RunFooter {
    std::uint64_t cases = 0;
    std::vector<Field> verdicts;  // name of each verdict that occurred, and its count in decimal
    std::uint64_t elements = 0, scales = 0, mismatched_elements = 0, mismatched_scales = 0;
    double seconds = 0;
    int exit_code = 0;
    std::string close_fault = {};  // how the device ended when it was closed, "" if as it should
    std::vector<std::string> unmet = {};  // of the header's demands, a sentence each
    std::string cause = {};               // of all that is wrong, in one sentence; "" if nothing is
    std::vector<std::string> cause_kinds = {};  // that it names; none if no cause was found
    bool operator==(const RunFooter&) const = default;
};

// A results file as read back.
struct Run {
    RunHeader header;
    std::vector<CaseResult> cases;
    bool complete = false;  // a footer was there
    RunFooter footer;
};

// How an unmet demand begins that is about an earlier run.
inline constexpr std::string_view worse_than_baseline = "WORSE THAN THE BASELINE";

// Levels below full are no conformance run, and every output of one must say so.
bool is_conformance_level(std::string_view level);
inline constexpr std::string_view not_a_conformance_run = "NOT A CONFORMANCE RUN";

}  // namespace mx::results
