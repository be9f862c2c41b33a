// Two hypotheses that go wrong together, held against the cases of a run: they must give the
// device's answer in each that fails and the right one in each that passes. The cases are made
// again from their lines; what the device answered is the answer of what explained it. Used by the
// search.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/cause/again.hpp"
#include "conformance/cause/failing.hpp"

namespace mx::cause {

using Covers = std::vector<std::vector<std::string>>;  // sets of kinds that explain all

class Pairs {
public:
    Pairs(std::span<const Failing> failing, std::span<const results::CaseResult* const> passing,
          Sources& sources);

    // The hypotheses of the failing cases, the other entries of the table apart.
    const std::vector<std::string>& kinds() const { return kinds_; }
    // Could every failing case be made again?
    bool know_all() const { return failing_count_ > 0 && knows_all_; }
    // In the cases that could be made again; not where no failing one could.
    bool explain(const std::string& one, const std::string& other) const;

    // Those that explain everything with another hypothesis in the place of one of the two. These
    // are pairs that explain what fails, and change what passes.
    Covers like(const Covers& covers) const;

    // Of pairs that explain everything, with those that do too where another hypothesis takes the
    // place of one of the two: the simplest ones. It may change nothing where it stands alone.
    Covers settled(const Covers& held) const;

private:
    struct Known {
        Again again;
        std::vector<CodeTensor> answer;
    };
    void add(const Failing& failing, Sources& sources);
    std::vector<std::string> alike(std::size_t side, const Covers& held) const;
    std::vector<std::string> instead_of(const std::string& kind) const;

    std::vector<Known> cases_;  // those that fail before those that pass
    std::vector<std::string> kinds_;
    std::size_t failing_count_ = 0;
    bool knows_all_ = true;
};

}  // namespace mx::cause
