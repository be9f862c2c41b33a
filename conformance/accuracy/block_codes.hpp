// Values as the codes of MX blocks and back, by the fast oracle. Used by all of this room; opens no
// file and asks no device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/fast/decode.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::accuracy {

struct Quantization {
    BlockFormat format;
    Quantizer rules;
    int block = 32;
    std::uint64_t seed = 0;  // of the random bits, where the rules round stochastically

    bool is_stochastic() const { return rules.element_rounding == Rounding::stochastic; }
};

// Rows of `columns` values each, blocks along the rows; a last block of a row may be shorter.
struct Rows {
    std::span<const float> values;
    std::int64_t columns = 0;

    std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / columns; }
};

// One element of each value and one scale of each block, a byte each, in the order of the rows.
struct BlockCodes {
    std::vector<std::uint8_t> elements;
    std::vector<std::uint8_t> scales;
};
BlockCodes encode(const Quantization& quantizer, const Rows& rows);

// The values of `columns` elements a row; rounded to binary32 where it has no such value.
std::vector<float> decode(const Quantization& quantizer, const BlockCodes& codes,
                          std::int64_t columns);

// The number itself: no significand here has more than 24 bits, no exponent leaves the range of
// binary64. An infinity and a NaN are those of binary64.
double number_of(const fast::Unpacked& value);

// Blocks in their order: what lies where.
struct BlockRange {
    std::size_t index;  // of the block, and its scale
    std::size_t first;  // of its values
    std::size_t lanes;
};
struct BlockShape {
    std::size_t values;
    std::size_t columns;
    std::size_t block;
};
template <typename Visit>
void for_each_block(const BlockShape& shape, const Visit& visit) {
    std::size_t index = 0;
    for (std::size_t row = 0; row + shape.columns <= shape.values; row += shape.columns)
        for (std::size_t at = 0; at < shape.columns; at += shape.block)
            visit(BlockRange{index++, row + at, std::min(shape.block, shape.columns - at)});
}
BlockShape shape_of(const Quantization& quantizer, const Rows& rows);

}  // namespace mx::accuracy
