// Which hypotheses explain every failing case of a run, and are refuted by none: those of each case
// joined over all of them, and held against the cases that they do not explain. Used by cause.cpp,
// which makes sentences of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/cause/failing.hpp"
#include "conformance/cause/pairs.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/results/record.hpp"

namespace mx::cause {

// "a, b and c"
std::string listed(const std::vector<std::string>& items);

// A kind that explains, and where it holds.
struct Candidate {
    std::string kind, text;
    std::string where = {};  // "in odd rows"; "" everywhere
    std::string scope = {};  // "in elements of e4m3"; "" in all
    // What all that it explains lies in, though nothing says why: "in odd rows", by its places. ""
    // with places: each line is one block, so that all of them are its first and its last.
    std::string seen_in = {};
    std::vector<std::string> seen_places = {};
    bool is_refuted = false;
};

using Candidates = std::vector<std::vector<Candidate>>;
enum class Reach { everywhere, any_number, one_place };

// Of cases of one kind: GEMMs have hypotheses of their own.
class Search {
public:
    Search(std::span<const results::CaseResult> cases, std::vector<Failing> failing,
           Sources& sources)
        : cases_(cases), failing_(std::move(failing)), sources_(sources) {}

    // The sets of kinds that explain everything and are refuted nowhere: the simplest ones. One
    // cause is simpler than one in a place, and that than two.
    Candidates explanations();

    struct OfMost {
        Candidates found;
        std::size_t cases = 0;  // that each of them explains
    };
    // Those that each explain more than half of the cases, and change all that nothing explains:
    // what is altered there may hang on an order that nobody knows.
    OfMost explanations_of_most();

private:
    enum class Extent { all, most };

    Candidates unrefuted(const Covers& covers, Extent extent);
    void find_where_seen(Candidate& candidate, const Covers& alone) const;
    Covers in_places_seen(const Candidates& found, const Covers& alone) const;
    bool have_long_lines() const;
    bool may_have_long_lines() const;
    std::vector<std::string> kinds_by_use() const;
    Covers covers_of_one() const;
    Covers covers_of_two(Reach one, Reach other) const;
    Candidates explanations_by_two();
    Candidates limited_pairs(const std::vector<Covers>& all);
    void add_unlimited_in_places(const Covers& alone, Candidates& found);
    Covers pairs_of_some(const Pairs& pairs) const;
    Candidate named(const std::string& kind) const;
    Candidates named(const Covers& covers, const Pairs& pairs) const;
    void find_where_seen(Candidate& candidate, const Candidate& other, const Pairs& pairs) const;
    void add_others_there(const Candidate& candidate, const Candidate& other, const Pairs& pairs,
                          Candidates& found) const;
    std::vector<const results::CaseResult*> passing() const;
    bool is_unexplained(const results::CaseResult& result) const;
    void check(const Covers& covers, Extent extent);
    bool explains(const std::string& kind, const results::CaseResult& result) const;
    std::vector<Case> cases_with(const std::string& kind) const;  // "": all failing ones
    std::vector<const results::CaseResult*> cases_to_check() const;

    std::span<const results::CaseResult> cases_;
    std::vector<Failing> failing_;
    Sources& sources_;
    std::map<std::string, Candidate> candidates_;
};

}  // namespace mx::cause
