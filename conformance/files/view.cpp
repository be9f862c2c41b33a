// See view.hpp.
#include "conformance/files/view.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/fast/decode.hpp"
#include "reference/fast/pack.hpp"

namespace mx::files {
namespace {

constexpr CodeStream six_bits{6, PairOrder::even_first};

ScaleOrder order_of(ScalePlace place) {
    switch (place) {
        case ScalePlace::tiles_128x4:
        case ScalePlace::tiles_128x4_twice:
            return ScaleOrder::tiles_128x4;
        case ScalePlace::tiles_8x4:
            return ScaleOrder::tiles_8x4;
        case ScalePlace::tiles_32x8:
            return ScaleOrder::tiles_32x8;
        default:
            return ScaleOrder::row_major;
    }
}

// The row of the table of layouts that a place belongs to; nullptr of a linear one.
const ScaleLayout* layout_of_place(const View& view) {
    if (view.place == ScalePlace::linear || view.place == ScalePlace::transposed) return nullptr;
    const BlockAxis axis = view.block_columns == 1 ? BlockAxis::col : BlockAxis::row;
    for (const ScaleLayout& layout : scale_layouts)
        if (layout.axis == axis && layout.order == order_of(view.place)) return &layout;
    return nullptr;
}

// Elements that a whole number of bytes holds in this order.
std::int64_t packed_bytes(CodeOrder order, std::int64_t elements) {
    if (order == CodeOrder::bytes) return elements;
    if (order == CodeOrder::six) return fast::stream_bytes(six_bits, elements);
    return (elements + 1) / 2;
}

// Two codes of four bits out of each byte.
void unpack_pairs(const std::byte* bytes, std::int64_t count, CodeOrder order,
                  std::uint8_t* codes) {
    const int first = order == CodeOrder::low_first ? 0 : 4;
    std::int64_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const auto pair = std::to_integer<unsigned>(bytes[i / 2]);
        codes[i] = static_cast<std::uint8_t>(pair >> first & 15);
        codes[i + 1] = static_cast<std::uint8_t>(pair >> (4 - first) & 15);
    }
    if (i < count)
        codes[i] = static_cast<std::uint8_t>(std::to_integer<unsigned>(bytes[i / 2]) >> first & 15);
}

// Blocks of `block` elements, of each of which byte j holds elements j and j + block / 2.
void unpack_halves(const std::byte* bytes, std::int64_t block, std::uint8_t* codes) {
    const std::int64_t half = block / 2;
    for (std::int64_t j = 0; j < half; ++j) {
        const auto pair = std::to_integer<unsigned>(bytes[j]);
        codes[j] = static_cast<std::uint8_t>(pair & 15);
        codes[j + half] = static_cast<std::uint8_t>(pair >> 4);
    }
}

}  // namespace

double value_of(const ElementFormat& format, Code code) {
    const fast::Unpacked value = fast::unpack(format, code);
    if (value.kind == fast::Kind::nan) return std::numeric_limits<double>::quiet_NaN();
    const double sign = value.negative ? -1 : 1;
    if (value.kind == fast::Kind::infinity) return sign * std::numeric_limits<double>::infinity();
    return sign * std::ldexp(static_cast<double>(value.significand), value.exponent);
}

std::int64_t View::block_row(std::int64_t row) const {
    if (block_rows == 1) return row;
    const std::int64_t in_slice = (slice_rows + block_rows - 1) / block_rows;
    return row / slice_rows * in_slice + row % slice_rows / block_rows;
}

std::int64_t View::grid_rows() const {
    return rows == 0 ? 0 : block_row(rows - 1) + 1;
}

std::int64_t View::row_bytes() const {
    if (group.elements == 0) return packed_bytes(order, columns);
    return (columns + group.elements - 1) / group.elements * group.bytes;
}

TileReader::TileReader(const View& view) : view_(view) {
    for (std::uint32_t code = 0; code < element_values_.size(); ++code)
        if (code >> view.element.code_bits() == 0)
            element_values_[code] = value_of(view.element, Code{code});
    if (view.scale.code_bits() > 8) return;
    for (std::uint32_t code = 0; code < 256; ++code)
        scale_values_.push_back(value_of(view.scale, Code{code}));
}

Status TileReader::read(Area area, Tile& tile) {
    tile.area = area;
    tile.run = std::min(view_.block_columns, std::max<std::int64_t>(area.columns, 1));
    if (const Status s = read_codes(area, tile); !s) return s;
    return view_.group.elements == 0 ? read_scales(area, tile) : success();
}

void TileReader::unpack(const std::byte* row, std::int64_t first, std::int64_t count,
                        std::uint8_t* codes) const {
    if (view_.order == CodeOrder::bytes) {
        std::memcpy(codes, row + first, static_cast<std::size_t>(count));
    } else if (view_.order == CodeOrder::six) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
        for (std::int64_t i = 0; i < count; ++i)
            codes[i] = static_cast<std::uint8_t>(fast::read_code(six_bits, bytes, first + i).bits);
    } else if (view_.order == CodeOrder::halves) {
        for (std::int64_t i = 0; i < count; i += view_.block_columns)
            unpack_halves(row + (first + i) / 2, std::min(view_.block_columns, count - i),
                          codes + i);
    } else {
        unpack_pairs(row + first / 2, count, view_.order, codes);
    }
}

Status TileReader::read_codes(const Area& area, Tile& tile) {
    const std::int64_t stride = view_.row_bytes();
    const Group& group = view_.group;
    // Whole rows, or of each the bytes of the columns: those start with a block or a group.
    const bool is_whole = area.column == 0 && area.columns == view_.columns;
    std::int64_t begin = 0, length = stride;
    if (!is_whole && group.elements == 0) {
        begin = packed_bytes(view_.order, area.column);
        length = packed_bytes(view_.order, area.column + area.columns) - begin;
    }
    const std::int64_t reads = is_whole ? 1 : area.rows;
    const std::int64_t piece = is_whole ? length * area.rows : length;
    row_bytes_.resize(static_cast<std::size_t>(length * area.rows) + 1);
    for (std::int64_t i = 0; i < reads; ++i) {
        const auto into =
            std::span(row_bytes_)
                .subspan(static_cast<std::size_t>(i * piece), static_cast<std::size_t>(piece));
        const auto offset = static_cast<std::uint64_t>((area.row + i) * stride + begin);
        if (const Status s = data::read_bytes(view_.elements, offset, into); !s) return s;
    }
    tile.codes.resize(static_cast<std::size_t>(area.rows * area.columns));
    if (group.elements != 0) {
        take_grouped_scales(area, tile);
        return success();
    }
    for (std::int64_t row = 0; row < area.rows; ++row)
        unpack(row_bytes_.data() + row * length, 0, area.columns,
               tile.codes.data() + row * area.columns);
    return success();
}

// Groups of scales and codes side by side: both come out of the same bytes.
void TileReader::take_grouped_scales(const Area& area, Tile& tile) const {
    const Group& group = view_.group;
    const std::int64_t block = view_.block_columns, stride = view_.row_bytes();
    tile.scales.resize(static_cast<std::size_t>(area.rows * tile.runs()));
    for (std::int64_t row = 0; row < area.rows; ++row)
        for (std::int64_t run = 0; run < tile.runs(); ++run) {
            const std::int64_t element = area.column + run * block;
            const std::int64_t in_group = element % group.elements / block;
            const std::byte* bytes =
                row_bytes_.data() + row * stride + element / group.elements * group.bytes;
            tile.scales[static_cast<std::size_t>(row * tile.runs() + run)] =
                std::to_integer<std::uint32_t>(bytes[group.first_scale + in_group]);
            const std::int64_t count = std::min(block, area.columns - run * block);
            unpack(bytes + group.first_code + in_group * packed_bytes(view_.order, block), 0, count,
                   tile.codes.data() + row * area.columns + run * block);
        }
}

std::int64_t TileReader::scale_offset(std::int64_t block_row, std::int64_t block_column) const {
    const GridShape grid{view_.grid_rows(), view_.grid_columns()};
    if (view_.place == ScalePlace::transposed) return block_column * grid.rows + block_row;
    const ScaleLayout* layout = layout_of_place(view_);
    if (layout == nullptr) return block_row * grid.columns + block_column;
    const std::int64_t once = fast::scale_offset(*layout, grid, {block_row, block_column});
    if (view_.place != ScalePlace::tiles_128x4_twice) return once;
    const GridShape padded = fast::padded_shape(*layout, grid);
    return fast::scale_offset(*layout, padded, {once / padded.columns, once % padded.columns});
}

// One read where the wanted bytes lie close together, else one for each run of neighbours.
Status TileReader::read_scale_bytes() {
    std::vector<std::byte>& bytes = scale_bytes_;
    std::vector<std::int64_t>& offsets = offsets_;
    const auto width = static_cast<std::int64_t>(view_.scale.code_bytes());
    const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
    const std::int64_t first = *low, span = *high - *low + 1;
    const auto count = static_cast<std::int64_t>(offsets.size());
    constexpr std::int64_t near = 1 << 16;
    if (span <= 4 * count + near) {
        bytes.resize(static_cast<std::size_t>(span * width));
        for (std::int64_t& offset : offsets) offset = (offset - first) * width;
        return data::read_bytes(*view_.scales, static_cast<std::uint64_t>(first * width), bytes);
    }
    bytes.resize(static_cast<std::size_t>(count * width));
    for (std::int64_t i = 0; i < count;) {
        std::int64_t end = i + 1;
        while (end < count && offsets[static_cast<std::size_t>(end)] ==
                                  offsets[static_cast<std::size_t>(i)] + (end - i))
            ++end;
        const auto into = std::span(bytes).subspan(static_cast<std::size_t>(i * width),
                                                   static_cast<std::size_t>((end - i) * width));
        const auto at = static_cast<std::uint64_t>(offsets[static_cast<std::size_t>(i)] * width);
        if (const Status s = data::read_bytes(*view_.scales, at, into); !s) return s;
        i = end;
    }
    for (std::int64_t i = 0; i < count; ++i) offsets[static_cast<std::size_t>(i)] = i * width;
    return success();
}

Status TileReader::read_scales(const Area& area, Tile& tile) {
    const std::int64_t runs = tile.runs();
    const std::int64_t first_row = view_.block_row(area.row);
    const std::int64_t last_row = view_.block_row(area.row + area.rows - 1);
    const std::int64_t first_column = area.column / view_.block_columns;
    const std::int64_t grid_rows = last_row - first_row + 1;
    offsets_.clear();
    // Transposed scales are neighbours down a column.
    if (view_.place == ScalePlace::transposed) {
        for (std::int64_t column = 0; column < runs; ++column)
            for (std::int64_t row = 0; row < grid_rows; ++row)
                offsets_.push_back(scale_offset(first_row + row, first_column + column));
    } else {
        for (std::int64_t row = 0; row < grid_rows; ++row)
            for (std::int64_t column = 0; column < runs; ++column)
                offsets_.push_back(scale_offset(first_row + row, first_column + column));
    }
    if (offsets_.empty()) return success();
    if (const Status s = read_scale_bytes(); !s) return s;
    const auto width = static_cast<std::size_t>(view_.scale.code_bytes());
    tile.scales.resize(static_cast<std::size_t>(area.rows * runs));
    const bool is_transposed = view_.place == ScalePlace::transposed;
    for (std::int64_t row = 0; row < area.rows; ++row) {
        const std::int64_t grid_row = view_.block_row(area.row + row) - first_row;
        for (std::int64_t column = 0; column < runs; ++column) {
            const std::int64_t i =
                is_transposed ? column * grid_rows + grid_row : grid_row * runs + column;
            std::uint32_t code = 0;
            std::memcpy(&code, scale_bytes_.data() + offsets_[static_cast<std::size_t>(i)], width);
            tile.scales[static_cast<std::size_t>(row * runs + column)] = code;
        }
    }
    return success();
}

double TileReader::scale_value(std::uint32_t code) const {
    const double scale =
        scale_values_.empty() ? value_of(view_.scale, Code{code}) : scale_values_[code];
    if (view_.use == GlobalUse::none) return scale;
    return view_.use == GlobalUse::times ? scale * view_.global_value : scale / view_.global_value;
}

void TileReader::values(const Tile& tile, std::int64_t row, std::int64_t column, std::int64_t count,
                        double* into) const {
    const std::uint8_t* codes = tile.codes.data() + row * tile.area.columns + column;
    for (std::int64_t i = 0; i < count;) {
        const double scale = scale_value(tile.scale_of(row, column + i));
        const std::int64_t end =
            std::min(count, (column + i) / tile.run * tile.run + tile.run - column);
        for (; i < end; ++i) into[i] = element_values_[codes[i]] * scale;
    }
}

std::int64_t column_step(const View& view) {
    const std::int64_t block = view.block_columns <= 128 ? view.block_columns : 1;
    return std::max<std::int64_t>({64, block, view.group.elements});
}

Status load_global(View& view) {
    if (!view.global) return success();
    std::array<std::byte, 4> bytes{};
    if (view.global->type != "f32" || view.global->size() != bytes.size())
        return bad_input("tensor " + data::in_quotes(view.global->name) +
                         " should be one f32, the scale of the whole tensor");
    if (const Status s = data::read_bytes(*view.global, 0, bytes); !s) return s;
    view.global_value =
        std::bit_cast<float>(static_cast<std::uint32_t>(data::little_endian(bytes)));
    return success();
}

bool reads_anywhere(const View& view) {
    return view.elements.source->reads_anywhere() &&
           (!view.scales || view.scales->source->reads_anywhere());
}

}  // namespace mx::files
