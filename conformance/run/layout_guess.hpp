// Is a wrong answer right in another layout? A device that takes the nibbles of a byte in the other
// order, or the tiles of scales, computes well and looks as if it could not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/record.hpp"
#include "conformance/run/evidence.hpp"

namespace mx {

// All differences of an output are gone when a buffer is read as `layout`.
struct LayoutGuess {
    std::size_t output = 0;                 // a tensor of the case, as in Difference
    results::MismatchClass mismatch_class;  // packing, for elements; layout, for scales
    std::string direction;                  // "nibbles in the other order"; or several, see below
    std::string note;
};
// Between layouts that a case does not tell apart.
inline constexpr std::string_view layouts_between = ", or ";

// At most one guess for each output, and none where nothing differs.
std::vector<LayoutGuess> guess_layouts(const Evidence& evidence);

}  // namespace mx
