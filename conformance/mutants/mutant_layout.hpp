// Where the codes of a tensor lie in its buffer, as device/abi/mx_device.h words it, and how they
// are read and written there. Bugs of layouts are planted here. Knows no arithmetic of formats.
#pragma once

#include <cstdint>
#include <cstring>

#include "conformance/mutants/bug.hpp"
#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants {

enum class Access { reads, writes };

// The first bit of a code: the lowest of byte 0 is bit 0.
struct Place {
    std::int64_t byte;
    int bit = 0;
};

struct Tile {
    std::int64_t outer, inner;
};

inline Tile tile_of(Layout layout) {
    if (layout == Layout::tiles_8x4) return {8, 4};
    return layout == Layout::tiles_32x8 ? Tile{32, 8} : Tile{128, 4};
}

inline std::int64_t rounded_up(std::int64_t count, std::int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

// A scale of a padded grid: x along the outer dimension of the tiles, y along the inner one.
struct Grid {
    std::int64_t x, y, outer, inner;

    Grid(const Tensor& tensor, Cell cell) {
        bool is_across = tensor.axis == Axis::column;
        if (has(Bug::col_swizzle_as_row) && tensor.layout != Layout::te_padded) is_across = false;
        const Tile tile = tile_of(tensor.layout);
        x = is_across ? cell.column : cell.row;
        y = is_across ? cell.row : cell.column;
        outer = rounded_up(is_across ? tensor.columns : tensor.rows, tile.outer);
        inner = rounded_up(is_across ? tensor.rows : tensor.columns, tile.inner);
    }
    // As if there were no tiles.
    std::int64_t linear() const { return x * inner + y; }
};

inline std::int64_t place_128x4(const Grid& grid, std::int64_t block, Access access) {
    if (has(Bug::dequantize_128x4_linear) && access == Access::reads) return grid.linear();
    auto [x, y, outer, inner] = grid;
    if (has(Bug::swizzle_assumes_32) && block == 16) inner = rounded_up(inner / 2, 4);
    std::int64_t tile = x / 128 * (inner / 4) + y / 4;
    if (has(Bug::swizzle_tiles_exchanged)) tile = y / 4 * (outer / 128) + x / 128;
    const std::int64_t in_tile = has(Bug::swizzle_quarters_unshuffled)
                                     ? x % 128 * 4 + y % 4
                                     : x % 32 * 16 + x % 128 / 32 * 4 + y % 4;
    const std::int64_t place = tile * 512 + in_tile;
    return has(Bug::scale_offsets_in_16_bits) ? place % 65536 : place;
}

inline std::int64_t place_8x4(const Grid& grid) {
    if (has(Bug::swizzle_8x4_linear)) return grid.linear();
    const auto [x, y, outer, inner] = grid;
    return (x / 8 * (inner / 4) + y / 4) * 32 + x % 8 * 4 + y % 4;
}

inline std::int64_t place_32x8(const Grid& grid) {
    if (has(Bug::shuffle_32x8_linear)) return grid.linear();
    const auto [x, y, outer, inner] = grid;
    const std::int64_t row_half = x % 32 / 16, column_half = y % 8 / 4;
    const std::int64_t last = has(Bug::shuffle_32x8_pairs_exchanged) ? row_half * 2 + column_half
                                                                     : column_half * 2 + row_half;
    return x / 32 * inner * 32 + y / 8 * 256 + y % 4 * 64 + x % 16 * 4 + last;
}

inline std::int64_t place_te_padded(const Tensor& tensor, Cell cell) {
    const Grid grid(tensor, cell);
    std::int64_t row_bytes = tensor.axis == Axis::column ? grid.outer : grid.inner;
    if (has(Bug::te_rows_not_padded)) row_bytes = tensor.columns;
    return cell.row * row_bytes + cell.column;
}

inline std::int64_t grid_bytes(const Tensor& tensor) {
    const Tile tile = tile_of(tensor.layout);
    const bool is_across = tensor.axis == Axis::column;
    return rounded_up(tensor.rows, is_across ? tile.inner : tile.outer) *
           rounded_up(tensor.columns, is_across ? tile.outer : tile.inner);
}

inline std::int64_t row_bytes(const Tensor& tensor) {
    return (tensor.columns * tensor.bits + 7) / 8;
}

// A code of a row that is one stream of bits.
inline Place packed_place(const Tensor& tensor, Cell cell, Access access) {
    std::int64_t column = cell.column;
    bool odd_first = tensor.layout == Layout::packed_high;
    if (has(Bug::nibbles_exchanged) && access == Access::writes) odd_first = !odd_first;
    if (has(Bug::dequantize_nibbles_exchanged) && access == Access::reads) odd_first = !odd_first;
    if (tensor.bits == 4 && odd_first) column ^= 1;
    if (has(Bug::packed_rows_run_on)) {
        const std::int64_t bit = (cell.row * tensor.columns + column) * tensor.bits;
        return {bit / 8, static_cast<int>(bit % 8)};
    }
    const std::int64_t bit = column * tensor.bits;
    return {cell.row * row_bytes(tensor) + bit / 8, static_cast<int>(bit % 8)};
}

inline Place inline_place(const Tensor& tensor, Cell cell) {
    const std::int64_t codes = tensor.block * tensor.format.bits / 8;
    const bool holds_scales = tensor.layout == Layout::inline_scales;
    const std::int64_t block = holds_scales ? cell.column : cell.column / tensor.block;
    const std::int64_t first = cell.row * tensor.row_stride + block * tensor.column_stride;
    const bool is_scale_first = has(Bug::inline_scale_first);
    const bool is_amid = has(Bug::inline_64_scale_amid) && tensor.block == 64;
    if (is_amid && holds_scales) return {first + codes / 2};
    if (holds_scales) return {first + (is_scale_first ? 0 : codes)};
    const std::int64_t lane = cell.column % tensor.block, bit = lane * tensor.format.bits;
    const bool is_behind_scale = is_scale_first || (is_amid && lane >= 32);
    return {first + (is_behind_scale ? 1 : 0) + bit / 8, static_cast<int>(bit % 8)};
}

inline Place place_of(const Tensor& tensor, Cell cell, Access access) {
    std::int64_t byte = 0;
    switch (tensor.layout) {
        case Layout::strided:
            byte = cell.row * tensor.row_stride + cell.column * tensor.column_stride;
            return {byte * ((tensor.bits + 7) / 8)};
        case Layout::packed_low:
        case Layout::packed_high:
        case Layout::packed_6:
            return packed_place(tensor, cell, access);
        case Layout::inline_codes:
        case Layout::inline_scales:
            return inline_place(tensor, cell);
        case Layout::tiles_128x4:
            byte = place_128x4(Grid(tensor, cell), tensor.block, access);
            break;
        case Layout::tiles_8x4:
            byte = place_8x4(Grid(tensor, cell));
            break;
        case Layout::tiles_32x8:
            byte = place_32x8(Grid(tensor, cell));
            break;
        case Layout::te_padded:
            byte = place_te_padded(tensor, cell);
            break;
    }
    // A bug may leave the grid, but not the buffer.
    return {byte % grid_bytes(tensor)};
}

inline bool is_packed(const Tensor& tensor) {
    const bool is_stream = tensor.layout == Layout::packed_low ||
                           tensor.layout == Layout::packed_high ||
                           tensor.layout == Layout::packed_6;
    return is_stream || tensor.layout == Layout::inline_codes;
}

// Where bit `index` of a code lies, counted from its first bit.
inline Place bit_place(const Tensor& tensor, Place first, int index) {
    const bool is_reversed = has(Bug::fp6_bits_reversed) && tensor.layout == Layout::packed_6;
    const int bit = first.bit + index;
    return {first.byte + bit / 8, is_reversed ? 7 - bit % 8 : bit % 8};
}

inline std::uint32_t read_bits(const Tensor& tensor, Place first) {
    std::uint32_t code = 0;
    for (int index = 0; index < tensor.bits; ++index) {
        const Place place = bit_place(tensor, first, index);
        if (has(Bug::dequantize_fp6_straddle_lost) && place.byte != first.byte) break;
        code |= (tensor.data[place.byte] >> place.bit & 1u) << index;
    }
    return code;
}

inline void write_bits(const Tensor& tensor, Place first, std::uint32_t code) {
    for (int index = 0; index < tensor.bits; ++index) {
        const Place place = bit_place(tensor, first, index);
        const unsigned mask = 1u << place.bit, byte = tensor.data[place.byte];
        const bool is_set = (code >> index & 1u) != 0;
        tensor.data[place.byte] = static_cast<unsigned char>(is_set ? byte | mask : byte & ~mask);
    }
}

inline std::uint32_t read(const Tensor& tensor, Cell cell) {
    const Place place = place_of(tensor, cell, Access::reads);
    if (is_packed(tensor)) return read_bits(tensor, place);
    std::uint32_t code = 0;
    const int bytes = (tensor.bits + 7) / 8;
    std::memcpy(&code, tensor.data + place.byte, static_cast<std::size_t>(bytes));  // little-endian
    return code;
}

inline void write(const Tensor& tensor, Cell cell, std::uint32_t code) {
    const Place place = place_of(tensor, cell, Access::writes);
    if (is_packed(tensor)) return write_bits(tensor, place, code);
    const int bytes = (tensor.bits + 7) / 8;
    std::memcpy(tensor.data + place.byte, &code, static_cast<std::size_t>(bytes));
}

inline void clear_bytes(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    std::memset(tensor.data + first, 0, static_cast<std::size_t>(count));
}

// What an output must hold where no code lies: pads that the layout says are 0.
inline void clear_pads(const Tensor& tensor) {
    if (tensor.empty()) return;
    const bool is_swizzled =
        tensor.layout == Layout::tiles_128x4 || tensor.layout == Layout::tiles_8x4;
    if (is_swizzled && !has(Bug::swizzle_pads_unwritten))
        clear_bytes(tensor, 0, grid_bytes(tensor));
    if (!is_packed(tensor)) return;
    if (tensor.layout != Layout::inline_codes) {
        if (!has(Bug::packed_tail_unwritten))
            clear_bytes(tensor, 0, tensor.rows * row_bytes(tensor));
        return;
    }
    if (has(Bug::inline_tail_unwritten)) return;
    const std::int64_t blocks = (tensor.columns + tensor.block - 1) / tensor.block;
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        clear_bytes(tensor, row * tensor.row_stride, blocks * tensor.column_stride);
}

}  // namespace mx::mutants
