// All codes that an explained block leads to, under any dialect, from either oracle. Used to hold
// the two oracles against each other and to lay dialects side by side.
#pragma once

#include <string>
#include <vector>

#include "conformance/emulate/explain_target.hpp"
#include "reference/exact/decode.hpp"
#include "reference/spec/element_format.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::emulate {

inline constexpr int lane_of_scale = -1;

struct Answer {
    int lane = 0;  // or lane_of_scale: the block's scale
    Code code;
    bool operator==(const Answer&) const = default;
};
// quantize: the scale, then one element a lane; otherwise one code a lane.
using Answers = std::vector<Answer>;

// The bits that decide the rounding of a lane; none where it takes none.
RandomBits random_of(const ExplainTarget& target, std::size_t lane);

// The lanes as a dialect reads them.
std::vector<exact::Value> lane_values(const ExplainTarget& target, const Quantizer& rules);

using Oracle = Answers (*)(const ExplainTarget& target, const Quantizer& rules);
Answers exact_answers(const ExplainTarget& target, const Quantizer& rules);
Answers fast_answers(const ExplainTarget& target, const Quantizer& rules);

// The format of an answer's code.
const ElementFormat& answer_format(const ExplainTarget& target, const Answer& answer);

// The rules of a dialect for this target; for convert with the rounding its case names.
Quantizer rules_in(const ExplainTarget& target, const Quantizer& dialect);

// Names the first answer on which the two oracles differ; "" when they agree.
struct OraclePair {
    Answers exact;
    Answers fast;
};
std::string disagreement_in(const OraclePair& oracles);

// Does the dialect answer this target: does it quantize the format from the type, and is its scale
// known? Every dialect casts to E8M0.
bool applies(const ExplainTarget& target, const Quantizer& dialect);
// Elements of the case's format, whatever its input.
bool makes_them(const Case& c, const Quantizer& dialect);

// The fields on which two dialects part over this target: every smallest set that, taken over from
// `there`, gives `here` the answers of `there`. Empty when both answer alike.
using FieldNames = std::vector<std::string_view>;
struct DialectPair {
    const Quantizer& here;
    const Quantizer& there;
};
std::vector<FieldNames> parting_fields(const ExplainTarget& target, const DialectPair& dialects);

}  // namespace mx::emulate
