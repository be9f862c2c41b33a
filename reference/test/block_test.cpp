// Scales and the way back, in both oracles: numbers typed by hand. What each dialect does with a
// block stands in dialect_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <vector>

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

// A block of 32 in which one element is 2^emax and all others are 2^lower: the scale is 1,
// whichever element it is, and every code is a power of two, by hand.
struct TypedBlock {
    std::string_view format;
    std::uint32_t largest, other;            // binary32
    std::uint32_t code_largest, code_other;  // elements
};

TEST(Quantize, TheAmaxCountsInEachOf32Places) {
    constexpr std::uint32_t f32_half = 0x3F000000, f32_1 = 0x3F800000, f32_4 = 0x40800000,
                            f32_16 = 0x41800000, f32_256 = 0x43800000, f32_32768 = 0x47000000;
    for (const TypedBlock& typed : {TypedBlock{"mxfp8-e4m3", f32_256, f32_1, 0x78, 0x38},
                                    TypedBlock{"mxfp8-e5m2", f32_32768, f32_1, 0x78, 0x3C},
                                    TypedBlock{"mxfp6-e3m2", f32_16, f32_1, 0x1C, 0x0C},
                                    TypedBlock{"mxfp6-e2m3", f32_4, f32_1, 0x18, 0x08},
                                    TypedBlock{"mxfp4-e2m1", f32_4, f32_1, 0x06, 0x02},
                                    TypedBlock{"mxint8", f32_1, f32_half, 0x40, 0x20},
                                    TypedBlock{"mxint8-symmetric", f32_1, f32_half, 0x40, 0x20}})
        for (std::size_t place = 0; place < 32; ++place) {
            const Quantizer& ocp = *find_quantizer("ocp");
            const BlockFormat& format = *find_block_format(typed.format);
            std::vector<std::uint32_t> codes(32, typed.other);
            codes[place] = typed.largest;
            std::vector<exact::Value> values;
            for (const std::uint32_t bits : codes)
                values.push_back(exact::decode(formats::f32, Code{bits}));
            const exact::Block exact = exact::quantize_block(ocp, format, values);
            std::array<std::uint8_t, 32> elements{};
            const Code scale =
                fast::quantize_block(ocp, format, formats::f32, codes.data(), 32, elements.data());
            EXPECT_EQ(scale.bits, 127u) << typed.format << " " << place;
            EXPECT_EQ(exact.scale, scale) << typed.format << " " << place;
            for (std::size_t i = 0; i < 32; ++i) {
                const std::uint32_t expected = i == place ? typed.code_largest : typed.code_other;
                EXPECT_EQ(exact.elements[i].bits, expected) << typed.format << " " << i;
                EXPECT_EQ(elements[i], expected) << typed.format << " " << i;
            }
        }
}

}  // namespace
}  // namespace mx
