// fast/gemm_output.hpp: factors of whole tensors with every divisor that two recipes make, and
// blocks of values that no format holds: at every border that a scale or an element can have, on
// it, and on both sides of it by less than any bit that a sum is cut to.
#include <array>

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/gemm_output.hpp"
#include "reference/fast/gemm_output.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// A number of up to three bits far apart: 2^exponent times 1 and a fraction of 256, and a change
// that is far smaller. As both oracles are given it, the fast one as the sum of a GEMM.
struct Spread {
    bool negative = false;
    int exponent = 0;
    int units = 256;      // of 2^(exponent - 8)
    int change_sign = 0;  // -1, 0 or 1, of 2^(exponent - change_below)
    int change_below = 0;
    int more_below = 0;  // where not 0: the same change again, so much below
};

exact::Value exact_value(const Spread& spread) {
    exact::Rational value = spread.units * exact::power_of_two(spread.exponent - 8);
    value += spread.change_sign * exact::power_of_two(spread.exponent - spread.change_below);
    if (spread.more_below != 0)
        value += spread.change_sign * exact::power_of_two(spread.exponent - spread.more_below);
    return exact::number(spread.negative ? exact::Rational(-value) : value);
}

fast::Unpacked fast_value(const Spread& spread) {
    constexpr fast::Unpacked one{fast::Kind::finite, false, 0, 1};
    fast::Total total;
    fast::add(total.sum,
              {spread.negative, spread.exponent - 8, static_cast<fast::Uint128>(spread.units)});
    const bool is_less = (spread.change_sign < 0) != spread.negative;
    for (const int below : {spread.change_below, spread.more_below})
        if (spread.change_sign != 0 && below != 0)
            fast::add(total.sum, {is_less, spread.exponent - below, 1});
    return fast::output_value({{one, {}}, {}, {}}, total, {});
}

// Half a unit of binary32, a whole one, and what no number of 61 bits shows; and half a unit with
// such a thing beside it.
constexpr std::array<std::array<int, 2>, 5> changes{
    {{24, 0}, {23, 0}, {70, 0}, {300, 0}, {24, 90}}};
constexpr int change_count = 1 + 2 * static_cast<int>(changes.size());

// Around 1, and from below the smallest binary32 number and below the largest to far beyond.
struct Exponents {
    int first;
    int count;
};
constexpr std::array<Exponents, 3> stretches{{{-152, 35}, {-34, 38}, {120, 16}}};
constexpr int exponent_count = 35 + 38 + 16;

int exponent_at(int index) {
    for (const Exponents& stretch : stretches) {
        if (index < stretch.count) return stretch.first + index;
        index -= stretch.count;
    }
    MX_ASSERT(false && "an index beyond the last stretch");
    return 0;
}

// 1, and 31 steps of 1/32: finer than elements in their binade.
constexpr int fraction_steps = 32;
constexpr std::uint32_t spread_count =
    static_cast<std::uint32_t>(exponent_count * fraction_steps * change_count);

Spread spread_of(std::uint32_t index) {
    const auto next = [&index](int count) {
        const int digit = static_cast<int>(index % static_cast<std::uint32_t>(count));
        index /= static_cast<std::uint32_t>(count);
        return digit;
    };
    Spread spread;
    const int change = next(change_count);
    spread.units = 256 + 256 / fraction_steps * next(fraction_steps);
    spread.exponent = exponent_at(next(exponent_count));
    spread.negative = spread.units % 16 != 0;
    if (change == 0) return spread;
    const auto& [below, more] = changes[static_cast<std::size_t>((change - 1) / 2)];
    spread.change_sign = change % 2 == 0 ? 1 : -1;
    spread.change_below = below;
    spread.more_below = more;
    return spread;
}

// A block of the number and another lane, as scale and elements in one number.
std::uint32_t folded(Code scale, std::uint32_t first, std::uint32_t second) {
    return scale.bits | first << 8 | second << 16;
}

// By a dialect, or by a recipe.
template <typename Rules, typename Format>
struct Blocks {
    const Rules& rules;
    Format format;
    Spread other;  // the second lane

    std::uint32_t exact_block(std::uint32_t index) const {
        const std::array<exact::Value, 2> lanes{exact_value(spread_of(index)), exact_value(other)};
        const exact::Block block = exact::quantize_exact_block(rules, format, lanes);
        return folded(block.scale, block.elements[0].bits, block.elements[1].bits);
    }

    std::uint32_t fast_block(std::uint32_t index) const {
        const std::array<fast::Unpacked, 2> lanes{fast_value(spread_of(index)), fast_value(other)};
        std::array<std::uint8_t, 2> elements{};
        const Code scale =
            fast::quantize_exact_block(rules, format, lanes.data(), 2, elements.data());
        return folded(scale, elements[0], elements[1]);
    }
};

std::string named(const std::string& kind, std::string_view format, std::string_view rules) {
    return kind + " " + std::string(format) + " " + std::string(rules);
}

template <typename Rules, typename Format>
Proof block_proof(const Rules& rules, const Format& format, Effort effort) {
    return {
        named("gemm blocks", format.name, rules.name),
        "2^-152 to 2^-118, 2^-34 to 2^3 and 2^120 to 2^135 in steps of 1/32, each moved by less "
        "than binary32 has, beside a lane of 2^-170 and one of 3",
        [&rules, format](int threads) {
            std::vector<Report> reports;
            for (const Spread& other :
                 {Spread{.exponent = -170}, Spread{.exponent = 1, .units = 384}}) {
                const Blocks<Rules, Format> blocks{rules, format, other};
                reports.push_back(compare_everywhere(
                    spread_count, threads, [&](std::uint32_t i) { return blocks.exact_block(i); },
                    [&](std::uint32_t i) { return blocks.fast_block(i); }));
            }
            return joined(reports);
        },
        effort};
}

// NaN, Inf, zeros, numbers beyond binary32 on both sides, and ordinary ones.
struct Notable {
    exact::Value exact;
    fast::Unpacked fast;
};

const std::vector<Notable>& notable_values() {
    static const std::vector<Notable> values = [] {
        std::vector<Notable> all;
        for (const std::uint32_t bits : {0x00000000u, 0x7F800000u, 0xFF800000u, 0x7FC00000u,
                                         0x3F800000u, 0xC0E00001u, 0x00000001u, 0x7F7FFFFFu})
            all.push_back(
                {exact::decode(formats::f32, Code{bits}), fast::unpack(formats::f32, Code{bits})});
        for (const Spread& spread :
             {Spread{.exponent = 128}, Spread{.negative = true, .exponent = 200, .units = 448},
              Spread{.exponent = 127, .units = 511, .change_sign = 1, .change_below = 9},
              Spread{.exponent = -200}})
            all.push_back({exact_value(spread), fast_value(spread)});
        return all;
    }();
    return values;
}

template <typename Rules, typename Format>
Proof special_proof(const Rules& rules, const Format& format) {
    return {named("gemm block specials", format.name, rules.name),
            "all triples of 12 notable values", [&rules, format](int threads) {
                const auto& values = notable_values();
                const auto count = static_cast<std::uint32_t>(values.size());
                const auto at = [&](std::uint32_t index) -> const Notable& {
                    return values[index % count];
                };
                return compare_everywhere(
                    count * count * count, threads,
                    [&](std::uint32_t i) {
                        const std::array<exact::Value, 3> lanes{at(i).exact, at(i / count).exact,
                                                                at(i / count / count).exact};
                        const exact::Block block =
                            exact::quantize_exact_block(rules, format, lanes);
                        return folded(block.scale, block.elements[0].bits, block.elements[1].bits) |
                               block.elements[2].bits << 24;
                    },
                    [&](std::uint32_t i) {
                        const std::array<fast::Unpacked, 3> lanes{at(i).fast, at(i / count).fast,
                                                                  at(i / count / count).fast};
                        std::array<std::uint8_t, 3> elements{};
                        const Code scale = fast::quantize_exact_block(rules, format, lanes.data(),
                                                                      3, elements.data());
                        return folded(scale, elements[0], elements[1]) | std::uint32_t{elements[2]}
                                                                             << 24;
                    });
            }};
}

constexpr std::array<std::uint32_t, 2> nvfp4_divisors{6 * 448, 6 * 256};

// Codes in two roundings that differ wherever anything is lost.
template <typename Round>
std::uint64_t in_two_roundings(const Round& round) {
    return std::uint64_t{round(Rounding::nearest_even).bits} |
           std::uint64_t{round(Rounding::toward_positive).bits} << 32;
}

std::uint64_t f32_codes(const exact::Value& value) {
    return in_two_roundings([&](Rounding rounding) {
        return exact::round(formats::f32, rounding, Overflow::overflow, value);
    });
}

std::uint64_t f32_codes(const fast::Unpacked& value) {
    return in_two_roundings([&](Rounding rounding) {
        return fast::round(formats::f32, rounding, Overflow::overflow, value);
    });
}

Proof factor_proof() {
    return {"gemm tensor factors",
            "8 borders of f32 as each tensor's number, alpha and C, over every divisor of NVFP4, "
            "around two products of it",
            [](int threads) {
                static constexpr std::array<std::uint32_t, 8> borders{
                    0x00000001, 0x007FFFFF, 0x3F800000, 0xBF800003,
                    0x7F7FFFFF, 0x00000000, 0x7F800000, 0x7FC00000};
                static constexpr std::array<std::uint32_t, 3> divisors{1, nvfp4_divisors[0],
                                                                       nvfp4_divisors[1]};
                struct Sum {
                    CodeRow a{formats::e2m1, {5, 3}, ue4m3, {0x01}, 16};
                    CodeRow b{formats::e2m1, {1, 15}, ue4m3, {0x7E}, 16};
                    TensorFactor in_a, in_b;
                    Code alpha, c;
                };
                const auto sum_of = [](std::uint32_t i) {
                    Sum sum;
                    sum.in_a = {Code{borders[i % 8]}, divisors[i / 4096 % 3]};
                    sum.in_b = {Code{borders[i / 8 % 8]}, divisors[i / 4096 / 3]};
                    sum.alpha = Code{borders[i / 64 % 8]};
                    sum.c = Code{borders[i / 512 % 8]};
                    return sum;
                };
                constexpr Code beta{0xC0490FDB};
                constexpr ElementFormat f32 = formats::f32;
                return compare_everywhere(
                    4096 * 9, threads,
                    [&](std::uint32_t i) {
                        const Sum sum = sum_of(i);
                        const exact::Affine affine{exact::decode(f32, sum.alpha),
                                                   exact::decode(f32, beta)};
                        return f32_codes(exact::output_value(
                            {affine, sum.in_a, sum.in_b}, exact::dot(sum.a.row(), sum.b.row(), 2),
                            exact::decode(f32, sum.c)));
                    },
                    [&](std::uint32_t i) {
                        const Sum sum = sum_of(i);
                        const fast::Affine affine{fast::unpack(f32, sum.alpha),
                                                  fast::unpack(f32, beta)};
                        return f32_codes(fast::output_value({affine, sum.in_a, sum.in_b},
                                                            fast::dot(sum.a.row(), sum.b.row(), 2),
                                                            fast::unpack(f32, sum.c)));
                    });
            }};
}

// A sum of two bits and one of a divisor's multiple, whose quotient is exact: with the second bit
// there is a remainder.
Proof quotient_proof() {
    return {"gemm quotients",
            "every divisor of NVFP4, its multiples at every third place from 2^-467 up, whole or "
            "with a bit at every "
            "distance up to 64 and far below",
            [](int threads) {
                static constexpr std::array<std::uint32_t, 5> divisors{
                    nvfp4_divisors[0], nvfp4_divisors[1], nvfp4_divisors[0] * nvfp4_divisors[0],
                    nvfp4_divisors[0] * nvfp4_divisors[1], nvfp4_divisors[1] * nvfp4_divisors[1]};
                struct Sum {
                    std::uint32_t divisor;
                    std::array<fast::WideTerm, 2> terms;
                };
                constexpr std::uint32_t distances = 72;
                constexpr int lowest = -467, places = 300, step = 3;
                const auto sum_of = [](std::uint32_t i) {
                    const std::uint32_t divisor = divisors[i % 5];
                    const bool is_multiple = i / 5 % 2 != 0;
                    const int distance = static_cast<int>(i / 10 % distances);
                    const int place = lowest + step * static_cast<int>(i / 10 / distances);
                    const int low = distance < 65 ? place - distance
                                                  : place + (lowest - place) / (distance - 64);
                    const bool negative = (i / 5 + i / 40) % 2 != 0;
                    const fast::WideTerm high{negative, place,
                                              fast::Uint128{is_multiple ? divisor * 3 : 1u}};
                    return Sum{divisor, {high, {!negative, low < lowest ? lowest : low, 1}}};
                };
                return compare_everywhere(
                    10 * distances * places, threads,
                    [&](std::uint32_t i) {
                        const Sum sum = sum_of(i);
                        exact::Rational value = 0;
                        for (const fast::WideTerm& term : sum.terms) {
                            const exact::Rational magnitude =
                                static_cast<std::uint64_t>(term.significand) *
                                exact::power_of_two(term.exponent);
                            value += term.negative ? exact::Rational(-magnitude) : magnitude;
                        }
                        return f32_codes(exact::number(value / sum.divisor));
                    },
                    [&](std::uint32_t i) {
                        const Sum sum = sum_of(i);
                        fast::WideSum wide;
                        for (const fast::WideTerm& term : sum.terms) fast::add(wide, term);
                        return f32_codes(fast::leading_quotient(wide, sum.divisor));
                    });
            }};
}

// The first row of those that make the same blocks of exact values.
bool is_first(std::size_t row, const BlockFormat& format) {
    const auto makes_them = [&](std::size_t index) {
        return takes_exact_values(e8m0_quantizers[index]) &&
               e8m0_quantizers[index].quantizes(format);
    };
    if (!makes_them(row)) return false;
    const Quantizer rules = without_description(e8m0_quantizers[row]);
    for (std::size_t before = 0; before < row; ++before)
        if (makes_them(before) && without_description(e8m0_quantizers[before]) == rules)
            return false;
    return true;
}

}  // namespace

std::vector<Proof> gemm_output_proofs() {
    std::vector<Proof> proofs{factor_proof(), quotient_proof()};
    for (const BlockFormat& format : mx_block_formats)
        for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row) {
            if (!is_first(row, format)) continue;
            const bool is_common =
                format.name == "mxfp8-e4m3" &&
                (e8m0_quantizers[row].name == "ocp" || e8m0_quantizers[row].name == "nv");
            proofs.push_back(block_proof(e8m0_quantizers[row], format,
                                         is_common ? Effort::always : Effort::whole_set));
            proofs.push_back(special_proof(e8m0_quantizers[row], format));
        }
    for (const BlockFormat& format : real_scale_formats)
        for (const Quantizer& recipe : real_scale_quantizers) {
            if (!makes_output_blocks(recipe, format)) continue;
            const bool is_output = format.name == "nvfp4";  // the others no GEMM is asked for yet
            proofs.push_back(
                block_proof(recipe, format, is_output ? Effort::always : Effort::whole_set));
            proofs.push_back(special_proof(recipe, format));
        }
    return proofs;
}

}  // namespace mx::proof
