// How a machine sums a dot product: what it keeps of each product, in what order it adds them, and
// to what it rounds. Both oracles read it; the rows are in gemm_models.hpp.
//
// One step takes some products and the accumulator, aligns them all to the largest exponent among
// them, cuts each to `fraction_bits` places below it, adds what is left exactly, and rounds the sum
// once to the accumulator. The accumulator of a step is a term of the next.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "reference/spec/gemm.hpp"
#include "reference/spec/rounding.hpp"

namespace mx {

// binary32 with its last ten mantissa bits left zero: what the FP8 tensor cores of Ada and Hopper
// keep between steps.
inline constexpr ElementFormat e8m13{"e8m13",
                                     1,
                                     8,
                                     13,
                                     127,
                                     ZeroExponent::subnormal,
                                     Specials::infinity_and_nan,
                                     "arXiv:2511.10909 section 4, and our measurements"};

// Which of 32 neighbouring products go into a step together.
enum class ProductOrder {
    along_k,        // neighbours
    pairs_of_four,  // k % 4 of 0 and 1 first, then 2 and 3: FP8 mma.sync done with FP16 HMMA
};

// Whose exponent fields the factors of a product are read from.
enum class FactorExponents {
    own,
    f16,  // converted first, which is exact and makes normal numbers of FP8 subnormals
};

// The exponent of a product that is zero.
enum class ZeroProducts {
    left_out,  // it has none
    counted,   // that of its factors' exponent fields
};

// How a step comes to its sum.
enum class StepSum {
    // Products and accumulator together, as the top of this file has it. Where something is cut, a
    // sum that is 0, or rounds to it, is +0.
    aligned,
    // The products alone are aligned and cut, and their sum keeps the exponent it was aligned to.
    // Then it and the accumulator are aligned to each other, and both are cut toward minus
    // infinity: the sum `late_sum_bits` below the larger exponent, the accumulator `fraction_bits`.
    // A product of 2^128 and beyond is Inf.
    products_first,
    // The same, but those of even and of odd k apart, and the two sums are aligned to each other
    // and cut toward minus infinity first. An accumulator so far below that nothing of it is kept
    // is 0, and not the -1 that minus infinity would make of it.
    even_and_odd,
    // Products are rounded one by one, then added in pairs, pairs of pairs and so on, and the
    // accumulator last, each sum rounded. What is subnormal counts as 0: a factor and C as +0, a
    // product or a sum as the 0 of its sign.
    pairs_flushed,
    // Exactly, and rounded once as IEEE 754 rounds a fused multiply-add: a sum of zeros is -0 where
    // all of them are. Where K ends within a step, the places beyond are products of +0, as they
    // are in the three below.
    fused,
    // The processors' way with subnormals, of this sum and the next: a factor, C and what a sum is
    // after its rounding count as the 0 of their sign where they are subnormal in binary32; a
    // factor where it is so in binary16, if it is converted to that. Here each product is fused
    // with the accumulator and rounded, and of two neighbours the second comes first.
    chain_flushed,
    // Two sums beside each other, which start at +0: of every 32 bits along k one takes the first
    // half, one the second. A product of 16-bit factors is fused with its sum; of 8-bit ones two
    // are added first. After the step the one is added to the other, and both to the accumulator.
    lanes_flushed,
    // The products alone are aligned, cut and summed, and the sum is rounded; then it is added to
    // the accumulator and rounded again. A sum of zeros is +0.
    products_alone,
};

MX_FOLDED constexpr bool flushes_in_f32(StepSum sum) {
    return sum == StepSum::chain_flushed || sum == StepSum::lanes_flushed;
}

inline constexpr int late_sum_bits = 31;

// Where the scales of blocks come in.
enum class BlockScaling {
    none,              // the rows must have none
    product_exponent,  // powers of two: they move the exponent of each product
    group,             // each `exact_group` of products is summed exactly and then scaled
    // Scales come in at promotion, by a fused multiply-add to the outer accumulator:
    promoted_a_first,  // of the accumulator times the scale of A, rounded, with that of B
    promoted_product,  // of the accumulator with the rounded product of both
    // By an addition, of the accumulator times the scale of B, rounded, times that of A, rounded,
    // to one that begins at C:
    promoted_in_turn,
    dequantised,  // each factor times its scale, rounded to nearest even, is one of bfloat16
};

// What alpha multiplies.
enum class AlphaPlace {
    sum,       // what comes out of the accumulator, as spec/gemm_epilogue.hpp says
    factor_a,  // each element of A, rounded to binary32; after the sum follows what
               // GemmKernel::adds_parts does with an alpha of 1
};

MX_FOLDED constexpr bool scales_at_promotion(BlockScaling scaling) {
    return scaling == BlockScaling::promoted_a_first || scaling == BlockScaling::promoted_product ||
           scaling == BlockScaling::promoted_in_turn;
}

// Is the word one of a list that blanks separate? That is how the rows list element formats, scale
// formats and sizes of blocks.
constexpr bool lists(std::string_view list, std::string_view word) {
    for (std::size_t first = 0; first < list.size();) {
        const std::size_t end = std::min(list.find(' ', first), list.size());
        if (list.substr(first, end - first) == word) return true;
        first = end + 1;
    }
    return false;
}

// Verified by others: recorded answers of their machines are in conformance/vectors, and a test
// holds the row to them (reference/test/tensor_cores_test.cpp).
// Simulated: a simulator of the instruction gave the same bits, and no machine has answered.
enum class Standing { verified_here, verified_by_others, simulated, predicted };

inline constexpr int all_bits = 1000;

struct GemmModel {
    std::string_view name;
    std::string_view operands;  // element formats, separated by blanks
    int products;               // of one step, or groups where exact_group is not 1
    // Kept below the largest exponent; all_bits: nothing is cut, and what is rounded is the exact
    // sum of the step.
    int fraction_bits;
    ElementFormat accumulator = formats::f32;
    Rounding rounding = Rounding::toward_zero;  // of a step's sum; beyond the range it is Inf
    // Elements along k after which the accumulator is added to an outer one, with nearest even,
    // and starts again at 0. The outer one starts with C. 0: never.
    int promotion = 0;
    ElementFormat promoted = formats::f32;  // the outer accumulator
    // Elements along k of a tile: what K leaves over of whole tiles comes first, in steps of its
    // own. 0: steps are taken from k = 0 on.
    int residue_tile = 0;
    // Sums beside each other, which start at +0: product k goes to sum k % lanes. All are promoted
    // at the same k, and added to C one after the other, with nearest even. 1: there is one, which
    // starts with C.
    int lanes = 1;
    int exact_group = 1;  // products that are summed before they are aligned
    BlockScaling scaling = BlockScaling::none;
    std::string_view scales = "";  // their formats, and how many elements share one along k: both
    std::string_view blocks = "";  // separated by blanks
    ProductOrder order = ProductOrder::along_k;
    FactorExponents exponents = FactorExponents::own;
    ZeroProducts zero_products = ZeroProducts::left_out;
    StepSum sum = StepSum::aligned;
    int exponent_floor = -all_bits;        // what is aligned to is no lower exponent than this
    Rounding cut = Rounding::toward_zero;  // of each summand of an aligned step
    AlphaPlace alpha = AlphaPlace::sum;
    Standing standing = Standing::predicted;
    std::string_view machines = "";  // as their users call them, separated by blanks
    std::string_view source;
    // What no source and no answer has settled: how the row has it, and the probe that would say.
    std::string_view open = "";
};

// The names of what a row may say, as files of models have them.
inline constexpr std::array<std::pair<std::string_view, ProductOrder>, 2> product_orders{{
    {"along_k", ProductOrder::along_k},
    {"pairs_of_four", ProductOrder::pairs_of_four},
}};
inline constexpr std::array<std::pair<std::string_view, FactorExponents>, 2> factor_exponents{{
    {"own", FactorExponents::own},
    {"as_f16", FactorExponents::f16},
}};
inline constexpr std::array<std::pair<std::string_view, ZeroProducts>, 2> zero_product_rules{{
    {"left_out", ZeroProducts::left_out},
    {"counted", ZeroProducts::counted},
}};
inline constexpr std::array<std::pair<std::string_view, StepSum>, 8> step_sums{{
    {"aligned", StepSum::aligned},
    {"products_first", StepSum::products_first},
    {"even_and_odd", StepSum::even_and_odd},
    {"pairs_flushed", StepSum::pairs_flushed},
    {"fused", StepSum::fused},
    {"chain_flushed", StepSum::chain_flushed},
    {"lanes_flushed", StepSum::lanes_flushed},
    {"products_alone", StepSum::products_alone},
}};
inline constexpr std::array<std::pair<std::string_view, AlphaPlace>, 2> alpha_places{{
    {"sum", AlphaPlace::sum},
    {"factor_a", AlphaPlace::factor_a},
}};
inline constexpr std::array<std::pair<std::string_view, BlockScaling>, 7> block_scalings{{
    {"none", BlockScaling::none},
    {"product_exponent", BlockScaling::product_exponent},
    {"group", BlockScaling::group},
    {"promoted_a_first", BlockScaling::promoted_a_first},
    {"promoted_product", BlockScaling::promoted_product},
    {"promoted_in_turn", BlockScaling::promoted_in_turn},
    {"dequantised", BlockScaling::dequantised},
}};

// The most products, or groups of them, of a step, and the most sums beside each other.
inline constexpr int step_products_max = 128, lanes_max = 128;

// How many elements along k come before the first whole tile.
MX_FOLDED constexpr std::int64_t residue_of(const GemmModel& model, std::int64_t depth) {
    return model.residue_tile == 0 ? 0 : depth % model.residue_tile;
}

// Has the row nothing beside the sum of a step?
constexpr bool is_step_alone(const GemmModel& model) {
    return model.scaling == BlockScaling::none && model.promotion == 0 && model.exact_group == 1 &&
           model.order == ProductOrder::along_k && model.exponent_floor == -all_bits;
}

// As fault_of, of the sums of processors.
constexpr std::string_view fault_of_sum(const GemmModel& model) {
    const bool is_exact = model.fraction_bits == all_bits;
    const bool is_f32 = model.accumulator == formats::f32;
    const bool is_nearest = model.rounding == Rounding::nearest_even;
    if (model.sum == StepSum::fused && (!is_exact || !is_nearest))
        return "a fused sum rounds to nearest even, and nothing is cut of it";
    if (flushes_in_f32(model.sum) && (!is_exact || !is_f32 || !is_nearest))
        return "sums that flush subnormals are rounded to nearest even, to binary32, and nothing "
               "is cut of them";
    if (model.sum == StepSum::chain_flushed && model.products != 2)
        return "a chain that flushes subnormals has 2 products a step";
    if (model.sum == StepSum::lanes_flushed && model.products % 4 != 0)
        return "a step of two sums has a multiple of 4 products";
    if (model.sum == StepSum::products_alone &&
        (is_exact || !is_f32 || model.cut != Rounding::to_odd ||
         model.rounding != Rounding::to_odd))
        return "products that are summed alone are cut and rounded to odd, to binary32";
    if (model.sum != StepSum::products_alone && model.cut == Rounding::to_odd)
        return "products are cut to odd where they are summed alone";
    return "";
}

// Why a row can be none: what the integers of fast/ have no room for, and ways that do not go
// together. "" of a row that can be.
constexpr std::string_view fault_of(const GemmModel& model) {
    const bool is_exact = model.fraction_bits == all_bits;
    const bool is_late = model.sum == StepSum::products_first || model.sum == StepSum::even_and_odd;
    const bool is_tree = model.sum == StepSum::pairs_flushed;
    const bool is_processors = model.sum == StepSum::fused || flushes_in_f32(model.sum) ||
                               model.sum == StepSum::products_alone;
    const bool scales = model.scaling != BlockScaling::none;
    const bool is_alone = is_step_alone(model) && (model.cut == Rounding::toward_zero ||
                                                   model.sum == StepSum::products_alone);
    if (model.products < 1 || model.products > step_products_max)
        return "a step has from 1 to 128 products";
    if (!is_exact && (model.fraction_bits < 1 || model.fraction_bits > 40))
        return "from 1 to 40 bits of fraction are kept, or all";
    if (is_late && model.fraction_bits > 24)
        return "products that are summed first keep 24 bits of fraction at the most";
    if (is_tree && (!is_exact || (model.products != 2 && model.products != 4)))
        return "a tree has 2 or 4 products, and nothing is cut of them";
    if ((is_late || is_tree || is_processors || (is_exact && model.products > 1)) && !is_alone)
        return "exact steps, trees and products that are summed first have no promotion, no scales "
               "of blocks, no order, no exponent floor and no cut of their own";
    if (const auto fault = fault_of_sum(model); !fault.empty()) return fault;
    const bool is_chain = is_exact && model.sum == StepSum::aligned && model.products == 1;
    const bool is_usual =
        model.rounding == Rounding::nearest_even && model.accumulator == formats::f32;
    if (is_chain && !is_usual) return "a fused multiply-add rounds to nearest even, to binary32";
    if (model.lanes < 1 || model.lanes > lanes_max)
        return "there are from 1 to 128 sums beside each other";
    if (model.lanes > 1 && (!is_chain || scales || model.promotion % model.lanes != 0))
        return "sums beside each other are of fused multiply-adds, one product a step, without "
               "scales of blocks, and are promoted after as many products each";
    if (model.alpha == AlphaPlace::factor_a && (!is_chain || scales))
        return "alpha multiplies elements of A where a step is a fused multiply-add, without "
               "scales of blocks";
    if (is_exact && model.cut != Rounding::toward_zero)
        return "where nothing is cut, cut says nothing";
    if (model.exponent_floor != -all_bits &&
        (model.exponent_floor < -300 || model.exponent_floor > 100))
        return "an exponent floor lies from -300 to 100";
    if (model.exact_group < 1 || model.exact_group > 32) return "a group has from 1 to 32 products";
    const int step = model.products * model.exact_group;
    if (model.promotion < 0 || model.promotion > 1 << 20 || model.promotion % step != 0)
        return "a promotion comes after whole steps, and within 2^20 products";
    if (model.residue_tile < 0 || model.residue_tile > 4096 || model.residue_tile % step != 0)
        return "a tile whose residue comes first has whole steps, and 4096 products at the most";
    if (model.residue_tile != 0 && step == 1)
        return "where a step is one product, it is the same with and without a residue";
    if (model.residue_tile != 0 &&
        (scales || model.promotion != 0 || model.order != ProductOrder::along_k))
        return "where a residue comes first there is no promotion, no order and no scale of blocks";
    if (scales_at_promotion(model.scaling) && model.promotion == 0)
        return "scales that come in at promotion need one";
    if (scales == (model.scales.empty() || model.blocks.empty()))
        return "a row that applies scales of blocks says which formats and blocks they have, and "
               "no other row does";
    if ((model.exact_group != 1) != (model.scaling == BlockScaling::group))
        return "groups that are summed exactly have scales, and scales of groups have groups";
    return "";
}

// Whether the row says how scales of that format are applied that so many elements along k share,
// each as the rows list them. Scales of whole rows and tensors are no matter of the accumulator:
// they go with the rows that know of no block scales.
constexpr bool takes_block_scales(const GemmModel& model, std::string_view format,
                                  std::string_view block) {
    return model.scaling != BlockScaling::none && lists(model.scales, format) &&
           lists(model.blocks, block);
}

}  // namespace mx
