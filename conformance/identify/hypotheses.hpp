// The decision vectors that a device may follow: every combination of the values that some fields
// can take, the other fields as known so far. Used by identify.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/emulate/dialect_fields.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::identify {

const emulate::DialectField& field_named(std::string_view name);

// Where every search starts: the rules of the standard, without a name.
Quantizer plain_rules();

// The bytes that a device gave where a field of the row is a byte.
struct BytesSeen {
    std::uint8_t zero = 0;              // for a block of zeros
    std::uint8_t huge = 0;              // for the largest finite amax
    std::vector<std::uint8_t> special;  // for blocks with NaN or Inf
};

// `base`, and a copy of it for every value that the field can take: each enumerator, and the
// constants that a row of the table holds; of the bytes only those seen.
std::vector<Quantizer> values_of(std::string_view field, const Quantizer& base,
                                 const BytesSeen& seen);

// All combinations over several fields; `base` comes first.
std::vector<Quantizer> combinations(std::span<const std::string_view> fields, const Quantizer& base,
                                    const BytesSeen& seen);

}  // namespace mx::identify
