// See row_pairs.hpp.
//
// The magnitudes of a pair are summed in binary64, in any order, and the comparison with 2^(q + 53)
// is exact: all of them are multiples of 2^q. As long as a sum is below, it has a binary64 number
// and nothing was rounded; and what rounds to nearest from 2^(q + 53) or more never falls below it,
// nor does what is added afterwards. Where the magnitudes stay below, so does every product and
// every sum of some products with their signs: the sum itself is exact in the same way. Elements of
// 24 bits with scales of 24 have binary64 numbers, and no product of four such numbers leaves its
// range.
#include "reference/gemm/row_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "reference/gemm/exact_terms.hpp"

namespace mx::gemm {
namespace {

constexpr auto none = static_cast<std::int16_t>(ExponentRange::none);

// A code as the survey reads it.
struct Decoded {
    fast::Unpacked value;
    int alignment = 0;
};

Decoded decoded(const ElementFormat& format, Code code) {
    const fast::Unpacked value = fast::unpack(format, code);
    return {value, fast::exponent_of(format, value)};
}

double number_of(const fast::Unpacked& value) {
    const double magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent);
    return value.negative ? -magnitude : magnitude;
}

// The least and the largest of each stretch of a row.
struct Ranges {
    std::vector<std::int16_t> least, largest;

    explicit Ranges(std::size_t count = 0)
        : least(count, none), largest(count, static_cast<std::int16_t>(-none)) {}
    void add_least(std::size_t i, int exponent) {
        least[i] = std::min(least[i], static_cast<std::int16_t>(exponent));
    }
    void add_largest(std::size_t i, int exponent) {
        largest[i] = std::max(largest[i], static_cast<std::int16_t>(exponent));
    }
    void add(std::size_t i, const fast::Unpacked& value) {
        add_least(i, lowest_bit(value));
        add_largest(i, above_highest_bit(value));
    }
};

struct SurveyedRow {
    RowFacts facts;
    std::vector<double> numbers;           // 0 where not finite
    std::vector<std::int16_t> quanta;      // `none` where there is no digit
    std::vector<std::int16_t> alignments;  // -`none` where not finite
    Ranges scaled, elements, scales;       // by stretches that share both scales
};

using Table = std::array<Decoded, 256>;

Table table_of(const ElementFormat& format) {
    Table table;
    for (std::uint32_t code = 0; code < 256; ++code) table[code] = decoded(format, Code{code});
    return table;
}

class Surveyor {
public:
    // `like` stands for all rows of its factor.
    Surveyor(const ScaledRow& like, std::int64_t depth, std::int64_t stretch)
        : element_(like.element),
          depth_(depth),
          stretch_(stretch),
          is_small_(like.element.code_bits() <= 8) {
        if (is_small_) table_ = table_of(like.element);
    }

    SurveyedRow survey(const ScaledRow& row) const {
        const auto depth = static_cast<std::size_t>(depth_);
        const auto count = static_cast<std::size_t>((depth_ + stretch_ - 1) / stretch_);
        SurveyedRow made{{},
                         std::vector<double>(depth),
                         std::vector<std::int16_t>(depth, none),
                         std::vector<std::int16_t>(depth, static_cast<std::int16_t>(-none)),
                         Ranges(count),
                         Ranges(count),
                         Ranges(count)};
        for (std::size_t i = 0; i < count; ++i) add_stretch(row, i, made);
        if (row.block == 0 || row.scale.name != f32.name) made.facts.f32_scales = {0, 0};
        return made;
    }

private:
    Decoded element_at(const ScaledRow& row, std::int64_t k) const {
        const Code code = row.codes.at(k);
        return is_small_ ? table_[code.bits & 255] : decoded(element_, code);
    }

    void add_stretch(const ScaledRow& row, std::size_t stretch, SurveyedRow& made) const {
        const std::int64_t first = static_cast<std::int64_t>(stretch) * stretch_;
        const std::int64_t end = std::min(depth_, first + stretch_);
        Decoded scale{{fast::Kind::finite, false, 0, 1}, 0};
        if (row.block != 0) {
            scale = decoded(row.scale, row.scale_at(first));
            note_scale(row, row.scale_at(first), scale, made.facts);
        }
        const double factor = number_of(scale.value);
        for (std::int64_t k = first; k < end; ++k) {
            const Decoded element = element_at(row, k);
            if (element.value.kind != fast::Kind::finite ||
                scale.value.kind != fast::Kind::finite) {
                note_special(element.value, scale.value, made.facts);
                if (has_digits(element.value)) made.elements.add(stretch, element.value);
                continue;
            }
            const auto at = static_cast<std::size_t>(k);
            made.alignments[at] = static_cast<std::int16_t>(element.alignment + scale.alignment);
            if (element.value.significand == 0) continue;
            made.elements.add(stretch, element.value);
            if (scale.value.significand == 0) continue;
            const fast::Unpacked value = fast::exact_product(element.value, scale.value);
            made.numbers[at] = number_of(element.value) * factor;
            made.quanta[at] = static_cast<std::int16_t>(lowest_bit(value));
            made.scaled.add(stretch, value);
        }
        made.facts.scaled.least =
            std::min<int>(made.facts.scaled.least, made.scaled.least[stretch]);
        made.facts.scaled.largest =
            std::max<int>(made.facts.scaled.largest, made.scaled.largest[stretch]);
        if (scale.value.kind != fast::Kind::finite) return;
        made.scales.add_largest(stretch, scale.value.exponent);
        const bool has_elements = made.elements.largest[stretch] > -none;
        if (has_elements) made.scales.add_least(stretch, scale.value.exponent);
    }

    static void note_scale(const ScaledRow& row, Code code, const Decoded& scale, RowFacts& facts) {
        if (scale.value.kind == fast::Kind::infinity) facts.infinity = true;
        if (row.scale.name != f32.name) return;
        facts.scales_only_move = facts.scales_only_move && only_moves(code);
        const int exponent = scale.value.kind == fast::Kind::finite ? scale.alignment : 0;
        facts.f32_scales.least = std::min(facts.f32_scales.least, exponent);
        facts.f32_scales.largest = std::max(facts.f32_scales.largest, exponent);
    }

    static void note_special(const fast::Unpacked& element, const fast::Unpacked& scale,
                             RowFacts& facts) {
        const bool is_nan = fast::exact_product(element, scale).kind == fast::Kind::nan;
        (is_nan ? facts.nan : facts.infinity) = true;
    }

    ElementFormat element_;
    std::int64_t depth_;
    std::int64_t stretch_;
    bool is_small_;
    Table table_;
};

int least_sum(const std::vector<std::int16_t>& x, const std::vector<std::int16_t>& y) {
    std::int16_t least = 2 * none;
    const std::size_t count = x.size();
    const std::int16_t *left = x.data(), *right = y.data();
    for (std::size_t i = 0; i < count; ++i) {
        const auto sum = static_cast<std::int16_t>(left[i] + right[i]);
        least = sum < least ? sum : least;
    }
    return least;
}

int largest_sum(const std::vector<std::int16_t>& x, const std::vector<std::int16_t>& y) {
    std::int16_t largest = -2 * none;
    const std::size_t count = x.size();
    const std::int16_t *left = x.data(), *right = y.data();
    for (std::size_t i = 0; i < count; ++i) {
        const auto sum = static_cast<std::int16_t>(left[i] + right[i]);
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

ExponentRange sums_of(const Ranges& x, const Ranges& y) {
    return {least_sum(x.least, y.least), largest_sum(x.largest, y.largest)};
}

// In lanes, which processors add side by side.
template <typename Term>
double sum_of(const SurveyedRow& a, const SurveyedRow& b, const Term& term) {
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums{};
    const std::size_t count = a.numbers.size(), whole = count / lanes * lanes;
    const double *left = a.numbers.data(), *right = b.numbers.data();
    for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += term(left[i + lane] * right[i + lane]);
    double sum = 0;
    for (std::size_t i = whole; i < count; ++i) sum += term(left[i] * right[i]);
    return std::accumulate(sums.begin(), sums.end(), sum);
}

PairFacts facts_of(const SurveyedRow& a, const SurveyedRow& b) {
    PairFacts facts{a.facts, b.facts};
    facts.quantum = least_sum(a.quanta, b.quanta);
    facts.any = facts.quantum < ExponentRange::none / 2;
    facts.largest = largest_sum(a.alignments, b.alignments);
    facts.with_a = sums_of(a.scaled, b.elements);
    facts.with_b = sums_of(a.elements, b.scaled);
    facts.scales = sums_of(a.scales, b.scales);
    facts.magnitudes = sum_of(a, b, [](double product) { return std::abs(product); });
    return facts;
}

// Elements side by side that share the scales of both factors.
std::int64_t stretch_of(const Factors& factors) {
    std::int64_t stretch = 0;
    for (const ScaledRow* row : {&factors.a.front(), &factors.b.front()})
        if (row->block < factors.depth) stretch = std::gcd(stretch, row->block);
    return stretch == 0 ? factors.depth : stretch;
}

std::vector<SurveyedRow> surveyed(const Surveyor& surveyor, std::span<const ScaledRow> rows) {
    std::vector<SurveyedRow> made;
    for (const ScaledRow& row : rows) made.push_back(surveyor.survey(row));
    return made;
}

// Calls `visit(place, a, b)` for each pair, in squares whose rows stay in a cache.
template <typename Visit>
void for_each_surveyed(const Factors& factors, const Visit& visit) {
    if (factors.a.empty() || factors.b.empty()) return;
    constexpr std::int64_t numbers_at_once = std::int64_t{1} << 16;
    const auto band =
        static_cast<std::size_t>(std::clamp<std::int64_t>(numbers_at_once / factors.depth, 4, 64));
    const std::int64_t stretch = stretch_of(factors);
    const Surveyor of_a(factors.a.front(), factors.depth, stretch);
    const Surveyor of_b(factors.b.front(), factors.depth, stretch);
    for (std::size_t row = 0; row < factors.a.size(); row += band) {
        const auto a =
            surveyed(of_a, factors.a.subspan(row, std::min(band, factors.a.size() - row)));
        for (std::size_t column = 0; column < factors.b.size(); column += band) {
            const auto b = surveyed(
                of_b, factors.b.subspan(column, std::min(band, factors.b.size() - column)));
            for (std::size_t i = 0; i < a.size(); ++i)
                for (std::size_t j = 0; j < b.size(); ++j)
                    visit(Place{row + i, column + j}, a[i], b[j]);
        }
    }
}

// Of a sum that is exact in binary64.
fast::Total total_of(double sum) {
    fast::Total total;
    if (sum == 0) return total;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(sum), &exponent);
    const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    fast::add(total.sum, {sum < 0, exponent - 53, fast::Uint128{significand}});
    return total;
}

void for_each_total_of_pairs(const Factors& factors, const TakeTotal& take) {
    for_each_surveyed(factors, [&](const Place& place, const SurveyedRow& a, const SurveyedRow& b) {
        const bool is_finite =
            !a.facts.nan && !a.facts.infinity && !b.facts.nan && !b.facts.infinity;
        const int quantum = least_sum(a.quanta, b.quanta);
        const bool any = quantum < ExponentRange::none / 2;
        const double magnitudes = sum_of(a, b, [](double product) { return std::abs(product); });
        if (is_finite && (!any || magnitudes < std::ldexp(1.0, quantum + 53)))
            return take(place, total_of(sum_of(a, b, [](double product) { return product; })));
        take(place, fast::dot(factors.a[place.row], factors.b[place.column], factors.depth));
    });
}

}  // namespace

void for_each_pair(const Factors& factors, const TakePair& take) {
    for_each_surveyed(factors, [&](const Place& place, const SurveyedRow& a, const SurveyedRow& b) {
        take(place, facts_of(a, b));
    });
}

void for_each_total(const Factors& factors, const TakeTotal& take) {
    if (factors.a.empty() || factors.b.empty()) return;
    if (factors.depth == 0) {
        for (std::size_t row = 0; row < factors.a.size(); ++row)
            for (std::size_t column = 0; column < factors.b.size(); ++column)
                take({row, column}, fast::Total{});
        return;
    }
    if (const Kernel* kernel = find_kernel(factors.a.front(), factors.b.front()))
        return for_each_sum(*kernel, factors, [&](const Place& place, const ExactSum& sum) {
            take(place, gemm::total_of(sum));
        });
    for_each_total_of_pairs(factors, take);
}

}  // namespace mx::gemm
