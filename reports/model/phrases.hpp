// Verdicts, places and times in words, the same in every format. Used by the model's sentences and
// by all renderers. Must not know any markup.
#pragma once

#include <string>
#include <string_view>

#include "conformance/results/record.hpp"
#include "reference/base/text.hpp"

namespace mx::reports {

// "oracle disagreement"
std::string words_of(results::Verdict verdict);

// A word short enough for a cell: "pass", "n/s", "FAIL".
std::string_view short_word_of(results::Verdict verdict);

// One line on what the verdict means.
std::string_view meaning_of(results::Verdict verdict);

// "block 5, lane 17"; of a product, "row 5, column 17".
std::string place_of(const results::CaseResult& result, const results::Mismatch& mismatch);

// "3.2 s", "4 min 10 s"
std::string duration(double seconds);

}  // namespace mx::reports
