// Scales and the way back, in both oracles: numbers typed by hand. What each dialect does with a
// block stands in dialect_test.cpp.
#include <gtest/gtest.h>

#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

const BlockFormat& e4m3_blocks = *find_block_format("mxfp8-e4m3");
const BlockFormat& e5m2_blocks = *find_block_format("mxfp8-e5m2");

TEST(EncodeScale, RoundUpRatioJustAboveTheLargestE5m2) {
    // 114688.008 / 57344 is just above 2: rounding up gives 2^2.
    const Quantizer& dialect = *find_quantizer("nv");
    const auto scale = [&](std::uint32_t bits) {
        const Code exact =
            exact::encode_scale(dialect, e5m2_blocks, exact::decode(formats::f32, Code{bits}));
        EXPECT_EQ(exact,
                  fast::encode_scale(dialect, e5m2_blocks, fast::unpack(formats::f32, Code{bits})));
        return exact.bits;
    };
    EXPECT_EQ(scale(0x47E00001), 129u);
    EXPECT_EQ(scale(0x47E00000), 128u);
}

TEST(Dequantize, ScaleNanMakesEveryElementNan) {
    for (const std::uint32_t element : {0x00u, 0x7Eu, 0x7Fu}) {
        const Code code = exact::dequantize(e4m3_blocks, formats::f32, Code{255}, Code{element});
        EXPECT_TRUE(formats::f32.is_nan(code));
    }
}

TEST(Dequantize, ReachesSubnormalsAndBeyondF32) {
    const auto f32_of = [](const BlockFormat& format, std::uint32_t scale, std::uint32_t element) {
        const Code exact = exact::dequantize(format, formats::f32, Code{scale}, Code{element});
        EXPECT_EQ(exact, fast::dequantize(format, formats::f32, Code{scale}, Code{element}));
        return exact.bits;
    };
    EXPECT_EQ(f32_of(e4m3_blocks, 0, 0x38), 0x00400000u);    // 2^-127 * 1
    EXPECT_EQ(f32_of(e4m3_blocks, 0, 0x01), 0x00002000u);    // 2^-127 * 2^-9 = 2^-136
    EXPECT_EQ(f32_of(e5m2_blocks, 0, 0x81), 0x80000040u);    // -2^-143
    EXPECT_EQ(f32_of(e4m3_blocks, 254, 0x7E), 0x7F800000u);  // 448 * 2^127: Inf
    EXPECT_EQ(f32_of(e4m3_blocks, 254, 0x80), 0x80000000u);
}

}  // namespace
}  // namespace mx
