// The rounding of nvfp4.cuh against borders typed by hand, for every float32 around them; needs no
// GPU. The steps around it are held against the oracle through on_host_plugin.cpp.
#include "device/cuda/nvfp4.cuh"

#include <gtest/gtest.h>

#include <limits>

#include "device/cuda/test/on_host.hpp"

namespace mx::cuda::test {
namespace {

// Half way between two elements the even code is nearest: up from 0.75, 1.75 and 3.5 itself.
std::uint32_t code_by_borders(float v) {
    return (v > 0.25f) + (v >= 0.75f) + (v > 1.25f) + (v >= 1.75f) + (v > 2.5f) + (v >= 3.5f) +
           (v > 5.0f);
}

TEST(Nvfp4, RoundsEveryFloatBelow7AsTheBordersSay) {
    constexpr std::uint32_t first = 0x3E000000u, end = 0x40E00000u;  // from 0.125 to 7
    std::uint32_t differences = 0;
    for (std::uint32_t bits = first; bits < end; bits += 8) {
        Scaled8 scaled{};
        std::uint32_t expected = 0;
        for (std::uint32_t i = 0; i < 8; ++i) {
            const std::uint32_t sign = (bits >> 3 ^ i) & 1u;
            scaled.values[i] = float_of((bits + i) | sign << 31);
            expected |= (code_by_borders(float_of(bits + i)) | sign << 3) << (4 * i);
        }
        differences += e2m1_codes(scaled) != expected;
        differences += any_e2m1_codes(scaled, 3) != expected;
    }
    EXPECT_EQ(differences, 0u);
}

TEST(Nvfp4, RoundsWhatIsFarFromTheBorders) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(e2m1_codes({{0, -0.0f, 0x1p-149f, -0x1p-126f, 0x1p-60f, -0.1f, 6.9f, -6.9f}}),
              0xF7808080u);
    EXPECT_EQ(any_e2m1_codes({{nan, -nan, infinity, -infinity, 7, -1e30f, 0, -1}}, 3), 0xA0F7F733u);
    EXPECT_EQ(any_e2m1_codes({{nan, -nan, infinity, -infinity, 7, -1e30f, 0, -1}}, 7), 0xA0F7F777u);
}

// Under every byte of the scale every border, a float32 below and a float32 above it, as values of
// a block: its codes are those of the general kernels. The first value makes the scale that byte.
TEST(Nvfp4, TiesUnderEveryScaleAreThoseOfTheGeneralArithmetic) {
    const RealScaleRule rules[] = {te_nvfp4, torchao_nvfp4, torchao_nvfp4_single, cublaslt_nvfp4};
    constexpr float borders[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    for (const RealScaleRule& rule : rules)
        for (const float number : {2688.0f, 1.0f, 3.14159f, 0.0f, 1e-30f})
            for (int byte = 0; byte < 0x7F; ++byte)
                for (int step = -1; step <= 1; ++step) {
                    const BlockSetting setting{rule, Element::e2m1, ValueType::f32,
                                               tensor_numbers(rule, Element::e2m1, number)};
                    const float scale = e4m3_number(static_cast<std::uint8_t>(byte));
                    const float unit = setting.rule.number == TensorNumber::none
                                           ? scale
                                           : scale * number / 2688.0f;
                    std::uint32_t words[16] = {bits_of(6.0f * unit)};
                    for (int i = 1; i < 16; ++i) {
                        const std::uint32_t border = bits_of(borders[i % 7] * unit);
                        const auto moved = static_cast<std::uint32_t>(
                            static_cast<std::int64_t>(border) + (border == 0 ? 0 : step));
                        words[i] = moved | static_cast<std::uint32_t>(i / 8) << 31;
                    }
                    const Nvfp4Codes codes = nvfp4_codes<ValueType::f32>(setting, words);
                    const std::uint32_t amax = nvfp4_amax_without_nan<ValueType::f32>(words);
                    const BlockScale expected =
                        scale_from_ratio(setting, ratio_of_block(setting, float_of(amax)));
                    ASSERT_EQ(codes.scale, expected.code) << byte;
                    for (int i = 0; i < 16; ++i)
                        ASSERT_EQ((i < 8 ? codes.low : codes.high) >> (4 * (i % 8)) & 0xF,
                                  element_code(encoding_of(setting),
                                               scaled(rule, expected, float_of(words[i]))))
                            << byte << " " << i << " " << step;
                }
}

}  // namespace
}  // namespace mx::cuda::test
