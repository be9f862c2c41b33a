// Codes typed by hand as the data of a case: data=bits:3f800000,7fc00000. They fill the first
// lanes, block after block; what is left of the last block is zero. For dequantize the blocks'
// scale stands first: data=bits:7f:38,b8.
#pragma once

#include <memory>

#include "conformance/data/family.hpp"
#include "reference/base/status.hpp"

namespace mx {

inline constexpr std::string_view bits_prefix = "bits:";
inline bool is_bits(const Case& c) {
    return c.data.starts_with(bits_prefix);
}

// The error names the code that is none.
Expected<std::shared_ptr<const BlockSource>> open_bits(const Case& c);

}  // namespace mx
