// See gemm_code_data.hpp.
#include "conformance/data/gemm_code_data.hpp"

#include <algorithm>
#include <bit>

#include "conformance/data/gemm_codes.hpp"
#include "reference/spec/gemm.hpp"

namespace mx {
namespace {

// Walks from the last of `count` places in even rows, from the first in odd ones, so that few rows
// meet both ends.
std::int64_t turn_of(std::int64_t row, std::int64_t count) {
    const std::int64_t step = row / 2 % count;
    return row % 2 == 0 ? count - 1 - step : step;
}

}  // namespace

GemmCodePlan::GemmCodePlan(GemmCodeData kind, const Case& c, int fraction_bits)
    : kind_(kind),
      seed_(seed_of(c)),
      index_(c.index),
      depth_(c.gemm.k),
      fraction_bits_(fraction_bits),
      a_{c.gemm.a.element, row_of(c.gemm.a.scaling), c.gemm.m},
      b_{c.gemm.b.element, row_of(c.gemm.b.scaling), c.gemm.n} {
    (index_ % 2 == 0 ? a_ : b_).is_hot = kind != GemmCodeData::nonfinite;
    is_high_ = index_ / 2 % 2 == 0;
}

std::uint64_t GemmCodePlan::bits(const FactorPlace& place) const {
    return bits_of(seed_, place);
}

const GemmCodePlan::Side& GemmCodePlan::side_of(GemmPart part) const {
    return is_first(part) ? a_ : b_;
}

// Of a first row the last, so that the end of K counts.
std::int64_t GemmCodePlan::hot(const Side& side, std::int64_t row) const {
    if (row % side.batch == 0) return depth_ - 1;
    return depth_ - 1 - (row + static_cast<std::int64_t>(index_ / 4 % 65536) * 7) % depth_;
}

GemmCodePlan::Role GemmCodePlan::role_of(const Side& side, std::int64_t row) {
    return static_cast<Role>((row % side.batch + row / side.batch) % roles);
}

bool GemmCodePlan::has_nan_scale(const Side& side, Role role) {
    return has_small_blocks(side.scales.scaling) &&
           (role == Role::nan_scale || role == Role::nan_scale_of_zeros);
}

// Of the elements under walked scales: as small as is normal everywhere, where scales are large.
int GemmCodePlan::factor_exponent(const Side& side) const {
    const auto is_mx = [](const Side& each) {
        return each.scales.scaling == FactorScaling::e8m0_1x32;
    };
    if (!is_high_ || !is_mx(a_) || !is_mx(b_)) return 0;
    return side.format.exponent_bits == 0 ? 0 : std::max(side.format.exponent_min(), -6);
}

Code GemmCodePlan::walked_element(const Side& side, const FactorPlace& place) const {
    const ElementFormat& format = side.format;
    const std::uint64_t random = bits(place);
    const bool negative = random >> 63 != 0;
    if (kind_ == GemmCodeData::scales)
        return code_of(format, negative ? -1 : 1, factor_exponent(side));
    if (format.name == formats::bf16.name || format.name == formats::f32.name)
        return Code{code_near_one(format, random, 16) | (negative ? format.code_sign_mask() : 0)};
    // Rows of small codes and rows of large ones: zeros count with the exponents of what they meet,
    // and an accumulator of binary16 keeps too few bits for half of the codes of E5M2.
    const std::uint64_t count = format.code_max_finite_negative() + 1u;
    const bool is_wide = format.exponent_bits >= 5 && fraction_bits_ < 11;
    const std::int64_t parts = format.exponent_bits < 4 ? 1 : is_wide ? 4 : 2;
    const auto begin_of = [&](std::int64_t part) {
        const auto number = static_cast<std::uint64_t>(part),
                   all = static_cast<std::uint64_t>(parts);
        return (number * count + all - 1) / all;
    };
    const std::int64_t part = parts - 1 - place.row % parts;
    const std::int64_t turn = place.row / parts;
    // The step from row to row is odd, or rows of formats with few codes would be alike.
    const auto number =
        static_cast<std::uint64_t>(turn * (depth_ | 1) + place.column) + index_ / 2 * 97;
    const std::uint64_t span = begin_of(part + 1) - begin_of(part);
    const auto magnitude = static_cast<std::uint32_t>(begin_of(part) + number % span);
    if (number / span % 2 != 0 || magnitude > format.code_max_finite())
        return format.negative(magnitude);
    return format.positive(magnitude);
}

Code GemmCodePlan::nonfinite_element(const Side& side, const FactorPlace& place) const {
    const ElementFormat& format = side.format;
    const std::int64_t middle = depth_ / 2;
    const Code one = code_of(format, 1, 0);
    const Role role = role_of(side, place.row);
    switch (role) {
        case Role::nan:
            return format.has_nan() && place.column == middle ? Code{format.code_nan()} : one;
        case Role::infinity:
        case Role::infinities:
            if (!format.has_infinity()) return code_of(format, -1, 0);
            if (place.column == middle) return Code{format.code_infinity()};
            if (role == Role::infinities && place.column + 1 == middle)
                return Code{format.code_infinity() | format.code_sign_mask()};
            return one;
        case Role::nan_scale_of_zeros:
            if (has_nan_scale(side, role) &&
                place.column / side.scales.block == middle / side.scales.block)
                return Code{0};
            return one;
        case Role::zeros:
            return Code{0};
        case Role::signs:
            return code_of(format, static_cast<std::int64_t>(bits(place) >> 40) % 3 - 1, 0);
        default:
            return one;
    }
}

Code GemmCodePlan::element(const FactorPlace& place) const {
    const Side& side = side_of(place.part);
    if (kind_ == GemmCodeData::nonfinite) return nonfinite_element(side, place);
    if (!side.is_hot) return walked_element(side, place);
    if (place.column != hot(side, place.row)) return Code{0};
    return code_of(side.format, 1, kind_ == GemmCodeData::scales ? factor_exponent(side) : 0);
}

// Where products with one scale, summed over all of K, still stay within binary32.
int GemmCodePlan::highest_scale() const {
    const int sum = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depth_ + 2)));
    return std::min(127, 127 - sum - factor_exponent(a_) - factor_exponent(b_));
}

// All blocks of a row have scales alike but for one code, so that zeros do not stand out.
Code GemmCodePlan::walked_scale(const Side& side, const FactorPlace& place) const {
    const auto row = place.row + static_cast<std::int64_t>(index_ / 4 % 65536) * side.batch;
    const auto code = [&](std::int64_t lowest, std::int64_t highest) {
        const std::int64_t base = lowest + turn_of(row, highest - lowest);
        // The last block, which a first row has its element in, reaches the ends.
        const std::int64_t last = (depth_ - 1) / side.scales.block;
        return Code{static_cast<std::uint32_t>(base + (last + place.column + place.row + 1) % 2)};
    };
    if (side.scales.scaling == FactorScaling::ue4m3_1x16) return code(1, ue4m3.code_max_finite());
    const int lowest = 4 - factor_exponent(a_) - factor_exponent(b_);
    return is_high_ ? code(lowest, highest_scale() + 127) : code(1, 124);
}

Code GemmCodePlan::scale(const FactorPlace& place) const {
    const Side& side = side_of(place.part);
    const ElementFormat& format = side.scales.scale;
    const bool walks = side.is_hot && kind_ == GemmCodeData::scales;
    if (walks && has_small_blocks(side.scales.scaling)) return walked_scale(side, place);
    if (kind_ == GemmCodeData::nonfinite && has_nan_scale(side, role_of(side, place.row)) &&
        place.column == depth_ / 2 / side.scales.block)
        return Code{format.code_nan()};
    if (side.scales.scaling == FactorScaling::tensor)
        return code_of(format, 1, &side == &a_ ? 1 : -2);
    // Rows of A in turn; of B all alike, so that swapped scales differ, but for those of tiles.
    const std::int64_t of_row = &side == &a_ ? place.row + place.row / side.batch : 0;
    const std::int64_t sharing = side.scales.rows > 1 ? place.row : of_row;
    const auto turn = static_cast<int>((place.column + sharing) % 2);
    // Such that the product with a scale that is walked has a code.
    if (kind_ == GemmCodeData::scales) return code_of(format, 1, is_high_ ? turn - 3 : turn + 1);
    if (&side == &a_) return code_of(format, 1, 1 + turn);
    return code_of(format, 1, kind_ == GemmCodeData::nonfinite ? turn * 2 - 1 : turn - 3);
}

Code GemmCodePlan::addend(const ElementFormat& format, const FactorPlace& place) const {
    const Role role = role_of(a_, place.row);
    if (kind_ == GemmCodeData::nonfinite && place.part == GemmPart::c &&
        (role == Role::ones || role == Role::infinity)) {
        const std::int64_t turn = place.column % roles;
        if (turn == 0 && place.row / a_.batch % 2 == 0) return Code{format.code_nan()};
        if (turn >= 6)
            return Code{format.code_infinity() | (turn == 6 ? format.code_sign_mask() : 0)};
    }
    const std::uint64_t random = bits(place);
    // The digits of every code reach far below: beside them one more has room.
    if (kind_ == GemmCodeData::elements) return code_of(format, random >> 63 != 0 ? -1 : 1, -1);
    // A sum of products has its own share of the bits.
    const int width = std::min(format.mantissa_bits, std::max(1, fraction_bits_ - 4));
    const auto odd = static_cast<std::int64_t>((random >> 8) % (std::uint64_t{1} << width) | 1u);
    return code_of(format, random >> 63 != 0 ? -odd : odd, 0);
}

Code GemmCodePlan::scale_out() const {
    const ElementFormat& walked = a_.is_hot ? b_.format : a_.format;
    const bool is_wide = walked.code_bits() > 8;
    return code_of(formats::f32, 1, is_wide ? -3 : 6 - walked.exponent_max());
}

}  // namespace mx
