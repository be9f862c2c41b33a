// See block_tops.hpp.
#include "reference/gemm/block_tops.hpp"

#include <algorithm>
#include <bit>

namespace mx::gemm {

BlockTops::BlockTops(std::span<const ScaledRow> rows, std::int64_t depth)
    : depth_(depth), count_((depth + rows.front().block - 1) / rows.front().block) {
    const ElementFormat& format = rows.front().element;
    const Span whole = span_of(rows.front());
    low_ = whole.low;
    const bool has_sign_bit = format.negatives == Negatives::sign_bit;
    mask_ = static_cast<std::uint8_t>(has_sign_bit ? format.code_magnitude_mask() : 0xFF);
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        const fast::Unpacked scale = fast::unpack(formats::e8m0, Code{bits});
        scales_[bits] = scale.kind == fast::Kind::finite ? scale.exponent : 0;
        const fast::Unpacked value = fast::unpack(format, Code{bits});
        const bool is_finite = value.kind == fast::Kind::finite;
        quanta_[bits] = is_finite ? value.significand << (value.exponent - low_) : 0;
        // Only magnitudes grow with their code. What is not finite counts as the longest, so that
        // its row is cut off as others are.
        const bool is_longest = !is_finite || (!has_sign_bit && quanta_[bits] != 0);
        widths_[bits] = is_longest ? whole.digits : static_cast<int>(std::bit_width(quanta_[bits]));
    }
    tops_.reserve(rows.size() * static_cast<std::size_t>(count_));
    for (const ScaledRow& row : rows) {
        for (std::int64_t block = 0; block < count_; ++block)
            tops_.push_back(static_cast<std::int16_t>(top_of(row, block)));
        norms_.push_back(norm_of(row, tops_.data() + tops_.size() - count_));
    }
}

int BlockTops::length_of(const ScaledRow& row, std::int64_t block) const {
    return static_cast<int>(std::min(row.block, depth_ - block * row.block));
}

int BlockTops::top_of(const ScaledRow& row, std::int64_t block) const {
    const std::uint8_t* codes = row.codes.bytes + block * row.block * row.codes.stride;
    const int count = length_of(row, block);
    std::uint8_t largest = 0;
    if (row.codes.stride == 1)
        for (int k = 0; k < count; ++k)
            largest = std::max(largest, static_cast<std::uint8_t>(codes[k] & mask_));
    else
        for (int k = 0; k < count; ++k)
            largest =
                std::max(largest, static_cast<std::uint8_t>(codes[k * row.codes.stride] & mask_));
    if (widths_[largest] == 0) return no_top;
    return scales_[row.scales.at(block).bits] + low_ + widths_[largest];
}

std::uint64_t BlockTops::magnitudes(const ScaledRow& row, std::int64_t block) const {
    std::uint64_t sum = 0;
    const std::int64_t first = block * row.block;
    for (std::int64_t k = first; k < first + length_of(row, block); ++k)
        sum += quanta_[row.codes.at(k).bits];
    return sum;
}

// Summed in units of 2^(largest - kept), rounded up: magnitudes themselves where they may matter,
// and else as many of the largest that the block may have.
int BlockTops::norm_of(const ScaledRow& row, const std::int16_t* tops) const {
    constexpr int kept = 24, near = 8;
    const int largest = *std::max_element(tops, tops + count_);
    if (largest == no_top) return low_;
    std::uint64_t sum = 0;
    for (std::int64_t block = 0; block < count_; ++block) {
        const int above = tops[block] - largest + kept;
        const auto length = static_cast<std::uint64_t>(length_of(row, block));
        if (above < kept - near) {
            sum += length << std::max(above, 0);
            continue;
        }
        const int place = scales_[row.scales.at(block).bits] + low_ - largest + kept;
        const std::uint64_t quanta = magnitudes(row, block);
        sum += place >= 0 ? quanta << place : (quanta >> std::min(-place, 63)) + 1;
    }
    return largest - kept + fast::bit_width(sum);
}

}  // namespace mx::gemm
