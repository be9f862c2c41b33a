// The table rows a case names, and the element rules it asks for. Only for validated cases.
#pragma once

#include "conformance/case/case.hpp"
#include "reference/spec/dialects.hpp"
#include "reference/spec/formats.hpp"

namespace mx {

// convert names an element format; its block format is the one made of it.
inline const BlockFormat& block_format_of(const Case& c) {
    for (const BlockFormat& format : block_formats)
        if (format.name == c.format || format.element().name == c.format) return format;
    MX_ASSERT(false && "a validated case names a known format");
    return block_formats[0];
}

inline const ElementFormat& value_format_of(const Case& c) {
    return *find_element_format(c.type);
}

// The dialect's row; for convert with the rounding and overflow that the case names.
inline Dialect rules_of(const Case& c) {
    Dialect rules = *find_dialect(c.dialect);
    if (c.operation != "convert") return rules;
    for (const auto& [name, rounding] : roundings)
        if (name == c.rounding) rules.element_rounding = rounding;
    for (const auto& [name, overflow] : overflows)
        if (name == c.overflow) rules.element_overflow = overflow;
    return rules;
}

}  // namespace mx
