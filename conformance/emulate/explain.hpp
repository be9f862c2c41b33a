// One block explained: every step as bits and exact fractions, and where the dialects part. Used by
// mxcheck explain; opens no file and prints nothing itself.
#pragma once

#include <string>

#include "conformance/emulate/explain_target.hpp"

namespace mx::emulate {

struct Explanation {
    std::string text;   // lines of at most 120 characters
    std::string fault;  // where the oracles, or the printed steps, do not agree; "" as it should be
};
Explanation explain(const ExplainTarget& target);

}  // namespace mx::emulate
