// One block through both recipe oracles, for the tests: the codes, once the two agree.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "reference/exact/real_scale.hpp"
#include "reference/fast/block.hpp"
#include "reference/fast/real_scale.hpp"
#include "reference/spec/hadamard.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::recipe_test {

using Codes = std::vector<std::uint32_t>;

struct Asked {
    std::string_view recipe;
    std::string_view format;
    const ElementFormat& input;
    Codes lanes;
    std::uint32_t tensor_amax;         // binary32
    std::vector<RandomBits> random{};  // one a lane, or none
    std::uint32_t history_scale = 0x3F800000;
};

// The tensor scale, the block's scale, the factor (all but the scale as binary32), the elements.
struct Answered {
    std::uint32_t tensor_scale = 0;
    std::uint32_t scale = 0;
    std::uint32_t factor = 0;
    Codes elements;
    bool operator==(const Answered&) const = default;
};

inline std::uint32_t f32_code(const exact::Value& value) {
    return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
}

inline Answered exact_answer(const Asked& asked) {
    const Quantizer& recipe = *find_quantizer(asked.recipe);
    const BlockFormat& format = *find_block_format(asked.format);
    std::vector<exact::Value> lanes;
    for (const std::uint32_t bits : asked.lanes)
        lanes.push_back(exact::decode(asked.input, Code{bits}));
    lanes = exact::transformed(recipe, lanes);
    const exact::TensorNumbers tensor =
        exact::tensor_numbers(recipe, format, exact::f32_of_code(asked.tensor_amax),
                              exact::f32_of_code(asked.history_scale));
    const exact::ScaledBlock block =
        exact::quantize_block({recipe, format, asked.input, tensor}, lanes, asked.random);
    Answered answered{
        f32_code(tensor.scale), block.scale.stored.bits, f32_code(block.scale.factor), {}};
    for (const Code element : block.elements) answered.elements.push_back(element.bits);
    return answered;
}

inline std::vector<fast::Unpacked> fast_lanes(const Quantizer& recipe, const Asked& asked) {
    std::vector<fast::Unpacked> lanes;
    for (const std::uint32_t bits : asked.lanes)
        lanes.push_back(fast::unpack(asked.input, Code{bits}));
    if (recipe.transform == LaneTransform::none) return lanes;
    std::vector<fast::Unpacked> rotated;
    for (std::size_t first = 0; first < lanes.size(); first += hadamard_size)
        for (int to = 0; to < hadamard_size; ++to)
            rotated.push_back(fast::rotated_lane(lanes.data() + first, to));
    return rotated;
}

inline Answered fast_answer(const Asked& asked) {
    const Quantizer& recipe = *find_quantizer(asked.recipe);
    const BlockFormat& format = *find_block_format(asked.format);
    const std::vector<fast::Unpacked> lanes = fast_lanes(recipe, asked);
    const fast::Unpacked amax =
        fast::amax_of_values(recipe, lanes.data(), static_cast<int>(lanes.size()));
    const fast::TensorNumbers tensor =
        fast::tensor_numbers(recipe, format, fast::unpack(formats::f32, Code{asked.tensor_amax}),
                             fast::unpack(formats::f32, Code{asked.history_scale}));
    const fast::BlockQuestion question{recipe, format, asked.input, tensor};
    const fast::BlockScale scale =
        fast::chosen_scale(question, amax, static_cast<int>(lanes.size()),
                           [&](int lane) { return lanes[static_cast<std::size_t>(lane)]; });
    Answered answered{f32_code(tensor.scale), scale.stored.bits, f32_code(scale.factor), {}};
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        answered.elements.push_back(
            fast::quantize_lane(question, scale, lanes[lane],
                                asked.random.empty() ? RandomBits{} : asked.random[lane])
                .bits);
    return answered;
}

inline Answered answer(const Asked& asked) {
    const Answered exact = exact_answer(asked), fast = fast_answer(asked);
    EXPECT_EQ(exact.tensor_scale, fast.tensor_scale) << asked.recipe;
    EXPECT_EQ(exact.scale, fast.scale) << asked.recipe;
    EXPECT_EQ(exact.factor, fast.factor) << asked.recipe;
    EXPECT_EQ(exact.elements, fast.elements) << asked.recipe;
    return exact;
}

}  // namespace mx::recipe_test
