// Rows of the factors of a GEMM as numbers, with their scales in the exponents: which code and
// which scale belongs to which place. Bugs of reading are planted here.
#pragma once

#include <cstdint>

#include "conformance/mutants/gemm/gemm_cdna.hpp"
#include "conformance/mutants/mutant_layout.hpp"

namespace mx::mutants::gemm {

enum class Side { a, b };

// Rows of a factor count through the batches.
struct RowOf {
    Side side;
    std::int64_t row;
};

// The cell that a walk down the columns meets where one along the rows meets this.
inline Cell turned(const Tensor& tensor, Cell cell) {
    const std::int64_t place = cell.column * tensor.rows + cell.row;
    return {place / tensor.columns, place % tensor.columns};
}

// One whose place is that of a matrix without tiles, its rows padded to four.
inline std::uint32_t read_linearly(const Tensor& scales, Cell cell) {
    const std::int64_t padded = (scales.columns + 3) / 4 * 4;
    return scales.data[cell.row * padded + cell.column];
}

inline Number with_scale(Number number, std::uint32_t byte) {
    constexpr std::uint32_t nan_byte = 255, largest_byte = 254;
    const bool is_zero = number.kind == Kind::finite && number.significand == 0;
    if (byte == nan_byte && has(Bug::nan_scale_lost_over_zeros) && is_zero) return number;
    if (byte == nan_byte && has(Bug::nan_scale_as_infinity) && !is_zero) {
        if (number.kind == Kind::finite) number.kind = Kind::infinity;
        return number;
    }
    if (byte == largest_byte && has(Bug::largest_scale_halved)) --byte;
    if (byte == nan_byte && !has(Bug::nan_scale_ignored)) return nan_number();
    if (byte == 0 && has(Bug::scale_byte_0_as_zero)) number.significand = 0;
    number.scale = static_cast<int>(byte) - 127;
    number.unit += number.scale;
    number.exponent += number.scale;
    return number;
}

inline std::int64_t rows_of_batch(const GemmRequest& request, Side side) {
    return side == Side::a ? request.rows : request.columns;
}

// Where each batch would fill tiles of its own; behind the end stands what the last row has.
inline std::int64_t in_padded_batches(const Tensor& scales, const RowOf& row, std::int64_t rows) {
    const std::int64_t first = row.row / rows * rounded_up(rows, 128);
    return std::min(first + row.row % rows, scales.rows - 1);
}

// Of a grouped product whose scales lie in tiles: where those of a row are.
inline std::int64_t row_of_scales(const GemmRequest& request, const RowOf& row) {
    const bool is_a = row.side == Side::a;
    const Tensor& scales = is_a ? request.a.scales : request.b.scales;
    const bool is_lost = is_a && has(Bug::group_scales_not_padded);
    if (!request.is_grouped || scales.layout != Layout::tiles_128x4 || is_lost) return row.row;
    const kit::RowGroups groups =
        is_a ? request.groups : kit::RowGroups::equal(request.groups.count(), request.columns);
    const std::int64_t group = groups.of_row(std::min(row.row, groups.end() - 1));
    return groups.in_tiles(128).first(group) + row.row - groups.first(group);
}

// As many tiles of 128 x 128 at once as an H100 has processors: the row of A that stood where this
// one does when the tiles before were made.
inline std::int64_t row_of_first_wave(const GemmRequest& request, std::int64_t row) {
    constexpr std::int64_t tile = 128, processors = 132;
    const std::int64_t across = (request.columns + tile - 1) / tile;
    const std::int64_t band = row % request.rows / tile, bands = processors / across;
    return bands > 0 && band >= bands ? row - bands * tile : row;
}

inline std::uint32_t scale_of(const GemmRequest& request, const RowOf& row, std::int64_t k) {
    const bool is_exchanged = has(Bug::scales_exchanged) && !request.is_grouped;
    const bool is_a = (row.side == Side::a) != is_exchanged;
    const Tensor& scales = is_a ? request.a.scales : request.b.scales;
    Cell cell{row_of_scales(request, row) % scales.rows, k / 32};
    if (has(Bug::scales_of_first_batch) && is_a && !request.is_grouped) cell.row %= request.rows;
    if (has(Bug::second_wave_of_scales) && is_a && !request.is_grouped)
        cell.row = row_of_first_wave(request, cell.row);
    if (has(Bug::scales_of_first_tile) && !is_a && !request.is_grouped)
        cell.row = cell.row / request.columns * request.columns + cell.row % request.columns % 128;
    if (has(Bug::scale_slice_reused)) cell.column %= 4;
    if (has(Bug::scale_table_of_32)) cell.column %= 32;
    if (has(Bug::scales_of_padded_batches) && scales.layout == Layout::tiles_128x4 &&
        !request.is_grouped)
        cell.row = in_padded_batches(scales, row, rows_of_batch(request, row.side));
    if (has(Bug::block_index_off_by_one)) cell.column = std::min((k + 1) / 32, scales.columns - 1);
    if (has(Bug::scales_transposed) && is_a) cell = turned(scales, cell);
    if (has(Bug::swizzle_read_linearly) && scales.layout == Layout::tiles_128x4)
        return read_linearly(scales, cell);
    return read(scales, cell);
}

// From row 128 on a byte is missing between the rows.
inline Cell in_short_rows(const Tensor& packed, Cell cell) {
    const std::int64_t beyond = cell.row - 128, codes = 2 * row_bytes(packed);
    if (beyond < 0 || codes <= 2) return cell;
    const std::int64_t place = cell.row * codes - 2 * beyond + cell.column;
    return {place / codes, place % codes};
}

inline std::uint32_t element_of(const GemmRequest& request, const RowOf& row, std::int64_t k) {
    Cell cell{row.row, k};
    const std::int64_t rows = rows_of_batch(request, row.side);
    const std::int64_t batch = row.row / rows, in_batch = row.row % rows;
    const bool has_batches = !request.is_grouped;
    if (has(Bug::batches_counted_to_64) && has_batches) cell.row = batch % 64 * rows + in_batch;
    if (has(Bug::rows_counted_to_256) && row.side == Side::a)
        cell.row = batch * rows + in_batch % 256;
    if (has(Bug::b_one_batch_late) && has_batches && row.side == Side::b && batch >= 2)
        cell.row -= rows;
    if (row.side == Side::a) return read(request.a.codes, cell);
    if (has(Bug::packed_rows_counted_to_128) && request.b.codes.layout == Layout::packed_low)
        cell.row = batch * rows + in_batch % 128;
    if (has(Bug::packed_rows_too_near) && request.b.codes.layout == Layout::packed_low)
        cell = in_short_rows(request.b.codes, cell);
    if (has(Bug::b_of_first_batch) && has_batches) cell.row %= request.columns;
    if (has(Bug::b_transposed)) cell = turned(request.b.codes, cell);
    return read(request.b.codes, cell);
}

inline Numbers numbers_of(const GemmRequest& request, const RowOf& row) {
    const bool is_of_a = row.side == Side::a || has(Bug::b_format_of_a);
    const Format& format = is_of_a ? request.a.codes.format : request.b.codes.format;
    Numbers numbers;
    for (std::int64_t k = 0; k < request.depth; ++k) {
        // A code of the wrong format may have bits that this one has not.
        const std::uint32_t code = element_of(request, row, k) & ((1u << format.bits) - 1);
        Number number = number_of(code, format);
        if (is_half_format(format)) number = flushed_factor(number, format);
        numbers.push_back(request.scaling == Scaling::blocks
                              ? with_scale(number, scale_of(request, row, k))
                              : number);
    }
    return numbers;
}

}  // namespace mx::mutants::gemm
