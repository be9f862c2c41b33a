// Where a scale lies in a swizzled or padded buffer, and a code in a packed one: closed formulas.
// Proved by reference/proof/prove_pack.cpp.
#pragma once

#include <cstdint>

#include "reference/spec/element_format.hpp"
#include "reference/spec/layouts.hpp"

namespace mx::fast {

MX_FOLDED constexpr std::int64_t whole_multiples(std::int64_t length, std::int64_t multiple) {
    return (length + multiple - 1) / multiple * multiple;
}

// The grid of scales with its pads.
MX_FOLDED constexpr GridShape padded_shape(const ScaleLayout& layout, GridShape shape) {
    const bool by_rows = layout.outer == Dimension::rows;
    return {
        whole_multiples(shape.rows, by_rows ? layout.outer_multiple : layout.inner_multiple),
        whole_multiples(shape.columns, by_rows ? layout.inner_multiple : layout.outer_multiple)};
}

MX_FOLDED constexpr std::int64_t scale_bytes(const ScaleLayout& layout, GridShape shape) {
    const GridShape padded = padded_shape(layout, shape);
    return padded.rows * padded.columns;
}

// The byte of a scale within a grid whose inner dimension is padded to `inner_length`. The place
// counts rows along the outer dimension and columns along the inner one.
MX_FOLDED constexpr std::int64_t offset_in_tiles(ScaleOrder order, std::int64_t inner_length,
                                                 GridPlace place) {
    const auto [x, y] = place;
    switch (order) {
        // 512 bytes a tile: 32 lines of 16 bytes, each four rows 32 apart, four scales of a row.
        case ScaleOrder::tiles_128x4:
            return ((x / 128) * (inner_length / 4) + y / 4) * 512 + (x % 32) * 16 +
                   (x % 128) / 32 * 4 + y % 4;
        // 32 bytes a tile, its rows one after the other.
        case ScaleOrder::tiles_8x4:
            return ((x / 8) * (inner_length / 4) + y / 4) * 32 + (x % 8) * 4 + y % 4;
        // 256 bytes a tile: of every four, two scales of a row 4 apart, of two rows 16 apart.
        case ScaleOrder::tiles_32x8:
            return (x / 32) * inner_length * 32 + (y / 8) * 256 + (y % 4) * 64 + (x % 16) * 4 +
                   (y % 8) / 4 * 2 + (x % 32) / 16;
        case ScaleOrder::row_major:
            break;
    }
    return x * inner_length + y;
}

MX_FOLDED constexpr std::int64_t scale_offset(const ScaleLayout& layout, GridShape shape,
                                              GridPlace place) {
    const GridShape padded = padded_shape(layout, shape);
    if (layout.order == ScaleOrder::row_major || layout.outer == Dimension::rows)
        return offset_in_tiles(layout.order, padded.columns, place);
    return offset_in_tiles(layout.order, padded.rows, {place.column, place.row});
}

// Bytes of a stream of `count` codes.
MX_FOLDED constexpr std::int64_t stream_bytes(CodeStream stream, std::int64_t count) {
    return (count * stream.code_bits + 7) / 8;
}

// Code i occupies code_bits bits from this one on, counted from the lowest bit of the first byte.
MX_FOLDED constexpr std::int64_t first_bit(CodeStream stream, std::int64_t index) {
    return (stream.pairs == PairOrder::odd_first ? index ^ 1 : index) * stream.code_bits;
}

MX_FOLDED constexpr std::uint32_t code_mask(CodeStream stream) {
    return (std::uint32_t{1} << stream.code_bits) - 1;
}

MX_FOLDED constexpr Code read_code(CodeStream stream, const std::uint8_t* bytes,
                                   std::int64_t index) {
    const std::int64_t bit = first_bit(stream, index);
    const int shift = static_cast<int>(bit % 8);
    std::uint32_t window = bytes[bit / 8];
    if (shift + stream.code_bits > 8) window |= std::uint32_t{bytes[bit / 8 + 1]} << 8;
    return Code{(window >> shift) & code_mask(stream)};
}

// Replaces the bits of one code and no others.
MX_FOLDED constexpr void write_code(CodeStream stream, std::uint8_t* bytes, std::int64_t index,
                                    Code code) {
    const std::int64_t bit = first_bit(stream, index);
    const int shift = static_cast<int>(bit % 8);
    const std::uint32_t cleared = ~(code_mask(stream) << shift);
    const std::uint32_t placed = (code.bits & code_mask(stream)) << shift;
    bytes[bit / 8] = static_cast<std::uint8_t>((bytes[bit / 8] & cleared) | placed);
    if (shift + stream.code_bits <= 8) return;
    std::uint8_t& next = bytes[bit / 8 + 1];
    next = static_cast<std::uint8_t>((next & (cleared >> 8)) | (placed >> 8));
}

// A block whose scale byte follows its packed codes. The last block of a row is a whole one too.
struct InlineBlock {
    CodeStream stream;
    int block_size = 32;
};

MX_FOLDED constexpr std::int64_t inline_block_bytes(InlineBlock block) {
    return stream_bytes(block.stream, block.block_size) + 1;
}

MX_FOLDED constexpr std::int64_t inline_row_bytes(InlineBlock block, std::int64_t columns) {
    return whole_multiples(columns, block.block_size) / block.block_size *
           inline_block_bytes(block);
}

// From the first byte of a row to the first byte of the block that holds the lane.
MX_FOLDED constexpr std::int64_t inline_block_offset(InlineBlock block, std::int64_t column) {
    return column / block.block_size * inline_block_bytes(block);
}

}  // namespace mx::fast
