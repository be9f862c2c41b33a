// See residue_factor.hpp.
#include "reference/gemm/residue_factor.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace mx::gemm {
namespace {

constexpr int no_number = 1 << 20;  // the exponent of a scale that is NaN
constexpr std::size_t codes = 256;

std::array<int, codes> scale_exponents() {
    std::array<int, codes> exponents{};
    for (std::uint32_t bits = 0; bits < codes; ++bits) {
        const fast::Unpacked value = fast::unpack(formats::e8m0, Code{bits});
        exponents[bits] = value.kind == fast::Kind::finite ? value.exponent : no_number;
    }
    return exponents;
}

// The remainder that is nearest to 0, of numbers that lie between -modulus and modulus. Half an
// even modulus is the negative one.
int nearest_zero(int number, int modulus) {
    if (2 * number >= modulus) return number - modulus;
    return 2 * number < -modulus ? number + modulus : number;
}

int remainder_of(const ElementFormat& format, Code code, const Remainder& remainder) {
    const fast::Unpacked value = fast::unpack(format, code);
    if (value.kind != fast::Kind::finite) return 0;
    const std::uint64_t quanta = value.significand
                                 << (value.exponent - format.quantum_exponent_min());
    const auto modulus = static_cast<std::uint64_t>(remainder.modulus);
    const auto left =
        static_cast<int>(quanta % modulus * static_cast<std::uint64_t>(remainder.factor) % modulus);
    return nearest_zero(value.negative ? -left : left, remainder.modulus);
}

// The code of half of each code's number, cut off toward 0. A number of fewer bits has a code too,
// for below the lowest binade of normal values lie the subnormal ones.
std::array<std::uint8_t, codes> halved_codes(const ElementFormat& format) {
    std::array<std::uint8_t, codes> halved{};
    for (std::uint32_t bits = 0; bits < codes; ++bits) {
        const std::int64_t half = quanta_of(format, Code{bits}) / 2;
        std::uint32_t found = 0;
        while (found < codes && quanta_of(format, Code{found}) != half) ++found;
        MX_ASSERT_COMPARE(found, <, codes);
        halved[bits] = static_cast<std::uint8_t>(found);
    }
    return halved;
}

std::vector<std::uint8_t> cut_codes_of(const ElementFormat& format, int digits) {
    const std::array<std::uint8_t, codes> halved = halved_codes(format);
    std::vector<std::uint8_t> cut(static_cast<std::size_t>(digits + 1) * codes);
    for (std::size_t bits = 0; bits < codes; ++bits) cut[bits] = static_cast<std::uint8_t>(bits);
    for (std::size_t i = codes; i < cut.size(); ++i) cut[i] = halved[cut[i - codes]];
    return cut;
}

// Codes of a stretch side by side: where they lie, or a copy.
const std::uint8_t* gathered(const ScaledRow& row, const ResidueStretch& stretch,
                             std::uint8_t* copied) {
    const std::uint8_t* from = row.codes.bytes + stretch.first * row.codes.stride;
    if (row.codes.stride == 1) return from;
    for (int k = 0; k < stretch.count; ++k) copied[k] = from[k * row.codes.stride];
    return copied;
}

}  // namespace

ResidueFactor::ResidueFactor(std::span<const ScaledRow> rows, std::int64_t depth)
    : rows_(rows),
      depth_(depth),
      decoder_(decoder_of(rows.front().element, Kernel{}, Half::none)),
      scales_(scale_exponents()),
      exponents_(rows.size()),
      largest_scales_(rows.size()),
      specials_(rows.size()),
      segment_(std::gcd(static_cast<int>(rows.front().block % residue_step), residue_step)) {
    for (std::size_t row = 0; row < rows.size(); ++row) scan(row);
}

// Finds NaN and infinities, and from where to where the scales of blocks reach that have numbers.
void ResidueFactor::scan(std::size_t index) {
    const ScaledRow& row = rows_[index];
    for (ResidueStretch part = stretch_at(0, depth_); part.count > 0;
         part = stretch_at(part.first + part.count, depth_)) {
        std::uint8_t copied[residue_depth_max];
        note_specials(decoder_, {gathered(row, part, copied), part.first, part.count},
                      specials_[index]);
    }
    exponents_[index] = row.element.quantum_exponent_min();
    if (row.block == 0) return;
    ScaleRange range;
    for (std::int64_t first = 0, block = 0; first < depth_; first += row.block, ++block) {
        const int exponent = scales_[row.scales.at(block).bits];
        if (exponent == no_number) specials_[index].nan = true;
        if (exponent == no_number || range.has(exponent) ||
            is_zero(row, first, std::min(row.block, depth_ - first)))
            continue;
        range.add(exponent);
    }
    if (range.is_empty()) return;
    exponents_[index] += range.least;
    largest_scales_[index] = range.largest;
    spread_ = std::max(spread_, range.largest - range.least);
}

bool ResidueFactor::is_zero(const ScaledRow& row, std::int64_t first, std::int64_t count) const {
    for (std::int64_t k = first; k < first + count; ++k)
        if (decoder_.values[row.codes.at(k).bits] != 0) return false;
    return true;
}

void ResidueFactor::cut_below(std::span<const int> floors) {
    const int low = rows_.front().element.quantum_exponent_min();
    cut_max_ = span_of(rows_.front()).digits;
    cut_codes_ = cut_codes_of(rows_.front().element, cut_max_);
    spread_ = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        exponents_[row] = std::max(exponents_[row], floors[row]);
        spread_ = std::max(spread_, largest_scales_[row] + low - exponents_[row]);
    }
    MX_ASSERT_COMPARE(spread_, <, 256);
}

// Below 0 the lowest bits are cut off. Blocks without a number may be moved as far as any.
int ResidueFactor::move_of(std::size_t row, Code scale) const {
    const int base = exponents_[row] - rows_[row].element.quantum_exponent_min();
    return std::clamp(scales_[scale.bits] - base, -cut_max_, spread_);
}

void ResidueFactor::cut_segment(std::byte* codes_of_segment, int bits) const {
    const std::uint8_t* cut = cut_codes_.data() + static_cast<std::size_t>(bits) * codes;
    for (int i = 0; i < segment_; ++i)
        codes_of_segment[i] = std::byte{cut[std::to_integer<std::size_t>(codes_of_segment[i])]};
}

void ResidueFactor::arrange(std::size_t first, std::size_t panels, const ResidueStretch& stretch) {
    const std::size_t rows = panels * residue_rows * static_cast<std::size_t>(stretch.steps());
    if (rows > room_) codes_ = aligned_bytes(rows * residue_step);
    room_ = std::max(room_, rows);
    steps_ = stretch.steps();
    moves_.assign(rows * static_cast<std::size_t>(residue_step / segment_), 0);
    const std::size_t end = std::min(first + panels * residue_rows, rows_.size());
    const bool is_whole = stretch.count % residue_step == 0 && first + panels * residue_rows == end;
    if (!is_whole) std::memset(codes_.get(), 0, rows * residue_step);
    for (std::size_t row = first; row < end; ++row) {
        const std::size_t panel = (row - first) / residue_rows,
                          place = (row - first) % residue_rows;
        arrange_row(row, stretch, panel * residue_rows * static_cast<std::size_t>(steps_) + place);
    }
}

// `place` is that of the row's first step; those of the next lie a panel's rows further on.
void ResidueFactor::arrange_row(std::size_t index, const ResidueStretch& stretch,
                                std::size_t place) {
    const ScaledRow& row = rows_[index];
    std::uint8_t copied[residue_depth_max];
    const std::uint8_t* from = gathered(row, stretch, copied);
    std::byte* const first = codes_.get() + place * residue_step;
    std::byte* to = first;
    for (int k = 0; k < stretch.count; k += residue_step) {
        const int count = std::min(stretch.count - k, residue_step);
        std::memcpy(to, from + k, static_cast<std::size_t>(count));
        to += residue_step_bytes;
    }
    if (row.block == 0) return;
    const int segments = residue_step / segment_;
    std::uint8_t* moves = moves_.data() + place * static_cast<std::size_t>(segments);
    std::int64_t block = stretch.first / row.block, end = (block + 1) * row.block - stretch.first;
    int move = move_of(index, row.scales.at(block));
    to = first;
    for (int k = 0, i = 0; k < stretch.count; k += segment_) {
        if (k == end) {
            end += row.block;
            move = move_of(index, row.scales.at(++block));
        }
        if (move < 0) cut_segment(to + i * segment_, -move);
        moves[i++] = static_cast<std::uint8_t>(std::max(move, 0));
        if (i < segments) continue;
        i = 0;
        moves += residue_rows * segments;
        to += residue_step_bytes;
    }
}

void ResidueFactor::make_tables(const ResidueLoops& loops, const Remainder& remainder) {
    tables_.resize(static_cast<std::size_t>(spread_ + 1) * codes);
    for (std::uint32_t bits = 0; bits < codes; ++bits)
        tables_[bits] =
            static_cast<std::int8_t>(remainder_of(rows_.front().element, Code{bits}, remainder));
    loops.double_tables({tables_.data(), spread_ + 1, remainder.modulus});
}

void ResidueFactor::cut(const ResidueLoops& loops, std::size_t panel, std::int8_t* to) const {
    const std::size_t rows = residue_rows * static_cast<std::size_t>(steps_);
    const auto segments = static_cast<std::size_t>(residue_step / segment_);
    const auto* codes = reinterpret_cast<const std::uint8_t*>(codes_.get());
    loops.cut_rows({codes + panel * rows * residue_step, moves_.data() + panel * rows * segments,
                    static_cast<std::int64_t>(rows), segment_, tables_.data(), to});
}

}  // namespace mx::gemm
