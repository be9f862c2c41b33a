// A case: everything that decides what is asked of a device and what the right answer is. Command
// line, suite line and repro line are the same text. Plain data; opens no file and asks no device.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/case/gemm_case.hpp"
#include "reference/base/status.hpp"

namespace mx {

// Lanes of a block unless a case says otherwise, and of a group where an operation has no blocks.
inline constexpr std::int64_t block_size = 32;

struct Case {
    std::string operation;  // convert encode_scale quantize dequantize gemm
    std::string format;     // mxfp8-e4m3 ...; for convert an element format, or e8m0; of a GEMM
                            // the factor A
    std::string dialect;    // "" for gemm
    std::string type;  // of the values: the input of all operations but dequantize and gemm, there
                       // the output; printed as input= or output=
    std::string axis;  // row: blocks of 1xk, col: of kx1, tile: of kxk, both: row and col, each
                       // with outputs of its own (quantize only); "row" where there are none
    std::int64_t block = block_size;  // k; 32 where there are no blocks
    std::string rounding;             // these three: convert to elements only; else empty
    std::string overflow;
    std::string subnormals;
    std::string layout;             // dense, or padded: rows further apart than they are long
    std::string scales = "linear";  // the order of the block scales: linear, 128x4, ...
    std::string packing = "bytes";  // of the elements of blocks: bytes, low_first, ..., inline
    std::int64_t rows = 0;          // of a GEMM those of D, of all its batches
    std::int64_t columns = 0;
    std::string data;         // a data family, bits:HEX,HEX,... or file:PATH
    std::uint64_t index = 0;  // the family's block that stands in block 0 of the tensor
    std::uint64_t seed = 0;
    GemmFields gemm = {};  // as it is where the operation is none

    bool operator==(const Case&) const = default;
};

// "quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row block=32 layout=dense shape=1x32
// data=edge.tie index=499 seed=0", on one line. Every field that the case has is written, so that a
// repro line keeps its meaning when a default changes. A GEMM is written
// "gemm a=mxfp8-e4m3 b=mxfp8-e5m2 output=f32 shape=64x64x256 batches=1 alpha=1 beta=0 c=none
// epilogue=none accumulation=default algorithm=default model=any layout=dense scales=linear
// packing=bytes data=gemm.exact-signs index=0 seed=0".
std::string print(const Case& c);

// The inverse of print. format (of a GEMM a and b), shape and data must be given; the other fields
// have defaults.
// The error names the word that is wrong, and the nearest right one.
Expected<Case> parse_case(const std::string& text);

// The two halves of parse_case: the fields with their defaults and names that the tables know, and
// whether they go together. A suite passes over combinations that do not.
Expected<Case> read_case(const std::string& text);
Status check_combination(const Case& c);

// Fields that contradict each other, and names that no table has.
Status validate(const Case& c);

bool is_gemm(const Case& c);
bool has_blocks(const Case& c);  // quantize and dequantize
std::int64_t element_count(const Case& c);

// Lanes of a whole block: k, or k * k for tiles.
std::int64_t lanes_of(const Case& c);

// The grid of blocks over the tensor. Operations without blocks count 32 elements in row-major
// order as one, so that every lane of a family has one place. For axis both these are the blocks of
// the data alone: k in each tile of kxk, along its rows and down its columns by turns, so that data
// made for a block reach both directions. What a device writes has the grids of sides_of.
struct BlockGrid {
    std::int64_t block_rows = 0;
    std::int64_t block_columns = 0;
    std::int64_t count() const { return block_rows * block_columns; }
};
BlockGrid block_grid(const Case& c);

}  // namespace mx
