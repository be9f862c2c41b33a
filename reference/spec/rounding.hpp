// How a value between two codes, or beyond the last one, becomes a code.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace mx {

enum class Rounding {
    nearest_even,  // ties to the even code; the mode OCP MX 5.3 and OFP8 require
    nearest_away,  // ties away from zero
    toward_zero,
    toward_positive,
    toward_negative,
    away_from_zero,
};

// What becomes of a result above the largest finite value.
enum class Overflow {
    saturate,  // OFP8 "SAT": the largest finite value with the sign; Inf too
    overflow,  // OFP8 "OVF": Inf, or NaN where the format has no Inf
};

inline constexpr std::array<std::pair<std::string_view, Rounding>, 6> roundings{{
    {"nearest_even", Rounding::nearest_even},
    {"nearest_away", Rounding::nearest_away},
    {"toward_zero", Rounding::toward_zero},
    {"toward_positive", Rounding::toward_positive},
    {"toward_negative", Rounding::toward_negative},
    {"away_from_zero", Rounding::away_from_zero},
}};

inline constexpr std::array<std::pair<std::string_view, Overflow>, 2> overflows{{
    {"saturate", Overflow::saturate},
    {"overflow", Overflow::overflow},
}};

}  // namespace mx
