// gemm/ where sums are rounded at every step: settled_value of a double against both ends of its
// doubt, and outputs by rounded_gemm.hpp against fast/dot.hpp: those that it settles itself, and
// all together with what it leaves open. Some sums are off by nearly as much as the bound allows.
#include "reference/gemm/rounded_gemm.hpp"
#include "reference/gemm/settled_value.hpp"
#include "reference/proof/gemm_problem.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

constexpr std::uint64_t not_settled = ~std::uint64_t{0};

// A double of 25 leading bits and 28 below them, in units of 2^exponent, and a doubt in the same.
struct DoubtedDouble {
    bool negative;
    int exponent;
    std::uint64_t units;
    std::uint64_t doubt;
};

constexpr int rest_bits = 28;
constexpr std::uint64_t all_of_rest = std::uint64_t{1} << rest_bits;
constexpr std::array<std::uint64_t, 6> leadings_of_doubles{0x1000000, 0x1000001, 0x1000002,
                                                           0x1ABCDEF, 0x1FFFFFE, 0x1FFFFFF};
constexpr std::array<int, 3> exponents_of_doubles{-286, -149, 200};
constexpr std::array<std::uint64_t, 7> doubted_by{1, 2, 3, 77, 1 << 20, (1 << 27) - 1, 1 << 27};
// Of what is below the leading bits: about 0, about the doubt, about all less the doubt.
constexpr std::uint64_t places_of_rest = 3, nearness = 8;
constexpr std::uint32_t doubted_double_count = 2 * exponents_of_doubles.size() *
                                               leadings_of_doubles.size() * doubted_by.size() *
                                               places_of_rest * nearness;

DoubtedDouble doubted_double_at(std::uint32_t input) {
    const auto next = [&input](std::size_t count) {
        const std::size_t which = input % count;
        input /= static_cast<std::uint32_t>(count);
        return which;
    };
    DoubtedDouble sum{};
    sum.negative = next(2) != 0;
    sum.exponent = exponents_of_doubles[next(exponents_of_doubles.size())];
    const std::uint64_t leading = leadings_of_doubles[next(leadings_of_doubles.size())];
    sum.doubt = doubted_by[next(doubted_by.size())];
    const std::uint64_t near[] = {0, sum.doubt, all_of_rest - sum.doubt};
    const std::uint64_t below = near[next(places_of_rest)] + next(nearness) - nearness / 2;
    sum.units = leading << rest_bits | (below & (all_of_rest - 1));
    return sum;
}

fast::WideSum wide_of_double(const DoubtedDouble& sum, int doubts) {
    fast::WideSum wide;
    fast::add(wide, {sum.negative, sum.exponent, sum.units});
    if (doubts != 0) fast::add(wide, {(doubts < 0) != sum.negative, sum.exponent, sum.doubt});
    return wide;
}

// Settled is what has room for the doubt below the leading bits, on either side.
std::uint64_t expected_of_double(const DoubtedDouble& sum) {
    const std::uint64_t below = sum.units & (all_of_rest - 1);
    const bool is_settled = below > sum.doubt && below + sum.doubt < all_of_rest;
    if (!is_settled) return not_settled;
    const std::uint64_t least = both_codes(fast::leading_bits(wide_of_double(sum, -1)));
    const std::uint64_t most = both_codes(fast::leading_bits(wide_of_double(sum, 1)));
    return least == most ? least : not_settled - 1;
}

double double_of(bool negative, int exponent, std::uint64_t units) {
    const double magnitude =
        static_cast<double>(units) *
        std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
    return negative ? -magnitude : magnitude;
}

Proof double_proof() {
    return {
        "gemm rounded values",
        "both ends of a doubt in doubles: 7 doubts, 6 beginnings, 24 ends, 3 sizes, both signs",
        [](int threads) {
            return compare_everywhere(
                doubted_double_count, threads,
                [](std::uint32_t input) { return expected_of_double(doubted_double_at(input)); },
                [](std::uint32_t input) {
                    const DoubtedDouble sum = doubted_double_at(input);
                    const double number = double_of(sum.negative, sum.exponent, sum.units);
                    // The number itself, where there is no doubt.
                    if (both_codes(gemm::exact_value(number)) !=
                        both_codes(fast::leading_bits(wide_of_double(sum, 0))))
                        return not_settled - 2;
                    const auto value =
                        gemm::settled_value(number, double_of(false, sum.exponent, sum.doubt));
                    return value ? both_codes(*value) : not_settled;
                });
        }};
}

// Of the outputs that are numbers no more than one in `open_one_in` may be left open, or any.
Report compare_rounded(const Problem& problem, std::size_t open_one_in) {
    ValueCheck check(problem);
    const gemm::Factors& factors = check.factors();
    for (const gemm::Kernel& kernel : gemm::kernels()) {
        if (kernel.rounded == nullptr || !gemm::takes(kernel, factors.a.front(), factors.b.front()))
            continue;
        gemm::RoundedGemm rounded(kernel, factors);
        const std::size_t open =
            rounded
                .settle([&](const gemm::Place& place, const fast::Unpacked& value) {
                    check.compare(place, value);
                })
                .size();
        if (open_one_in != 0 && open * open_one_in > check.report().count) check.fail();
        check.compare_all([&](const gemm::ReceiveValue& receive) {
            rounded.run(gemm::kernel_after(kernel, factors), receive);
        });
        check.compare_all([&](const gemm::ReceiveValue& receive) {
            gemm::for_each_value(kernel, factors, receive);
        });
    }
    return check.report();
}

Report compare_all_rounded(std::size_t count, int threads, std::size_t open_one_in,
                           const std::function<Problem(std::size_t)>& problem_of) {
    std::vector<Report> reports(count);
    parallel_for(count, threads,
                 [&](std::size_t i) { reports[i] = compare_rounded(problem_of(i), open_one_in); });
    return joined(reports);
}

// Every byte as a code, also where a format has fewer bits, beside a one.
Factor every_code_beside_one(std::string_view element) {
    const ElementFormat format = *find_element_format(element);
    Factor factor{format, 2, formats::e8m0, 0};
    for (std::uint32_t code = 0; code < 256; ++code)
        add_row(
            factor, [&](std::int64_t k) { return k == 0 ? code : 1u; },
            [](std::int64_t) { return 0; });
    return factor;
}

Proof code_proof() {
    return {"gemm rounded codes", "every byte with every byte as codes of every pair of formats",
            [](int threads) {
                return compare_all_rounded(
                    elements.size() * elements.size(), threads, 0, [](std::size_t i) {
                        return Problem{every_code_beside_one(elements[i / elements.size()]),
                                       every_code_beside_one(elements[i % elements.size()])};
                    });
            }};
}

// Blocks of one length, of which some are no whole number of what is packed at once.
constexpr std::array<std::int64_t, 11> block_lengths{0, 4, 8, 12, 16, 20, 24, 32, 48, 64, 128};

Problem shaped(std::size_t index) {
    const auto format = [&](std::size_t which) {
        return *find_element_format(elements[which % elements.size()]);
    };
    const std::int64_t block = block_lengths[index % block_lengths.size()];
    const auto depth = static_cast<std::int64_t>(index * 37 % 700 + 1);
    constexpr std::array<int, 3> spreads{0, 16, 60};
    const Shape shape{13, depth, spreads[index % spreads.size()], block};
    return {mixed_factor(format(index), shape, index),
            strided(mixed_factor(format(index / elements.size()), {27, depth, shape.spread, block},
                                 index + 70),
                    index % 2 == 0 ? 1 : 3)};
}

// Two blocks of codes, of which the second is the first with other signs in one factor.
Problem cancelled() {
    Problem problem{mixed_factor(formats::e5m2, {80, 64, 60}, 5),
                    mixed_factor(formats::e5m2, {90, 64, 60}, 6)};
    for (Factor* factor : {&problem.a, &problem.b})
        for (std::size_t row = 0; row < factor->rows().size(); ++row) {
            const std::uint32_t sign = factor == &problem.a ? formats::e5m2.code_sign_mask() : 0;
            for (std::size_t k = row * 64; k < row * 64 + 32; ++k)
                factor->codes[k + 32] = static_cast<std::uint8_t>(factor->codes[k] ^ sign);
            factor->scales[row * 2 + 1] = factor->scales[row * 2];
        }
    return problem;
}

Problem of_other_kinds(std::size_t index) {
    const Factor a = mixed_factor(formats::e4m3, {390, 70, 16}, 1);
    const Factor b = mixed_factor(formats::e5m2, {5, 70, 254}, 2);
    if (index == 0) return {a, b};
    if (index == 1) return {b, a};
    if (index == 2) return cancelled();
    if (index == 3)
        return {largest_factor(formats::e4m3, 2100), largest_factor(formats::e5m2, 2100)};
    if (index == 4)
        return {with_specials(mixed_factor(formats::e5m2, {40, 96, 254}, 9)),
                with_specials(mixed_factor(formats::e5m2, {36, 96, 254}, 8))};
    if (index == 5)
        return {strided(with_specials(mixed_factor(formats::e5m2, {40, 96, 254}, 9)), 2),
                strided(with_specials(mixed_factor(formats::e4m3, {36, 96, 254}, 8)), 3)};
    if (index < 10)
        return {every_code_beside_one(index % 2 == 0 ? "e4m3fnuz" : "e5m2fnuz"),
                every_code_beside_one(index / 2 == 3 ? "e4m3fnuz" : "e5m2fnuz")};
    Problem problem{mixed_factor(formats::e2m1, {70, 333, 0, 16}, 3),
                    mixed_factor(formats::e4m3, {71, 333, 0, 16}, 4)};
    for (Factor* factor : {&problem.a, &problem.b}) {
        factor->scale = ue4m3;
        for (std::size_t i = 0; i < factor->scales.size(); ++i)
            factor->scales[i] = static_cast<std::uint8_t>(mixed(11, std::int64_t(i)) % 127);
    }
    problem.b.scales[5] = 0x7F;  // NaN
    return problem;
}

Proof rounded_sum_proof() {
    return {"gemm rounded sums",
            "every pair of formats, K to 700, blocks of 0 to 128: at most one output in 4 open",
            [](int threads) {
                return compare_all_rounded(elements.size() * elements.size() * 3, threads, 4,
                                           shaped);
            }};
}

Proof other_proof() {
    return {"gemm rounded others",
            "more rows than are summed at once, all sums cancelled, largest, NaN, infinite, apart, "
            "every byte as codes of FNUZ, UE4M3",
            [](int threads) { return compare_all_rounded(11, threads, 0, of_other_kinds); }};
}

// Codes of E4M3, and the exponent 0 of a scale.
constexpr std::uint32_t one_of_e4m3 = 0x38, sign_of_e4m3 = 0x80;
constexpr int scale_of_one = 127;

// A sum that is off by nearly all that the bound allows: 1, half of the last bit that binary32 has
// of it, and less `back` units of 2^-53; then one such unit after the other, each of them lost. All
// together they are more than `back`, and the sum is beyond what is half way.
//
//   block       first    next     next           later ones of 128      later, one in 128
//   A, times B  1        2^-24    -back 2^-53    2^-53, eight times     2^-53
struct Losing {
    std::int64_t stretches;  // of 128
    std::uint32_t back;      // code, of which the scale is 2^back_exponent
    int back_exponent;
};

constexpr std::int64_t block_of_lost = 8, blocks_a_stretch = 16;

std::uint32_t code_of_losing(const Losing& losing, std::int64_t first, bool is_b, std::int64_t k) {
    const std::int64_t block = k / block_of_lost;
    const bool begins = k % block_of_lost == 0;
    if (block < first) return 0;
    if (block == first + 2) return !begins ? 0 : is_b ? one_of_e4m3 : losing.back | sign_of_e4m3;
    if (block < first + 2) return begins ? one_of_e4m3 : 0;
    if (block < blocks_a_stretch) return one_of_e4m3;
    return begins && block % blocks_a_stretch == 0 ? one_of_e4m3 : 0;
}

// The first block of row r is block r; every second row has all its signs turned.
Factor losing_factor(const Losing& losing, bool is_b) {
    Factor factor{formats::e4m3, 128 * losing.stretches, formats::e8m0, block_of_lost};
    for (std::int64_t row = 0; row < 28; ++row) {
        const std::int64_t first = row / 2;
        const bool turns = row % 2 != 0 && !is_b;
        add_row(
            factor,
            [&](std::int64_t k) {
                const std::uint32_t code = code_of_losing(losing, first, is_b, k);
                return turns && code != 0 ? code ^ sign_of_e4m3 : code;
            },
            [&](std::int64_t block) {
                if (is_b || block <= first) return scale_of_one;
                if (block == first + 1) return scale_of_one - 24;
                return scale_of_one - (block == first + 2 ? -losing.back_exponent : 53);
            });
    }
    return factor;
}

// 80 of 104 units in one stretch; 192 of 304 to 200 in 201.
constexpr std::array<Losing, 2> losings{{{1, 0x3A, 6 - 53}, {201, 0x3C, 7 - 53}}};

// The same of 20 units of 21 to 29, all in one slab of E5M2: the bound hangs on one number of each
// row, at any place of any slab.
//
//   A   2^15  2^3  -20 2^-7   2^-7 ...
//   B   2^15  2^3     2^-16  2^-16 ...
Problem losing_in_a_slab(std::int64_t slabs) {
    constexpr std::uint32_t large = 0x78, less = 0x48, small = 0x20, least = 0x01;
    constexpr std::uint32_t back = 0xB1, sign = 0x80;  // -20 * 2^-7
    Problem problem{{formats::e5m2, 32 * slabs}, {formats::e5m2, 32 * slabs}};
    for (std::int64_t row = 0; row < 16 * slabs; ++row) {
        const std::int64_t first = row / 16 * 32 + row % 8, end = (row / 16 + 1) * 32;
        const std::uint32_t turned = row / 8 % 2 == 0 ? 0 : sign;
        const auto code = [&](const std::array<std::uint32_t, 4>& codes, std::int64_t k) {
            return k < first || k >= end
                       ? 0
                       : codes[static_cast<std::size_t>(std::min<std::int64_t>(k - first, 3))];
        };
        add_row(
            problem.a,
            [&](std::int64_t k) {
                const std::uint32_t found = code({large, less, back, small}, k);
                return found == 0 ? 0 : found ^ turned;
            },
            [](std::int64_t) { return scale_of_one; });
        add_row(
            problem.b,
            [&](std::int64_t k) {
                return code({large, less, least, least}, k);
            },
            [](std::int64_t) { return scale_of_one; });
    }
    return problem;
}

// 1 and half of the last bit that binary32 has of it, and a last block of 2^-53: one bit more than
// doubles hold. Or of 0, and the sum is exact; or of 2^-30.
Problem of_one_bit_more() {
    Problem problem{{formats::e2m1, 256}, {formats::e2m1, 256}};
    constexpr std::uint32_t half_code = 1, one_code = 2;
    for (std::int64_t last = 2; last < 8; ++last)
        for (const int below : {0, 30, 53}) {
            add_lone(problem.a, {{0, one_code, scale_of_one},
                                 {1, one_code, scale_of_one - 24},
                                 {last, below == 0 ? 0 : half_code, scale_of_one - below + 2}});
            add_lone(problem.b, {{0, one_code, scale_of_one},
                                 {1, one_code, scale_of_one},
                                 {last, half_code, scale_of_one}});
        }
    return problem;
}

Proof losing_proof() {
    return {
        "gemm rounded at the limit",
        "sums off by nearly all that they may be, and of one bit more than doubles hold",
        [](int threads) {
            return compare_all_rounded(losings.size() + 3, threads, 0, [](std::size_t i) {
                if (i > losings.size()) return losing_in_a_slab(i == losings.size() + 1 ? 1 : 3);
                if (i == losings.size()) return of_one_bit_more();
                return Problem{losing_factor(losings[i], false), losing_factor(losings[i], true)};
            });
        }};
}

}  // namespace

std::vector<Proof> gemm_rounded_proofs() {
    return {double_proof(), code_proof(), rounded_sum_proof(), other_proof(), losing_proof()};
}

}  // namespace mx::proof
