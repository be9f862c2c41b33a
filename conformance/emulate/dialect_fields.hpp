// The fields of a dialect as data: their names, their values' names, and how to take one over from
// another row. Used to say on which decision two dialects part; knows no arithmetic.
#pragma once

#include <span>
#include <string_view>

#include "reference/spec/dialect.hpp"

namespace mx::emulate {

struct DialectField {
    std::string_view name;
    std::string_view (*value_of)(const Dialect& dialect);
    void (*copy)(Dialect& to, const Dialect& from);
};

// All fields that decide bits, in the order of the row.
std::span<const DialectField> dialect_fields();

std::string_view name_of(ScaleRule rule);
std::string_view name_of(Rounding rounding);
std::string_view name_of(Overflow overflow);

}  // namespace mx::emulate
