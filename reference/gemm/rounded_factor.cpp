// See rounded_factor.hpp.
#include "reference/gemm/rounded_factor.hpp"

#include <algorithm>
#include <cmath>

namespace mx::gemm {
namespace {

constexpr std::uint32_t codes = 256;

}  // namespace

RoundedFactor::RoundedFactor(std::span<const ScaledRow> rows, std::int64_t depth,
                             const Slabs& slabs, int width)
    : rows_(rows),
      depth_(depth),
      slabs_(slabs),
      width_(width),
      decoder_(decoder_of(rows.front().element, Kernel{}, Half::none)),
      specials_(rows.size()),
      exact_below_(rows.size()) {
    const ElementFormat &element = rows.front().element, &scale = rows.front().scale;
    const bool has_sign_bit = element.negatives == Negatives::sign_bit;
    mask_ = static_cast<std::uint8_t>(has_sign_bit ? element.code_magnitude_mask() : 0xFF);
    for (std::uint32_t bits = 0; bits < codes; ++bits) {
        const fast::Unpacked value = fast::unpack(scale, Code{bits});
        const bool is_finite = value.kind == fast::Kind::finite;
        scales_[bits] =
            is_finite ? std::ldexp(static_cast<double>(value.significand), value.exponent) : 0;
        if (is_finite && value.negative) scales_[bits] = -scales_[bits];
        exponents_[bits] = is_finite ? value.exponent : 0;
    }
    for (std::size_t row = 0; row < rows.size(); ++row) scan(row);
}

int RoundedFactor::count_in(std::int64_t slab) const {
    return static_cast<int>(std::min<std::int64_t>(slabs_.length, depth_ - slab * slabs_.length));
}

Code RoundedFactor::scale_of(const ScaledRow& row, std::int64_t slab) const {
    return row.scale_at(slab * slabs_.length);
}

// The codes of a slab side by side.
const std::uint8_t* RoundedFactor::codes_of(std::size_t index, std::int64_t slab,
                                            std::uint8_t* copied) const {
    const ScaledRow& row = rows_[index];
    const std::uint8_t* from = row.codes.bytes + slab * slabs_.length * row.codes.stride;
    if (row.codes.stride == 1) return from;
    for (int k = 0; k < count_in(slab); ++k) copied[k] = from[k * row.codes.stride];
    return copied;
}

// The scales of slabs that are all zeros do not count.
void RoundedFactor::scan(std::size_t index) {
    const ScaledRow& row = rows_[index];
    constexpr int none = 1 << 20;
    int least = none;
    for (std::int64_t slab = 0; slab < slabs_.count; ++slab) {
        std::uint8_t copied[slab_max];
        const std::uint8_t* from = codes_of(index, slab, copied);
        const int count = count_in(slab);
        note_specials(decoder_, {from, slab * slabs_.length, count}, specials_[index]);
        std::uint8_t any = 0;
        for (int k = 0; k < count; ++k) any |= from[k];
        if (row.block == 0) {
            least = 0;
            continue;
        }
        const Code scale = scale_of(row, slab);
        if (fast::unpack(row.scale, scale).kind != fast::Kind::finite) specials_[index].nan = true;
        if ((any & mask_) != 0) least = std::min(least, exponents_[scale.bits]);
    }
    const int unit = row.element.quantum_exponent_min() + (least == none ? 0 : least);
    // Of both rows together 2^52 units.
    exact_below_[index] = std::ldexp(1.0, unit + 26);
}

void RoundedFactor::pack_row(std::size_t index, std::int64_t slab, double* numbers) const {
    const ScaledRow& row = rows_[index];
    std::uint8_t copied[slab_max];
    const std::uint8_t* from = codes_of(index, slab, copied);
    const int count = count_in(slab);
    const double scale = row.block == 0 ? 1 : scales_[scale_of(row, slab).bits];
    for (int k = 0; k < count; ++k) numbers[k * width_] = decoder_.values[from[k]] * scale;
    for (int k = count; k < slabs_.length; ++k) numbers[k * width_] = 0;
}

void RoundedFactor::pack(const TileStretch& tiles, const SlabStretch& slabs,
                         double* numbers) const {
    std::size_t row = tiles.first;
    for (std::size_t tile = 0; tile < tiles.tiles; ++tile, row += static_cast<std::size_t>(width_))
        for (std::int64_t slab = slabs.first; slab < slabs.first + slabs.count; ++slab) {
            for (int i = 0; i < width_; ++i) {
                const std::size_t index = row + static_cast<std::size_t>(i);
                if (index < rows_.size())
                    pack_row(index, slab, numbers + i);
                else
                    for (int k = 0; k < slabs_.length; ++k) numbers[k * width_ + i] = 0;
            }
            numbers += slabs_.length * width_;
        }
}

}  // namespace mx::gemm
