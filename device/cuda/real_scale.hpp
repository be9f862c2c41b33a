// Blocks whose scale is a number with a mantissa (NVFP4, FP8 under binary32): what a rule is made
// of and where the bytes of a job lie. Shared by host and GPU code of device/cuda. Knows nothing of
// the device ABI or of names.
#pragma once

#include <cstdint>

#include "device/cuda/types.hpp"

namespace mx::cuda {

// "S" is the number of the whole tensor, "largest" the largest element, "range" the largest element
// times the largest scale. Every step is one operation of binary32, rounded to nearest even.

enum class NanInAmax { left_out, taken };

// How S follows from the amax of the tensor.
enum class TensorNumber {
    none,
    range_over_amax,           // at most the largest binary32; 1 where it is 0, and for amax 0
    amax_over_range,           // amax / range
    amax_times_inverse_range,  // amax * (1 / range)
    given_as_scale,            // no amax is given, but S
};

// From the amax of a block to what becomes its scale.
enum class Ratio {
    quotient,               // amax / largest
    product,                // amax * (1 / largest)
    quotient_over_number,   // (amax / largest) / S
    product_over_number,    // (amax * (1 / largest)) / S
    quotient_times_number,  // (amax / largest) * S
    times_scaled_number,    // amax * (S * (1 / largest)), at most the largest binary32
    inverse,                // largest / amax
    inverse_within_f32,     // the same, at most the largest binary32; 1 for amax 0, Inf and NaN
    inverse_within_input,   // the same, and where it is Inf the largest value of the input's type
    number,                 // S
};

// What scales there are.
enum class ScaleSet {
    f32,
    power_of_two_below,  // binary32 without its mantissa
    power_of_two_above,  // from 2^-126 to 2^127, which is that of Inf and NaN, too
    e4m3,
    e4m3_from_2tom6,       // at least 2^-6
    e4m3_absolute_of_two,  // the ratio, or 1.5 times it where that has the smaller sum of absolute
    e4m3_squares_of_two,   // errors, or of squared ones
};

// What an element is multiplied by.
enum class Factor {
    scale,                      // and 1 / scale is what is stored
    inverse,                    // 1 / scale
    inverse_of_product,         // 1 / (scale * (1 / S)), at most the largest binary32
    inverse_number_over_scale,  // (1 / S) / scale
    bf16_quotient,              // S / scale in bfloat16, at most its largest
    none,                       // the element is divided by the scale
};

enum class WayBack {
    scale,             // element * scale
    scale_and_number,  // element * (S * scale)
    scale_and_amax,    // element * ((scale * amax) * (1 / range)), the amax of the tensor
};

struct RealScaleRule {
    TensorNumber number;
    float scale_largest;
    NanInAmax nan_in_amax;
    float amax_least;
    Ratio ratio;
    ScaleSet scales;
    Factor factor;
    ElementRounding rounding;
    Overflow overflow;
    std::uint8_t nan_of_e2m1;
    bool rotates;            // by Hadamard's transform of 16, before anything else
    bool clears_minus_zero;  // of an element
    WayBack way_back;

    friend constexpr bool operator==(const RealScaleRule&, const RealScaleRule&) = default;
};

inline constexpr int rotation_lanes = 16;

// Codes a byte each, or of 4 bits two a byte, those of a tensor's row side by side: the columns of
// a tensor in blocks down columns are the lines here, so that neighbours in a byte are of two
// lines.
enum class CodeOrder { bytes, low_first, high_first };
struct CodePlane {
    std::uint8_t* data;
    CodeOrder order;
    std::int64_t line_stride;  // of bytes; the next two are
    std::int64_t lane_stride;
    // Of codes of 4 bits: rows and, within a row, groups so many bytes apart. A row that is one
    // stream is one group.
    bool rows_are_lanes;
    std::int64_t row_bytes;
    std::int64_t group;
    std::int64_t group_bytes;
    bool fills_groups;  // with codes 0, where the row ends within one
};

struct CodePlace {
    std::uint8_t* byte;
    int shift;
    bool is_second;  // of the two in a byte
};
MX_CUDA_BOTH inline CodePlace place_of(const CodePlane& codes, Extent cell) {
    if (codes.order == CodeOrder::bytes)
        return {codes.data + cell.lines * codes.line_stride + cell.lanes * codes.lane_stride, 0,
                false};
    const std::int64_t row = codes.rows_are_lanes ? cell.lanes : cell.lines;
    const std::int64_t column = codes.rows_are_lanes ? cell.lines : cell.lanes;
    const bool is_second = column % 2 != 0;
    const bool is_high = is_second == (codes.order == CodeOrder::low_first);
    return {codes.data + row * codes.row_bytes + column / codes.group * codes.group_bytes +
                column % codes.group / 2,
            is_high ? 4 : 0, is_second};
}

// Of a block's scale, which may lie in smaller tiles than those of the fast kernels for E8M0.
enum class TileOrder { none, tiles_8x4, tiles_32x8 };
struct RealScalePlane {
    ScalePlane plane;
    TileOrder tiles;
    bool is_f32;
};
MX_CUDA_BOTH inline std::int64_t place_of(const RealScalePlane& scales, Extent cell) {
    const std::int64_t x = cell.lines, y = cell.lanes, across = scales.plane.tiles_across;
    if (scales.tiles == TileOrder::tiles_8x4)
        return (x / 8 * across + y / 4) * 32 + x % 8 * 4 + y % 4;
    if (scales.tiles == TileOrder::tiles_32x8)
        return (x / 32 * across + y / 8) * 256 + y % 4 * 64 + x % 16 * 4 + y % 8 / 4 * 2 +
               x % 32 / 16;
    return place_of(scales.plane, cell);
}

// Where the number of the tensor comes from.
enum class NumberSource { none, given, derived };

// One direction of one tensor. Nothing of it need be aligned.
struct RealScaleJob {
    RealScaleRule rule;
    ValueType value_type;
    Element element;
    Extent extent;
    Extent block;  // of 0 lines: the tensor is one block, also where it is empty
    Plane values;
    CodePlane codes;
    RealScalePlane scales;
    Plane random;  // words for elements that are rounded stochastically
    NumberSource source;
    const std::uint8_t* number;  // given to quantize, or what it kept given to dequantize
    std::uint8_t* kept;
};

MX_CUDA_BOTH inline bool is_whole_tensor(const RealScaleJob& job) {
    return job.block.lines == 0;
}
MX_CUDA_BOTH inline Extent block_grid(const RealScaleJob& job) {
    if (is_whole_tensor(job)) return {1, 1};
    return {(job.extent.lines + job.block.lines - 1) / job.block.lines,
            (job.extent.lanes + job.block.lanes - 1) / job.block.lanes};
}

}  // namespace mx::cuda
