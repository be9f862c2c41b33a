// Single values as processors convert them, one line each: typed by hand from what the sources of
// the rows and of UE5M3 say. Used by conversion_test.cpp, and by the test that mutates rows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mx {

struct ConversionExample {
    std::string_view dialects;  // separated by blanks
    std::string_view format;    // of convert
    std::string_view input;
    std::uint32_t value;
    std::uint32_t saturated,
        overflowed;  // the code where overflow saturates, and where it does not
};

inline constexpr std::array conversion_examples{
    // Infinities.
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0x7C00, 0x7B, 0x7C},
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0xFC00, 0xFB, 0xFC},
    ConversionExample{"avx10-fp8 arm-fp8", "e4m3", "f16", 0x7C00, 0x7E, 0x7F},
    ConversionExample{"avx10-fp8 arm-fp8", "e4m3", "f16", 0xFC00, 0xFE, 0xFF},
    ConversionExample{"arm-fp8 riscv-fp8", "e5m2", "f32", 0xFF800000, 0xFB, 0xFC},
    ConversionExample{"arm-fp8", "e4m3", "f32", 0xFF800000, 0xFE, 0xFF},
    // RISC-V has one NaN: a negative value beyond E4M3 is the positive one.
    ConversionExample{"riscv-fp8", "e4m3", "f32", 0xFF800000, 0xFE, 0x7F},
    ConversionExample{"riscv-fp8", "e4m3", "f32", 0xC3F00000, 0xFE, 0x7F},
    ConversionExample{"riscv-fp8", "e4m3", "bf16", 0xC3F0, 0xFE, 0x7F},
    // NaNs. AVX10.2 keeps the sign and what fits of the payload, and makes it quiet.
    ConversionExample{"avx10-fp8", "e5m2", "f16", 0x7E00, 0x7E, 0x7E},
    ConversionExample{"avx10-fp8", "e5m2", "f16", 0x7C01, 0x7E, 0x7E},
    ConversionExample{"avx10-fp8", "e5m2", "f16", 0xFD00, 0xFF, 0xFF},
    ConversionExample{"avx10-fp8", "e5m2", "f16", 0xFF00, 0xFF, 0xFF},
    ConversionExample{"avx10-fp8", "e4m3", "f16", 0x7E00, 0x7F, 0x7F},
    ConversionExample{"avx10-fp8", "e4m3", "f16", 0xFC01, 0xFF, 0xFF},
    // Arm writes its default NaN.
    ConversionExample{"arm-fp8", "e5m2", "f16", 0xFFFF, 0x7E, 0x7E},
    ConversionExample{"arm-fp8", "e5m2", "f32", 0x7FC00000, 0x7E, 0x7E},
    ConversionExample{"arm-fp8", "e5m2", "bf16", 0xFF81, 0x7E, 0x7E},
    ConversionExample{"arm-fp8 riscv-fp8", "e4m3", "f32", 0xFFC00000, 0x7F, 0x7F},
    ConversionExample{"riscv-fp8", "e5m2", "f32", 0xFFC00000, 0x7F, 0x7F},
    ConversionExample{"riscv-fp8", "e5m2", "bf16", 0x7F81, 0x7F, 0x7F},
    // 61440 lies half way between the largest E5M2 and 65536; 464 is a tie of E4M3 that stays.
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0x7B7F, 0x7B, 0x7B},
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0x7B80, 0x7B, 0x7C},
    ConversionExample{"avx10-fp8 arm-fp8", "e4m3", "f16", 0x5F40, 0x7E, 0x7E},
    ConversionExample{"avx10-fp8 arm-fp8", "e4m3", "f16", 0xDF41, 0xFE, 0xFF},
    // Zeros and what rounds to them keep their sign; subnormals of the input count.
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2 e4m3", "f16", 0x8000, 0x80, 0x80},
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2 e4m3", "f16", 0x8001, 0x80, 0x80},
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0x0080, 0x00, 0x00},
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0x8081, 0x81, 0x81},
    ConversionExample{"avx10-fp8 arm-fp8", "e5m2", "f16", 0x0180, 0x02, 0x02},
    ConversionExample{"avx10-fp8 arm-fp8", "e4m3", "f16", 0x1400, 0x00, 0x00},
    ConversionExample{"avx10-fp8 arm-fp8", "e4m3", "f16", 0x9401, 0x81, 0x81},
    ConversionExample{"riscv-fp8", "e5m2 e4m3", "f32 bf16", 0, 0x00, 0x00},
    ConversionExample{"riscv-fp8", "e5m2 e4m3", "f32", 0x80000001, 0x80, 0x80},
    // UE5M3: 1, its smallest value, its largest and the tie above, and what has a sign.
    ConversionExample{"ocp", "ue5m3", "f32", 0x3F800000, 0x78, 0x78},
    ConversionExample{"ocp", "ue5m3", "f32", 0x37000000, 0x01, 0x01},
    ConversionExample{"ocp", "ue5m3", "f32", 0x47E00000, 0xFE, 0xFE},
    ConversionExample{"ocp", "ue5m3", "f32", 0x47E80000, 0xFE, 0xFE},
    ConversionExample{"ocp", "ue5m3", "f32", 0x47E80001, 0xFE, 0xFF},
    ConversionExample{"ocp", "ue5m3", "f32", 0x7F800000, 0xFE, 0xFF},
    ConversionExample{"ocp", "ue5m3", "f32", 0xFFC00000, 0xFF, 0xFF},
    ConversionExample{"ocp", "ue5m3", "f32", 0x80000000, 0x00, 0x00},
    ConversionExample{"ocp", "ue5m3", "f32", 0x80000001, 0x00, 0xFF},
    ConversionExample{"ocp", "ue5m3", "f32", 0xFF800000, 0x00, 0xFF},
};

}  // namespace mx
