// Numbers and verdicts in words, the same in every format. Used by the model's sentences and by all
// renderers. Must not know any markup.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/record.hpp"

namespace mx::reports {

// "4,194,304"
std::string grouped(std::uint64_t number);

// "1 case", "2,048 cases": the plural is the noun with an s.
std::string counted(std::uint64_t number, std::string_view noun);

// "nv = te-specialised"; empty words are left out.
std::string joined(const std::vector<std::string>& words, std::string_view between);

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
