// Each dialect as a row of constants for ScaleRule, with the reason each constant is right.
// Used by the ABI glue through rules.hpp. Must not know the oracle's tables: written apart from
// them.
#include "device/cpu/rules.hpp"

#include <array>
#include <utility>

namespace mx::cpu {
namespace {

enum class Exponent {
    down,   // floor(log2 amax): the exponent field as it is
    up,     // ceil(log2 amax): any mantissa bit carries
    even,   // amax rounded to the element's mantissa first, ties away: half a last place carries
    ratio,  // ceil(log2 of the binary32 product amax * (1 / max element))
};

// What NaN becomes in an element that has none.
enum class NanCode {
    largest,
    low_bits,  // those of 1.5 * 2^128, were the format unbounded: mantissa one half, odd field
};

struct Row {
    std::string_view name;
    Exponent exponent;
    std::uint8_t overflow_code;  // of Inf, and of a finite amax too large for a byte
    NanPolicy nan_policy;
    NanCode nan_code;
    bool has_int8;
};

constexpr std::array rows{
    Row{"ocp", Exponent::down, 0xFF, NanPolicy::poisons_block, NanCode::largest, true},
    Row{"nv", Exponent::ratio, 0xFE, NanPolicy::own_lane, NanCode::largest, true},
    Row{"torchao-floor", Exponent::down, 0xFF, NanPolicy::poisons_block, NanCode::low_bits, false},
    Row{"torchao-ceil", Exponent::up, 0xFF, NanPolicy::poisons_block, NanCode::low_bits, false},
    Row{"torchao-even", Exponent::even, 0xFF, NanPolicy::poisons_block, NanCode::low_bits, false},
    Row{"torchao-rceil", Exponent::ratio, 0xFF, NanPolicy::poisons_block, NanCode::low_bits, false},
};

// What the scale rules need of an element.
struct ElementRow {
    std::string_view name;
    std::string_view block_name;
    ElementType type;
    std::uint32_t exponent_offset;  // emax, the exponent of the largest element
    std::uint32_t ratio_carry_from;
    std::uint32_t ratio_one_from;
    std::uint8_t nan_low_bits;
};

// For Exponent::ratio. amax / max is above a power of two when amax's mantissa field is above that
// of max (1.75, 1.875, 1.5), so amax carries from the next one on. 1 / max of INT8 (127/64) rounds
// down so far that the product of that next one still rounds to the power of two itself: there it
// is one later. Where the product is subnormal, just above 2^-127, it rounds in units of 2^-149 and
// the border is one later again: ratio_one_from, an amax that for INT8 is itself subnormal. (The
// test of rules.cpp multiplies all amax about the borders.)
constexpr std::array element_rows{
    ElementRow{"e4m3", "mxfp8-e4m3", ElementType::e4m3, 8, 0x600001, 0x04600002, 0x7F},
    ElementRow{"e5m2", "mxfp8-e5m2", ElementType::e5m2, 15, 0x600001, 0x07E00002, 0x7F},
    ElementRow{"e3m2", "mxfp6-e3m2", ElementType::e3m2, 4, 0x600001, 0x02600002, 0x0E},
    ElementRow{"e2m3", "mxfp6-e2m3", ElementType::e2m3, 2, 0x700001, 0x01700002, 0x0C},
    ElementRow{"e2m1", "mxfp4-e2m1", ElementType::e2m1, 2, 0x400001, 0x01400002, 0x03},
    ElementRow{"int8", "mxint8", ElementType::int8, 0, 0x7E0002, 0x007F0002, 0},
    ElementRow{"int8-symmetric", "mxint8-symmetric", ElementType::int8_symmetric, 0, 0x7E0002,
               0x007F0002, 0},
};

// Processors that convert to FP8. Where a NaN keeps its payload the code here is not read.
struct ProcessorRow {
    std::string_view name;
    std::uint8_t nan_of_e4m3, nan_of_e5m2;
    NanForm nan_form;
};
constexpr std::array processor_rows{
    ProcessorRow{"avx10-fp8", 0x7F, 0x7E, NanForm::payload_kept},
    ProcessorRow{"arm-fp8", 0x7F, 0x7E, NanForm::one_code},
    ProcessorRow{"riscv-fp8", 0x7F, 0x7F, NanForm::of_overflow_too},
};

constexpr std::uint32_t one_exponent = 1u << 23;

const Row* find_row(std::string_view dialect) {
    for (const Row& row : rows)
        if (row.name == dialect) return &row;
    return nullptr;
}

const ElementRow& row_of(ElementType element) {
    for (const ElementRow& row : element_rows)
        if (row.type == element) return row;
    return element_rows[0];
}

// The least normal amax whose exponent carries, as a mantissa field; one_exponent when none does.
std::uint32_t carry_from(Exponent exponent, const ElementRow& element) {
    switch (exponent) {
        case Exponent::down:
            break;
        case Exponent::up:
            return 1;
        case Exponent::even:
            return one_exponent - (1u << (22 - element_of(element.type).grid.mantissa_bits));
        case Exponent::ratio:
            return element.ratio_carry_from;
    }
    return one_exponent;
}

struct Amax {
    std::uint32_t carry_from;
    std::uint32_t one_from;
    std::uint32_t exponent_offset;
};

// Bytes above 254 do not exist: from where the formula would give 255 the amax counts as Inf. That
// can happen where the offset is 0, and in the rule "even", which may carry up to Inf.
ScaleRule scale_rule(const Row& row, const Amax& amax) {
    ScaleRule rule{};
    rule.round_up = one_exponent - amax.carry_from;
    rule.exponent_offset = amax.exponent_offset;
    rule.one_from = amax.one_from;
    rule.overflow_from = f32_infinity;
    if (amax.exponent_offset == 0) rule.overflow_from -= rule.round_up;
    if (row.exponent == Exponent::even) rule.overflow_from = f32_infinity - rule.round_up;
    rule.overflow_code = row.overflow_code;
    rule.nan_policy = row.nan_policy;
    return rule;
}

constexpr std::array<std::pair<std::string_view, Subnormals>, 3> subnormal_names{{
    {"honoured", Subnormals::honoured},
    {"inputs_flushed", Subnormals::inputs_flushed},
    {"outputs_flushed", Subnormals::outputs_flushed},
}};

constexpr std::array rounding_names{
    RoundingName{"nearest_even", Rounding::nearest_even, 0, 0},
    RoundingName{"nearest_away", Rounding::nearest_away, 0, 0},
    RoundingName{"nearest_toward_zero", Rounding::nearest_toward_zero, 0, 0},
    RoundingName{"toward_zero", Rounding::toward_zero, 0, 0},
    RoundingName{"toward_positive", Rounding::toward_positive, 0, 0},
    RoundingName{"toward_negative", Rounding::toward_negative, 0, 0},
    RoundingName{"away_from_zero", Rounding::away_from_zero, 0, 0},
    RoundingName{"to_odd", Rounding::to_odd, 0, 0},
    RoundingName{"stochastic8", Rounding::stochastic, 8, 0},
    RoundingName{"stochastic16", Rounding::stochastic, 16, 0},
    RoundingName{"stochastic32", Rounding::stochastic, 32, 0},
    RoundingName{"stochastic-x4", Rounding::stochastic, 16, 4},
};

}  // namespace

bool knows_dialect(std::string_view dialect) {
    return find_row(dialect) != nullptr;
}

std::optional<DialectRule> find_dialect_rule(std::string_view dialect, ElementType type) {
    const Row* row = find_row(dialect);
    const Element element = element_of(type);
    const bool integer = element.signs == Signs::twos_complement;
    if (row == nullptr || (integer && !row->has_int8)) return std::nullopt;
    const ElementRow& facts = row_of(type);
    Amax amax{carry_from(row->exponent, facts), 0, facts.exponent_offset};
    amax.one_from = (facts.exponent_offset << 23) + amax.carry_from;
    if (row->exponent == Exponent::ratio) amax.one_from = facts.ratio_one_from;
    const auto largest = static_cast<std::uint8_t>((1u << element.sign_place) - 1);
    return DialectRule{scale_rule(*row, amax),
                       row->nan_code == NanCode::largest ? largest : facts.nan_low_bits};
}

std::optional<ConversionRule> find_conversion_rule(std::string_view dialect, ElementType element) {
    for (const ProcessorRow& row : processor_rows) {
        if (row.name != dialect) continue;
        if (element == ElementType::e4m3) return ConversionRule{row.nan_of_e4m3, row.nan_form};
        if (element == ElementType::e5m2) return ConversionRule{row.nan_of_e5m2, row.nan_form};
    }
    return std::nullopt;
}

// A cast rounds the value itself; rounding the amax first, as "even" does, is not part of it.
// 2^-127 has the byte 0, and it is subnormal: 0x400000.
std::optional<ScaleRule> find_cast_rule(std::string_view dialect) {
    const Row* found = find_row(dialect);
    if (found == nullptr) return std::nullopt;
    Row row = *found;
    if (row.exponent == Exponent::even) row.exponent = Exponent::down;
    if (row.exponent == Exponent::down) return scale_rule(row, {one_exponent, one_exponent, 0});
    return scale_rule(row, {1, 0x400001, 0});
}

std::optional<ElementType> find_element_type(std::string_view name) {
    for (const ElementRow& row : element_rows)
        if (row.name == name) return row.type;
    return std::nullopt;
}

std::optional<ElementType> find_block_format(std::string_view name) {
    for (const ElementRow& row : element_rows)
        if (row.block_name == name) return row.type;
    return std::nullopt;
}

std::string_view name_of(ElementType element) {
    return row_of(element).name;
}

std::optional<ValueType> find_value_type(std::string_view name) {
    if (name == "f32") return ValueType::f32;
    if (name == "bf16") return ValueType::bf16;
    if (name == "f16") return ValueType::f16;
    return std::nullopt;
}

std::optional<OverflowMode> find_overflow(std::string_view name) {
    if (name == "saturate") return OverflowMode::saturate;
    if (name == "overflow") return OverflowMode::overflow;
    return std::nullopt;
}

std::optional<Subnormals> find_subnormals(std::string_view name) {
    for (const auto& [known, subnormals] : subnormal_names)
        if (known == name) return subnormals;
    return std::nullopt;
}

std::optional<RoundingName> find_rounding(std::string_view name) {
    for (const RoundingName& row : rounding_names)
        if (row.name == name) return row;
    return std::nullopt;
}

}  // namespace mx::cpu
