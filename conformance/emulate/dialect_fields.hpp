// The fields of a dialect as data: their names, their values' names, and how to take one over from
// another row. Used to say on which decisions two dialects part; knows no arithmetic.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reference/spec/quantizer.hpp"

namespace mx::emulate {

struct DialectField {
    std::string_view name;
    std::string (*value_of)(const Quantizer& dialect);
    void (*copy)(Quantizer& to, const Quantizer& from);
};

// All fields that decide bits, in the order of the row. Those of its scale_cast stand among them,
// named scale_rounding, scale_underflow and so on.
std::span<const DialectField> dialect_fields();

// The value of one field as text; the name must be one of dialect_fields().
std::string value_in(std::string_view field_name, const Quantizer& rules);
// "scale_overflow = 0xff"
std::string named_value(std::string_view field_name, const Quantizer& rules);

}  // namespace mx::emulate
