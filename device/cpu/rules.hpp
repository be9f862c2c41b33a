// The names this device speaks: dialects, formats, types, roundings. Used by the ABI glue. Knows no
// tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device/cpu/types.hpp"

namespace mx::cpu {

// What a dialect says of one element format.
struct DialectRule {
    ScaleRule scale;
    std::uint8_t nan_code;
};

// What the conversion instructions of a processor say of one: they have no scales.
struct ConversionRule {
    std::uint8_t nan_code;
    NanForm nan_form;
};

// All return no value when the device does not know the name.
// A dialect that is known may still not quantize to an element: find_dialect_rule then has no value
// and knows_dialect is true.
bool knows_dialect(std::string_view dialect);
std::optional<DialectRule> find_dialect_rule(std::string_view dialect, ElementType element);
std::optional<ConversionRule> find_conversion_rule(std::string_view dialect, ElementType element);
// The cast of any value to an E8M0 byte.
std::optional<ScaleRule> find_cast_rule(std::string_view dialect);

std::optional<ElementType> find_element_type(std::string_view name);
std::optional<ElementType> find_block_format(std::string_view name);
std::string_view name_of(ElementType element);
std::optional<ValueType> find_value_type(std::string_view name);
std::optional<OverflowMode> find_overflow(std::string_view name);
std::optional<Subnormals> find_subnormals(std::string_view name);

struct RoundingName {
    std::string_view name;
    Rounding rounding;
    int random_digits;
    int random_shared;
};
std::optional<RoundingName> find_rounding(std::string_view name);

}  // namespace mx::cpu
