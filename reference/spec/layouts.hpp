// How codes lie in memory: the orders in which block scales are stored, and the packings of
// elements narrower than a byte. Read by both oracles; a new layout is a new row. OCP MX v1.0
// section 5.1 prescribes no physical layout, so every row is a vendor's choice and names where it
// was read.
//
// Facts were read at NVIDIA/TransformerEngine@d0067d0, flashinfer-ai/flashinfer@fb28d72,
// ROCm/aiter@e404860, pytorch/ao@36027d82d and pytorch/FBGEMM@036aa0dd.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/assert.hpp"
#include "reference/spec/named.hpp"

namespace mx {

struct GridShape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};

struct GridPlace {
    std::int64_t row = 0;
    std::int64_t column = 0;
    friend constexpr bool operator==(GridPlace, GridPlace) = default;
};

enum class Dimension : std::uint8_t { rows, columns };

// How blocks lie in a tensor.
enum class BlockAxis : std::uint8_t {
    row,     // 1xk
    col,     // kx1
    tile,    // kxk
    both,    // row and col, each with outputs of its own
    tensor,  // one block, the whole tensor
};

// What the layout says of bytes that hold no scale, and of bits that hold no code.
enum class Pads : std::uint8_t {
    zero,     // the writer writes 0
    anything  // nobody says; a reader must not look
};

// One loop of the nest that visits a buffer byte by byte in storage order. It goes along
// `dimension` in steps of `step`: `count` times, or for `until_covered` as long as a logical row or
// column is still ahead. A step of 0 marks the end of the nest.
struct LayoutLoop {
    Dimension dimension = Dimension::rows;
    int step = 0;
    int count = 0;
};
inline constexpr int until_covered = 0;

// The order within the grid of scales; the closed formulas are in fast/pack.hpp.
enum class ScaleOrder : std::uint8_t { row_major, tiles_128x4, tiles_8x4, tiles_32x8 };

// How the scales of a tensor are stored, whatever the axis of its blocks: a row of scale_layouts
// for each axis that a source says something of. Linear ones are a strided tensor and no row.
enum class ScaleStorage : std::uint8_t { linear, tiles_128x4, tiles_8x4, tiles_32x8, te_padded };

// One byte per scale. The `outer` dimension is the one of many rows of the tile: the rows of the
// grid for blocks of 1xk; the columns for blocks of kx1, where the grid is R/k by C and the tile
// lies across it. `loops` and the three members before it say the same thing twice: exact/ walks
// the loops, fast/ uses the formula, and prove_pack shows that they agree.
struct ScaleLayout {
    std::string_view name;  // in the ABI
    ScaleStorage storage;   // in a case: scales=...
    BlockAxis axis;         // of the blocks it is for
    ScaleOrder order;
    Dimension outer;
    int outer_multiple;  // what the dimensions are padded to
    int inner_multiple;
    Pads pads;
    std::array<LayoutLoop, 6> loops;
    std::string_view source;
};

namespace layout_rows {

inline constexpr Dimension rows = Dimension::rows;
inline constexpr Dimension columns = Dimension::columns;

// The nests of the swizzles, for a given pair of outer and inner dimension.
constexpr std::array<LayoutLoop, 6> nest_128x4(Dimension outer, Dimension inner) {
    return {{{outer, 128, until_covered},
             {inner, 4, until_covered},
             {outer, 1, 32},
             {outer, 32, 4},
             {inner, 1, 4}}};
}
constexpr std::array<LayoutLoop, 6> nest_8x4(Dimension outer, Dimension inner) {
    return {{{outer, 8, until_covered}, {inner, 4, until_covered}, {outer, 1, 8}, {inner, 1, 4}}};
}
constexpr std::array<LayoutLoop, 6> nest_32x8(Dimension outer, Dimension inner) {
    return {{{outer, 32, until_covered},
             {inner, 8, until_covered},
             {inner, 1, 4},
             {outer, 1, 16},
             {inner, 4, 2},
             {outer, 16, 2}}};
}
// Row by row over the padded grid, which ends at whole tiles of these sizes.
constexpr std::array<LayoutLoop, 6> nest_row_major(GridShape tile) {
    return {{{rows, static_cast<int>(tile.rows), until_covered},
             {rows, 1, static_cast<int>(tile.rows)},
             {columns, static_cast<int>(tile.columns), until_covered},
             {columns, 1, static_cast<int>(tile.columns)}}};
}

inline constexpr std::string_view source_128x4 =
    "NVIDIA 128x4: TransformerEngine common/swizzle/swizzle.cu; torchao to_blocked; cuBLASLt";
inline constexpr std::string_view source_8x4 =
    "FlashInfer csrc quantization_utils.cuh, get_sf_out_offset_8x4";
// aiter itself pads the rows to 256; TransformerEngine's declaration of the same order says 32.
inline constexpr std::string_view source_32x8 =
    "AMD: aiter utility/fp4_utils.py e8m0_shuffle; TransformerEngine swizzle.h names 32 and 8";
inline constexpr std::string_view source_te_padded =
    "TransformerEngine MXFP8 compact scales, padded to 128 and 4; the pads are uninitialised";

}  // namespace layout_rows

inline constexpr std::array scale_layouts{
    ScaleLayout{"128x4", ScaleStorage::tiles_128x4, BlockAxis::row, ScaleOrder::tiles_128x4,
                Dimension::rows, 128, 4, Pads::zero,
                layout_rows::nest_128x4(Dimension::rows, Dimension::columns),
                layout_rows::source_128x4},
    ScaleLayout{"128x4-col", ScaleStorage::tiles_128x4, BlockAxis::col, ScaleOrder::tiles_128x4,
                Dimension::columns, 128, 4, Pads::zero,
                layout_rows::nest_128x4(Dimension::columns, Dimension::rows),
                layout_rows::source_128x4},
    ScaleLayout{"8x4", ScaleStorage::tiles_8x4, BlockAxis::row, ScaleOrder::tiles_8x4,
                Dimension::rows, 8, 4, Pads::zero,
                layout_rows::nest_8x4(Dimension::rows, Dimension::columns),
                layout_rows::source_8x4},
    ScaleLayout{"8x4-col", ScaleStorage::tiles_8x4, BlockAxis::col, ScaleOrder::tiles_8x4,
                Dimension::columns, 8, 4, Pads::zero,
                layout_rows::nest_8x4(Dimension::columns, Dimension::rows),
                layout_rows::source_8x4},
    ScaleLayout{"32x8", ScaleStorage::tiles_32x8, BlockAxis::row, ScaleOrder::tiles_32x8,
                Dimension::rows, 32, 8, Pads::anything,
                layout_rows::nest_32x8(Dimension::rows, Dimension::columns),
                layout_rows::source_32x8},
    ScaleLayout{"32x8-col", ScaleStorage::tiles_32x8, BlockAxis::col, ScaleOrder::tiles_32x8,
                Dimension::columns, 32, 8, Pads::anything,
                layout_rows::nest_32x8(Dimension::columns, Dimension::rows),
                layout_rows::source_32x8},
    ScaleLayout{"te-padded", ScaleStorage::te_padded, BlockAxis::row, ScaleOrder::row_major,
                Dimension::rows, 128, 4, Pads::anything, layout_rows::nest_row_major({128, 4}),
                layout_rows::source_te_padded},
    ScaleLayout{"te-padded-col", ScaleStorage::te_padded, BlockAxis::col, ScaleOrder::row_major,
                Dimension::columns, 128, 4, Pads::anything, layout_rows::nest_row_major({4, 128}),
                layout_rows::source_te_padded},
};

// Returns nullptr when no row has that name.
constexpr const ScaleLayout* find_scale_layout(std::string_view name) {
    return find_named(scale_layouts, name);
}

// The row for blocks along an axis; nullptr for linear ones and where there is none.
constexpr const ScaleLayout* scale_layout_for(ScaleStorage storage, BlockAxis axis) {
    for (const ScaleLayout& layout : scale_layouts)
        if (layout.storage == storage && layout.axis == axis) return &layout;
    return nullptr;
}

// Which element of a pair comes first, in the lower bits.
enum class PairOrder : std::uint8_t { even_first, odd_first };

// Codes laid end to end, the first in the lowest bits of the first byte. A code may lie across two
// bytes. Pairs may be swapped.
struct CodeStream {
    int code_bits = 8;
    PairOrder pairs = PairOrder::even_first;
};

// How the elements of one tensor lie. Each row of the tensor is a stream of its own and begins with
// a whole byte; the bits after its last code are 0. Elements lie along the rows of the tensor,
// whatever the axis of the blocks: columnwise operands keep their shape.
struct Packing {
    std::string_view name;    // in a case: packing=...
    std::string_view layout;  // in the ABI
    int code_bits;            // of the formats it is for; 0 for all
    PairOrder pairs;
    std::string_view source;
};

inline constexpr std::array packings{
    Packing{"bytes", "strided", 0, PairOrder::even_first, "one code a byte, right-aligned"},
    Packing{"low_first", "packed-low", 4, PairOrder::even_first,
            "the even element in the low nibble: torchao since #3123, TransformerEngine, FBGEMM"},
    Packing{"high_first", "packed-high", 4, PairOrder::odd_first,
            "the even element in the high nibble: torchao before #3123"},
    Packing{"six", "packed-6", 6, PairOrder::even_first,
            "four codes in three bytes, element 0 in the lowest bits: this project's reading"},
    Packing{"inline", "inline", 0, PairOrder::even_first,
            "FBGEMM fbgemm_gpu/triton/quantize.py: the packed codes of a block, padded to a whole "
            "block, then its scale byte; for other widths than 4 this project's reading"},
};

namespace packing_rows {
inline constexpr const Packing& bytes = packings[0];
inline constexpr const Packing& low_first = packings[1];
inline constexpr const Packing& in_line = packings[4];
}  // namespace packing_rows
static_assert(packing_rows::bytes.name == "bytes" && packing_rows::low_first.name == "low_first" &&
              packing_rows::in_line.name == "inline");

constexpr const Packing* find_packing(std::string_view name) {
    return find_named(packings, name);
}

}  // namespace mx
