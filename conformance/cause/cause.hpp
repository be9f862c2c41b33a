// What a whole run's differences come from, as one sentence that was tested: the explanations of
// its failing cases joined over formats, dialects, types, axes and shapes, and held against the
// cases that they do not explain. The one place where such a sentence is made.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "conformance/results/record.hpp"

namespace mx::cause {

struct Cause {
    std::string sentence;  // "" where nothing is wrong
    // Of each cause that it names, "A | B" where nothing tells A and B apart; none where it names
    // no cause.
    std::vector<std::string> kinds;
};

// Asks no device. Cases whose data `sources` cannot make again are taken as they are.
Cause cause_of(std::span<const results::CaseResult> cases, Sources& sources);

// The kinds of difference, untested: also of those that a source leaves open.
std::string differences_of(std::span<const results::CaseResult> cases);

}  // namespace mx::cause
