// See layouts.hpp. Must not know formats or rules.
#include "device/cpu/layouts.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace mx::cpu {
namespace {

std::int64_t padded(std::int64_t count, std::int64_t tile) {
    return (count + tile - 1) / tile * tile;
}
std::int64_t place_128x4(const TileCell& cell) {
    const auto& [x, y, inner] = cell;
    return (x / 128 * (inner / 4) + y / 4) * 512 + x % 32 * 16 + x % 128 / 32 * 4 + y % 4;
}
std::int64_t place_8x4(const TileCell& cell) {
    const auto& [x, y, inner] = cell;
    return (x / 8 * (inner / 4) + y / 4) * 32 + x % 8 * 4 + y % 4;
}
std::int64_t place_32x8(const TileCell& cell) {
    const auto& [x, y, inner] = cell;
    return x / 32 * inner * 32 + y / 8 * 256 + y % 4 * 64 + x % 16 * 4 + y % 8 / 4 * 2 +
           x % 32 / 16;
}

constexpr Layout codes(std::string_view name, int bits, int odd_first) {
    return {name, LayoutKind::codes, bits, odd_first, 1, 1, "", nullptr, 0};
}
constexpr Layout scales(Layout tiles) {
    tiles.kind = LayoutKind::scales;
    return tiles;
}

constexpr auto strided = LayoutKind::strided;
constexpr std::array layouts{
    Layout{"strided", strided, 0, 0, 1, 1, "", nullptr, 0},
    codes("packed-low", 4, 0),
    codes("packed-high", 4, 1),
    codes("packed-6", 6, 0),
    Layout{"inline", LayoutKind::inline_scales, 0, 0, 1, 1, "row", nullptr, 0},
    scales({"128x4", strided, 8, 0, 128, 4, "row", place_128x4, 1}),
    scales({"128x4-col", strided, 8, 0, 128, 4, "col", place_128x4, 1}),
    scales({"8x4", strided, 8, 0, 8, 4, "row", place_8x4, 1}),
    scales({"8x4-col", strided, 8, 0, 8, 4, "col", place_8x4, 1}),
    scales({"32x8", strided, 8, 0, 32, 8, "row", place_32x8, 0}),
    scales({"32x8-col", strided, 8, 0, 32, 8, "col", place_32x8, 0}),
    // Row-major over the padded grid, whichever dimension is the outer one.
    scales({"te-padded", strided, 8, 0, 128, 4, "row", nullptr, 0}),
    scales({"te-padded-col", strided, 8, 0, 128, 4, "col", nullptr, 0}),
};

// A run of codes in a stream of bits, the first in the lowest bits of the first byte.
struct CodeStream {
    std::uint8_t* bytes;
    int code_bits;
    int odd_first;

    std::size_t bit_of(std::int64_t index) const {
        return static_cast<std::size_t>(index ^ odd_first) * static_cast<std::size_t>(code_bits);
    }
    std::uint8_t read(std::int64_t index) const {
        const std::size_t bit = bit_of(index);
        const std::size_t used = bit % 8;
        unsigned window = static_cast<unsigned>(bytes[bit / 8]) >> used;
        // Never a byte beyond the code: it may not be there.
        if (used + static_cast<std::size_t>(code_bits) > 8)
            window |= static_cast<unsigned>(bytes[bit / 8 + 1]) << (8 - used);
        return static_cast<std::uint8_t>(window & ((1u << code_bits) - 1));
    }
    // Into bytes that are 0.
    void write(std::int64_t index, std::uint8_t code) const {
        const std::size_t bit = bit_of(index);
        const std::size_t used = bit % 8;
        const unsigned window = static_cast<unsigned>(code) << used;
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | window);
        if (used + static_cast<std::size_t>(code_bits) > 8)
            bytes[bit / 8 + 1] = static_cast<std::uint8_t>(bytes[bit / 8 + 1] | window >> 8);
    }
};

std::int64_t bytes_for(std::int64_t count, int bits) {
    return (count * bits + 7) / 8;
}

// Calls action(stream, first code in the dense copy, number of codes, its scale or nullptr).
template <typename Tensor, typename Action>
void for_each_stream(Tensor& staged, Action action) {
    const mx_tensor& tensor = staged.tensor;
    auto* data = static_cast<std::uint8_t*>(tensor.data);
    const bool whole_rows = staged.layout.kind == LayoutKind::codes;
    const std::int64_t step = whole_rows ? tensor.columns : staged.block_size;
    const std::int64_t row_bytes =
        whole_rows ? bytes_for(tensor.columns, staged.code_bits) : tensor.row_stride;
    std::size_t scale = 0;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        for (std::int64_t first = 0; first < tensor.columns; first += step, ++scale) {
            std::uint8_t* bytes = data + row * row_bytes + first / step * tensor.column_stride;
            const CodeStream stream{bytes, staged.code_bits, staged.layout.odd_first};
            const auto dense = static_cast<std::size_t>(row * tensor.columns + first);
            action(stream, &staged.dense[dense], std::min(step, tensor.columns - first),
                   whole_rows ? nullptr : &staged.dense_scales[scale]);
        }
    }
}

void unpack_codes(Staged& staged) {
    const std::int64_t scale_at = bytes_for(staged.block_size, staged.code_bits);
    for_each_stream(staged, [&](const CodeStream& stream, std::uint8_t* dense, std::int64_t count,
                                std::uint8_t* scale) {
        for (std::int64_t i = 0; i < count; ++i) dense[i] = stream.read(i);
        if (scale != nullptr) *scale = stream.bytes[scale_at];
    });
}

void pack_codes(const Staged& staged) {
    const std::int64_t scale_at = bytes_for(staged.block_size, staged.code_bits);
    for_each_stream(staged, [&](const CodeStream& stream, const std::uint8_t* dense,
                                std::int64_t count, const std::uint8_t* scale) {
        const std::int64_t bytes = scale == nullptr ? bytes_for(count, staged.code_bits) : scale_at;
        std::memset(stream.bytes, 0, static_cast<std::size_t>(bytes));
        for (std::int64_t i = 0; i < count; ++i) stream.write(i, dense[i]);
        if (scale != nullptr) stream.bytes[scale_at] = *scale;
    });
}

struct ScaleGrid {
    std::int64_t rows_padded;
    std::int64_t columns_padded;
    bool by_columns;  // x is the column
};
ScaleGrid grid_of(const Layout& layout, const mx_tensor& tensor) {
    const bool by_columns = layout.axis == "col";
    return {padded(tensor.rows, by_columns ? layout.inner_tile : layout.outer_tile),
            padded(tensor.columns, by_columns ? layout.outer_tile : layout.inner_tile), by_columns};
}

// Calls action(byte in the tensor, byte in the dense copy) for each scale.
template <typename Tensor, typename Action>
void for_each_scale(Tensor& staged, Action action) {
    const mx_tensor& tensor = staged.tensor;
    const ScaleGrid grid = grid_of(staged.layout, tensor);
    auto* data = static_cast<std::uint8_t*>(tensor.data);
    const std::int64_t inner = grid.by_columns ? grid.rows_padded : grid.columns_padded;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        for (std::int64_t column = 0; column < tensor.columns; ++column) {
            std::int64_t place = row * grid.columns_padded + column;
            if (staged.layout.place != nullptr)
                place = staged.layout.place(grid.by_columns ? TileCell{column, row, inner}
                                                            : TileCell{row, column, inner});
            action(data[place],
                   staged.dense[static_cast<std::size_t>(row * tensor.columns + column)]);
        }
    }
}

void pack_scales(const Staged& staged) {
    const ScaleGrid grid = grid_of(staged.layout, staged.tensor);
    const auto bytes = static_cast<std::size_t>(grid.rows_padded * grid.columns_padded);
    if (staged.layout.zero_pads != 0 && bytes != 0) std::memset(staged.tensor.data, 0, bytes);
    for_each_scale(staged, [](std::uint8_t& byte, std::uint8_t scale) { byte = scale; });
}

}  // namespace

std::optional<Layout> find_layout(std::string_view name) {
    for (const Layout& layout : layouts)
        if (layout.name == name) return layout;
    return std::nullopt;
}

bool fits_address_space(const Layout& layout, const mx_tensor& tensor) {
    // Padded to whole tiles a dimension grows by less than 128.
    constexpr std::int64_t longest = std::int64_t{1} << 62;
    const std::int64_t row_bytes = std::max(tensor.columns, tensor.row_stride);
    std::int64_t bytes = 0;
    if (layout.kind == LayoutKind::strided) return true;
    return tensor.rows < longest && row_bytes < longest &&
           !__builtin_mul_overflow(tensor.rows + layout.outer_tile, row_bytes + layout.outer_tile,
                                   &bytes);
}

void unpack(Staged& staged) {
    if (staged.layout.kind != LayoutKind::scales) return unpack_codes(staged);
    for_each_scale(staged, [](std::uint8_t byte, std::uint8_t& scale) { scale = byte; });
}

void pack(const Staged& staged) {
    if (staged.layout.kind != LayoutKind::scales) return pack_codes(staged);
    pack_scales(staged);
}

}  // namespace mx::cpu
