// See log2.hpp.
#include "reference/exact/log2.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "reference/exact/round.hpp"
#include "reference/spec/formats.hpp"

namespace mx::exact {
namespace {

struct Bounds {
    Rational low, high;
};

// ln 2 = 2 * (1/3 + 1/(3*3^3) + 1/(5*3^5) + ...): what is cut off is below the last term taken.
// Both bounds are moved apart to multiples of 2^-120, so that few digits are counted with from
// there on.
Bounds logarithm_of_two() {
    Bounds bounds;
    Integer power = 3;
    for (int n = 1; n <= 61; n += 2, power *= 9) {
        const Rational term = Rational(2) / power / n;
        bounds.low += term;
        bounds.high = bounds.low + term;
    }
    const Rational unit = power_of_two(-120);
    return {whole_part(bounds.low / unit) * unit, (whole_part(bounds.high / unit) + 1) * unit};
}

// 2^distance - 1 for a small distance of either sign, from the series of e^t with t = distance * ln
// 2: its terms fall, so the error after the third is below twice the size of the fourth.
Bounds power_minus_one(const Rational& distance) {
    static const Bounds ln2 = logarithm_of_two();
    const auto series = [](const Rational& t) { return t + t * t / 2 + t * t * t / 6; };
    const Rational largest = abs(distance) * ln2.high;
    const Rational error = largest * largest * largest * largest / 12;
    const Rational a = series(distance * ln2.low), b = series(distance * ln2.high);
    return {std::min(a, b) - error, std::max(a, b) + error};
}

enum class Side { below, above };

// The distance from a number of binary32 to the next one below or above it.
Rational gap_beside(const Rational& number, Side side) {
    const Rational magnitude = abs(number);
    const Code code = round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                            {Value::Kind::finite, false, magnitude});
    const bool outward = (number < 0) == (side == Side::below);
    const std::uint32_t next = outward ? code.bits + 1 : code.bits - 1;
    return abs(magnitude_of(formats::f32, next) - magnitude);
}

// Half way between `doubled` / 2 and the number of binary32 beside it lies the logarithm of some
// value: how far that is from 2^(doubled / 2), as a part of it. Where `doubled` is odd, the square
// of that value and 2^doubled: their logarithms are twice as large, and so twice as far apart.
const Bounds& border_beside(int doubled, Side side) {
    thread_local std::map<std::pair<int, Side>, Bounds> known;
    const auto found = known.find({doubled, side});
    if (found != known.end()) return found->second;
    const Rational gap = gap_beside(Rational(doubled) / 2, side);
    const Rational distance = doubled % 2 == 0 ? gap / 2 : gap;
    const Bounds border = power_minus_one(side == Side::below ? -distance : distance);
    return known.emplace(std::pair{doubled, side}, border).first->second;
}

}  // namespace

bool log2f_rounds_to(int whole, const Rational& value) {
    // Next to zero binary32 is so dense that no logarithm but 0 rounds to it.
    if (whole == 0) return false;
    const Rational relative = value / power_of_two(whole) - 1;
    MX_ASSERT(relative != 0);
    const bool below = relative < 0;
    const Bounds& border = border_beside(2 * whole, below ? Side::below : Side::above);
    MX_ASSERT(relative < border.low || relative > border.high);
    return below ? relative > border.high : relative < border.low;
}

int rounded_log2f(const Rational& value) {
    const int below = floor_log2(value);
    if (value == power_of_two(below)) return below;
    // The logarithm of the square is a whole number where this one is half way.
    const int doubled = 2 * below + 1;
    const Rational relative = value * value / power_of_two(doubled) - 1;
    // What binary32 rounds to the half belongs to the number farther from zero.
    const Bounds& border = border_beside(doubled, doubled > 0 ? Side::below : Side::above);
    MX_ASSERT(relative < border.low || relative > border.high);
    return relative > border.high ? below + 1 : below;
}

}  // namespace mx::exact
