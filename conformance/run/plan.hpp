// Which cases a run has: the suites' or the user's tensor's, whole or one shard of them.
#pragma once

#include <cstdint>
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

// Those of a shard: every count-th of a run's list, from `index` on, so that place i of the shard
// is place index + i * count of the run. `before` is how many items the run has before these.
template <typename Item>
std::vector<Item> of_shard(std::vector<Item> items, Shard shard, std::size_t before = 0) {
    std::vector<Item> mine;
    for (std::size_t i = 0; i < items.size(); ++i)
        if ((before + i) % shard.count == shard.index) mine.push_back(std::move(items[i]));
    return mine;
}

// Quantizing a user's tensor in every format and dialect along both axes, and converting it.
Expected<std::vector<PlannedCase>> plan_input(const std::string& path, const PlanRequest& request);

}  // namespace mx
