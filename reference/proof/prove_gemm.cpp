// gemm/: the sums of whole GEMMs are those of fast/dot.hpp, digit by digit, for every kernel that
// this processor has: every product of two codes, every pair of E8M0 scales beside a second block,
// blocks of other lengths and UE4M3 scales, the largest sums, cancellation, long rows, every
// remainder of K and of rows, NaN and infinities.
#include "reference/proof/gemm_problem.hpp"

namespace mx::proof {
namespace {

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

// Two codes of either factor and their scales, of which one may be NaN.
Proof special_blocks_proof() {
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

}  // namespace

std::vector<Proof> gemm_proofs() {
    std::vector<Proof> proofs{product_proof(),    scale_proof(), remainder_proof(),
                              large_sum_proof(),  block_proof(), special_blocks_proof(),
                              gemm_window_proof()};
    for (Proof& proof : gemm_residue_proofs()) proofs.push_back(std::move(proof));
    for (Proof& proof : gemm_settled_proofs()) proofs.push_back(std::move(proof));
    for (Proof& proof : gemm_rounded_proofs()) proofs.push_back(std::move(proof));
    return proofs;
}

}  // namespace mx::proof
