// See slice_factor.hpp.
#include "reference/gemm/slice_factor.hpp"

#include <algorithm>
#include <cstring>

namespace mx::gemm {
namespace {

constexpr int no_number = 1 << 20;  // the exponent of a scale that is NaN

std::array<int, 256> scale_exponents() {
    std::array<int, 256> exponents{};
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        const fast::Unpacked value = fast::unpack(formats::e8m0, Code{bits});
        exponents[bits] = value.kind == fast::Kind::finite ? value.exponent : no_number;
    }
    return exponents;
}

// Codes of a stretch side by side: where they lie, or a copy.
const std::uint8_t* gathered(const ScaledRow& row, const SliceStretch& stretch,
                             std::uint8_t* copied) {
    const std::uint8_t* codes = row.codes.bytes + stretch.first * row.codes.stride;
    if (row.codes.stride == 1) return codes;
    for (int k = 0; k < stretch.count; ++k) copied[k] = codes[k * row.codes.stride];
    return copied;
}

SliceStretch stretch_at(std::int64_t first, std::int64_t depth) {
    return {first, static_cast<int>(std::min<std::int64_t>(slice_depth_max, depth - first))};
}

}  // namespace

SliceFactor::SliceFactor(std::span<const ScaledRow> rows, std::int64_t depth)
    : rows_(rows),
      decoder_(decoder_of(rows.front().element, Kernel{}, Half::none)),
      scales_(scale_exponents()),
      exponents_(rows.size()),
      specials_(rows.size()) {
    for (std::size_t row = 0; row < rows.size(); ++row) scan(row, depth);
    slices_ = (span_of(rows.front()).digits + spread_ + slice_bits - 1) / slice_bits;
}

// Finds NaN and infinities, and from where to where the scales of blocks reach that have numbers.
void SliceFactor::scan(std::size_t index, std::int64_t depth) {
    const ScaledRow& row = rows_[index];
    for (SliceStretch part{}; part.first < depth; part.first += part.count) {
        part = stretch_at(part.first, depth);
        std::uint8_t copied[slice_depth_max];
        note_specials(decoder_, {gathered(row, part, copied), part.first, part.count},
                      specials_[index]);
    }
    exponents_[index] = row.element.quantum_exponent_min();
    if (row.block == 0) return;
    ScaleRange range;
    for (std::int64_t first = 0; first < depth; first += row.block) {
        const int exponent = scales_[row.scale_at(first).bits];
        if (exponent == no_number) specials_[index].nan = true;
        if (exponent == no_number || range.has(exponent) ||
            is_zero(row, first, std::min(row.block, depth - first)))
            continue;
        range.add(exponent);
    }
    if (range.is_empty()) return;
    exponents_[index] += range.least;
    spread_ = std::max(spread_, range.largest - range.least);
}

bool SliceFactor::is_zero(const ScaledRow& row, std::int64_t first, std::int64_t count) const {
    for (std::int64_t k = first; k < first + count; ++k)
        if (decoder_.values[row.codes.at(k).bits] != 0) return false;
    return true;
}

// Blocks without a number may be moved as far as any.
int SliceFactor::shift_of(std::size_t row, Code scale) const {
    const int base = exponents_[row] - rows_[row].element.quantum_exponent_min();
    return std::clamp(scales_[scale.bits] - base, 0, spread_);
}

void SliceFactor::make_tables() {
    MX_ASSERT_COMPARE(slices_, <=, slices_max);
    const ElementFormat& format = rows_.front().element;
    const int count = spread_ + (slices_ - 1) * slice_bits + 1;
    tables_.assign(static_cast<std::size_t>(count) * 256, 0);
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        const fast::Unpacked value = fast::unpack(format, Code{bits});
        if (value.kind != fast::Kind::finite) continue;
        const std::uint64_t quanta = value.significand
                                     << (value.exponent - format.quantum_exponent_min());
        for (int i = 0; i < count; ++i) {
            const int first = i - spread_;
            const std::uint64_t moved = first < 0 ? quanta << -first : quanta >> first;
            const auto slice = static_cast<std::int8_t>(moved & ((1u << slice_bits) - 1));
            tables_[static_cast<std::size_t>(i) * 256 + bits] =
                static_cast<std::int8_t>(value.negative ? -slice : slice);
        }
    }
}

std::size_t SliceFactor::panel_bytes(int steps) const {
    return static_cast<std::size_t>(slices_) * static_cast<std::size_t>(steps) * slice_step_bytes;
}

std::vector<std::uint8_t> SliceFactor::shifts(std::size_t index,
                                              const SliceStretch& stretch) const {
    const ScaledRow& row = rows_[index];
    if (row.block == 0) return {0};
    std::vector<std::uint8_t> shifts;
    const std::int64_t end = stretch.first + stretch.count;
    for (std::int64_t i = stretch.first / row.block; i * row.block < end; ++i)
        shifts.push_back(static_cast<std::uint8_t>(shift_of(index, row.scales.at(i))));
    return shifts;
}

void SliceFactor::cut(const SliceLoops& loops, std::size_t first, const SliceStretch& stretch,
                      std::int8_t* panel) const {
    if (first + slice_rows > rows_.size()) std::memset(panel, 0, panel_bytes(stretch.steps()));
    const int count = static_cast<int>(std::min<std::size_t>(slice_rows, rows_.size() - first));
    const auto within = [](std::int64_t numbers) {
        return static_cast<int>(std::min<std::int64_t>(numbers, slice_depth_max));
    };
    std::uint8_t copied[slice_rows][slice_depth_max];
    std::array<std::vector<std::uint8_t>, slice_rows> moved;
    std::array<SliceRow, slice_rows> rows;
    for (int i = 0; i < count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const ScaledRow& row = rows_[first + place];
        const std::int64_t block = row.block == 0 ? stretch.first + stretch.count : row.block;
        moved[place] = shifts(first + place, stretch);
        rows[place] = {gathered(row, stretch, copied[i]),
                       stretch.count,
                       moved[place].data(),
                       within(block),
                       within(block - stretch.first % block),
                       panel + i / 16 * slice_tile_bytes + i % 16 * slice_step};
    }
    loops.cut_rows({rows.data(), count, stretch.steps(),
                    tables_.data() + std::ptrdiff_t{spread_} * 256, slices_,
                    std::ptrdiff_t{stretch.steps()} * slice_step_bytes});
}

}  // namespace mx::gemm
