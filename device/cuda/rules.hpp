// The names this device speaks: dialects, formats, types. Used by the reader of requests. Knows no
// tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device/cuda/types.hpp"

namespace mx::cuda {

// What a dialect says of one element format.
struct DialectRule {
    ScaleRule scale;
    std::uint8_t nan_code;
};

// All have no value when the device does not know the name. A dialect that is known may still not
// quantize to an element: then the rule has no value and knows_dialect is true.
bool knows_dialect(std::string_view dialect);
std::optional<DialectRule> find_dialect_rule(std::string_view dialect, Element element);
// The cast of any value to an E8M0 byte; its sign is ignored.
std::optional<ScaleRule> find_cast_rule(std::string_view dialect);

std::optional<Element> find_element(std::string_view name);       // "e4m3"
std::optional<Element> find_block_format(std::string_view name);  // "mxfp8-e4m3"
std::string_view name_of(Element element);
std::optional<ValueType> find_value_type(std::string_view name);

}  // namespace mx::cuda
