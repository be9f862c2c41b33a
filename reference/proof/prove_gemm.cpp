// gemm/: the sums of whole GEMMs are those of fast/dot.hpp, digit by digit, for every kernel that
// this processor has: every product of two codes, every pair of E8M0 scales beside a second block,
// blocks of other lengths and UE4M3 scales, the largest sums, cancellation, long rows, every
// remainder of K and of rows, NaN and infinities; and every place of a window's leading bits.
#include <array>

#include "reference/fast/dot.hpp"
#include "reference/gemm/exact_gemm.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// Rows of one factor: bytes of codes and of scales, row after row.
struct Factor {
    ElementFormat element;
    std::int64_t depth;
    ElementFormat scale = formats::e8m0;
    std::int64_t block = 32;
    std::vector<std::uint8_t> codes = {};
    std::vector<std::uint8_t> scales = {};

    std::int64_t blocks() const { return block == 0 ? 0 : (depth + block - 1) / block; }
    std::vector<ScaledRow> rows() const {
        std::vector<ScaledRow> rows(codes.size() / static_cast<std::size_t>(depth));
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = {element,
                       {codes.data() + i * static_cast<std::size_t>(depth)},
                       scale,
                       {scales.data() + i * static_cast<std::size_t>(blocks())},
                       block};
        return rows;
    }
};

// Appends a row; `code` and `scale` say what stands at a place.
template <typename CodeAt, typename ScaleAt>
void add_row(Factor& factor, const CodeAt& code, const ScaleAt& scale) {
    for (std::int64_t k = 0; k < factor.depth; ++k)
        factor.codes.push_back(static_cast<std::uint8_t>(code(k)));
    for (std::int64_t i = 0; i < factor.blocks(); ++i)
        factor.scales.push_back(static_cast<std::uint8_t>(scale(i)));
}

struct Problem {
    Factor a, b;
};

std::uint64_t both_codes(const fast::Unpacked& value) {
    const auto in = [&](Rounding rounding) {
        return std::uint64_t{fast::round(formats::f32, rounding, Overflow::overflow, value).bits};
    };
    return in(Rounding::nearest_even) | in(Rounding::toward_negative) << 32;
}

fast::Unpacked value_of(const fast::Total& total) {
    const fast::Kind kind = fast::kind_of(total);
    if (kind == fast::Kind::finite) return fast::leading_bits(total.sum);
    return {kind, kind == fast::Kind::infinity && total.negative_infinity, 0, 0};
}

// The same digits, the same kind, and the same codes by way of the window alone.
bool agree(const fast::Total& expected, const gemm::ExactSum& actual) {
    const fast::Kind kind = fast::kind_of(expected);
    if (kind != actual.kind) return false;
    if (kind == fast::Kind::infinity) return expected.negative_infinity == actual.negative_infinity;
    if (kind == fast::Kind::nan) return true;
    const fast::Total total = gemm::total_of(actual);
    return std::equal(std::begin(total.sum.limbs), std::end(total.sum.limbs),
                      std::begin(expected.sum.limbs)) &&
           both_codes(gemm::leading_bits(actual.window)) == both_codes(value_of(expected));
}

Report compare(const Problem& problem) {
    const std::vector<ScaledRow> a = problem.a.rows(), b = problem.b.rows();
    std::vector<fast::Total> expected;
    std::string text;
    for (const ScaledRow& row : a)
        for (const ScaledRow& column : b) {
            expected.push_back(fast::dot(row, column, problem.a.depth));
            text += to_hex(both_codes(value_of(expected.back()))) + "\n";
        }
    Report report;
    report.digest = sha256(text);
    for (const gemm::Kernel& kernel : gemm::kernels()) {
        if (!gemm::takes(kernel, a.front(), b.front())) continue;
        std::vector<std::uint8_t> seen(expected.size());
        gemm::for_each_sum(kernel, {a, b, problem.a.depth},
                           [&](const gemm::Place& place, const gemm::ExactSum& sum) {
                               const std::size_t output = place.row * b.size() + place.column;
                               if (agree(expected[output], sum) && seen[output]++ == 0) return;
                               add_mismatch(report, output,
                                            both_codes(value_of(gemm::total_of(sum))),
                                            both_codes(value_of(expected[output])));
                           });
        // What no one saw is wrong too.
        report.mismatches +=
            static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), std::uint8_t{0}));
    }
    report.count = expected.size();
    return report;
}

Report compare_all(std::size_t count, int threads,
                   const std::function<Problem(std::size_t)>& problem_of) {
    std::vector<Report> reports(count);
    parallel_for(count, threads, [&](std::size_t i) { reports[i] = compare(problem_of(i)); });
    return joined(reports);
}

constexpr std::array<std::string_view, 6> elements{"e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8"};

// Every byte as a code, also where a format has fewer bits.
Factor every_code(std::string_view element) {
    Factor factor{*find_element_format(element), 1, formats::e8m0, 0};
    for (int code = 0; code < 256; ++code)
        add_row(
            factor, [&](std::int64_t) { return code; }, [](std::int64_t) { return 0; });
    return factor;
}

Proof product_proof() {
    return {"gemm tiles products", "every byte with every byte as codes of every pair of formats",
            [](int threads) {
                return compare_all(elements.size() * elements.size(), threads, [](std::size_t i) {
                    return Problem{every_code(elements[i / elements.size()]),
                                   every_code(elements[i % elements.size()])};
                });
            }};
}

// Codes whose sums are as long as they can be: the largest beside the least, and ones with all
// bits of the significand.
constexpr std::array<std::array<std::uint8_t, 4>, 2> long_codes{
    {{0x7E, 0x01, 0xFE, 0x0F}, {0x7B, 0x01, 0xFB, 0x07}}};

// Row s has scale s over its first block and 1 over its second: every spread from 0 to 508 binades,
// NaN too.
Factor every_scale(std::size_t which, std::size_t turn) {
    Factor factor{which == 0 ? formats::e4m3 : formats::e5m2, 64};
    for (int scale = 0; scale < 256; ++scale)
        add_row(
            factor,
            [&](std::int64_t k) {
                return long_codes[which][(static_cast<std::size_t>(k) * (turn + 1) + turn) % 4];
            },
            [&](std::int64_t block) { return block == 0 ? scale : 127; });
    return factor;
}

Proof scale_proof() {
    return {"gemm tiles scales", "all 2^16 pairs of E8M0 scales, beside a block of scale 1",
            [](int threads) {
                return compare_all(4 * 2, threads, [](std::size_t i) {
                    return Problem{every_scale(i % 2, i / 4), every_scale(i / 2 % 2, 1 - i / 4)};
                });
            }};
}

// A row of codes from a multiplier: no two rows alike, nothing left to chance.
std::uint32_t mixed(std::uint64_t seed, std::int64_t k) {
    std::uint64_t word = (seed << 32) + static_cast<std::uint64_t>(k) + 1;
    word *= 0x9E3779B97F4A7C15;
    word ^= word >> 29;
    word *= 0xBF58476D1CE4E5B9;
    return static_cast<std::uint32_t>(word >> 40);
}

// A code of the format that is a number.
std::uint32_t finite_code(const ElementFormat& format, std::uint32_t word) {
    const Code code{word & (format.code_sign_mask() | format.code_magnitude_mask())};
    return format.is_nan(code) || format.is_infinity(code) ? 0 : code.bits;
}

struct Shape {
    std::int64_t rows;
    std::int64_t depth;
    int spread;  // of scales
};

Factor mixed_factor(const ElementFormat& format, const Shape& shape, std::uint64_t seed) {
    Factor factor{format, shape.depth};
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::uint64_t key = seed * 4096 + static_cast<std::uint64_t>(row);
        add_row(
            factor, [&](std::int64_t k) { return finite_code(format, mixed(key, k)); },
            [&](std::int64_t block) {
                return 127 - shape.spread / 2 +
                       static_cast<int>(mixed(key + 1234567, block) %
                                        static_cast<unsigned>(shape.spread + 1));
            });
    }
    return factor;
}

Proof remainder_proof() {
    return {"gemm tiles remainders",
            "K from 1 to 130 with every pair of formats; 1 to 25 rows by 25 to 1", [](int threads) {
                constexpr std::size_t pairs = elements.size() * elements.size();
                return compare_all(pairs * 130 + 25, threads, [](std::size_t i) {
                    if (i >= pairs * 130) {
                        const auto rows = static_cast<std::int64_t>(i - pairs * 130 + 1);
                        return Problem{mixed_factor(formats::e4m3, {rows, 65, 16}, i),
                                       mixed_factor(formats::e5m2, {26 - rows, 65, 16}, i + 1)};
                    }
                    const auto depth = static_cast<std::int64_t>(i / pairs + 1);
                    const auto format = [&](std::size_t which) {
                        return *find_element_format(elements[which % elements.size()]);
                    };
                    return Problem{mixed_factor(format(i), {3, depth, 40}, i),
                                   mixed_factor(format(i / elements.size()), {3, depth, 40}, i)};
                });
            }};
}

// The element whose products fill their span: all of one sign, in turn of either, and one that all
// others cancel but for a quantum.
Factor largest_factor(const ElementFormat& format, std::int64_t depth) {
    Factor factor{format, depth};
    const std::uint32_t largest = format.code_max_finite();
    const auto one = [](std::int64_t) { return 127; };
    const auto wide = [](std::int64_t block) { return block % 2 == 0 ? 127 + 40 : 127 - 41; };
    const auto all = [&](std::int64_t) { return largest; };
    const auto alternating = [&](std::int64_t k) {
        return k % 2 == 0 ? largest : format.negative(largest).bits;
    };
    const auto cancelled = [&](std::int64_t k) { return k + 1 == depth ? 1u : alternating(k); };
    add_row(factor, all, one);
    add_row(factor, all, wide);
    add_row(factor, alternating, one);
    add_row(factor, alternating, wide);
    add_row(factor, cancelled, one);
    add_row(factor, cancelled, wide);
    add_row(
        factor, [&](std::int64_t k) { return finite_code(format, mixed(7, k)); }, wide);
    return factor;
}

// Beyond 4096, 8192 and 16384 the levels are carried in between. By 65569 the largest of e4m3, all
// of one scale, would have filled a level that was not.
constexpr std::array<std::int64_t, 8> depths{4095, 4096, 4129, 8192, 8225, 16384, 16417, 40001};
constexpr std::int64_t depth_that_fills = 65569;

Factor filling_factor() {
    Factor factor{formats::e4m3, depth_that_fills};
    add_row(
        factor, [](std::int64_t) { return formats::e4m3.code_max_finite(); },
        [](std::int64_t) { return 127; });
    return factor;
}

Proof large_sum_proof() {
    return {"gemm tiles large sums",
            "the largest values, in turn of either sign, cancelled to a quantum, for K to 65569",
            [](int threads) {
                return compare_all(depths.size() * 4 + 1, threads, [](std::size_t i) {
                    if (i == depths.size() * 4) return Problem{filling_factor(), filling_factor()};
                    const auto format = [](std::size_t which) {
                        return which % 2 == 0 ? formats::e4m3 : formats::e5m2;
                    };
                    return Problem{largest_factor(format(i), depths[i / 4]),
                                   largest_factor(format(i / 2), depths[i / 4])};
                });
            }};
}

// Blocks of other lengths, scales of NVFP4, and all scales at once over long rows.
Proof block_proof() {
    static constexpr std::array<std::int64_t, 7> lengths{0, 8, 16, 24, 48, 64, 128};
    return {"gemm tiles blocks", "blocks of 0 to 128, UE4M3 scales, all scales over K = 1000",
            [](int threads) {
                return compare_all(lengths.size() * 2 + 4, threads, [](std::size_t i) {
                    const bool is_e5m2 = i % 2 != 0;
                    Problem problem{
                        mixed_factor(is_e5m2 ? formats::e5m2 : formats::e4m3, {20, 1000, 254}, i),
                        mixed_factor(i % 4 < 2 ? formats::e5m2 : formats::e4m3, {20, 1000, 254},
                                     i + 50)};
                    if (i >= lengths.size() * 2) return problem;
                    const std::int64_t block = lengths[i / 2];
                    for (Factor* factor : {&problem.a, &problem.b}) {
                        if (is_e5m2) factor->element = formats::e2m1;
                        if (is_e5m2) factor->scale = ue4m3;
                        factor->block = block;
                        factor->scales.resize(static_cast<std::size_t>(20 * factor->blocks()));
                        for (std::size_t j = 0; j < factor->scales.size(); ++j)
                            factor->scales[j] =
                                static_cast<std::uint8_t>(mixed(i, std::int64_t(j)));
                    }
                    return problem;
                });
            }};
}

// Rows whose scales spread as far as slices can hold, one binade less and one more; the largest
// values of one sign fill every slice, in turn of either sign, and blocks of zeros have scales far
// from all others.
Factor spread_factor(const ElementFormat& format, std::int64_t depth, int spread) {
    Factor factor = largest_factor(format, depth);
    factor.scales.clear();
    for (std::int64_t row = 0; row < 7; ++row)
        for (std::int64_t block = 0; block < factor.blocks(); ++block) {
            const bool is_zero = block % 5 == 3 && row % 2 == 1;
            const auto codes = factor.codes.begin() + row * depth + block * 32;
            if (is_zero) std::fill_n(codes, std::min<std::int64_t>(32, depth - block * 32), 0x80);
            const int scale =
                block % 3 == 0 ? 100
                : block % 3 == 1
                    ? 100 + spread
                    : 100 + static_cast<int>(mixed(9, block + row) % unsigned(spread + 1));
            factor.scales.push_back(static_cast<std::uint8_t>(is_zero ? row * 36 : scale));
        }
    return factor;
}

Proof slice_proof() {
    return {"gemm slices", "scales that spread as far as slices hold, less and more, K to 16417",
            [](int threads) {
                static constexpr std::array<std::int64_t, 4> lengths{96, 1055, 2048, 16417};
                static constexpr std::array<int, 7> spreads{0, 3, 16, 24, 25, 38, 39};
                return compare_all(lengths.size() * spreads.size() * 4, threads, [](std::size_t i) {
                    const auto factor = [&](std::size_t which, std::size_t turn) {
                        const int spread = spreads[(i / 16 + turn) % spreads.size()];
                        return spread_factor(which % 2 == 0 ? formats::e4m3 : formats::e5m2,
                                             lengths[i / 4 % 4], spread);
                    };
                    return Problem{factor(i, 0), factor(i / 2, i % 3)};
                });
            }};
}

// Two codes of either factor and their scales, of which one may be NaN.
Proof special_proof() {
    return {"gemm tiles specials", "zeros, ones, infinities and NaN in two blocks, and NaN scales",
            [](int threads) {
                static constexpr std::array<std::uint32_t, 7> codes{0x00, 0x80, 0x3C, 0xBC,
                                                                    0x7C, 0xFC, 0x7E};
                Factor factor{formats::e5m2, 34};
                for (std::size_t i = 0; i < 7 * 7 * 3; ++i)
                    add_row(
                        factor,
                        [&](std::int64_t k) {
                            return k == 3 ? codes[i % 7] : k == 33 ? codes[i / 7 % 7] : 0x3D;
                        },
                        [&](std::int64_t block) {
                            return i / 49 == std::size_t(block) + 1 ? 255 : 127;
                        });
                Factor finite = factor;
                finite.element = formats::e4m3;
                return compare_all(4, threads, [&](std::size_t i) {
                    return Problem{i % 2 == 0 ? factor : finite, i / 2 == 0 ? factor : finite};
                });
            }};
}

// Two bits of a window's sum at every distance up to 64 and far apart, and what the digits borrow
// from each other: the window's leading bits against those of the wide sum.
Proof window_proof() {
    return {"gemm tiles leading bits", "two bits of a window in every place, digits of either sign",
            [](int threads) {
                constexpr std::uint32_t distances = 80, bits = 41 * 16, signs = 4;
                const auto window_of = [](std::uint32_t input) {
                    const auto high = static_cast<int>(input / signs / distances);
                    const auto place = static_cast<int>(input / signs % distances);
                    const int low =
                        place < 64 ? std::max(0, high - 1 - place) : (place - 64) * high / 16;
                    gemm::WindowSum window{-286, gemm::levels_max, {}};
                    const auto put = [&](int bit, bool negative) {
                        const std::int64_t one = std::int64_t{1} << bit % gemm::level_bits;
                        window.digits[bit / gemm::level_bits] += negative ? -one : one;
                    };
                    put(high, (input & 1) != 0);
                    put(low, (input & 2) != 0);
                    return window;
                };
                return compare_everywhere(
                    bits * distances * signs, threads,
                    [&](std::uint32_t input) {
                        fast::WideSum wide;
                        gemm::add_to(wide, window_of(input));
                        return both_codes(fast::leading_bits(wide));
                    },
                    [&](std::uint32_t input) {
                        return both_codes(gemm::leading_bits(window_of(input)));
                    });
            }};
}

}  // namespace

std::vector<Proof> gemm_proofs() {
    return {product_proof(), scale_proof(), remainder_proof(), large_sum_proof(),
            block_proof(),   slice_proof(), special_proof(),   window_proof()};
}

}  // namespace mx::proof
