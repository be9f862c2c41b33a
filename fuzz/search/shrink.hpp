// From a large case on which a device fails to the smallest that still fails: one block, the
// plainest layout, the fewest lanes that are not zero, the simplest values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/search/judge.hpp"

namespace mx::fuzz {

// Two failures of one kind are one find: the operation, the format and what is wrong with it.
std::string kind_of(const Case& c, const Judgement& judgement, std::size_t mismatch);

// What a device was found to fail on.
struct Find {
    std::string kind;
    std::vector<Case> cases;  // asked in this order of a device just opened, the last one fails
    std::string what;         // "tie, +1 code"
    Outcome outcome = Outcome::wrong;
    int lanes_not_zero = 0;   // of the last case; -1 where its data is no list of codes
    std::uint64_t calls = 0;  // of the device that shrinking took
    std::uint64_t seen = 1;   // batches that showed this kind
};

// The failing batch: its case without data, and its inputs.
struct Failure {
    Case c;
    const std::vector<CodeTensor>& inputs;
    Judgement judgement;
    std::size_t mismatch = 0;  // which of the judgement's
};

// When shrinking ends before nothing is left to try, with what is smallest by then.
struct ShrinkLimits {
    std::function<bool()> is_stopped = [] { return false; };
    // Of all calls together, so that large tensors get fewer of them; once more where the device is
    // opened anew for each.
    std::int64_t elements_max = std::int64_t{1} << 28;
};

// The find has no cases when nothing that could be written down failed again.
Find shrink(Judge& judge, const Failure& failure, const ShrinkLimits& limits = {});

}  // namespace mx::fuzz
