// What relations came to as the cases of a record: a relation is a case. Used by mxcheck relate.
#pragma once

#include <cstddef>
#include <string>

#include "conformance/relation/words.hpp"
#include "conformance/results/record.hpp"

namespace mx::relation {

struct RelatedCase {
    const Setting& setting;
    const Result& result;
    std::string text;   // the options that ask this relation, but for the device
    std::string repro;  // the whole line that asks the sample that broke it; "" where none did
};
results::CaseResult record_of(const RelatedCase& related);

// How many ended in which way.
struct Standings {
    std::size_t held = 0, broken = 0, unclaimed = 0, not_run = 0, failed = 0;

    void add(Standing standing);
};

}  // namespace mx::relation
