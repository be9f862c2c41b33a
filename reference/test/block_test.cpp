// Scales and blocks of the built-in dialects, in both oracles: numbers typed by hand from what each
// library does.
#include <gtest/gtest.h>

#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/dialects.hpp"

namespace mx {
namespace {

using Codes = std::vector<std::uint32_t>;

const BlockFormat& e4m3_blocks = *find_block_format("mxfp8-e4m3");
const BlockFormat& e5m2_blocks = *find_block_format("mxfp8-e5m2");

// Scale, then elements. Both oracles must agree.
Codes quantized(std::string_view dialect_name, const BlockFormat& format, const Codes& f32_bits) {
    const Dialect& dialect = *find_dialect(dialect_name);
    std::vector<exact::Value> values;
    for (const std::uint32_t bits : f32_bits)
        values.push_back(exact::decode(formats::f32, Code{bits}));
    const exact::Block block = exact::quantize_block(dialect, format, values);
    Codes result{block.scale.bits};
    for (const Code element : block.elements) result.push_back(element.bits);

    std::vector<std::uint8_t> elements(f32_bits.size());
    Codes fast{fast::quantize_block(dialect, format, formats::f32, f32_bits.data(),
                                    static_cast<int>(f32_bits.size()), elements.data())
                   .bits};
    fast.insert(fast.end(), elements.begin(), elements.end());
    EXPECT_EQ(fast, result) << dialect_name;
    return result;
}

Codes e4m3(std::string_view dialect, const Codes& f32_bits) {
    return quantized(dialect, e4m3_blocks, f32_bits);
}

struct Example {
    std::string_view dialect;
    Codes input;
    Codes expected;  // scale, elements
};
class E4m3Block : public testing::TestWithParam<Example> {};

TEST_P(E4m3Block, GivesTheDocumentedBytes) {
    EXPECT_EQ(e4m3(GetParam().dialect, GetParam().input), GetParam().expected);
}

constexpr std::uint32_t f480 = 0x43F00000, f448 = 0x43E00000, f496 = 0x43F80000;
constexpr std::uint32_t one = 0x3F800000, two_point_eight = 0x40333333;
constexpr std::uint32_t nan = 0x7FC00000, inf = 0x7F800000, minus_zero = 0x80000000;
constexpr std::uint32_t largest = 0x7F7FFFFF;

INSTANTIATE_TEST_SUITE_P(
    WhereDialectsPart, E4m3Block,
    testing::Values(
        Example{"ocp", {f480}, {127, 0x7E}}, Example{"torchao-even", {f480}, {127, 0x7E}},
        Example{"torchao-rceil", {f480}, {128, 0x77}}, Example{"torchao-ceil", {f480}, {128, 0x77}},
        Example{"nv", {f480}, {128, 0x77}}, Example{"ocp", {f448}, {127, 0x7E}},
        Example{"nv", {f448}, {127, 0x7E}}, Example{"torchao-even", {f448}, {127, 0x7E}},
        Example{"torchao-ceil", {f448}, {128, 0x76}}, Example{"torchao-floor", {f496}, {127, 0x7E}},
        Example{"torchao-even", {f496}, {128, 0x78}}, Example{"torchao-rceil", {f496}, {128, 0x78}},
        Example{"torchao-ceil", {f496}, {128, 0x78}}, Example{"ocp", {one}, {119, 0x78}},
        Example{"nv", {one}, {119, 0x78}}, Example{"torchao-rceil", {one}, {119, 0x78}},
        Example{"ocp", {two_point_eight, 0xBF99999A}, {120, 0x7B, 0xF2}},  // 2.8, -1.2
        Example{"nv", {two_point_eight, 0xBF99999A}, {120, 0x7B, 0xF2}},
        Example{"torchao-ceil", {two_point_eight}, {121, 0x73}},
        Example{"ocp", {0x43800000, 0x41880000}, {127, 0x78, 0x58}},  // 256, 17: a tie
        Example{"nv", {0x03800000}, {0, 0x70}},                       // 2^-120
        Example{"torchao-floor", {0x03800000}, {0, 0x70}}, Example{"nv", {0, 0}, {0, 0, 0}},
        Example{"ocp", {0, 0}, {0, 0, 0}}, Example{"torchao-floor", {one, nan}, {0xFF, 0x7F, 0x7F}},
        Example{"nv", {one, nan}, {119, 0x78, 0x7F}}, Example{"nv", {nan, nan}, {0, 0x7F, 0x7F}},
        Example{"nv", {one, inf}, {0xFE, 0x00, 0x7E}},
        Example{"nv", {one, inf | minus_zero}, {0xFE, 0x00, 0xFE}},
        Example{"torchao-floor", {one, inf}, {0xFF, 0x7F, 0x7F}},
        Example{"nv", {one, minus_zero}, {119, 0x78, 0x80}},
        Example{"torchao-rceil", {one, minus_zero}, {119, 0x78, 0x80}}));

INSTANTIATE_TEST_SUITE_P(
    ThresholdsOfOneUlp, E4m3Block,
    testing::Values(Example{"torchao-rceil", {0x40600001}, {121, 0x76}},  // 3.5000002
                    Example{"torchao-rceil", {0x40600000}, {120, 0x7E}},
                    Example{"torchao-floor", {0x43FFFFFF}, {127, 0x7E}},  // 511.99997
                    Example{"torchao-floor", {0x437FFFFF}, {126, 0x7E}},  // 255.99998
                    Example{"torchao-floor", {largest}, {246, 0x7E}},
                    Example{"torchao-even", {largest}, {0xFF, 0x7F}},
                    Example{"torchao-rceil", {largest}, {247, 0x78}},
                    Example{"nv", {largest}, {247, 0x78}}));

TEST(E5m2Block, RoundUpRatioJustAboveTheLargest) {
    // 114688.008 / 57344 is just above 2: rounding up gives 2^2.
    EXPECT_EQ(quantized("nv", e5m2_blocks, {0x47E00001})[0], 129u);
    EXPECT_EQ(quantized("nv", e5m2_blocks, {0x47E00000})[0], 128u);
}

TEST(E8m0Argument, AmaxWithDescaleJustAboveAPowerOfTwo) {
    // amax / 448 = 0x43800001, one ulp above 256: byte 136, where ceil(log2f()) says 135.
    EXPECT_EQ(e4m3("nv", {0x47E00001})[0], 136u);
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

TEST(Dialects, RowsAreComplete) {
    for (const Dialect& dialect : dialects) {
        EXPECT_FALSE(dialect.title.empty());
        EXPECT_FALSE(dialect.source.empty());
        EXPECT_EQ(find_dialect(dialect.name), &dialect) << "a name stands twice";
    }
}

// prove_block proves elements under the rules of the first row; that is all rows only while the
// element rules of all rows are the same.
TEST(Dialects, ElementRulesAreTheSameInEveryRow) {
    for (const Dialect& dialect : dialects) {
        EXPECT_EQ(dialect.element_rounding, dialects[0].element_rounding);
        EXPECT_EQ(dialect.element_overflow, dialects[0].element_overflow);
        EXPECT_EQ(dialect.nan_code, dialects[0].nan_code);
        EXPECT_EQ(dialect.sign_of_zero, dialects[0].sign_of_zero);
    }
}

}  // namespace
}  // namespace mx
