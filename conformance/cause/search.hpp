// Which hypotheses explain every failing case of a run, and are refuted by none: those of each case
// joined over all of them, and held against the cases that they do not explain. Used by cause.cpp,
// which makes sentences of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/results/record.hpp"

namespace mx::cause {

// What a failing case comes to.
struct Failing {
    const results::CaseResult* result = nullptr;
    std::set<std::string> alone;                         // kinds that each explain all of it
    std::vector<std::vector<std::string>> explanations;  // kinds that do together
    std::uint64_t places = 0;                            // that need a hypothesis
    std::uint64_t open_places = 0;                       // that a source leaves open
    bool needs_hypothesis() const { return places > 0; }
};

// As the record has it: one kind, one in several places, or two together.
void add_explanation(const std::string& explanation, Failing& failing);

// The same whichever row, block or k it is.
std::string without_numbers(const std::string& text);

// "a, b and c"
std::string listed(const std::vector<std::string>& items);

bool is_of_gemms(const Failing& failing);

// A kind that explains, and where it holds.
struct Candidate {
    std::string kind, text;
    std::string scope;    // "" everywhere
    std::string seen_in;  // the place that all it explains lies in, though nothing says why
    bool is_refuted = false;
};

using Covers = std::vector<std::vector<std::string>>;  // sets of kinds that explain all
using Candidates = std::vector<std::vector<Candidate>>;

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
    std::string seen_in(const Candidate& candidate, const Covers& alone) const;
    bool have_long_lines() const;
    std::vector<std::string> kinds_by_use() const;
    bool covers_all(const std::vector<std::string>& kinds) const;
    Covers covers_of_one() const;
    Covers covers_of_two() const;
    bool is_unexplained(const results::CaseResult& result) const;
    void check(const Covers& covers, Extent extent);
    bool explains(const std::string& kind, const results::CaseResult& result) const;
    std::vector<Case> cases_with(const std::string& kind) const;
    std::vector<const results::CaseResult*> cases_to_check() const;

    std::span<const results::CaseResult> cases_;
    std::vector<Failing> failing_;
    Sources& sources_;
    std::map<std::string, Candidate> candidates_;
};

}  // namespace mx::cause
