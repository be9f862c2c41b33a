// See recipe_fields.hpp.
#include "conformance/emulate/recipe_fields.hpp"

#include <array>

#include "reference/base/hex.hpp"
#include "reference/spec/verification.hpp"

namespace mx::emulate {
namespace {

using Names = std::initializer_list<std::string_view>;

// The names of an enum's values in their order; `last` holds the count to that order.
template <typename Enum>
std::string_view nth(Names names, Enum last, Enum value) {
    MX_ASSERT_COMPARE(names.size(), ==, static_cast<std::size_t>(last) + 1);
    return names.begin()[static_cast<std::size_t>(value)];
}

std::string_view name_of(LaneTransform value) {
    return nth({"none", "hadamard16"}, LaneTransform::hadamard16, value);
}
std::string_view name_of(NanInBlock value) {
    return nth({"poisons_amax", "own_lane_only", "own_lane_unless_all", "own_lane_only_in_blocks"},
               NanInBlock::own_lane_only_in_blocks, value);
}
// What a row divides by a constant, and what by the reciprocal of one, is part of two fields.
std::string_view name_of(TensorScale value) {
    return nth({"none", "encode", "decode", "decode", "decode_from_1em30", "history"},
               TensorScale::history, value);
}
std::string_view constant_division(ScaleRatio ratio) {
    const bool divides = ratio == ScaleRatio::divided || ratio == ScaleRatio::divided_over_tensor ||
                         ratio == ScaleRatio::over_tensor_divided ||
                         ratio == ScaleRatio::divided_times_tensor;
    return divides ? "divided" : "times_reciprocal";
}
std::string_view name_of(ScaleRatio value) {
    return nth({"amax_over_emax", "amax_over_emax_f32", "amax_over_max", "amax_over_max_flushed",
                "amax_over_max", "amax", "amax_over_max_over_tensor", "amax_over_max_over_tensor",
                "amax_over_tensor_over_max", "amax_over_max_times_tensor",
                "amax_times_scaled_tensor", "max_over_amax", "tensor"},
               ScaleRatio::tensor, value);
}
std::string_view name_of(UselessAmax value) {
    return nth({"as_computed", "one"}, UselessAmax::one, value);
}
std::string_view name_of(EncodeOverflow value) {
    return nth({"infinity", "largest_f32", "largest_input"}, EncodeOverflow::largest_input, value);
}
std::string_view name_of(ScaleRule value) {
    return nth(
        {"e8m0_cast", "f32", "power_of_two_below", "power_of_two_above", "nearest", "best_of_two"},
        ScaleRule::best_of_two, value);
}
std::string_view name_of(CandidateError value) {
    return nth({"none", "absolute", "square"}, CandidateError::square, value);
}
std::string_view name_of(Inverse value) {
    return nth(
        {"exact_power", "one_for_byte_zero", "zero_for_byte_zero", "zero_at_both_ends",
         "of_scale_bits", "over_scale_bits", "encode_scale", "reciprocal", "reciprocal_of_product",
         "reciprocal_over_scale", "bf16_quotient", "none", "none_over_product", "none_if_finite"},
        Inverse::divided_if_finite, value);
}
std::string_view name_of(NanCode value) {
    return nth({"positive_all_ones", "sign_kept", "largest", "as_number", "zero", "quiet_bit",
                "payload_kept", "of_overflow_too"},
               NanCode::of_overflow_too, value);
}
std::string_view name_of(SignOfZero value) {
    return nth({"kept", "dropped", "input_dropped", "underflow_dropped"},
               SignOfZero::underflow_dropped, value);
}
std::string_view name_of(WayBack value) {
    return nth({"times_scale", "times_scale_tensor", "times_scale_amax"}, WayBack::times_scale_amax,
               value);
}

}  // namespace

std::string open_text(const Quantizer& recipe) {
    std::string text;
    for (const auto& [name, words, decision] : decisions)
        if (recipe.leaves_open(decision)) text += (text.empty() ? "" : ", ") + std::string(words);
    return text.empty() ? "nothing" : text;
}

std::vector<std::pair<std::string, std::string>> recipe_fields(const Quantizer& recipe) {
    std::string formats;
    for (const BlockFormat& format : real_scale_formats)
        if (recipe.quantizes(format))
            formats += (formats.empty() ? "" : ", ") + std::string(format.name);
    const auto text = [](auto value) { return std::string(name_of(value)); };
    return {{"formats", formats},
            {"transform", text(recipe.transform)},
            {"nan_in_block", text(recipe.nan_in_block)},
            {"tensor_scale", text(recipe.tensor_scale)},
            {"constant_division", std::string(constant_division(recipe.scale_ratio))},
            {"scale_max", std::to_string(recipe.scale_max)},
            {"amax_min", "0x" + hex(recipe.amax_min, 8)},
            {"block_ratio", text(recipe.scale_ratio)},
            {"ratio_min", "0x" + hex(recipe.ratio_min, 8)},
            {"useless_amax", text(recipe.useless_amax)},
            {"encode_overflow", text(recipe.encode_overflow)},
            {"block_scale", text(recipe.scale_rule)},
            {"candidate_error", text(recipe.candidate_error)},
            {"factor", text(recipe.inverse)},
            {"element_rounding", std::string(name_in(roundings, recipe.element_rounding))},
            {"element_overflow", std::string(name_in(overflows, recipe.element_overflow))},
            {"nan_code", text(recipe.nan_code)},
            {"sign_of_zero", text(recipe.sign_of_zero)},
            {"way_back", text(recipe.way_back)},
            {"left_open", open_text(recipe)},
            {"source", std::string(recipe.source)},
            {"known_by", known_by(recipe.name)}};
}

std::string block_format_text(const BlockFormat& format) {
    const std::string columns = std::to_string(format.block_columns);
    const std::string block = format.is_whole_tensor() ? "tensor"
                              : format.has_e8m0_scales()
                                  ? columns
                                  : std::to_string(format.block_rows) + "x" + columns;
    return std::string(format.element().name) + " elements, one " +
           std::string(format.scale().name) + " scale per " + block;
}

std::vector<const Quantizer*> recipes_of(const BlockFormat& format) {
    std::vector<const Quantizer*> found;
    for (const Quantizer& recipe : real_scale_quantizers)
        if (recipe.quantizes(format)) found.push_back(&recipe);
    return found;
}

}  // namespace mx::emulate
