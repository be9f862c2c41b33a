// Values as the codes of blocks and back, by the fast oracle. Used by all of this room; opens no
// file and asks no device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/fast/decode.hpp"
#include "reference/problem/blocking.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::accuracy {

struct Quantization {
    BlockFormat format;
    Quantizer rules;
    int block = 32;          // of a format whose scale is a power of two; others have their own
    std::uint64_t seed = 0;  // of the random bits, where the rules round stochastically

    bool is_stochastic() const { return rules.element_rounding == Rounding::stochastic; }
};

// Rows of `columns` values each; a last block of a row may be shorter.
struct Rows {
    std::span<const float> values;
    std::int64_t columns = 0;

    std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / columns; }
};

// One element of each value and one scale of each block, in the order of the rows, and what is kept
// of the tensor where the rules have a number for it.
struct BlockCodes {
    std::vector<std::uint8_t> elements;
    std::vector<std::uint32_t> scales;
    std::uint32_t kept = 0x3F800000;  // of binary32
};
BlockCodes encode(const Quantization& quantizer, const Rows& rows);

// The values of `columns` elements a row; rounded to binary32 where it has no such value.
std::vector<float> decode(const Quantization& quantizer, const BlockCodes& codes,
                          std::int64_t columns);

// The number itself: no significand here has more than 24 bits, no exponent leaves the range of
// binary64. An infinity and a NaN are those of binary64.
double number_of(const fast::Unpacked& value);

// Which blocks the rows are cut into: lines along the rows, tiles, or all of them as one.
Blocking blocking_of(const Quantization& quantizer, const Rows& rows);

// The bits that decide how the value at this place is rounded, where the rules round
// stochastically.
RandomBits random_bits(const Quantization& quantizer, std::uint64_t place);

}  // namespace mx::accuracy
