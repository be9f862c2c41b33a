// The search itself, one worker's part of it: round after round a theme, a shape, blocks, and the
// judge's answer. What it finds is shrunk at once. A round is a function of the seed, the worker,
// its number and what earlier rounds kept, never of the clock, so the same rounds give the same
// finds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz/search/coverage.hpp"
#include "fuzz/search/judge.hpp"
#include "fuzz/search/shrink.hpp"

namespace mx::fuzz {

struct Share {
    std::uint64_t seed = 0;
    std::uint64_t worker = 0;
    std::uint64_t workers = 1;
};

struct Counts {
    std::uint64_t rounds = 0;
    std::uint64_t blocks = 0;      // judged
    std::uint64_t calls = 0;       // of the device, those of shrinking not among them
    std::uint64_t refused = 0;     // cases that the device does not do
    std::uint64_t deviations = 0;  // calls that differ only where the source leaves it open
};

struct Found {
    Find find;
    Round round;  // that saw it first
};

class Search {
public:
    Search(const std::vector<Case>& themes, const Share& share, Judge& judge);

    // Goes on until `is_enough` says so; it is asked before each round of calls of the device.
    // `is_stopped` is asked between the calls that shrink a find, which may be many.
    void run(
        const std::function<bool(const Search&)>& is_enough,
        const std::function<bool()>& is_stopped = [] { return false; });

    const Share& share() const { return share_; }
    const Counts& counts() const { return counts_; }
    const std::vector<Coverage>& coverage() const { return coverage_; }
    const std::map<std::string, Found>& finds() const { return finds_; }
    // Why the search cannot go on; "" while it can.
    const std::string& given_up() const { return given_up_; }

    // For a search that goes on where one before it stopped.
    std::vector<Coverage>& coverage_to_restore() { return coverage_; }
    Counts& counts_to_restore() { return counts_; }
    std::map<std::string, Found>& finds_to_restore() { return finds_; }

private:
    void play(Coverage& coverage, std::int64_t elements, Random& random);
    Case choose_case(Coverage& coverage, std::int64_t elements, Random& random);
    std::vector<CodeTensor> make_batch(const Case& c, const Rules& rules, Coverage& coverage,
                                       Random& random);
    void look_at(const Case& c, const Rules& rules, const std::vector<CodeTensor>& inputs,
                 Coverage& coverage, Random& random);
    void weigh(const Case& c, const std::vector<CodeTensor>& inputs, const Judgement& judgement);

    std::function<bool()> is_stopped_;

    Share share_;
    Judge& judge_;
    std::vector<Coverage> coverage_;
    Counts counts_;
    std::map<std::string, Found> finds_;
    std::set<std::string> tried_;  // kinds that this search has shrunk, or tried to
    std::uint64_t errors_in_a_row_ = 0;
    std::string given_up_;
};

}  // namespace mx::fuzz
