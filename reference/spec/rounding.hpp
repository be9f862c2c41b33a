// How a value between two codes, or beyond the last one, becomes a code.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace mx {

// What each of them does, meaning_of says.
enum class Rounding {
    nearest_even,
    nearest_away,
    toward_zero,
    toward_positive,
    toward_negative,
    away_from_zero,
    nearest_toward_zero,
    to_odd,
    stochastic,
};

// The bits that decide a stochastic rounding. Of the value's distance from its neighbour toward
// zero, in units of the gap, the first `count` binary digits are taken; the sum with `bits` carries
// or does not. PTX cvt.rs cuts so; digits beyond `count` never matter.
struct RandomBits {
    std::uint32_t bits = 0;
    int count = 0;  // 1 to 32; 0 where the rounding is not stochastic
};

// Subnormals of the input, and results below the smallest normal value of the element.
enum class Subnormals {
    honoured,
    inputs_flushed,   // a subnormal input is a zero of its sign
    outputs_flushed,  // a result that is subnormal after rounding is a zero of its sign
};

// What becomes of a result above the largest finite value.
enum class Overflow {
    saturate,     // OFP8 "SAT": the largest finite value with the sign; Inf too
    overflow,     // OFP8 "OVF": Inf, or NaN where the format has no Inf
    to_infinity,  // Inf where the format has it, else the largest: of rows, no conversion names it
};

inline constexpr std::array<std::pair<std::string_view, Rounding>, 9> roundings{{
    {"nearest_even", Rounding::nearest_even},
    {"nearest_away", Rounding::nearest_away},
    {"toward_zero", Rounding::toward_zero},
    {"toward_positive", Rounding::toward_positive},
    {"toward_negative", Rounding::toward_negative},
    {"away_from_zero", Rounding::away_from_zero},
    {"nearest_toward_zero", Rounding::nearest_toward_zero},
    {"to_odd", Rounding::to_odd},
    {"stochastic", Rounding::stochastic},
}};

// A sentence for people. No default: a new mode without one must not compile.
constexpr std::string_view meaning_of(Rounding rounding) {
    switch (rounding) {
        case Rounding::nearest_even:
            return "The nearest code, of two as near the even one: OCP MX 5.3 and OFP8 require it.";
        case Rounding::nearest_away:
            return "The nearest code, of two as near the one away from zero.";
        case Rounding::toward_zero:
            return "The code toward zero: the value is cut off.";
        case Rounding::toward_positive:
            return "The code toward plus infinity.";
        case Rounding::toward_negative:
            return "The code toward minus infinity.";
        case Rounding::away_from_zero:
            return "The code away from zero.";
        case Rounding::nearest_toward_zero:
            return "The nearest code, of two as near the one toward zero (\"ties down\").";
        case Rounding::to_odd:
            return "The odd one of the two neighbours, unless the value is a code; beyond the last "
                   "code the last one.";
        case Rounding::stochastic:
            return "The code away from zero with the probability of the remainder, by bits that "
                   "are "
                   "given.";
    }
    return "";
}

// The spellings of stochastic rounding: how many of a word's bits decide one value, and how many
// values of a row share a word.
//
// stochastic-x4 is PTX cvt.rs to .e4m3x4, .e5m2x4, .e2m3x4 or .e3m2x4. Its operands a, b, e, f go
// to the bytes of the result from the highest down, so a value's place among the four in memory is
// f, e, b, a. The low half of the word serves f and e, the high half b and a.
struct StochasticForm {
    std::string_view name;
    int bits;
    int values_per_word;
};
inline constexpr std::array stochastic_forms{
    StochasticForm{"stochastic8", 8, 1},
    StochasticForm{"stochastic16", 16, 1},
    StochasticForm{"stochastic32", 32, 1},
    StochasticForm{"stochastic-x4", 16, 4},
};

inline constexpr std::array<std::pair<std::string_view, Overflow>, 2> overflows{{
    {"saturate", Overflow::saturate},
    {"overflow", Overflow::overflow},
}};

// A row of the quantizer table may have one more; a conversion names one of the two above.
constexpr std::string_view name_of(Overflow overflow) {
    for (const auto& [name, value] : overflows)
        if (value == overflow) return name;
    return "to_infinity";
}

inline constexpr std::array<std::pair<std::string_view, Subnormals>, 3> subnormal_rules{{
    {"honoured", Subnormals::honoured},
    {"inputs_flushed", Subnormals::inputs_flushed},
    {"outputs_flushed", Subnormals::outputs_flushed},
}};

}  // namespace mx
