// Suites: lines that each stand for many cases. "quick quantize format=* dialect=* input=f32
// shape=auto data=edge.tie" is expanded over every format and dialect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"

namespace mx {

// Levels from the quickest on; a level holds the lines of those before it. But for the last, which
// stands beside them: it holds its own lines alone, and no other level holds those.
inline constexpr std::array<std::string_view, 5> levels{"smoke", "quick", "full", "exhaustive",
                                                        "large"};
inline constexpr std::string_view large_level = levels.back();

// Has a run at level `asked` what is of level `held`? Both are known.
bool level_holds(std::string_view asked, std::string_view held);

// A suite file of the source tree, carried inside the program.
struct Suite {
    std::string name;  // "quantize"
    std::string text;
};
const std::vector<Suite>& built_in_suites();

// One line: a level, an operation, and fields as in a case, but that a value may be a comma list,
// or "*" for every name that goes together with the rest of the line, that shape=auto means all the
// family's blocks, and that index=FIRST:END:STEP makes one case for each step.
struct SuiteLine {
    std::string level;
    std::string operation;
    std::vector<std::pair<std::string, std::string>> fields;  // in the order written
    bool operator==(const SuiteLine&) const = default;
};
Expected<SuiteLine> parse_suite_line(const std::string& text);
std::string print(const SuiteLine& line);

struct PlannedCase {
    std::string suite;
    Case c;
};

struct PlanRequest {
    std::string level = "quick";
    std::string suite_glob = "*";
    std::vector<std::string> dialects;  // empty: all
    std::uint64_t seed = 0;
};

// Is there such a level, and a suite that the request asks for?
Status check_request(const std::vector<Suite>& suites, const PlanRequest& request);

// The cases of a level, each but once, in an order that depends on nothing but the request.
Expected<std::vector<PlannedCase>> plan_cases(const std::vector<Suite>& suites,
                                              const PlanRequest& request, Sources& sources);

// How many cases of a suite each level has, in the order of levels.
Expected<std::array<std::size_t, levels.size()>> count_cases(const Suite& suite);

}  // namespace mx
