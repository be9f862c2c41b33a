// The sections of an explanation, one function each. Used by explain.cpp only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/emulate/explain.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/exact/block.hpp"

namespace mx::emulate {

// Codes and exact values of the lanes.
std::string explain_inputs(const ExplainTarget& target);

// The largest magnitude of the block and where it stands.
std::string explain_amax(const ExplainTarget& target, const Quantizer& rules);

// From amax to the scale byte.
std::string explain_scale(const BlockFormat& format, const Quantizer& rules,
                          const exact::Value& amax);

// The rule in words, its constants, and one row for each lane taken as an amax.
std::string explain_scales(const ExplainTarget& target, const Quantizer& rules);

// A cast to E8M0: one byte for each lane, by the dialect's cast alone.
std::string explain_casts(const ExplainTarget& target, const Quantizer& rules);

// Element rounding lane by lane: neighbours, position, decision, code, value. Without a scale the
// values are rounded as they are.
std::string explain_elements(const ExplainTarget& target, const Quantizer& rules,
                             const Code* scale);

// The way back: scale * element, rounded to the output type.
std::string explain_values(const ExplainTarget& target);

// The whole explanation of a block whose scale has a mantissa. Its tensor's number is given.
Explanation explain_real_scale(const ExplainTarget& target);

// Every dialect's answers to the same block, and on which decisions they part. A dialect on which
// the exact oracle and `other` differ is named in `fault`.
std::string compare_dialects(const ExplainTarget& target, Oracle other, std::string& fault);

// The decisions this block hangs on that the dialect's source leaves open; "" if there are none.
std::string open_decisions(const ExplainTarget& target, const Quantizer& rules);

}  // namespace mx::emulate
