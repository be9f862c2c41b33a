// A quantized tensor in a file, whoever wrote it: which bytes are its elements, its scales and the
// number of the tensor, and in which order they lie. Read in tiles, so that a tensor of any size
// takes the memory of a tile. Used by diff, audit and identify; knows no names of checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/data/tensor_listing.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/layouts.hpp"

namespace mx::files {

// Which code a place of a packed row holds.
enum class CodeOrder : std::uint8_t {
    bytes,       // one a byte
    low_first,   // two a byte, the first in the low half
    high_first,  // two a byte, the first in the high half
    halves,      // byte j of a block holds elements j and j + half a block, as ggml has them
    six,         // six bits each, from the lowest bit of the first byte on
};

// Where the scale of a block lies among the others.
enum class ScalePlace : std::uint8_t {
    linear,
    tiles_128x4,
    tiles_128x4_twice,  // what was swizzled already, swizzled again
    tiles_8x4,
    tiles_32x8,
    te_padded,
    transposed,  // linear, with rows and columns of the grid exchanged
};

// What stands in the tensor of elements: rows of codes alone, or groups of scales and codes.
struct Group {
    int elements = 0;  // 0: codes alone
    int bytes = 0;
    int first_scale = 0;
    int first_code = 0;
    int scales = 0;
};

// What a reader does with the number of the whole tensor.
enum class GlobalUse : std::uint8_t { none, times, divided };

struct View {
    std::string name;          // of the tensor, without what tells elements from scales
    std::string convention;    // whose names and layout it has
    std::string dialect = {};  // that the file says it was made by; "" where it says none
    const BlockFormat* format = nullptr;  // where the table has one
    ElementFormat element = formats::e4m3;
    ElementFormat scale = formats::e8m0;
    std::int64_t rows = 0;  // all dimensions but the last
    std::int64_t columns = 0;
    std::int64_t slice_rows = 0;  // blocks of several rows do not reach from one slice to another
    std::int64_t block_rows = 1;
    std::int64_t block_columns = 32;
    CodeOrder order = CodeOrder::bytes;
    ScalePlace place = ScalePlace::linear;
    Group group = {};
    data::ListedTensor elements = {};
    std::optional<data::ListedTensor> scales = {};  // none where they lie in groups
    std::optional<data::ListedTensor> global = {};
    GlobalUse use = GlobalUse::none;
    double global_value = 1;

    std::int64_t block_row(std::int64_t row) const;
    std::int64_t grid_rows() const;
    std::int64_t grid_columns() const { return (columns + block_columns - 1) / block_columns; }
    std::int64_t row_bytes() const;  // of the tensor of elements
};

// A rectangle of a view, as codes and values.
struct Area {
    std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};
struct Tile {
    Area area;
    std::vector<std::uint8_t> codes;    // rows x columns
    std::vector<std::uint32_t> scales;  // the code of each element's scale, for each run of a row
    std::int64_t run = 1;               // elements of a row that share an entry of `scales`

    std::int64_t runs() const { return (area.columns + run - 1) / run; }
    std::uint32_t scale_of(std::int64_t row, std::int64_t column) const {
        return scales[static_cast<std::size_t>(row * runs() + column / run)];
    }
};

// Reads tiles of one view. Its buffers live from tile to tile; one for each thread.
class TileReader {
public:
    explicit TileReader(const View& view);

    // The area starts at a block's first column; the error is that of the file.
    Status read(Area area, Tile& tile);
    // The values of `count` elements of a row of the tile, and of one code and scale: element times
    // scale, and the tensor's number. Exact but for a division by that number: no product of a
    // code, a scale and a binary32 number has more digits than a double.
    void values(const Tile& tile, std::int64_t row, std::int64_t column, std::int64_t count,
                double* into) const;
    double element_value(std::uint8_t code) const { return element_values_[code]; }
    double scale_value(std::uint32_t code) const;
    const View& view() const { return view_; }

private:
    Status read_codes(const Area& area, Tile& tile);
    Status read_scales(const Area& area, Tile& tile);
    Status read_scale_bytes();
    void take_grouped_scales(const Area& area, Tile& tile) const;
    void unpack(const std::byte* row, std::int64_t first, std::int64_t count,
                std::uint8_t* codes) const;
    std::int64_t scale_offset(std::int64_t block_row, std::int64_t block_column) const;

    View view_;
    std::array<double, 256> element_values_{};
    std::vector<double> scale_values_;  // of scales of a byte
    std::vector<std::byte> row_bytes_, scale_bytes_;
    std::vector<std::int64_t> offsets_;
};

// The number that a code stands for; NaN and infinity as they are.
double value_of(const ElementFormat& format, Code code);

// Tiles of a view may begin at multiples of this many columns.
std::int64_t column_step(const View& view);

// Puts the number of the tensor into the view, where it has one.
Status load_global(View& view);

// Can its bytes be read at any place without unpacking all before it?
bool reads_anywhere(const View& view);

}  // namespace mx::files
