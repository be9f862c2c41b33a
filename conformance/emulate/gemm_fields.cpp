// See gemm_fields.hpp.
#include "conformance/emulate/gemm_fields.hpp"

#include "reference/spec/named.hpp"

namespace mx::emulate {
namespace {

std::string counted(int count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string step_text(const GemmModel& model) {
    if (model.exact_group == 1) return counted(model.products, "product") + " a step";
    return counted(model.products, "group") + " of " + counted(model.exact_group, "product") +
           " a step, each group summed exactly";
}

std::string_view order_text(ProductOrder order) {
    switch (order) {
        case ProductOrder::along_k:
            return "";
        case ProductOrder::pairs_of_four:
            return ", of every four along k two in this step and two in the next";
    }
    return {};
}

std::string_view exponents_text(FactorExponents exponents) {
    switch (exponents) {
        case FactorExponents::own:
            return "";
        case FactorExponents::f16:
            return ", exponents of the factors as f16 has them";
    }
    return {};
}

std::string_view zeros_text(ZeroProducts zeros) {
    switch (zeros) {
        case ZeroProducts::left_out:
            return "";
        case ZeroProducts::counted:
            return ", products of zero have exponents too";
    }
    return {};
}

std::string_view sum_text(StepSum sum) {
    switch (sum) {
        case StepSum::aligned:
            return "";
        case StepSum::products_first:
            return ", the accumulator joins their sum, both cut down";
        case StepSum::even_and_odd:
            return ", even and odd k apart, the accumulator joins their sum, all cut down";
        case StepSum::pairs_flushed:
            return ", rounded and added in pairs of pairs, subnormals are 0";
        case StepSum::fused:
            return ", fused with the accumulator, a sum of -0 is -0";
        case StepSum::chain_flushed:
            return ", the second fused with the accumulator first, subnormals are 0";
        case StepSum::lanes_flushed:
            return ", in two sums of half of every 32 bits, the accumulator last, subnormals are 0";
        case StepSum::products_alone:
            return ", their sum rounded before the accumulator joins it";
    }
    return {};
}

std::string bits_text(const GemmModel& model) {
    if (model.sum == StepSum::pairs_flushed) return "";
    if (model.fraction_bits == all_bits) return ", nothing cut";
    const std::string kept = ", " + counted(model.fraction_bits, "fraction bit") + " kept";
    if (model.cut == Rounding::toward_zero) return kept;
    return kept + " by rounding " + std::string(name_in(roundings, model.cut));
}

std::string floor_text(int exponent) {
    if (exponent == -all_bits) return "";
    return ", aligned to no exponent below " + std::to_string(exponent);
}

std::string accumulator_text(const GemmModel& model) {
    std::string_view rounding;
    for (const auto& [name, value] : roundings)
        if (value == model.rounding) rounding = name;
    return "; " + std::string(model.accumulator.name) + " accumulator, rounded " +
           std::string(rounding);
}

std::string promotion_text(const GemmModel& model) {
    if (model.promotion == 0) return "; no promotion";
    return "; promoted to " + std::string(model.promoted.name) + " every " +
           std::to_string(model.promotion) + " along k";
}

std::string lanes_text(int lanes) {
    if (lanes == 1) return "";
    return "; " + std::to_string(lanes) +
           " such sums, which the products take in turn, added one after the other at the end";
}

std::string_view alpha_text(AlphaPlace alpha) {
    return alpha == AlphaPlace::sum ? "" : "; alpha multiplies the elements of A, rounded to f32";
}

std::string residue_text(const GemmModel& model) {
    if (model.residue_tile == 0) return "";
    return "; what K leaves over of tiles of " + std::to_string(model.residue_tile) +
           " comes first";
}

std::string_view scales_text(BlockScaling scaling) {
    switch (scaling) {
        case BlockScaling::none:
            return "; no block scales";
        case BlockScaling::product_exponent:
            return "; block scales move the exponents of products";
        case BlockScaling::group:
            return "; block scales multiply the groups";
        case BlockScaling::promoted_a_first:
            return "; at promotion times the scale of A, then fused with that of B";
        case BlockScaling::promoted_product:
            return "; at promotion fused with the rounded product of both scales";
        case BlockScaling::promoted_in_turn:
            return "; at promotion times the scale of B, then times that of A, then added";
        case BlockScaling::dequantised:
            return "; each factor times its scale is rounded to bf16 first";
    }
    return {};
}

}  // namespace

std::string gemm_model_text(const GemmModel& model) {
    std::string text = step_text(model);
    text += order_text(model.order);
    text += bits_text(model);
    text += floor_text(model.exponent_floor);
    text += exponents_text(model.exponents);
    text += zeros_text(model.zero_products);
    text += sum_text(model.sum);
    text += accumulator_text(model);
    text += promotion_text(model);
    text += lanes_text(model.lanes);
    text += residue_text(model);
    text += scales_text(model.scaling);
    return text.append(alpha_text(model.alpha));
}

std::string_view standing_text(Standing standing) {
    switch (standing) {
        case Standing::verified_here:
            return "verified here";
        case Standing::verified_by_others:
            return "verified by others";
        case Standing::simulated:
            return "held to a simulator, no machine has answered";
        case Standing::predicted:
            return "predicted, nothing of it has run here";
    }
    return {};
}

}  // namespace mx::emulate
