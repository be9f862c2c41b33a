// Data that repeat: data=repeat:4099:codes.random takes the first 4,099 blocks of a family over and
// over. The period divides no power of two, so that an offset that wraps at one lands on other
// data; and what a large tensor must hold is known from its first blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "conformance/data/family.hpp"
#include "reference/base/status.hpp"

namespace mx {

inline constexpr std::string_view repeat_prefix = "repeat:";
inline bool is_repeated(const Case& c) {
    return c.data.starts_with(repeat_prefix);
}

struct Repetition {
    std::uint64_t blocks = 0;  // after which the data begin again
    std::string_view family;   // of the case's text
};
// The error says what is no such data.
Expected<Repetition> repetition_of(const Case& c);

// Of the blocks that the family gives.
std::shared_ptr<const BlockSource> repeated_source(std::shared_ptr<const BlockSource> family,
                                                   std::uint64_t blocks);

}  // namespace mx
