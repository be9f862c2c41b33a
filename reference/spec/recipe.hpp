// A recipe: how a library quantizes with scales that are not E8M0 bytes of 32 lanes. NVFP4 with an
// E4M3 scale for 16 and a binary32 number for the tensor, blocks with binary32 scales, whole
// tensors with one scale. As a dialect, a recipe is one small enum for each freedom; both oracles
// switch on these fields and on nothing else.
//
//   [16 lanes rotated] -> amax of the tensor -> tensor scale S -> amax of the block -> ratio
//   -> block scale -> factor -> fl32(lane * factor) or fl32(lane / scale) -> element
//
// fl32 is one rounding to nearest even in binary32. Each arrow rounds where the library rounds; the
// double rounding of the last step is part of the answer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "reference/spec/dialect.hpp"

namespace mx {

// What a recipe quantizes to: the elements, the type that holds a block's scale, and the shape of a
// block. A block of 0 x 0 is the whole tensor.
struct RecipeFormat {
    std::string_view name;
    ElementFormat element_format;
    ElementFormat scale_format;
    int block_rows;
    int block_columns;
    std::string_view source;

    MX_FOLDED constexpr const ElementFormat& element() const { return element_format; }
    MX_FOLDED constexpr const ElementFormat& scale() const { return scale_format; }
    MX_FOLDED constexpr bool is_whole_tensor() const { return block_rows == 0; }
};

// What becomes of the lanes before anything else.
enum class LaneTransform {
    none,
    hadamard16,  // signs, then the 16-point Hadamard transform, times 1/4, to bfloat16
};

// "Divided by a constant": a library may multiply by the constant's reciprocal instead.
enum class ConstantDivision {
    divided,           // fl32(x / c)
    times_reciprocal,  // fl32(x * fl32(1 / c))
};

// The number that belongs to the whole tensor. MAX is the largest element times scale_max.
enum class TensorScale {
    none,
    encode,   // fl32(MAX / amax), at most the largest binary32; 1 for an amax of 0 or infinity
    decode,   // amax over the constant MAX
    history,  // fl32(max / amax) of earlier tensors: see DelayedScaling
};

// From the block's amax to what becomes its scale; max is the largest element.
enum class BlockRatio {
    amax_over_max,               // amax over the constant max
    amax_over_max_over_tensor,   // ... then divided by S
    amax_over_max_times_tensor,  // ... then times S, an encode scale
    amax_times_scaled_tensor,    // fl32(amax * fl32(S * fl32(1 / max))), not above the largest
    max_over_amax,               // fl32(max / amax): an encode scale, the stored one its inverse
    tensor,                      // S itself: the tensor is the block
};

// The type and the values a block's scale is rounded to.
enum class BlockScale {
    f32,
    power_of_two_below,  // binary32 with its mantissa cleared
    power_of_two_above,  // the next power of two, in [2^-126, 2^127]; Inf and NaN give 2^127
    e4m3,                // saturating
    e4m3_from_2tom6,     // clamped to [2^-6, 448] first
    e4m3_best_of_two,    // "four over six": the ratio, or 1.5 times it, whichever errs less
};

// An encode scale of an amax that is zero, infinite or NaN.
enum class UselessAmax {
    as_computed,  // what the division gives
    one,
};

// An encode scale beyond binary32.
enum class EncodeOverflow {
    infinity,
    largest_f32,
    largest_input,  // the largest value of the input's type
};

// What a lane is multiplied by.
enum class Factor {
    encode_scale,           // the encode scale before it was inverted to be stored
    reciprocal,             // fl32(1 / scale)
    reciprocal_of_product,  // fl32(1 / fl32(scale * fl32(1 / S))), at most the largest binary32
    reciprocal_over_scale,  // fl32(fl32(1 / S) / scale)
    bf16_quotient,          // fl32(S / scale), at most the largest bfloat16, to bfloat16
    none,                   // the lane is divided by the scale
};

// How two candidates for a block's scale are compared ("four over six").
enum class CandidateError { none, absolute, square };

// A value from an element code.
enum class WayBack {
    times_scale,         // fl32(element * scale)
    times_scale_tensor,  // fl32(element * fl32(S * scale))
    times_scale_amax,    // fl32(element * fl32(fl32(scale * amax) * fl32(1 / MAX)))
};

// A decision of which a recipe's source says nothing, or that it leaves to the hardware. Each is
// one bit of Recipe::open.
enum class OpenRecipe : std::uint32_t {
    nan_in_block = 1u << 0,
    infinity_in_block = 1u << 1,
    zero_block = 1u << 2,
    nan_code = 1u << 3,
    sign_of_zero = 1u << 4,
    transform_order = 1u << 5,  // in which order a matrix unit adds the 16 products
    random_bits = 1u << 6,      // which bits decide which element
    scale_precision = 1u << 7,  // the type of the scale, and how it is rounded
    scale_range = 1u << 8,      // what becomes of a block whose scale rounds to 0, or is too large
};

inline constexpr std::array<std::pair<std::string_view, OpenRecipe>, 9> open_recipes{{
    {"a NaN among the lanes", OpenRecipe::nan_in_block},
    {"an infinity among the lanes", OpenRecipe::infinity_in_block},
    {"a block of zeros", OpenRecipe::zero_block},
    {"the code of a NaN", OpenRecipe::nan_code},
    {"the sign of a zero", OpenRecipe::sign_of_zero},
    {"the order of the transform's sums", OpenRecipe::transform_order},
    {"which random bits serve which lane", OpenRecipe::random_bits},
    {"the precision of the scale", OpenRecipe::scale_precision},
    {"a scale that rounds to 0 or lies beyond the largest", OpenRecipe::scale_range},
}};

constexpr std::uint32_t operator|(OpenRecipe a, OpenRecipe b) {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b);
}
constexpr std::uint32_t operator|(std::uint32_t a, OpenRecipe b) {
    return a | static_cast<std::uint32_t>(b);
}

struct Recipe {
    std::string_view name;
    std::string_view title;
    std::string_view source;  // repository@commit:path

    std::uint32_t formats;  // one bit for each row of recipe_formats
    InputSet inputs;

    LaneTransform transform;
    NanInBlock nan_in_block;  // of the tensor's amax too
    TensorScale tensor_scale;
    ConstantDivision division;
    int scale_max;           // the largest block scale that the tensor scale aims at
    std::uint32_t amax_min;  // binary32 code; a block's amax below it is raised to it
    BlockRatio block_ratio;
    UselessAmax useless_amax;
    EncodeOverflow encode_overflow;
    BlockScale block_scale;
    CandidateError candidate_error;
    Factor factor;
    Rounding element_rounding;
    Overflow element_overflow;
    NanCode nan_code;
    SignOfZero sign_of_zero;  // kept, or input_dropped
    WayBack way_back;

    std::uint32_t open;

    constexpr bool leaves_open(OpenRecipe decision) const {
        return (open & static_cast<std::uint32_t>(decision)) != 0;
    }
    constexpr bool reads(std::string_view type) const { return contains_input(inputs, type); }
    constexpr bool stores_inverse() const {
        return block_ratio == BlockRatio::max_over_amax || block_ratio == BlockRatio::tensor;
    }
};

// The last step of a recipe as rules of an element, which both oracles know how to apply. A -0
// that loses its sign loses it before the multiplication, so it is not asked for here.
MX_FOLDED constexpr Dialect element_rules(const Recipe& recipe) {
    Dialect rules{};
    rules.element_rounding = recipe.element_rounding;
    rules.element_overflow = recipe.element_overflow;
    rules.subnormals = Subnormals::honoured;
    rules.nan_code = recipe.nan_code;
    rules.sign_of_zero = SignOfZero::kept;
    return rules;
}

// Delayed scaling: the scale for a tensor from the amax values of those before it.
enum class AmaxAlgorithm { max, most_recent };

// What a zero as the newest amax does to the history.
enum class ZeroAmaxHistory {
    rolls,  // the history moves on as ever
    stays,  // nothing moves, and the scale stays as it is
};

struct DelayedScaling {
    AmaxAlgorithm algorithm = AmaxAlgorithm::max;
    int margin = 0;  // the scale is 2^margin smaller
    ZeroAmaxHistory on_zero = ZeroAmaxHistory::stays;
};

inline constexpr std::array<std::pair<std::string_view, AmaxAlgorithm>, 2> amax_algorithms{{
    {"max", AmaxAlgorithm::max},
    {"most_recent", AmaxAlgorithm::most_recent},
}};

// 2^-margin is a normal binary32 number, and so is the product with the largest element.
inline constexpr int margin_limit = 100;

// The signs of the transform, one bit a lane, set where the sign is negative:
// 1 1 1 -1 1 -1 -1 -1 -1 -1 -1 1 -1 1 -1 -1, lane 0 in the lowest bit.
// NVIDIA/TransformerEngine@d0067d0:transformer_engine/pytorch/tensor/nvfp4_tensor.py
inline constexpr std::uint32_t hadamard_signs = 0b1101'0111'1110'1000;
inline constexpr int hadamard_size = 16;

// Is lane `from` subtracted in output `to`? The matrix is diag(signs) times Sylvester's, whose
// entry is -1 where the two indices share an odd number of one bits.
MX_FOLDED constexpr bool hadamard_subtracts(int from, int to) {
    int shared = from & to;
    shared ^= shared >> 2;
    shared ^= shared >> 1;
    return ((static_cast<std::uint32_t>(shared) ^ (hadamard_signs >> from)) & 1) != 0;
}

}  // namespace mx
