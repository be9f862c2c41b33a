// What cuBLASLt does after the sum, on numbers chosen so that each other order of the same steps
// gives other bits. Seen on an H200 in every bit.
#include <gtest/gtest.h>

#include "reference/exact/gemm_epilogue.hpp"
#include "reference/fast/gemm_epilogue.hpp"

namespace mx {
namespace {

constexpr std::uint32_t one = 0x3F800000, minus_one = 0xBF800000, minus_zero = 0x80000000;
constexpr std::uint32_t one_and_ulp = 0x3F800001;  // 1 + 2^-23
constexpr std::uint32_t largest = 0x7F7FFFFF;

std::uint32_t finished(const GemmEpilogue& epilogue, const EpilogueOperands& operands,
                       std::uint32_t accumulator) {
    const Code by_exact =
        exact::finish(epilogue, operands, exact::decode(formats::f32, Code{accumulator}));
    const Code by_fast =
        fast::finish(epilogue, operands, fast::unpack(formats::f32, Code{accumulator}));
    EXPECT_EQ(by_exact.bits, by_fast.bits);
    return by_exact.bits;
}

TEST(GemmEpilogue, TheProductWithAlphaIsNotRoundedBeforeCIsAdded) {
    // (1 + 2^-23)^2 is 1 + 2^-22 + 2^-46; rounded, the last of these is gone.
    const EpilogueOperands operands{
        .alpha = Code{one_and_ulp}, .beta = Code{minus_one}, .c = Code{one_and_ulp + 1}};
    EXPECT_EQ(finished({}, operands, one_and_ulp), 0x28800000u);
    EXPECT_EQ(finished({.kernel = GemmKernel::adds_parts}, operands, one_and_ulp), 0u);
}

TEST(GemmEpilogue, ScalesOfTensorsAreMultipliedIntoAlphaOneByOne) {
    // alpha * b overflows, though alpha * b * a would not.
    const EpilogueOperands operands{
        .alpha = Code{largest}, .scale_a = Code{0x3F000000}, .scale_b = Code{0x40000000}};
    EXPECT_EQ(finished({.scales = FactorScales::in_alpha}, operands, one), 0x7F800000u);
    const EpilogueOperands other_way{
        .alpha = Code{largest}, .scale_a = Code{0x40000000}, .scale_b = Code{0x3F000000}};
    EXPECT_EQ(finished({.scales = FactorScales::in_alpha}, other_way, one), largest);
}

TEST(GemmEpilogue, SignsOfZero) {
    // 0 * -1 is -0, and a +0 is added to it where nothing else is.
    const EpilogueOperands negative{.alpha = Code{minus_one}};
    EXPECT_EQ(finished({}, negative, 0), 0u);
    EXPECT_EQ(finished({.kernel = GemmKernel::adds_parts}, negative, 0), minus_zero);
    // Scales of rows, alpha 1: nothing is done to a -0.
    const EpilogueOperands rows{.scale_a = Code{minus_one}};
    const GemmEpilogue by_row{.scales = FactorScales::on_accumulator};
    EXPECT_EQ(finished(by_row, rows, 0), minus_zero);
    // An accumulator that underflowed from below keeps its sign with scales of blocks alone.
    EXPECT_EQ(finished({.scales = FactorScales::in_accumulator}, {}, minus_zero), minus_zero);
    EXPECT_EQ(finished({}, {}, minus_zero), 0u);
    EXPECT_EQ(finished({.scales = FactorScales::in_accumulator}, negative, 0), 0u);
    // -0 + -0 is -0.
    const EpilogueOperands with_c{
        .alpha = Code{minus_one}, .beta = Code{one}, .c = Code{minus_zero}};
    EXPECT_EQ(finished({}, with_c, 0), minus_zero);
    // FP8 loses it where it is scaled.
    GemmEpilogue fp8{.output = formats::e4m3, .addend = formats::f32};
    EXPECT_EQ(finished(fp8, with_c, 0), 0x80u);
    fp8.scales_output = true;
    EXPECT_EQ(finished(fp8, with_c, 0), 0u);
}

// Numbers that blocks are made of are scaled in binary32 and no more: beyond it they are Inf.
TEST(GemmEpilogue, NumbersOfBlocksAreScaled) {
    const GemmEpilogue epilogue{.scales_output = true};
    EXPECT_EQ(finished(epilogue, {.scale_out = Code{0x40400000}}, minus_one), 0xC0400000u);
    EXPECT_EQ(finished(epilogue, {.scale_out = Code{0x40400000}}, 0x3EAAAAAB), one);
    EXPECT_EQ(finished(epilogue, {.scale_out = Code{0x7F7FFFFF}}, 0x40000000), 0x7F800000u);
}

TEST(GemmEpilogue, CIsNotReadWhereBetaIsZero) {
    EXPECT_EQ(finished({}, {.c = Code{0x7FC00000}}, one), one);
    EXPECT_EQ(finished({}, {.beta = Code{minus_zero}, .c = Code{0x7FC00000}}, one), one);
    EXPECT_EQ(finished({}, {.alpha = Code{0}}, 0x7F800000), 0x7FFFFFFFu)
        << "alpha of 0 is a number";
}

TEST(GemmEpilogue, BiasThenRelu) {
    const GemmEpilogue epilogue{.adds_bias = true, .activation = Activation::relu};
    EXPECT_EQ(finished(epilogue, {.bias = Code{0xC000}}, one), 0u);
    EXPECT_EQ(finished(epilogue, {.bias = Code{0x4000}}, one), 0x40400000u);
    EXPECT_EQ(finished(epilogue, {.bias = Code{0x7FC0}}, one), 0x7FFFFFFFu);
}

// An H200 leaves no -0 behind ReLU, also where it leaves one without.
TEST(GemmEpilogue, ReluOfMinusZeroIsZero) {
    GemmEpilogue rows{.scales = FactorScales::on_accumulator};
    const EpilogueOperands operands{.scale_a = Code{minus_one}};
    EXPECT_EQ(finished(rows, operands, 0), minus_zero);
    rows.activation = Activation::relu;
    EXPECT_EQ(finished(rows, operands, 0), 0u);
    EXPECT_EQ(finished(rows, operands, one), 0u);
    EXPECT_EQ(finished(rows, operands, minus_one), one);
    GemmEpilogue parts{.kernel = GemmKernel::adds_parts};
    EXPECT_EQ(finished(parts, {.alpha = Code{minus_one}}, 0), minus_zero);
    parts.activation = Activation::relu;
    EXPECT_EQ(finished(parts, {.alpha = Code{minus_one}}, 0), 0u);
}

// What an H200 answered to these as C.
TEST(GemmEpilogue, Gelu) {
    const GemmEpilogue epilogue{.activation = Activation::gelu};
    const auto gelu = [&](std::uint32_t x) {
        return finished(epilogue, {.beta = Code{one}, .c = Code{x}}, 0);
    };
    EXPECT_EQ(gelu(one), 0x3F57587Au);
    EXPECT_EQ(gelu(minus_one), 0xBE229E16u);
    EXPECT_EQ(gelu(0x3F3C0000), 0x3F107CC6u) << "...CC1 with the constant that 0.044715 gives";
    EXPECT_EQ(gelu(0x40400000), 0x403FC468u);  // 3
    EXPECT_EQ(gelu(0xC0000000), 0xBD39F740u);  // -2
    EXPECT_EQ(gelu(0x3B800000), 0x3B006621u);  // 2^-8
    EXPECT_EQ(gelu(0x00010000), 0x00008000u);
    EXPECT_EQ(gelu(minus_zero), 0u);
    EXPECT_EQ(gelu(largest), 0x7F800000u) << "the sum before the half overflows";
    EXPECT_EQ(gelu(0xFF7F0000), 0u);
    EXPECT_EQ(gelu(0xFF800000), 0x7FFFFFFFu) << "Inf - Inf";
    EXPECT_EQ(gelu(0xFFC00000), 0x7FFFFFFFu);
}

// What it answered where K was split.
TEST(GemmEpilogue, GeluOfParts) {
    const GemmEpilogue epilogue{.kernel = GemmKernel::adds_parts, .activation = Activation::gelu};
    const auto gelu = [&](std::uint32_t x) { return finished(epilogue, {}, x); };
    EXPECT_EQ(gelu(0x3F7FF4B2), 0x3F574C3Cu);  // 0.9998
    EXPECT_EQ(gelu(0xBF7FF9FD), 0xBE22A008u);
    EXPECT_EQ(gelu(0x3E9A05BD), 0x3E3E7051u);  // 0.3
    EXPECT_EQ(gelu(0x404017F4), 0x403FDCA4u);  // 3
    EXPECT_EQ(gelu(0xBFFFC1E7), 0xBD3AA1C0u);
    EXPECT_EQ(gelu(0x3B7E1463), 0x3AFEDD98u);  // below 2^-8
    EXPECT_EQ(gelu(0xC10FCB1E), minus_zero) << "-9: the other formula leaves +0";
    EXPECT_EQ(gelu(minus_zero), 0u);
}

TEST(GemmEpilogue, BiasThenGelu) {
    const GemmEpilogue epilogue{.adds_bias = true, .activation = Activation::gelu};
    EXPECT_EQ(finished(epilogue, {.bias = Code{0x4000}}, one), 0x403FC468u);
}

TEST(GemmEpilogue, NarrowOutputsSaturateOthersOverflow) {
    EXPECT_EQ(finished({.output = formats::e4m3}, {}, largest), 0x7Eu);
    EXPECT_EQ(finished({.output = formats::e5m2}, {}, 0xFF800000), 0xFBu);
    EXPECT_EQ(finished({.output = formats::f16}, {}, largest), 0x7C00u);
    EXPECT_EQ(finished({.output = formats::bf16}, {}, largest), 0x7F80u);
    EXPECT_EQ(finished({.output = formats::e4m3}, {}, 0xFFC00000), 0x7Fu);
}

// What device/abi/mx_device.h says of D.
TEST(AbiHeader, SaysThatAnFp8DSaturatesAndThatOthersOverflow) {
    struct Row {
        ElementFormat output;
        std::uint32_t accumulator, code;  // binary32; of D
    };
    for (const auto& [output, accumulator, code] :
         {Row{formats::e4m3, 0x43F00000, 0x7E}, Row{formats::e4m3, 0xFF800000, 0xFE},
          Row{formats::e5m2, 0x47800000, 0x7B}, Row{formats::e5m2, 0x7F800000, 0x7B},
          Row{formats::e4m3, 0xFFC00000, 0x7F}, Row{formats::e5m2, 0x7FC00000, 0x7F},
          Row{formats::f16, 0x47800000, 0x7C00}, Row{formats::f16, 0xC7800000, 0xFC00},
          Row{formats::bf16, 0x7F7FFFFF, 0x7F80}}) {
        GemmEpilogue epilogue;
        epilogue.output = output;
        const Code exact =
            exact::finish(epilogue, {}, exact::decode(formats::f32, Code{accumulator}));
        EXPECT_EQ(exact.bits, code) << output.name << " " << std::hex << accumulator;
        EXPECT_EQ(fast::finish(epilogue, {}, fast::unpack(formats::f32, Code{accumulator})), exact);
    }
}

}  // namespace
}  // namespace mx
