// See tanh_approx.hpp.
#include "reference/exact/tanh_approx.hpp"

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/round.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/tanh_approx.hpp"

namespace mx::exact {
namespace {

// x * x / 2^19, every product of two bits by itself, and those below 2^19 left out.
int cut_square(int x) {
    std::int64_t sum = 0;
    for (int i = 0; i < tanh_fraction_bits; ++i)
        for (int j = 0; j <= i; ++j) {
            const bool is_one = (x >> i & 1) != 0 && (x >> j & 1) != 0;
            const int weight = i == j ? i + j : i + j + 1;
            if (is_one && weight >= tanh_square_cut) sum += std::int64_t{1} << weight;
        }
    return static_cast<int>(sum >> tanh_square_cut);
}

// Of a magnitude in the binade, nothing rounded.
Rational polynomial(const TanhBinade& binade, const Rational& magnitude) {
    const Rational mantissa = magnitude / power_of_two(binade.exponent) - 1;
    const Rational place = mantissa * power_of_two(binade.index_bits);
    const int index = static_cast<int>(whole_part(place));
    const TanhPiece& piece = tanh_pieces[static_cast<std::size_t>(binade.first_piece + index)];
    const int x = static_cast<int>(whole_part((place - index) * power_of_two(tanh_fraction_bits)));
    const Rational units = piece.constant +
                           piece.linear * times_power_of_two(x, -tanh_fraction_bits) +
                           piece.square * times_power_of_two(cut_square(x), -15);
    return units * power_of_two(binade.unit_exponent);
}

}  // namespace

Value tanh_approx(const Value& x) {
    if (x.is_nan()) return {Value::Kind::nan};
    const Value one{Value::Kind::finite, x.negative, 1};
    if (x.is_infinity() || x.magnitude >= power_of_two(tanh_binades.back().exponent + 1))
        return one;
    if (x.magnitude < power_of_two(tanh_binades.front().exponent)) return x;
    const int index = floor_log2(x.magnitude) - tanh_binades.front().exponent;
    const TanhBinade& binade = tanh_binades[static_cast<std::size_t>(index)];
    return rounded_value(formats::f32, Rounding::toward_zero,
                         {Value::Kind::finite, x.negative, polynomial(binade, x.magnitude)});
}

Code tanh_approx(Code code) {
    return round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                 tanh_approx(decode(formats::f32, code)));
}

}  // namespace mx::exact
