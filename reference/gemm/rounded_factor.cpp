// See rounded_factor.hpp.
#include "reference/gemm/rounded_factor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mx::gemm {
namespace {

constexpr std::uint32_t codes = 256;
constexpr int tile_width_max = 24;
static_assert(slab_max % pack_step == 0);

bool has_sign_bit(const ElementFormat& format) {
    return format.negatives == Negatives::sign_bit;
}

CodeForm form_of(const ElementFormat& format) {
    if (!has_sign_bit(format)) return {true, 0, 0, 0, 0};
    const int sign_place = 31 - fast::bit_width(format.code_sign_mask() >> 1);
    return {false, format.code_sign_mask(), format.code_magnitude_mask(), sign_place,
            23 - format.mantissa_bits};
}

// By what an integer or a number in the place of binary32 is multiplied.
int exponent_of_form(const ElementFormat& format) {
    return has_sign_bit(format) ? 127 - format.exponent_bias : format.quantum_exponent_min();
}

double power_of_two(int exponent) {
    return std::ldexp(1.0, exponent);
}

}  // namespace

RoundedFactor::RoundedFactor(std::span<const ScaledRow> rows, std::int64_t depth,
                             const Slabs& slabs, int width)
    : rows_(rows),
      depth_(depth),
      slabs_(slabs),
      width_(width),
      length_((slabs.length + pack_step - 1) / pack_step * pack_step),
      decoder_(decoder_of(rows.front().element, Kernel{}, Half::none)),
      form_(form_of(rows.front().element)),
      slabs_a_block_(rows.front().block / slabs.length),
      specials_(rows.size()),
      exact_below_(rows.size()) {
    MX_ASSERT_COMPARE(width, <=, tile_width_max);
    const ElementFormat &element = rows.front().element, &scale = rows.front().scale;
    mask_ = (has_sign_bit(element) ? element.code_magnitude_mask() : 0xFF) * 0x0101010101010101;
    const int form = exponent_of_form(element);
    scale_of_none_ = {power_of_two(form), 0, true};
    for (std::uint32_t bits = 0; bits < codes; ++bits) {
        const fast::Unpacked value = fast::unpack(scale, Code{bits});
        const double factor =
            static_cast<double>(value.significand) * power_of_two(value.exponent + form);
        scales_[bits] = {value.negative ? -factor : factor, value.exponent,
                         value.kind == fast::Kind::finite};
    }
    for (std::size_t row = 0; row < rows.size(); ++row) scan(row);
}

int RoundedFactor::count_in(std::int64_t slab) const {
    return static_cast<int>(std::min<std::int64_t>(slabs_.length, depth_ - slab * slabs_.length));
}

// Codes of scales have a byte in all rows that a kernel takes.
const RoundedFactor::Scale& RoundedFactor::scale_of(std::size_t index, std::int64_t slab) const {
    const ScaledRow& row = rows_[index];
    if (row.block == 0) return scale_of_none_;
    const std::int64_t block = slabs_a_block_ == 1 ? slab : slab / slabs_a_block_;
    return scales_[row.scales.at(block).bits];
}

// The codes of a slab side by side, and zeros after them.
const std::uint8_t* RoundedFactor::codes_of(std::size_t index, std::int64_t slab,
                                            std::uint8_t* copied) const {
    const ScaledRow& row = rows_[index];
    const std::uint8_t* from = row.codes.bytes + slab * slabs_.length * row.codes.stride;
    const int count = count_in(slab);
    if (row.codes.stride == 1 && count == length_) return from;
    for (int k = 0; k < count; ++k) copied[k] = from[k * row.codes.stride];
    std::fill(copied + count, copied + length_, std::uint8_t{0});
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
        if (row.codes.stride != 1)
            note_specials(decoder_, {from, slab * slabs_.length, count_in(slab)}, specials_[index]);
        std::uint64_t any = 0, eight;
        static_assert(pack_step == sizeof eight);
        for (int k = 0; k < length_; k += pack_step) {
            std::memcpy(&eight, from + k, sizeof eight);
            any |= eight;
        }
        const Scale& scale = scale_of(index, slab);
        if (!scale.is_finite) specials_[index].nan = true;
        if ((any & mask_) != 0) least = std::min(least, scale.unit);
    }
    if (row.codes.stride == 1)
        note_specials(decoder_, {row.codes.bytes, 0, static_cast<int>(depth_)}, specials_[index]);
    const int unit = row.element.quantum_exponent_min() + (least == none ? 0 : least);
    // Of both rows together 2^52 units.
    exact_below_[index] = std::ldexp(1.0, unit + 26);
}

void RoundedFactor::pack(const RoundedLoops& loops, const TileStretch& tiles,
                         const SlabStretch& slabs, const Packed& to) const {
    std::uint8_t copied[tile_width_max][slab_max];
    const std::uint8_t* codes_of_rows[tile_width_max];
    double scales_of_rows[tile_width_max];
    const auto width = static_cast<std::size_t>(width_);
    double *numbers = to.numbers, *norms_of_tile = to.norms;
    for (std::size_t first = tiles.first; first < tiles.first + tiles.tiles * width;
         first += width, norms_of_tile += to.norms_step)
        for (int slab = 0; slab < slabs.count; ++slab, numbers += length_ * width_) {
            for (std::size_t row = 0; row < width; ++row) {
                const bool is_there = first + row < rows_.size();
                if (!is_there) std::fill_n(copied[row], slab_max, std::uint8_t{0});
                codes_of_rows[row] =
                    is_there ? codes_of(first + row, slabs.first + slab, copied[row]) : copied[row];
                scales_of_rows[row] =
                    is_there ? scale_of(first + row, slabs.first + slab).factor : 0;
            }
            loops.pack({codes_of_rows, scales_of_rows, form_, width_, length_, numbers,
                        norms_of_tile + slab * width_});
        }
}

}  // namespace mx::gemm
