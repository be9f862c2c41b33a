// The plain types of the CUDA device: which inputs, which elements, which rule, where the bytes
// lie. Shared by host and GPU code of device/cuda. Knows nothing of the device ABI or of names.
#pragma once

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIP__)
#define MX_CUDA_BOTH __host__ __device__
#else
#define MX_CUDA_BOTH
#endif

// Compilers for a host do not know this pragma.
#if defined(__CUDA_ARCH__)
#define MX_CUDA_UNROLL _Pragma("unroll")
#else
#define MX_CUDA_UNROLL
#endif

namespace mx::cuda {

enum class ValueType { f32, bf16, f16 };
enum class Element { e4m3, e5m2, e3m2, e2m3, e2m1, int8, int8_symmetric };

MX_CUDA_BOTH constexpr int width_of(ValueType type) {
    return type == ValueType::f32 ? 4 : 2;
}
MX_CUDA_BOTH constexpr bool is_fp8(Element element) {
    return element == Element::e4m3 || element == Element::e5m2;
}

inline constexpr std::uint32_t f32_infinity = 0x7F800000u;
inline constexpr std::uint8_t scale_nan = 0xFF;

// How the bits of a block's amax, as float32 without its sign, become a scale byte.
enum class Exponent {
    field,  // the exponent field of amax + carry, less the exponent of the largest element
    ratio,  // amax * inverse_largest in float32, rounded up to a power of two
};
// What a ratio beyond 2^127 becomes: Inf, or a finite one where that can be.
enum class ScaleOverflow { to_nan, to_largest };
enum class NanPolicy {
    poisons_block,  // scale 0xFF and every element NaN; an Inf does the same
    own_lane,       // left out of amax; only its own lane becomes NaN; an Inf saturates
};

struct ScaleRule {
    Exponent exponent;
    NanPolicy nan_policy;
    ScaleOverflow overflow;         // of a ratio
    std::uint32_t carry;            // of a field: what carries into it where the rule rounds up
    std::uint32_t poison_from;      // of a field: amax bits from which the scale is NaN
    std::int32_t exponent_largest;  // of a field
    float inverse_largest;          // of a ratio
};

// An element format as numbers. INT8 is such a grid too: 128 magnitudes in the lowest binade, whose
// unit is 2^-6.
struct Grid {
    int mantissa_bits;
    int exponent_min;  // of the smallest normal value
    std::uint32_t code_max;
    std::uint32_t code_max_negative;  // as a magnitude
    std::uint32_t code_overflow;      // Inf, or NaN without it, or code_max without either
    std::uint32_t special_from;       // the first magnitude that is Inf or NaN
    int sign_place;
    bool is_twos_complement;
};
inline constexpr std::uint32_t no_specials = 0x100;

MX_CUDA_BOTH constexpr Grid grid_of(Element element) {
    switch (element) {
        case Element::e4m3:
            return {3, -6, 0x7E, 0x7E, 0x7F, 0x7F, 7, false};
        case Element::e5m2:
            return {2, -14, 0x7B, 0x7B, 0x7C, 0x7C, 7, false};
        case Element::e3m2:
            return {2, -2, 0x1F, 0x1F, 0x1F, no_specials, 5, false};
        case Element::e2m3:
            return {3, 0, 0x1F, 0x1F, 0x1F, no_specials, 5, false};
        case Element::e2m1:
            return {1, 0, 0x07, 0x07, 0x07, no_specials, 3, false};
        case Element::int8:
            return {7, 1, 0x7F, 0x80, 0x7F, no_specials, 7, true};
        case Element::int8_symmetric:
            break;
    }
    return {7, 1, 0x7F, 0x7F, 0x7F, no_specials, 7, true};
}

// Blocks always lie along lanes: what the caller calls the columns of a tensor in blocks along
// columns are the lines here. Strides are counted in elements.
struct Extent {
    std::int64_t lines;
    std::int64_t lanes;
};
struct Plane {
    std::uint8_t* data;
    std::int64_t line_stride;
    std::int64_t lane_stride;
};

// Scale (line, block) of the grid of blocks; in tiles of 128 lines by 4 blocks or by two strides.
enum class ScaleOrder { strided, tiles_128x4 };
struct ScalePlane {
    std::uint8_t* data;
    ScaleOrder order;
    std::int64_t line_stride;
    std::int64_t block_stride;
    std::int64_t tiles_across;  // of a line, in tiles
    // Where this job begins in the grid: for schedule.cpp, which cuts jobs in parts. The functions
    // of kernels.hpp refuse anything but 0.
    std::int64_t first_line;
    std::int64_t first_block;
};

MX_CUDA_BOTH inline std::int64_t place_of(const ScalePlane& scales, Extent cell) {
    const std::int64_t line = scales.first_line + cell.lines;
    const std::int64_t block = scales.first_block + cell.lanes;
    if (scales.order == ScaleOrder::strided)
        return line * scales.line_stride + block * scales.block_stride;
    return (line / 128 * scales.tiles_across + block / 4) * 512 + line % 32 * 16 +
           line % 128 / 32 * 4 + block % 4;
}

// What a block is made of and by which rule; dequantizing reads the two types alone.
struct Recipe {
    ValueType value_type;
    Element element;
    ScaleRule rule;
    std::uint8_t nan_code;
};

// Blocks of `block` lines and lanes; the last ones may be cut off.
struct BlockJob {
    Recipe recipe;
    Extent extent;
    Extent block;
    Plane values;
    Plane codes;
    ScalePlane scales;
};

// Rows and columns of one tensor from one read. Lines are rows in `rows`, and so they are in the
// two members that follow, whose blocks run down the columns.
struct BothJob {
    BlockJob rows;
    Plane column_codes;
    ScalePlane column_scales;  // its lines are the columns
};

// The same tensor with its blocks down the columns.
MX_CUDA_BOTH inline BlockJob columns_of(const BothJob& job) {
    BlockJob columns = job.rows;
    columns.extent = {job.rows.extent.lanes, job.rows.extent.lines};
    columns.values = {job.rows.values.data, job.rows.values.lane_stride,
                      job.rows.values.line_stride};
    columns.codes = {job.column_codes.data, job.column_codes.lane_stride,
                     job.column_codes.line_stride};
    columns.scales = job.column_scales;
    return columns;
}

// What becomes of a value beyond the largest element: that one, or Inf, or NaN without an Inf.
enum class Overflow { saturate, to_special };

enum class ElementRounding {
    nearest_even,
    stochastic8,  // adds 8 random bits to the first 8 discarded bits; a carry rounds up
};

// One element at a time.
struct ConvertJob {
    ValueType value_type;
    Element element;
    std::uint8_t nan_code;
    Overflow overflow;
    Extent extent;
    Plane values;
    Plane codes;
};
struct EncodeScaleJob {
    ValueType value_type;
    ScaleRule rule;
    Extent extent;
    Plane values;  // signs are ignored
    Plane scales;
};

}  // namespace mx::cuda
