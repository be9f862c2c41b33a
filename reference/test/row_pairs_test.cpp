// Facts of pairs of rows against the same facts term by term, and sums in binary64 against
// fast::dot, digit by digit: every element format, every kind of scale, specials, wide spreads.
#include "reference/gemm/row_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/fast/dot_model.hpp"
#include "reference/proof/gemm_rows.hpp"

namespace mx::gemm {
namespace {

std::uint64_t drawn(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15;
    std::uint64_t x = state;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

struct FactorKind {
    ElementFormat element;
    ElementFormat scale;
    std::int64_t block = 0;
    bool has_specials = false;
    std::uint32_t scale_spread = 4;  // codes to either side of 1
};

CodeRow row_of(const FactorKind& kind, std::int64_t depth, std::uint64_t& state) {
    CodeRow row{kind.element, {}, kind.scale, {}, kind.block};
    const auto code = [&](const ElementFormat& format) {
        const Code any{static_cast<std::uint32_t>(drawn(state)) &
                       static_cast<std::uint32_t>((std::uint64_t{1} << format.code_bits()) - 1)};
        const bool is_special = format.is_nan(any) || format.is_infinity(any);
        return is_special && (!kind.has_specials || drawn(state) % 8 != 0) ? Code{0} : any;
    };
    // Some rows are of few binades: there sums are exact.
    const bool is_tame = drawn(state) % 2 == 0;
    for (std::int64_t k = 0; k < depth; ++k) {
        Code element = code(kind.element);
        if (is_tame && drawn(state) % 16 != 0) {
            const std::uint32_t sign = element.bits & ~kind.element.magnitude(element);
            const auto one = static_cast<std::uint32_t>(kind.element.exponent_bias)
                             << kind.element.mantissa_bits;
            element = Code{sign | (drawn(state) % 3 == 0 ? 0 : one)};
        }
        row.codes.push_back(element.bits);
    }
    if (kind.block == 0) return row;
    for (std::int64_t k = 0; k < depth; k += kind.block) {
        const auto one = static_cast<std::uint32_t>(kind.scale.exponent_bias)
                         << kind.scale.mantissa_bits;
        const auto step =
            static_cast<std::uint32_t>(drawn(state) % (2 * kind.scale_spread)) - kind.scale_spread;
        std::uint32_t scale = one + (step << kind.scale.mantissa_bits);
        if (kind.scale.mantissa_bits != 0 && drawn(state) % 4 == 0) scale ^= 1;
        if (kind.has_specials && drawn(state) % 8 == 0) scale = code(kind.scale).bits;
        row.scales.push_back(scale);
    }
    return row;
}

std::vector<CodeRow> rows_of(const FactorKind& kind, std::int64_t depth, std::uint64_t& state) {
    std::vector<CodeRow> rows;
    for (int i = 0; i < 6; ++i) rows.push_back(row_of(kind, depth, state));
    return rows;
}

std::vector<ScaledRow> views_of(const std::vector<CodeRow>& rows) {
    std::vector<ScaledRow> views;
    for (const CodeRow& row : rows) views.push_back(row.row());
    return views;
}

int lowest_bit(const fast::Unpacked& value) {
    return value.exponent + std::countr_zero(value.significand);
}

bool is_number(const fast::Unpacked& value) {
    return value.kind == fast::Kind::finite && value.significand != 0;
}

// Counts what it saw, so that no test compares nothing.
struct Seen {
    int finite = 0, special = 0, exact = 0, rounded = 0;
};

fast::Unpacked scale_of(const ScaledRow& row, std::int64_t k) {
    if (row.block == 0) return {fast::Kind::finite, false, 0, 1};
    return fast::unpack(row.scale, row.scale_at(k));
}

int alignment_of(const ScaledRow& row, std::int64_t k) {
    const int scale = row.block == 0 ? 0 : fast::exponent_of(row.scale, scale_of(row, k));
    return fast::exponent_of(row.element, fast::unpack(row.element, row.codes.at(k))) + scale;
}

void expect_within(const fast::Unpacked& value, const ExponentRange& range) {
    if (!is_number(value)) return;
    EXPECT_GE(lowest_bit(value), range.least);
    EXPECT_LE(value.exponent + static_cast<int>(std::bit_width(value.significand)), range.largest);
}

void expect_facts(const PairFacts& facts, const ScaledRow& a, const ScaledRow& b,
                  std::int64_t depth, Seen& seen) {
    bool nan = false, infinity = false, any = false;
    int quantum = 100000, largest = -100000;
    fast::Total magnitudes;
    for (std::int64_t k = 0; k < depth; ++k) {
        const fast::Unpacked x = fast::scaled_element(a, k), y = fast::scaled_element(b, k);
        nan = nan || x.kind == fast::Kind::nan || y.kind == fast::Kind::nan;
        infinity = infinity || x.kind == fast::Kind::infinity || y.kind == fast::Kind::infinity;
        const fast::Unpacked bare_a = fast::unpack(a.element, a.codes.at(k));
        const fast::Unpacked bare_b = fast::unpack(b.element, b.codes.at(k));
        expect_within(fast::exact_product(x, bare_b), facts.with_a);
        expect_within(fast::exact_product(bare_a, y), facts.with_b);
        if (x.kind != fast::Kind::finite || y.kind != fast::Kind::finite) continue;
        largest = std::max(largest, alignment_of(a, k) + alignment_of(b, k));
        if (!is_number(x) || !is_number(y)) continue;
        any = true;
        quantum = std::min(quantum, lowest_bit(x) + lowest_bit(y));
        fast::add(magnitudes.sum,
                  {false, x.exponent + y.exponent, fast::Uint128{x.significand} * y.significand});
    }
    EXPECT_EQ(facts.a.nan || facts.b.nan, nan);
    EXPECT_TRUE(facts.a.infinity || facts.b.infinity || !infinity);
    (nan || infinity ? seen.special : seen.finite)++;
    ASSERT_EQ(facts.any, any);
    if (largest > -100000) {
        EXPECT_EQ(facts.largest, largest);
    }
    if (!any) return;
    EXPECT_EQ(facts.quantum, quantum);
    // Cut to 61 digits, which decide the comparison with a power of two.
    const fast::Unpacked sum = fast::leading_bits(magnitudes.sum);
    for (int bits = 1; bits <= 53; ++bits) {
        const bool is_below =
            sum.exponent + static_cast<int>(std::bit_width(sum.significand)) <= quantum + bits;
        EXPECT_EQ(facts.magnitudes < std::ldexp(1.0, quantum + bits), is_below) << bits;
        if (bits == 53) (is_below ? seen.exact : seen.rounded)++;
    }
}

void expect_total(const fast::Total& total, const fast::Total& right) {
    ASSERT_EQ(fast::kind_of(total), fast::kind_of(right));
    if (fast::kind_of(right) == fast::Kind::infinity) {
        EXPECT_EQ(total.negative_infinity, right.negative_infinity);
    }
    if (fast::kind_of(right) != fast::Kind::finite) return;
    for (int i = 0; i < fast::WideSum::limb_count; ++i)
        ASSERT_EQ(total.sum.limbs[i], right.sum.limbs[i]) << i;
}

Seen expect_pairs(const FactorKind& kind_a, const FactorKind& kind_b, std::int64_t depth,
                  std::uint64_t& state) {
    const auto a = rows_of(kind_a, depth, state), b = rows_of(kind_b, depth, state);
    const auto left = views_of(a), right = views_of(b);
    Seen seen;
    std::size_t pairs = 0, totals = 0;
    for_each_pair({left, right, depth}, [&](const Place& place, const PairFacts& facts) {
        expect_facts(facts, left[place.row], right[place.column], depth, seen);
        ++pairs;
    });
    for_each_total({left, right, depth}, [&](const Place& place, const fast::Total& total) {
        expect_total(total, fast::dot(left[place.row], right[place.column], depth));
        ++totals;
    });
    EXPECT_EQ(pairs, 36u);
    EXPECT_EQ(totals, 36u);
    return seen;
}

TEST(RowPairs, SayWhatTermsSay) {
    const ElementFormat none{};
    const std::vector<FactorKind> kinds{{formats::e4m3, formats::e8m0, 32},
                                        {formats::e5m2, formats::e8m0, 32, true, 100},
                                        {formats::e2m1, formats::e8m0, 16},
                                        {formats::int8, formats::e8m0, 32, false, 60},
                                        {formats::e2m1, ue4m3, 16},
                                        {formats::e2m1, ue4m3, 16, true},
                                        {formats::e4m3, formats::f32, 1000},
                                        {formats::e5m2, formats::f32, 128, true, 120},
                                        {formats::e4m3, formats::f32, 128},
                                        {formats::e4m3, none, 0, true},
                                        {formats::bf16, none, 0},
                                        {formats::f16, none, 0, true},
                                        {formats::f32, none, 0, true},
                                        {formats::f32, formats::f32, 40, false, 90},
                                        {formats::e3m2, formats::e8m0, 32}};
    std::uint64_t state = 16;
    Seen all;
    for (const FactorKind& a : kinds)
        for (const FactorKind& b : kinds)
            for (const std::int64_t depth : {1, 7, 33, 160}) {
                const Seen seen = expect_pairs(a, b, depth, state);
                all.finite += seen.finite, all.special += seen.special;
                all.exact += seen.exact, all.rounded += seen.rounded;
                if (testing::Test::HasFailure())
                    FAIL() << a.element.name << " " << b.element.name << " " << depth;
            }
    for (const int count : {all.finite, all.special, all.exact, all.rounded})
        EXPECT_GT(count, 1000);
}

TEST(RowPairs, OfNothing) {
    int calls = 0;
    std::uint64_t state = 1;
    const auto rows = rows_of({formats::e4m3, {}, 0}, 0, state);
    const auto views = views_of(rows);
    for_each_total({views, {}, 8}, [&](const Place&, const fast::Total&) { ++calls; });
    EXPECT_EQ(calls, 0);
    for_each_total({views, views, 0}, [&](const Place&, const fast::Total& total) {
        ++calls;
        expect_total(total, fast::Total{});
    });
    EXPECT_EQ(calls, 36);
}

}  // namespace
}  // namespace mx::gemm
