// Each dialect as a row of constants for ScaleRule, with the reason each constant is right.
// Used by the ABI glue through rules.hpp. Must not know the oracle's tables: written apart from
// them.
#include "device/cpu/rules.hpp"

#include <array>

namespace mx::cpu {
namespace {

enum class Exponent {
    down,   // floor(log2 amax): the exponent field as it is
    up,     // ceil(log2 amax): any mantissa bit carries
    even,   // amax rounded to the element's mantissa first, ties away: half a last place carries
    ratio,  // ceil(log2 of the binary32 product amax * (1 / max element))
};

struct Row {
    std::string_view name;
    Exponent exponent;
    std::uint8_t infinity_code;
    NanPolicy nan_policy;
};

constexpr std::array rows{
    Row{"ocp", Exponent::down, 0xFF, NanPolicy::poisons_block},
    Row{"nv", Exponent::ratio, 0xFE, NanPolicy::own_lane},
    Row{"torchao-floor", Exponent::down, 0xFF, NanPolicy::poisons_block},
    Row{"torchao-ceil", Exponent::up, 0xFF, NanPolicy::poisons_block},
    Row{"torchao-even", Exponent::even, 0xFF, NanPolicy::poisons_block},
    Row{"torchao-rceil", Exponent::ratio, 0xFF, NanPolicy::poisons_block},
};

constexpr std::uint32_t one_exponent = 1u << 23;
constexpr std::uint32_t no_tie = 0xFFFFFFFFu;

// Both largest elements are 1.75 * 2^k (448 and 57344). amax / max is above a power of two exactly
// when amax's mantissa field is above that of 1.75, 0x600000: adding 0x1FFFFF then carries.
constexpr std::uint32_t ratio_round_up = 0x7FFFFFu - 0x600000u;

// The device must give the exponent of the product as binary32 rounds it. It differs from the exact
// ratio for one amax: the one just above max * 2^-127, bits (exponent_offset << 23) + 0x600001.
// There the product is subnormal, its quantum is 2^-149, and it rounds down to 2^-127 itself. (The
// test of rules.cpp multiplies all amax.)
constexpr std::uint32_t ratio_tie_of(std::uint32_t exponent_offset) {
    return (exponent_offset << 23) + 0x600001u;
}

ScaleRule rule_of(const Row& row, ElementType element) {
    const bool small = element == ElementType::e4m3;
    const std::uint32_t exponent_offset = small ? 8u : 15u;
    const auto mantissa_bits = static_cast<std::uint32_t>(grid_of(element).mantissa_bits);
    ScaleRule rule{0, no_tie, exponent_offset, f32_infinity, row.infinity_code, row.nan_policy};
    switch (row.exponent) {
        case Exponent::down:
            break;
        case Exponent::up:
            rule.round_up = one_exponent - 1;
            break;
        case Exponent::even:
            // Half of the element's last place. What this carries up to Inf is Inf: FLT_MAX too.
            rule.round_up = 1u << (22 - mantissa_bits);
            rule.overflow_from = f32_infinity - rule.round_up;
            break;
        case Exponent::ratio:
            rule.round_up = ratio_round_up;
            rule.ratio_tie = ratio_tie_of(exponent_offset);
            break;
    }
    return rule;
}

}  // namespace

std::optional<ScaleRule> find_scale_rule(std::string_view dialect, ElementType element) {
    for (const Row& row : rows)
        if (row.name == dialect) return rule_of(row, element);
    return std::nullopt;
}

std::optional<ElementType> find_block_format(std::string_view name) {
    if (name == "mxfp8-e4m3") return ElementType::e4m3;
    if (name == "mxfp8-e5m2") return ElementType::e5m2;
    return std::nullopt;
}

std::optional<ElementType> find_element_type(std::string_view name) {
    if (name == "e4m3") return ElementType::e4m3;
    if (name == "e5m2") return ElementType::e5m2;
    return std::nullopt;
}

std::optional<ValueType> find_value_type(std::string_view name) {
    if (name == "f32") return ValueType::f32;
    if (name == "bf16") return ValueType::bf16;
    if (name == "f16") return ValueType::f16;
    return std::nullopt;
}

}  // namespace mx::cpu
