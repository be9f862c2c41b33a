// Small runs to render: the files in fixtures/ and a case made on the spot. Used by the tests of
// the reports; must not know any format of output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/results/attachments.hpp"
#include "conformance/results/record.hpp"

namespace mx::reports::test {

// Stops the test program when the file cannot be read: no test makes sense without it.
results::Run fixture(std::string_view name);

inline constexpr std::string_view fixture_names[] = {"every_verdict", "clean_full", "interrupted",
                                                     "hostile_text"};

// A complete run at level full with no case yet.
results::Run empty_run();

// Adds a case and keeps the header's count in step.
results::CaseResult& add_case(results::Run& run, results::Verdict verdict);

// The run of every verdict, with mismatches in cells, scales of both sides and bounded products.
results::Run heated_run();

// A row or two of everything that can stand beside a run.
results::Attachments everything_beside();

std::size_t occurrences(std::string_view text, std::string_view wanted);

}  // namespace mx::reports::test
