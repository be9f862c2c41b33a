// A failing case and what explains it, read from its record. Used by the search and the sentence.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

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

// As the record has it: one kind, one in several places ("ties:up@odd_rows,last_row" is two), or
// two together.
void add_explanation(const std::string& explanation, Failing& failing);

// The same whichever row, block or k it is.
std::string without_numbers(const std::string& text);

bool is_of_gemms(const Failing& failing);

}  // namespace mx::cause
