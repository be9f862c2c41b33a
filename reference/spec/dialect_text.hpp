// A dialect's decisions as words, for lists, explanations and reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/spec/dialects.hpp"

namespace mx {

constexpr std::string_view text_of(ScaleRule rule) {
    switch (rule) {
        case ScaleRule::floor_amax:
            return "floor(log2(amax)) - emax";
        case ScaleRule::ceil_amax:
            return "ceil(log2(amax)) - emax";
        case ScaleRule::even_amax:
            return "floor(log2(amax rounded to the element's mantissa, ties away)) - emax";
        case ScaleRule::round_up_ratio:
            return "ceil(log2(fl32(amax * fl32(1 / max))))";
    }
    return "";
}

// Field and choice, in the order of struct Dialect; then what the source leaves open.
inline std::vector<std::pair<std::string, std::string>> decision_vector(const Dialect& d) {
    const auto rounding = [](Rounding wanted) {
        for (const auto& [name, value] : roundings)
            if (value == wanted) return std::string(name);
        return std::string();
    };
    std::string open;
    for (const auto& [name, decision] : decisions)
        if (d.leaves_open(decision)) open += (open.empty() ? "" : ", ") + std::string(name);
    return {
        {"scale_rule", std::string(text_of(d.scale_rule))},
        {"scale_overflow", d.scale_overflow == ScaleOverflow::nan ? "0xff, NaN" : "0xfe"},
        {"scale_underflow", "0x00"},
        {"zero_block", "0x00"},
        {"nan_in_block", d.nan_in_block == NanInBlock::poisons_scale
                             ? "scale 0xff, every element NaN"
                             : "ignored in amax, its own lane NaN"},
        {"element_rounding", rounding(d.element_rounding)},
        {"element_overflow",
         d.element_overflow == Overflow::saturate ? "saturate" : "Inf, or NaN without Inf"},
        {"subnormals", "honoured"},
        {"nan_code", d.nan_code == NanCode::positive_all_ones ? "0x7f" : "0x7f or 0xff by sign"},
        {"sign_of_zero", d.sign_of_zero == SignOfZero::kept ? "kept" : "dropped"},
        {"left_open", open.empty() ? "nothing" : open},
        {"source", std::string(d.source)},
    };
}

}  // namespace mx
