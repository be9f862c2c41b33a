// The dialects this device speaks, by name. Used by the ABI glue. Knows no tensor.
#pragma once

#include <optional>
#include <string_view>

#include "device/cpu/types.hpp"

namespace mx::cpu {

// Returns no value when the device does not know the name.
std::optional<ScaleRule> find_scale_rule(std::string_view dialect, ElementType element);
std::optional<ElementType> find_block_format(std::string_view name);
std::optional<ElementType> find_element_type(std::string_view name);
std::optional<ValueType> find_value_type(std::string_view name);

}  // namespace mx::cpu
