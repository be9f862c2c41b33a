// More answers typed by hand: scales, whole blocks and dot products. As known_answers.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/gemm.hpp"

namespace mx::known {

// Values of binary32 as E8M0 bytes, as libraries cast them: 0, -0, 2^-149, 2^-127, an ulp above,
// 1.5 * 2^-127, 1, an ulp above, 1.25, 1.421875 (above the square root of 2), 1.5, 3, 2^127, an ulp
// above, the largest, Inf and NaN.
inline constexpr std::array<std::uint32_t, 17> cast_columns{
    0x00000000, 0x80000000, 0x00000001, 0x00400000, 0x00400001, 0x00600000,
    0x3F800000, 0x3F800001, 0x3FA00000, 0x3FB60000, 0x3FC00000, 0x40400000,
    0x7F000000, 0x7F000001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000,
};
struct Cast {
    std::array<int, cast_columns.size()> bytes;
    std::string_view dialect;
};

// A row for each rounding of a scale and each way it ends below and above.
inline constexpr std::array casts{
    Cast{{0, 0, 0, 0, 1, 1, 127, 128, 128, 128, 128, 129, 254, 254, 254, 254, 255}, "nv"},
    Cast{{0, 0, 0, 0, 1, 1, 127, 128, 128, 128, 128, 129, 254, 255, 255, 255, 255},
         "torchao-rceil"},
    Cast{{0, 0, 0, 0, 0, 0, 127, 127, 127, 127, 127, 128, 254, 254, 254, 255, 255}, "onednn"},
    Cast{{0, 0, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 254, 255, 255, 255, 0},
         "megatron-round-up"},
    Cast{{1, 1, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 254, 254, 254, 254, 254}, "deepgemm"},
    Cast{{0, 0, 0, 0, 1, 1, 127, 127, 127, 127, 128, 129, 254, 254, 255, 255, 255}, "pytorch-e8m0"},
    Cast{{255, 255, 0, 0, 1, 1, 127, 127, 127, 127, 128, 129, 254, 254, 255, 255, 255},
         "ml_dtypes"},
    Cast{{0, 0, 0, 0, 0, 1, 127, 127, 127, 128, 128, 129, 254, 254, 254, 254, 255},
         "universal-e8m0"},
};

// Codes of binary32 become a scale and as many elements.
struct Block {
    std::array<std::uint32_t, 8> input;
    int count;
    std::uint32_t scale;
    std::array<std::uint8_t, 8> elements;
    std::string_view format;
    std::string_view dialect;
};

inline constexpr std::array blocks{
    // 480 lies above the largest element; 448 is it.
    Block{{0x43F00000}, 1, 127, {0x7E}, "mxfp8-e4m3", "ocp"},
    Block{{0x43F00000}, 1, 128, {0x77}, "mxfp8-e4m3", "nv"},
    Block{{0x43F00000}, 1, 128, {0x77}, "mxfp8-e4m3", "torchao-ceil"},
    Block{{0x43E00000}, 1, 128, {0x76}, "mxfp8-e4m3", "torchao-ceil"},
    Block{{0x43F80000}, 1, 128, {0x78}, "mxfp8-e4m3", "torchao-even"},
    Block{{0x3F800000}, 1, 118, {0x7E}, "mxfp8-e4m3", "triton-round-down-legacy"},
    Block{{0x3F800000}, 1, 119, {0x78}, "mxfp8-e4m3", "triton-round-down"},
    // A binary32 ulp above a tie, by way of binary16; one below the smallest tie, in binary32; a
    // value beyond the largest of an element with an infinity.
    Block{{0x3F800000, 0x3F880001}, 2, 119, {0x78, 0x78}, "mxfp8-e4m3", "onednn"},
    Block{{0x40C00000, 0x3E7FFFFF}, 2, 127, {7, 1}, "mxfp4-e2m1", "microxcaling"},
    Block{{0x40F00000}, 1, 114, {0x7C}, "mxfp8-e5m2", "universal"},
    // 114688.008 / 448 is an ulp above 256.
    Block{{0x47E00001}, 1, 136, {0x76}, "mxfp8-e4m3", "nv"},
    // The largest binary32, and 2^-120, where the scale ends.
    Block{{0x7F7FFFFF}, 1, 246, {0x7E}, "mxfp8-e4m3", "ocp"},
    Block{{0x7F7FFFFF}, 1, 247, {0x78}, "mxfp8-e4m3", "nv"},
    Block{{0x7F7FFFFF}, 1, 255, {0x7F}, "mxfp8-e4m3", "torchao-even"},
    Block{{0x03800000}, 1, 0, {0x70}, "mxfp8-e4m3", "ocp"},
    Block{{0x03800000}, 1, 1, {0x68}, "mxfp8-e4m3", "megatron-round-up"},
    Block{{0x03800000}, 1, 105, {0x00}, "mxfp8-e4m3", "deepgemm"},
    // 6, 5, 3.5, 2.5, 1.75, 0.75, 0.25: every tie of FP4; 2.8 and -1.2.
    Block{{0x40C00000, 0x40A00000, 0x40600000, 0x40200000, 0x3FE00000, 0x3F400000, 0x3E800000},
          7,
          127,
          {7, 6, 6, 4, 4, 2, 0},
          "mxfp4-e2m1",
          "ocp"},
    Block{{0x40C00000, 0x40A00000, 0x40600000, 0x40200000, 0x3FE00000, 0x3F400000, 0x3E800000},
          7,
          127,
          {7, 6, 5, 4, 3, 1, 0},
          "mxfp4-e2m1",
          "deepgemm-fp4"},
    Block{{0x40333333, 0xBF99999A}, 2, 120, {0x7B, 0xF2}, "mxfp8-e4m3", "ocp"},
    // Zeros, a NaN, an Inf.
    Block{{0, 0}, 2, 0, {0, 0}, "mxfp8-e4m3", "ocp"},
    Block{{0, 0}, 2, 119, {0, 0}, "mxfp8-e4m3", "universal"},
    Block{{0x3F800000, 0x7FC00000}, 2, 119, {0x78, 0x7F}, "mxfp8-e4m3", "nv"},
    Block{{0x3F800000, 0x7FC00000}, 2, 255, {0x7F, 0x7F}, "mxfp8-e4m3", "torchao-floor"},
    Block{{0x3F800000, 0x7FC00000}, 2, 125, {6, 7}, "mxfp4-e2m1", "nv"},
    Block{{0x3F800000, 0xFF800000}, 2, 254, {0x00, 0xFE}, "mxfp8-e4m3", "nv"},
    Block{{0x3F800000, 0x7F800000}, 2, 255, {0x7F, 0x7F}, "mxfp8-e4m3", "torchao-rceil"},
    Block{{0x3F800000, 0x7F800000}, 2, 254, {0x00, 0x7E}, "mxfp8-e4m3", "deepgemm"},
    Block{{0x3F800000, 0x7F800000}, 2, 254, {0x00, 0x7F}, "mxfp8-e4m3", "deepgemm-legacy"},
    Block{{0x3F800000, 0x7FC00000}, 2, 254, {0x00, 0x00}, "mxfp4-e2m1", "deepgemm-fp4"},
    Block{{0x3F800000, 0x7FC00000}, 2, 254, {0x00, 0x07}, "mxfp4-e2m1", "deepgemm-fp4-legacy"},
    Block{{0x3F800000, 0x80000000, 0x80800000},
          3,
          119,
          {0x78, 0x00, 0x80},
          "mxfp8-e4m3",
          "te-specialised"},
};

// Back to binary32.
struct Dequantized {
    std::uint32_t scale;
    std::uint32_t element;
    std::uint32_t f32;
    std::string_view format;
};

inline constexpr std::array dequantized{
    Dequantized{127, 0x7E, 0x43E00000, "mxfp8-e4m3"},  // 448
    Dequantized{120, 0xF2, 0xBFA00000, "mxfp8-e4m3"},  // -160 / 128
    Dequantized{0, 0x38, 0x00400000, "mxfp8-e4m3"},    // 2^-127
    Dequantized{0, 0x01, 0x00002000, "mxfp8-e4m3"},    // 2^-136
    Dequantized{0, 0x81, 0x80000040, "mxfp8-e5m2"},    // -2^-143
    Dequantized{254, 0x7E, 0x7F800000, "mxfp8-e4m3"},  // 448 * 2^127
    Dequantized{254, 0x80, 0x80000000, "mxfp8-e4m3"},
    Dequantized{255, 0x00, 0x7FFFFFFF, "mxfp8-e4m3"},
    Dequantized{128, 0xF, 0xC1400000, "mxfp4-e2m1"},  // -12
    Dequantized{127, 0x80, 0xC0000000, "mxint8"},     // -2
};

// Rows along k, with a scale for each `block` elements where that is not 0.
struct DotRow {
    std::array<std::uint8_t, 16> codes;
    std::array<std::uint8_t, 3> scales;
};
struct Dot {
    const ElementFormat* element;
    const ElementFormat* scale;
    int depth;
    int block;
    DotRow a;
    DotRow b;
    std::uint32_t c;              // where the accumulator of a model begins
    std::uint32_t f32;            // the sum, rounded to nearest even
    std::string_view model = "";  // "": the exact sum
};

inline constexpr std::array<std::uint8_t, 16> sixteen_of_6{7, 7, 7, 7, 7, 7, 7, 7,
                                                           7, 7, 7, 7, 7, 7, 7, 7};
inline constexpr std::array dots{
    // 1 + 2 + 3 - 2; 127/64 squared; zeros.
    Dot{&formats::e4m3,
        &formats::e8m0,
        4,
        0,
        {{0x38, 0x40, 0x3C, 0xB0}, {}},
        {{0x38, 0x38, 0x40, 0x48}, {}},
        0,
        0x40800000},
    Dot{&formats::int8, &formats::e8m0, 1, 0, {{0x7F}, {}}, {{0x7F}, {}}, 0, 0x407C0400},
    Dot{&formats::e4m3, &formats::e8m0, 2, 0, {{0x38, 0x38}, {}}, {{0x38, 0xB8}, {}}, 0, 0},
    Dot{&formats::e4m3, &formats::e8m0, 1, 0, {{0x80}, {}}, {{0x38}, {}}, 0, 0},
    // 448 * 448 * 2^254 and its opposite leave 2^-9 * 2^-9 * 2^-127.
    Dot{&formats::e4m3,
        &formats::e8m0,
        3,
        1,
        {{0x7E, 0x7E, 0x01}, {254, 254, 127}},
        {{0x7E, 0xFE, 0x01}, {254, 254, 0}},
        0,
        0x00000010},
    // 2^24 + 1 and 2^24 + 3 are ties.
    Dot{&formats::e4m3,
        &formats::e8m0,
        2,
        1,
        {{0x38, 0x38}, {151, 127}},
        {{0x38, 0x38}, {127, 127}},
        0,
        0x4B800000},
    Dot{&formats::e4m3,
        &formats::e8m0,
        2,
        1,
        {{0x38, 0x44}, {151, 127}},
        {{0x38, 0x38}, {127, 127}},
        0,
        0x4B800002},
    // Beyond binary32; a NaN scale beside a zero; Inf, and Inf * 0.
    Dot{&formats::e4m3, &formats::e8m0, 1, 1, {{0x7E}, {254}}, {{0x7E}, {254}}, 0, 0x7F800000},
    Dot{&formats::e4m3, &formats::e8m0, 1, 1, {{0x00}, {255}}, {{0x00}, {127}}, 0, 0x7FFFFFFF},
    Dot{&formats::e5m2, &formats::e8m0, 1, 0, {{0x7C}, {}}, {{0x3C}, {}}, 0, 0x7F800000},
    Dot{&formats::e5m2, &formats::e8m0, 1, 0, {{0x7C}, {}}, {{0x00}, {}}, 0, 0x7FFFFFFF},
    // 16 * 6 * 6 * 1.125 * 1.125 = 729.
    Dot{&formats::e2m1,
        &ue4m3,
        16,
        16,
        {sixteen_of_6, {0x39}},
        {sixteen_of_6, {0x39}},
        0,
        0x44364000},
    Dot{&formats::e2m1,
        &ue4m3,
        16,
        16,
        {sixteen_of_6, {0x39}},
        {sixteen_of_6, {0x39}},
        0,
        0x44364000,
        "blackwell-fp4"},
    // What a pair that cancels leaves of 2 and of 1: 13 places, or 25.
    Dot{&formats::e4m3,
        &formats::e8m0,
        3,
        0,
        {{0x70, 0xF0, 0x40}, {}},
        {{0x70, 0x70, 0x38}, {}},
        0,
        0x40000000,
        "hopper-fp8"},
    Dot{&formats::e4m3,
        &formats::e8m0,
        3,
        0,
        {{0x70, 0xF0, 0x38}, {}},
        {{0x70, 0x70, 0x38}, {}},
        0,
        0x00000000,
        "hopper-fp8"},
    Dot{&formats::e4m3,
        &formats::e8m0,
        3,
        0,
        {{0x70, 0xF0, 0x38}, {}},
        {{0x70, 0x70, 0x38}, {}},
        0,
        0x3F800000,
        "blackwell-narrow"},
    // 96 * 192 is 2.25 * 2^13, aligned by 2^13.
    Dot{&formats::e4m3,
        &formats::e8m0,
        3,
        0,
        {{0x6C, 0xEC, 0x38}, {}},
        {{0x74, 0x74, 0x38}, {}},
        0,
        0x3F800000,
        "hopper-fp8"},
    // An accumulator of 13 mantissa bits; 2^-9 beside 2^-19 and 2^-20.
    Dot{&formats::e4m3,
        &formats::e8m0,
        1,
        0,
        {{0x00}, {}},
        {{0x00}, {}},
        0x3F800200,
        0x3F800000,
        "hopper-fp8"},
    Dot{&formats::e4m3,
        &formats::e8m0,
        1,
        0,
        {{0x01}, {}},
        {{0x38}, {}},
        0x36000000,
        0x3B002000,
        "hopper-fp8"},
    Dot{&formats::e4m3,
        &formats::e8m0,
        1,
        0,
        {{0x01}, {}},
        {{0x38}, {}},
        0x35800000,
        0x3B000000,
        "hopper-fp8"},
    // 1.875 * 2^127 * 2^-127, and 2^127 * 2^2.
    Dot{&formats::e4m3,
        &formats::e8m0,
        1,
        32,
        {{0x3F}, {254}},
        {{0x38}, {0}},
        0,
        0x3FF00000,
        "blackwell-mx"},
    Dot{&formats::e4m3,
        &formats::e8m0,
        1,
        32,
        {{0x38}, {254}},
        {{0x38}, {129}},
        0,
        0x7F800000,
        "blackwell-mx"},
};

}  // namespace mx::known
