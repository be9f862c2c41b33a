// A recipe as text: its decisions by name, for mxcheck list and explain. Knows no arithmetic.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/spec/quantizers.hpp"

namespace mx::emulate {

// Every decision, in the order of the row, then what is left open and the source.
std::vector<std::pair<std::string, std::string>> recipe_fields(const Quantizer& recipe);

// "e2m1 elements, one e4m3 scale per 1x16".
std::string block_format_text(const BlockFormat& format);

// The decisions that a recipe's source leaves open, by name; "nothing" if there are none.
std::string open_text(const Quantizer& recipe);

// The recipes that quantize to a format.
std::vector<const Quantizer*> recipes_of(const BlockFormat& format);

}  // namespace mx::emulate
