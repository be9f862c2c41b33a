// Recipes on exact values: every step of spec/recipe.hpp, rounded where the library rounds and no
// earlier.
#pragma once

#include <span>
#include <vector>

#include "reference/exact/f32_arithmetic.hpp"
#include "reference/spec/recipe.hpp"

namespace mx::exact {

// What belongs to a whole tensor: its amax, and the tensor scale S where the recipe has one.
struct TensorNumbers {
    Value amax;
    Value scale;
};

// The lanes as they are quantized: rotated in groups of 16 where the recipe says so.
std::vector<Value> transformed(const Recipe& recipe, std::span<const Value> lanes);

// The largest magnitude; NaN where a NaN counts.
Value amax_of(const Recipe& recipe, std::span<const Value> lanes);

// For a recipe whose tensor scale is that of earlier tensors, `history_scale` is S.
TensorNumbers tensor_numbers(const Recipe& recipe, const RecipeFormat& format, const Value& amax,
                             const Value& history_scale = {});

// The number that is kept with the tensor: what the way back needs.
Value kept_number(const Recipe& recipe, const TensorNumbers& tensor);

// A block's scale with the steps that led to it.
struct RecipeScale {
    Value amax;
    Value ratio;   // before it is rounded to the type of the scale
    Code stored;   // in the format's scale type
    Value scale;   // what a lane is divided by, if the recipe divides
    Value factor;  // what it is multiplied by, if it multiplies
};

// Of a candidate, the ratio is 1 or 1.5 times the computed one.
enum class Candidate { maps_to_largest, maps_to_two_thirds };

struct BlockQuestion {
    const Recipe& recipe;
    const RecipeFormat& format;
    const ElementFormat& input;
    const TensorNumbers& tensor;
};

RecipeScale block_scale(const BlockQuestion& question, const Value& amax,
                        Candidate candidate = Candidate::maps_to_largest);

// The lane just before it is rounded to an element: a binary32 value.
Value scaled_lane(const Recipe& recipe, const RecipeScale& scale, const Value& lane);
Code quantize_lane(const BlockQuestion& question, const RecipeScale& scale, const Value& lane,
                   RandomBits random = {});

struct RecipeBlock {
    RecipeScale scale;
    std::vector<Code> elements;
};
// The lanes are already transformed. `random` has a value for each lane, or none.
RecipeBlock quantize_block(const BlockQuestion& question, std::span<const Value> lanes,
                           std::span<const RandomBits> random = {});

// The error of a candidate's elements: sums of binary32, in the order of the lanes.
Value candidate_error(const BlockQuestion& question, const RecipeBlock& block,
                      std::span<const Value> lanes);

// The binary32 value of an element on the way back; `kept` is kept_number.
struct StoredElement {
    Code scale;
    Code element;
};
Value dequantize_f32(const Recipe& recipe, const RecipeFormat& format, const Value& kept,
                     StoredElement stored);

}  // namespace mx::exact
