// Casts of binary32 values to E8M0 as libraries do them: every library known, one row each, typed
// by hand from what its source or its run says. Used by scale_cast_test.cpp, and by the test that
// mutates rows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mx {

inline constexpr std::size_t cast_column_count = 19;
inline constexpr int unknown = -1;  // the source says nothing, or refuses the value

inline constexpr std::array<std::uint32_t, cast_column_count> cast_columns{
    0x00000000, 0x80000000,  // 0 and -0
    0x00000001,              // 2^-149
    0x00400000,              // 2^-127
    0x00400001,              // one ulp above
    0x00600000,              // 1.5 * 2^-127
    0x3F800000, 0x3F800001,  // 1, one ulp above
    0x3FA00000,              // 1.25
    0x3FB60000,              // 1.421875, just above the square root of 2
    0x3FC00000,              // 1.5
    0x40400000,              // 3
    0x7E800000,              // 2^126: a power of two is its own scale, whoever rounds it
    0x7F000000, 0x7F000001,  // 2^127, one ulp above
    0x7F7FFFFF,              // the largest binary32
    0x7F800000, 0x7FC00000,  // Inf, NaN
    0xC0000000,              // -2
};

struct CastRow {
    std::string_view dialects;  // separated by blanks
    std::array<int, cast_column_count> bytes;
};

inline constexpr std::array cast_table{
    CastRow{"cuda-e8m0-rp-satfinite nv te-specialised flashinfer thunderkittens",
            {0, 0, 0, 0, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 254, 254, 254, 255, 128}},
    CastRow{"cuda-e8m0-rp torchao-rceil",
            {0, 0, 0, 0, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 255, 255, 255, 255, 128}},
    CastRow{"cuda-e8m0-rz",
            {0, 0, 0, 0, 0, 0, 127, 127, 127, 127, 127, 128, 253, 254, 254, 254, 255, 255, 128}},
    CastRow{"cuda-e8m0-rz-satfinite",
            {0, 0, 0, 0, 0, 0, 127, 127, 127, 127, 127, 128, 253, 254, 254, 254, 254, 255, 128}},
    CastRow{"cutlass-host",
            {0, 0, 0, 0, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 254, 254, 255, 255, 128}},
    CastRow{"te-cutedsl",
            {0, 0, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 254, 254, 254, 0, 128}},
    CastRow{"flashinfer-cute",
            {0, 0, 0, 0, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 254, 254, 254, 254, 0}},
    CastRow{"megatron-round-up",
            {0, 0, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 255, 255, 255, 0, 128}},
    CastRow{"aiter-roundup aiter-ceil",
            {0, 0, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 255, 255, 255, 255, 128}},
    CastRow{"deepgemm deepgemm-fp4 deepgemm-legacy deepgemm-fp4-legacy",
            {1, 1, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 254, 254, 254, 254, 128}},
    CastRow{"pytorch-e8m0",
            {0, 0, 0, 0, 1, 1, 127, 127, 127, 127, 128, 129, 253, 254, 254, 255, 255, 255, 128}},
    CastRow{"onnx-up",
            {0, 0, 1, 1, 1, 1, 127, 128, 128, 128, 128, 129, 253, 254, 254, 254, 255, 255, 128}},
    CastRow{"onnx-nearest",
            {0, 0, 0, 0, 1, 1, 127, 127, 127, 127, 128, 129, 253, 254, 254, 254, 255, 255, 128}},
    CastRow{
        "ml_dtypes",
        {255, 255, 0, 0, 1, 1, 127, 127, 127, 127, 128, 129, 253, 254, 254, 255, 255, 255, 255}},
    CastRow{"gfloat-e8m0",
            {unknown, unknown, 0, 0, 0, 0, 127, 127, 127, 127, 128, 128, 253, 254, 254, 254, 254,
             255, unknown}},
    CastRow{"universal-e8m0",
            {0, 0, 0, 0, 0, 1, 127, 127, 127, 128, 128, 129, 253, 254, 254, 254, 254, 255, 0}},
    CastRow{"onednn",
            {0, 0, 0, 0, 0, 0, 127, 127, 127, 127, 127, 128, 253, 254, 254, 254, 255, 255, 128}},
};

}  // namespace mx
