// See recipe_fields.hpp.
#include "conformance/emulate/recipe_fields.hpp"

#include <array>

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
    return value == NanInBlock::own_lane_only ? "own_lane_only" : "poisons_amax";
}
std::string_view name_of(TensorScale value) {
    return nth({"none", "encode", "decode", "history"}, TensorScale::history, value);
}
std::string_view name_of(ConstantDivision value) {
    return nth({"divided", "times_reciprocal"}, ConstantDivision::times_reciprocal, value);
}
std::string_view name_of(BlockRatio value) {
    return nth({"amax_over_max", "amax_over_max_over_tensor", "amax_over_max_times_tensor",
                "amax_times_scaled_tensor", "max_over_amax", "tensor"},
               BlockRatio::tensor, value);
}
std::string_view name_of(UselessAmax value) {
    return nth({"as_computed", "one"}, UselessAmax::one, value);
}
std::string_view name_of(EncodeOverflow value) {
    return nth({"infinity", "largest_f32", "largest_input"}, EncodeOverflow::largest_input, value);
}
std::string_view name_of(BlockScale value) {
    return nth({"f32", "power_of_two_below", "power_of_two_above", "e4m3", "e4m3_from_2tom6",
                "e4m3_best_of_two"},
               BlockScale::e4m3_best_of_two, value);
}
std::string_view name_of(CandidateError value) {
    return nth({"none", "absolute", "square"}, CandidateError::square, value);
}
std::string_view name_of(Factor value) {
    return nth({"encode_scale", "reciprocal", "reciprocal_of_product", "reciprocal_over_scale",
                "bf16_quotient", "none"},
               Factor::none, value);
}
std::string_view name_of(NanCode value) {
    return nth({"positive_all_ones", "sign_kept", "largest", "as_number"}, NanCode::as_number,
               value);
}
std::string_view name_of(SignOfZero value) {
    return value == SignOfZero::kept ? "kept" : "input_dropped";
}
std::string_view name_of(WayBack value) {
    return nth({"times_scale", "times_scale_tensor", "times_scale_amax"}, WayBack::times_scale_amax,
               value);
}

std::string hex(std::uint32_t bits) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "0x";
    for (int shift = 28; shift >= 0; shift -= 4) text += digits[bits >> shift & 0xF];
    return text;
}

}  // namespace

std::string open_text(const Recipe& recipe) {
    std::string text;
    for (const auto& [name, decision] : open_recipes)
        if (recipe.leaves_open(decision)) text += (text.empty() ? "" : ", ") + std::string(name);
    return text.empty() ? "nothing" : text;
}

std::vector<std::pair<std::string, std::string>> recipe_fields(const Recipe& recipe) {
    std::string formats;
    for (const RecipeFormat& format : recipe_formats)
        if (quantizes(recipe, format))
            formats += (formats.empty() ? "" : ", ") + std::string(format.name);
    const auto text = [](auto value) { return std::string(name_of(value)); };
    return {{"formats", formats},
            {"transform", text(recipe.transform)},
            {"nan_in_block", text(recipe.nan_in_block)},
            {"tensor_scale", text(recipe.tensor_scale)},
            {"constant_division", text(recipe.division)},
            {"scale_max", std::to_string(recipe.scale_max)},
            {"amax_min", hex(recipe.amax_min)},
            {"block_ratio", text(recipe.block_ratio)},
            {"useless_amax", text(recipe.useless_amax)},
            {"encode_overflow", text(recipe.encode_overflow)},
            {"block_scale", text(recipe.block_scale)},
            {"candidate_error", text(recipe.candidate_error)},
            {"factor", text(recipe.factor)},
            {"element_rounding", std::string(name_in(roundings, recipe.element_rounding))},
            {"element_overflow", std::string(name_in(overflows, recipe.element_overflow))},
            {"nan_code", text(recipe.nan_code)},
            {"sign_of_zero", text(recipe.sign_of_zero)},
            {"way_back", text(recipe.way_back)},
            {"left_open", open_text(recipe)},
            {"source", std::string(recipe.source)}};
}

std::string recipe_format_text(const RecipeFormat& format) {
    const std::string block = format.is_whole_tensor() ? "tensor"
                                                       : std::to_string(format.block_rows) + "x" +
                                                             std::to_string(format.block_columns);
    return std::string(format.element().name) + " elements, one " +
           std::string(format.scale().name) + " scale per " + block;
}

std::vector<const Recipe*> recipes_of(const RecipeFormat& format) {
    std::vector<const Recipe*> found;
    for (const Recipe& recipe : recipes)
        if (quantizes(recipe, format)) found.push_back(&recipe);
    return found;
}

}  // namespace mx::emulate
