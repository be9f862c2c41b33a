// The table rows a case names, and the element rules it asks for. Only for validated cases.
#pragma once

#include <cstdint>

#include "conformance/case/operations.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {

// convert names an element format; its block format is the one made of it. Not for convert to e8m0,
// which is of no block format.
inline const BlockFormat& block_format_of(const Case& c) {
    for (const BlockFormat& format : mx_block_formats)
        if (format.name == c.format || format.element().name == c.format) return format;
    MX_ASSERT(false && "a validated case names a known format");
    return mx_block_formats[0];
}

// What elements are written in; e8m0 where convert casts to a scale.
inline const ElementFormat& element_format_of(const Case& c) {
    if (c.format == formats::e8m0.name) return formats::e8m0;
    return block_format_of(c).element();
}

inline const ElementFormat& value_format_of(const Case& c) {
    return *find_element_format(c.type);
}

// Does the case cast values to scales, without blocks and by the dialect's cast alone?
inline bool casts_to_scale(const Case& c) {
    return operation_of(c).kind == OperationKind::convert && !has_element_rules(c);
}

// Why nobody can say yet which scale is right; "" where the dialect's scale is known.
inline std::string unknown_scale(const Case& c) {
    const OperationKind kind = operation_of(c).kind;
    const bool needs_it = kind == OperationKind::quantize || kind == OperationKind::encode_scale;
    if (!needs_it) return "";
    const Quantizer& dialect = *find_quantizer(c.dialect);
    if (dialect.is_known()) return "";
    return "the scale of dialect '" + c.dialect + "' waits for " + std::string(dialect.waits);
}

// The dialect's row; for convert with the element rules that the case names.
inline Quantizer rules_of(const Case& c) {
    Quantizer rules = *find_quantizer(c.dialect);
    if (!has_element_rules(c)) return rules;
    for (const auto& [name, rounding] : roundings)
        if (name == c.rounding) rules.element_rounding = rounding;
    if (stochastic_form_of(c) != nullptr) rules.element_rounding = Rounding::stochastic;
    for (const auto& [name, overflow] : overflows)
        if (name == c.overflow) rules.element_overflow = overflow;
    for (const auto& [name, subnormals] : subnormal_rules)
        if (name == c.subnormals) rules.subnormals = subnormals;
    return rules;
}

// The bits that decide the rounding of the value in column `column`, of the word that serves it.
inline RandomBits random_bits_of(const StochasticForm& form, std::uint32_t word,
                                 std::int64_t column) {
    if (form.values_per_word > 1)
        word >>= column % form.values_per_word < form.values_per_word / 2 ? 0 : form.bits;
    const std::uint32_t unused = 32 - static_cast<std::uint32_t>(form.bits);
    return {word << unused >> unused, form.bits};
}

}  // namespace mx
