// gemm/ where a sum is known but for a doubt: settled_value against both ends of the doubt, the
// bounds of blocks and rows that doubts are made of, and outputs by residues of numbers that are
// cut off, by their largest blocks, and by whatever for_each_value chooses, against fast/dot.hpp.
#include "reference/gemm/leading_blocks.hpp"
#include "reference/gemm/settled_gemm.hpp"
#include "reference/gemm/settled_value.hpp"
#include "reference/proof/gemm_problem.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

constexpr std::uint64_t nothing = ~std::uint64_t{0};

// A sum of either sign: `leading` of settled_bits bits, `rest` bits below them, and the doubt.
struct Doubted {
    bool negative;
    int doubt;
    int rest;
    std::uint64_t leading;
    std::uint64_t y;      // of `rest` bits
    std::uint64_t below;  // the lowest bit of the sum, and that below 2^doubt
};

constexpr std::array<int, 8> doubts{1, 20, 40, 41, 42, 81, 82, 121};
constexpr std::array<std::uint64_t, 6> leadings{0x1000000, 0x1000001, 0x1000002,
                                                0x1ABCDEF, 0x1FFFFFE, 0x1FFFFFF};
constexpr int rests = 8;
constexpr std::uint32_t doubted_count = 2 * doubts.size() * leadings.size() * 2 * rests << rests;

Doubted doubted_at(std::uint32_t input) {
    const auto next = [&input](std::size_t count) {
        const std::size_t which = input % count;
        input /= static_cast<std::uint32_t>(count);
        return which;
    };
    Doubted sum{};
    sum.negative = next(2) != 0;
    sum.below = next(2);
    sum.doubt = doubts[next(doubts.size())];
    sum.leading = leadings[next(leadings.size())];
    sum.rest = static_cast<int>(next(rests)) + 1;
    sum.y = input & ((1u << sum.rest) - 1);
    return sum;
}

// The sum itself, and `more` times the doubt but for half a unit.
fast::WideSum wide_of(const Doubted& sum, int more) {
    fast::WideSum wide;
    const auto add = [&](bool negative, int exponent, std::uint64_t digits) {
        fast::add(wide, {negative != sum.negative, exponent, digits});
    };
    add(false, sum.doubt, sum.leading << sum.rest | sum.y);
    // All bits below the doubt, or none.
    if (sum.below != 0) add(false, sum.doubt, 1);
    if (sum.below != 0) add(true, 0, 1);
    if (more != 0) add(more < 0, sum.doubt, 1);
    if (more != 0) add(more > 0, -1, 1);
    return wide;
}

gemm::WindowSum window_of(const Doubted& sum) {
    const fast::WideSum wide = fast::magnitude_of(wide_of(sum, 0));
    gemm::WindowSum window{0, 5, {}};
    for (int bit = 0; bit < 5 * gemm::level_bits; ++bit) {
        const int at = bit - fast::WideSum::exponent_min;
        const std::uint64_t one = wide.limbs[at / 64] >> at % 64 & 1;
        const auto digit = static_cast<std::int64_t>(one << bit % gemm::level_bits);
        window.digits[bit / gemm::level_bits] += sum.negative ? -digit : digit;
    }
    return window;
}

// Settled is what has room for the doubt within the bits below the leading ones.
std::uint64_t expected_of(const Doubted& sum) {
    const bool is_settled = sum.rest >= 2 && sum.y > 0 && sum.y + 2 <= std::uint64_t{1} << sum.rest;
    if (!is_settled) return nothing;
    const std::uint64_t least = both_codes(fast::leading_bits(wide_of(sum, -1)));
    const std::uint64_t most = both_codes(fast::leading_bits(wide_of(sum, 1)));
    return least == most ? least : nothing - 1;
}

Proof value_proof() {
    return {"gemm settled values",
            "both ends of a doubt: 8 doubts, 6 beginnings, all ends of up to 8 bits, both signs",
            [](int threads) {
                return compare_everywhere(
                    doubted_count, threads,
                    [](std::uint32_t input) { return expected_of(doubted_at(input)); },
                    [](std::uint32_t input) {
                        const Doubted sum = doubted_at(input);
                        const auto value = gemm::settled_value(window_of(sum), sum.doubt);
                        return value ? both_codes(*value) : nothing;
                    });
            }};
}

// Rows whose largest blocks leave 0, or 1 and a half of the last bit that binary32 has of it, and
// whose last block, `far` binades below, decides.
Factor deciding_factor(const ElementFormat& format, int far) {
    const std::uint32_t one = std::uint32_t(format.exponent_bias) << format.mantissa_bits;
    const std::uint32_t minus = format.negative(one).bits;
    Factor factor{format, 160};
    for (std::size_t row = 0; row < 24; ++row) {
        const std::array<std::uint32_t, 3> lasts{0, one, minus};
        const bool is_tie = row / 3 % 2 == 0, cancels = row / 6 % 2 == 1, is_low = row >= 12;
        add_row(
            factor,
            [&](std::int64_t k) {
                if (k == 5 || (k == 40 && is_tie)) return one;
                if (cancels && (k == 70 || (k == 100 && is_tie))) return minus;
                return k == 159 ? lasts[row % 3] : 0u;
            },
            [&](std::int64_t block) {
                const int high = is_low ? far + 1 : 254;
                return block == 4 ? high - far : block % 2 == 0 ? high : std::max(high - 24, 1);
            });
    }
    return factor;
}

Factor ones(const ElementFormat& format) {
    const std::uint32_t one = std::uint32_t(format.exponent_bias) << format.mantissa_bits;
    Factor factor{format, 160};
    for (const int scale : {0, 127, 254})
        add_row(
            factor, [&](std::int64_t) { return one; }, [&](std::int64_t) { return scale; });
    return factor;
}

// The first row and the first column have two blocks that cancel, beside which all others are far
// below; the other outputs are of any size.
Factor once_cancelling(bool negates) {
    Factor factor = mixed_factor(formats::e5m2, {40, 320, 254}, negates ? 3 : 4);
    for (std::size_t k = 0; k < 32; ++k) {
        const Code code{factor.codes[k]};
        const std::uint32_t magnitude = formats::e5m2.magnitude(code);
        const bool is_negative = formats::e5m2.is_negative(code) != negates;
        factor.codes[32 + k] = static_cast<std::uint8_t>(
            is_negative ? formats::e5m2.negative(magnitude).bits : magnitude);
    }
    for (std::size_t block = 0; block < 10; ++block)
        factor.scales[block] = static_cast<std::uint8_t>(block < 2 ? 254 : block);
    return factor;
}

// Codes of E4M3.
constexpr std::uint32_t one = 0x38, minus_one = 0xB8, minus_three_halves = 0xBC, longest = 0x3F;

// Nearly all that may be cut off is: 1.76 units of 2^bits, and the sum of what is left lies 1.5 of
// them below a power of two.
//
//   A    1.875        1.875 cut off    2^-4    -1.5 * 2^(bits / 2) units
//   B    1.875 cut off    1.875        2^-4     1.0 * 2^(bits / 2) units
Problem much_cut_off(int bits) {
    Problem problem{{formats::e4m3, 128}, {formats::e4m3, 128}};
    const int between = 128 - bits / 2;
    add_lone(problem.a, {{0, longest, 127},
                         {1, longest, 127 - bits},
                         {2, one, 123},
                         {3, minus_three_halves, between}});
    add_lone(problem.b,
             {{0, longest, 127 - bits}, {1, longest, 127}, {2, one, 123}, {3, one, between}});
    return problem;
}

// The same of blocks that are left out: 959 products that are just too small, 1.65 units of half
// the doubt, and those that are summed lie 1.5 of them below a power of two.
Factor much_left_out(std::uint32_t second, int second_scale) {
    Factor factor{formats::e4m3, 1023};
    add_row(
        factor,
        [&](std::int64_t k) {
            if (k >= 64) return longest;
            return k == 0 ? one : k == 32 ? second : 0;
        },
        [&](std::int64_t block) { return block == 0   ? 127
                                         : block == 1 ? second_scale
                                                      : 97; });
    return factor;
}

// Few outputs are open: those of the first row are settled by their blocks, those of the second by
// nothing but the whole sum.
Problem seldom_open() {
    Problem problem{{formats::e4m3, 160}, {formats::e4m3, 160}};
    add_lone(problem.a, {{0, one, 254}, {1, minus_one, 254}, {2, one, 174}, {3, one, 147}});
    add_lone(problem.a, {{0, one, 254}, {1, minus_one, 254}, {2, one, 1}});
    for (int row = 2; row < 40; ++row) add_lone(problem.a, {{0, one, 254}, {2, one, 214}});
    for (int row = 0; row < 40; ++row)
        add_lone(problem.b,
                 {{0, one, 127}, {1, one, 127}, {2, one, 127}, {3, one, 127}, {4, one, 1}});
    return problem;
}

// Every output in all the ways that there are. Only by its blocks alone may it be left open.
Report compare_settled(const Problem& problem, int bits) {
    ValueCheck check(problem);
    const gemm::Factors& factors = check.factors();
    const gemm::BlockTops tops_a(factors.a, factors.depth), tops_b(factors.b, factors.depth);
    const gemm::LeadingBlocks blocks(factors, {tops_a, tops_b});
    for (gemm::Place at{0, 0}; at.row < factors.a.size(); ++at.row)
        for (at.column = 0; at.column < factors.b.size(); ++at.column)
            if (check.is_finite(at))
                if (const auto value = blocks.value(at)) check.compare(at, *value);
    for (const gemm::Kernel& kernel : gemm::kernels()) {
        if (!gemm::takes(kernel, factors.a.front(), factors.b.front())) continue;
        check.compare_all([&](const gemm::ReceiveValue& receive) {
            gemm::for_each_value(kernel, factors, receive);
        });
        if (kernel.residues == nullptr) continue;
        check.compare_all([&](const gemm::ReceiveValue& receive) {
            gemm::SettledGemm(gemm::ResidueGemm(*kernel.residues, factors), factors)
                .run(bits, gemm::kernel_beside(factors), receive);
        });
    }
    return check.report();
}

// By so few bits that most outputs are open, and by as many as there may be.
constexpr std::array<int, 5> bits_kept{27, 36, 60, 84, 120};

Report compare_all_settled(std::size_t count, int threads,
                           const std::function<Problem(std::size_t)>& problem_of) {
    std::vector<Report> reports(count * bits_kept.size());
    parallel_for(reports.size(), threads, [&](std::size_t i) {
        reports[i] =
            compare_settled(problem_of(i / bits_kept.size()), bits_kept[i % bits_kept.size()]);
    });
    return joined(reports);
}

Proof settled_scale_proof() {
    return {"gemm settled scales",
            "every pair of formats with any scales, cut off at 5 places; largest, NaN and infinite",
            [](int threads) {
                constexpr std::size_t pairs = elements.size() * elements.size();
                return compare_all_settled(pairs + 6, threads, [](std::size_t i) {
                    const auto format = [](std::size_t which) {
                        return *find_element_format(elements[which % elements.size()]);
                    };
                    if (i < pairs)
                        return Problem{
                            mixed_factor(format(i), {40, 300, 254}, i),
                            strided(mixed_factor(format(i / 6), {35, 300, 254}, i + 70), 2)};
                    const ElementFormat a = format(i % 2), b = format(i / 2 % 2);
                    if (i >= pairs + 4)
                        return Problem{with_specials(mixed_factor(formats::e5m2, {40, 96, 254}, i)),
                                       mixed_factor(b, {36, 96, 254}, i + 9)};
                    return Problem{largest_factor(a, 2100), largest_factor(b, 2100)};
                });
            }};
}

Proof deciding_proof() {
    return {"gemm settled far below",
            "ties and cancelled sums that a block decides, 20 to 230 binades below the largest",
            [](int threads) {
                static constexpr std::array<int, 7> fars{20, 59, 61, 100, 119, 121, 230};
                return compare_all_settled(fars.size() * 2 + 1, threads, [](std::size_t i) {
                    if (i == fars.size() * 2)
                        return Problem{once_cancelling(true), once_cancelling(false)};
                    const ElementFormat format = i % 2 == 0 ? formats::e4m3 : formats::e5m2;
                    return Problem{deciding_factor(format, fars[i / 2]), ones(format)};
                });
            }};
}

Proof limit_proof() {
    return {"gemm settled at the limit",
            "as much cut off or left out as may be; some outputs open, of which some stay so",
            [](int threads) {
                return compare_all_settled(5, threads, [](std::size_t i) {
                    if (i < 3) return much_cut_off(std::array{60, 84, 120}[i]);
                    if (i == 3) return seldom_open();
                    return Problem{much_left_out(minus_three_halves, 103), much_left_out(one, 102)};
                });
            }};
}

}  // namespace

std::vector<Proof> gemm_settled_proofs() {
    return {value_proof(), gemm_bound_proof(), settled_scale_proof(), deciding_proof(),
            limit_proof()};
}

}  // namespace mx::proof
