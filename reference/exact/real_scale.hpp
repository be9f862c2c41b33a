// Blocks whose scale has a mantissa, E4M3, UE5M3 or binary32, on exact values: every step of
// spec/quantizer.hpp, rounded where the library rounds and no earlier. quantize.hpp chooses.
#pragma once

#include <span>
#include <vector>

#include "reference/exact/block.hpp"
#include "reference/exact/f32_arithmetic.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::exact {

// What belongs to a whole tensor: its amax, and the tensor scale S where the quantizer has one.
struct TensorNumbers {
    Value amax;
    Value scale;
};

// The lanes as they are quantized: rotated in groups of 16 where the quantizer says so.
std::vector<Value> transformed(const Quantizer& quantizer, std::span<const Value> lanes);

// For a quantizer whose tensor scale is that of earlier tensors, `history_scale` is S.
TensorNumbers tensor_numbers(const Quantizer& quantizer, const BlockFormat& format,
                             const Value& amax, const Value& history_scale = {});

// The number that is kept with the tensor: what the way back needs.
Value kept_number(const Quantizer& quantizer, const TensorNumbers& tensor);

// A block's scale with the steps that led to it.
struct BlockScale {
    Value amax;
    Value ratio;  // before it is rounded to the type of the scale
    Code stored;  // in the format's scale type
    Value scale;
    Value factor;  // what a lane is multiplied by, or divided by if the quantizer divides
};

// Of a candidate, the ratio is 1 or 1.5 times the computed one.
enum class Candidate { maps_to_largest, maps_to_two_thirds };

struct BlockQuestion {
    const Quantizer& quantizer;
    const BlockFormat& format;
    const ElementFormat& input;
    const TensorNumbers& tensor;
};

BlockScale block_scale(const BlockQuestion& question, const Value& amax,
                       Candidate candidate = Candidate::maps_to_largest);

// The lane just before it is rounded to an element: a binary32 value.
Value scaled_lane(const Quantizer& quantizer, const BlockScale& scale, const Value& lane);
Code quantize_lane(const BlockQuestion& question, const BlockScale& scale, const Value& lane,
                   RandomBits random = {});

struct ScaledBlock {
    BlockScale scale;
    std::vector<Code> elements;
};
// The lanes are already transformed. `random` has a value for each lane, or none.
ScaledBlock quantize_block(const BlockQuestion& question, std::span<const Value> lanes,
                           std::span<const RandomBits> random = {});

// The error of a candidate's elements: sums of binary32, in the order of the lanes.
Value candidate_error(const BlockQuestion& question, const ScaledBlock& block,
                      std::span<const Value> lanes);

// The binary32 value of an element on the way back; `kept` is kept_number.
struct StoredElement {
    Code scale;
    Code element;
};
Value dequantize_f32(const Quantizer& quantizer, const BlockFormat& format, const Value& kept,
                     StoredElement stored);

}  // namespace mx::exact
