// A device before the suites: hunted until the first kill, or held to be clean, or held to be wrong
// everywhere. Used by the self-test. Prints nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cause/cause.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/results/record.hpp"
#include "conformance/selftest/subjects.hpp"
#include "device/host/client.hpp"

namespace mx::selftest {

// The cases of one level that no level before it has: the smallest of each kind, then the next of
// each, so that a bug of one rounding, axis or layout is not hunted through all cases of the rest.
struct LevelCases {
    std::string level;
    std::vector<PlannedCase> cases;
};

// Planted bugs are in quantizers and converters, or in a GEMM, and answer nothing of the other.
enum class Work { conversions, gemm };

struct Scope {
    std::string level = "quick";
    std::vector<std::string> dialects;  // empty: all
    Work work = Work::conversions;
};
Expected<std::vector<LevelCases>> plan_by_level(const Scope& scope, Sources& sources);

// What a trial needs beside the device.
struct Court {
    Sources& sources;
    Limits limits = {};
    std::function<void()> on_case = [] {};  // after each case
    bool names_causes = false;              // which takes longer than to kill
};

// The first case that blamed the device.
struct Kill {
    std::string level;
    std::string suite;
    std::string verdict;         // "fail", "flaky", "crash", ...
    std::string mismatch_class;  // of the largest cluster that was classified; "" after a crash
    std::string case_text;
    std::string reason;
};

struct Hunt {
    std::uint64_t cases = 0;  // asked, the killing one included
    std::optional<Kill> kill;
    // Of what it and some cases after it show; empty where nobody asked for one.
    std::optional<cause::Cause> cause = {};
};

// Runs the cases in order up to the first kill, and some more to find its cause. The error is our
// own: the plug-in does not open, a case cannot be made, the oracles disagree.
Expected<Hunt> hunt(const Subject& subject, const std::vector<LevelCases>& plan,
                    const Court& court);

// "" where the device opens, and also where it fails to by a fault of its own, which a trial then
// meets. Else why it can do nothing on this machine, as it says itself: there is no GPU.
std::string absence_of(const Subject& subject, const Court& court);

struct CleanCheck {
    std::uint64_t cases = 0, elements = 0, scales = 0;  // that passed
    std::string complaint;                              // "" when clean
};

// Every case passed, bit for bit or within its bound, none refused, and some bits compared.
CleanCheck check_clean(const Subject& subject, const std::vector<LevelCases>& plan,
                       const Court& court);

struct CanaryCheck {
    std::uint64_t failed = 0;
    std::string complaint;  // "" when every supported case failed, and there was one
};

CanaryCheck check_canary(const Subject& subject, const LevelCases& plan, const Court& court);

}  // namespace mx::selftest
