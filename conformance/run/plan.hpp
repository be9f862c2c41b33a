// Which cases a run has: the suites' or the user's tensor's, whole or one shard of them.
#pragma once

#include <string>
#include <vector>

#include "conformance/data/suite.hpp"

namespace mx {

struct Shard {
    std::uint64_t index = 0;
    std::uint64_t count = 1;
};
// "2/8" is the third of eight.
Expected<Shard> parse_shard(const std::string& text);

// Every count-th case, from `index` on.
std::vector<PlannedCase> of_shard(std::vector<PlannedCase> cases, Shard shard);

// Quantizing a user's tensor in every format and dialect along both axes, and converting it.
Expected<std::vector<PlannedCase>> plan_input(const std::string& path, const PlanRequest& request);

}  // namespace mx
