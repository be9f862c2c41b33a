// One block explained: every step as bits and exact fractions, and where the dialects part. Used by
// mxcheck explain; opens no file and prints nothing itself.
#pragma once

#include <string>

#include "conformance/emulate/answers.hpp"

namespace mx::emulate {

struct Explanation {
    std::string text;   // lines of at most 120 characters
    std::string fault;  // of the oracles: they are broken, or they or the printed steps disagree
};

// What is shown comes from the exact oracle; `other` is the one it is held against.
Explanation explain(const ExplainTarget& target, Oracle other = fast_answers);

}  // namespace mx::emulate
