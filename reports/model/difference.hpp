// What changed from an older run to this one, case by case. Used by the HTML page, Markdown and the
// command report. Must not know any format of output.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/record.hpp"

namespace mx::reports {

enum class Change {
    worse,    // passed and does not any more, or is not supported any more; or now fails
    better,   // the reverse
    changed,  // another verdict, or other mismatches
    added,    // in this run alone
    removed,  // in the older run alone
};
inline constexpr std::array changes{Change::worse, Change::better, Change::changed, Change::added,
                                    Change::removed};
// "worse", "better", ...
std::string_view name_of(Change change);

struct ChangedCase {
    Change change = Change::changed;
    const results::CaseResult* before = nullptr;  // null where it was added
    const results::CaseResult* after = nullptr;   // null where it was removed
};

struct Difference {
    std::uint64_t same = 0;
    std::vector<ChangedCase> cases;    // the worse first, then by place in the runs
    std::vector<std::string> headers;  // "commit: \"a\" and \"b\""

    std::uint64_t of(Change change) const;
};

// A case is known by its text.
Difference difference_of(const results::Run& before, const results::Run& after);

}  // namespace mx::reports
