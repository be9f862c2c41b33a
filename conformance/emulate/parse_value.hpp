// Numbers as a user types them, read exactly and then rounded to an input type by the exact oracle.
// Used by explain --values; no binary floating point is involved on the way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/spec/element_format.hpp"

namespace mx::emulate {

struct ParsedValue {
    Code code;
    std::string note;  // what rounding to the input type did; "" when the value was exact
};

// A decimal (2.8, 1e-3), a hexadecimal (0x1.8p3), nan, -nan, inf, -inf, or the type's own bits
// (bits:0x3f800000). nan is the quiet NaN without a payload, 0x7fc00000 of f32; others go by bits.
Expected<ParsedValue> parse_value(const ElementFormat& format, std::string_view text);

// Values between commas; one block at most.
Expected<std::vector<ParsedValue>> parse_values(const ElementFormat& format, std::string_view text);

}  // namespace mx::emulate
