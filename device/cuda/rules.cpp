// Each dialect as a row, each element format as a row. Used through rules.hpp.
#include "device/cuda/rules.hpp"

#include <array>

namespace mx::cuda {
namespace {

enum class Rounding {
    down,   // floor(log2 amax)
    up,     // ceil(log2 amax): any bit of the mantissa carries
    even,   // amax rounded to the mantissa of the element first, ties away
    ratio,  // ceil(log2(amax * (1 / largest))), the product in float32
};

// What NaN becomes in an element format that has none.
enum class NanCode {
    largest,
    low_bits,  // the code that torchao's arithmetic makes of the NaN that is the block's scale
};

struct DialectRow {
    std::string_view name;
    Rounding rounding;
    ScaleOverflow overflow;
    NanPolicy nan_policy;
    NanCode nan_code;
    bool has_int8;
};

constexpr std::array dialects{
    DialectRow{"ocp", Rounding::down, ScaleOverflow::to_nan, NanPolicy::poisons_block,
               NanCode::largest, true},
    DialectRow{"nv", Rounding::ratio, ScaleOverflow::to_largest, NanPolicy::own_lane,
               NanCode::largest, true},
    DialectRow{"torchao-floor", Rounding::down, ScaleOverflow::to_nan, NanPolicy::poisons_block,
               NanCode::low_bits, false},
    DialectRow{"torchao-ceil", Rounding::up, ScaleOverflow::to_nan, NanPolicy::poisons_block,
               NanCode::low_bits, false},
    DialectRow{"torchao-even", Rounding::even, ScaleOverflow::to_nan, NanPolicy::poisons_block,
               NanCode::low_bits, false},
    DialectRow{"torchao-rceil", Rounding::ratio, ScaleOverflow::to_nan, NanPolicy::poisons_block,
               NanCode::low_bits, false},
};

struct ElementRow {
    std::string_view name;
    std::string_view block_name;
    Element element;
    std::int32_t exponent_largest;
    float inverse_largest;
    std::uint8_t nan_low_bits;
};

constexpr std::array elements{
    ElementRow{"e4m3", "mxfp8-e4m3", Element::e4m3, 8, 1.0f / 448.0f, 0x7F},
    ElementRow{"e5m2", "mxfp8-e5m2", Element::e5m2, 15, 1.0f / 57344.0f, 0x7F},
    ElementRow{"e3m2", "mxfp6-e3m2", Element::e3m2, 4, 1.0f / 28.0f, 0x0E},
    ElementRow{"e2m3", "mxfp6-e2m3", Element::e2m3, 2, 1.0f / 7.5f, 0x0C},
    ElementRow{"e2m1", "mxfp4-e2m1", Element::e2m1, 2, 1.0f / 6.0f, 0x03},
    ElementRow{"int8", "mxint8", Element::int8, 0, 64.0f / 127.0f, 0},
    ElementRow{"int8-symmetric", "mxint8-symmetric", Element::int8_symmetric, 0, 64.0f / 127.0f, 0},
};

const DialectRow* find_row(std::string_view dialect) {
    for (const DialectRow& row : dialects)
        if (row.name == dialect) return &row;
    return nullptr;
}
const ElementRow& row_of(Element element) {
    for (const ElementRow& row : elements)
        if (row.element == element) return row;
    return elements[0];
}

ScaleRule rule_of(const DialectRow& dialect, Rounding rounding) {
    ScaleRule rule{};
    rule.exponent = rounding == Rounding::ratio ? Exponent::ratio : Exponent::field;
    rule.nan_policy = dialect.nan_policy;
    rule.overflow = dialect.overflow;
    rule.poison_from = f32_infinity;
    return rule;
}

}  // namespace

bool knows_dialect(std::string_view dialect) {
    return find_row(dialect) != nullptr;
}

std::optional<DialectRule> find_dialect_rule(std::string_view dialect, Element element) {
    const DialectRow* row = find_row(dialect);
    const Grid grid = grid_of(element);
    if (row == nullptr || (grid.is_twos_complement && !row->has_int8)) return std::nullopt;
    const ElementRow& facts = row_of(element);
    ScaleRule rule = rule_of(*row, row->rounding);
    rule.exponent_largest = facts.exponent_largest;
    rule.inverse_largest = facts.inverse_largest;
    if (row->rounding == Rounding::up) rule.carry = 0x007FFFFFu;
    if (row->rounding == Rounding::even) {
        rule.carry = 1u << (22 - grid.mantissa_bits);
        rule.poison_from -= rule.carry;  // what rounds to Inf
    }
    const auto largest = static_cast<std::uint8_t>((1u << grid.sign_place) - 1);
    return DialectRule{rule, row->nan_code == NanCode::largest ? largest : facts.nan_low_bits};
}

// A cast rounds the value itself: up is the ratio to 1, and rounding to a mantissa first is no part
// of it.
std::optional<ScaleRule> find_cast_rule(std::string_view dialect) {
    const DialectRow* row = find_row(dialect);
    if (row == nullptr) return std::nullopt;
    const bool up = row->rounding == Rounding::up || row->rounding == Rounding::ratio;
    ScaleRule rule = rule_of(*row, up ? Rounding::ratio : Rounding::down);
    rule.inverse_largest = 1.0f;
    return rule;
}

std::optional<Element> find_element(std::string_view name) {
    for (const ElementRow& row : elements)
        if (row.name == name) return row.element;
    return std::nullopt;
}

std::optional<Element> find_block_format(std::string_view name) {
    for (const ElementRow& row : elements)
        if (row.block_name == name) return row.element;
    return std::nullopt;
}

std::string_view name_of(Element element) {
    return row_of(element).name;
}

std::optional<ValueType> find_value_type(std::string_view name) {
    if (name == "f32") return ValueType::f32;
    if (name == "bf16") return ValueType::bf16;
    if (name == "f16") return ValueType::f16;
    return std::nullopt;
}

}  // namespace mx::cuda
