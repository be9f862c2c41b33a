// Which cases a run has: the suites' or the user's tensor's, whole or one shard of them. Used by
// run and gen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/data/suite.hpp"

namespace mx::session {

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

// Which cases, as the options of run and gen say it.
struct PlanOptions {
    std::vector<std::string> dialects = {};
    std::vector<std::string> formats = {};
    std::string level = "quick";
    std::string suite = "*";
    std::uint64_t seed = 0;
    std::string shard = "0/1";    // or auto
    std::string suite_file = {};  // lines of a suite instead of those of this program
    std::string input = {};       // a tensor file instead of any suite
    std::string model = {};       // a row of gemm_models that all cases are judged by
    std::string model_file = {};  // or one of the user's

    bool names_model() const { return !model.empty() || !model_file.empty(); }
};

// Are there such dialects, formats, level, suites, files and model? planned() asks the same first,
// and then may take seconds.
Status check_plan(const PlanOptions& options);

// The cases of the suites, or of the input, whatever the shard. No case at all is an error.
Expected<std::vector<PlannedCase>> planned(const PlanOptions& options, Sources& sources);

// "a,b", or "all" for no names.
std::string list_text(const std::vector<std::string>& names);

// Quantizing a user's tensor in every format and dialect along both axes, and converting it.
Expected<std::vector<PlannedCase>> plan_input(const std::string& path, const PlanRequest& request);

}  // namespace mx::session
