// gemm: numbers worked out by hand, sums that are exact in any order, and the chain that its README
// promises, on every instruction set.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "device/cpu/test/gemm_call.hpp"

namespace mx::cpu::test {
namespace {

constexpr std::uint32_t f32_nan = 0x7FFFFFFF, f32_infinity = 0x7F800000;

std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

// MX with one scale for each row.
Gemm mx_dot(const char* type, Codes a, Codes b, std::uint32_t scale_a, std::uint32_t scale_b) {
    const auto depth = static_cast<std::int64_t>(a.size());
    const auto blocks = (depth + 31) / 32;
    const auto count = static_cast<std::size_t>(blocks);
    Gemm gemm{{{type, 1, depth, std::move(a)},
               {"e8m0", 1, blocks, Codes(count, scale_a)},
               {type, 1, depth, std::move(b)},
               {"e8m0", 1, blocks, Codes(count, scale_b)}},
              {"f32", 1, 1, {}}};
    gemm.asked.scaling_a = gemm.asked.scaling_b = "1x32";
    return gemm;
}

constexpr std::array<const char*, 2> algorithms{"fma-chain", "fma-parts"};

TEST(Gemm, MultipliesByHand) {
    Gemm gemm{{{"e4m3", 2, 2, {0x38, 0x40, 0x44, 0xB8}},  // 1 2; 3 -1
               {"e2m1", 3, 2, {2, 4, 0, 7, 10, 3}}},      // 1 2; 0 6; -1 1.5
              {"f32", 2, 3, {}}};
    EXPECT_EQ(gemm.run(), (Codes{bits(5), bits(12), bits(2), bits(1), bits(-6), bits(-4.5f)}));
    gemm.d.type = "bf16";
    EXPECT_EQ(gemm.run(), (Codes{0x40A0, 0x4140, 0x4000, 0x3F80, 0xC0C0, 0xC090}));
}

TEST(Gemm, BlocksOfMxHaveScales) {
    Codes a(40, 0x38), b(40, 0x38);
    Gemm gemm = mx_dot("e4m3", a, b, 127, 127);
    gemm.inputs[1].codes = {128, 120};
    gemm.inputs[3].codes = {127, 130};
    EXPECT_EQ(gemm.run(), Codes{bits(64 + 0.5f)});  // 32 * 2 + 8 / 16
    EXPECT_EQ(mx_dot("int8", {0x40, 0xC0}, {0x20, 0x01}, 127, 128).run(), Codes{bits(0.96875f)});
    EXPECT_EQ(mx_dot("e2m3", {0x1F}, {0x1F}, 127, 127).run(), Codes{bits(56.25f)});
    EXPECT_EQ(mx_dot("e3m2", {0x1F}, {0x3F}, 127, 127).run(), Codes{bits(-784)});
}

TEST(Gemm, Nvfp4ReadsNoSignOfItsScales) {
    Gemm gemm = mx_dot("e2m1", Codes(16, 2), Codes(16, 2), 0, 0);
    gemm.inputs[1] = {"ue4m3", 1, 1, {0x39}};  // 1.125
    gemm.inputs[3] = {"ue4m3", 1, 1, {0xC0}};  // 2
    gemm.asked.scaling_a = gemm.asked.scaling_b = "1x16";
    EXPECT_EQ(gemm.run(), Codes{bits(36)});
}

// Scaled elements reach 2^136; their products need not.
TEST(Gemm, ScalesFarApartAreExact) {
    EXPECT_EQ(mx_dot("e4m3", {0x7E}, {0x01}, 254, 0).run(), Codes{bits(0.875f)});
    EXPECT_EQ(mx_dot("e4m3", {0x38}, {0x38}, 0, 105).run(), Codes{1});
    EXPECT_EQ(mx_dot("e4m3", {0x38}, {0x38}, 0, 104).run(), Codes{0});
    EXPECT_EQ(mx_dot("e4m3", {0x39}, {0x38}, 0, 104).run(), Codes{1});
    EXPECT_EQ(mx_dot("e4m3", {0x7E, 0}, {0x7E, 0}, 254, 254).run(), Codes{f32_infinity});
    EXPECT_EQ(mx_dot("e4m3", {0}, {0x80}, 254, 254).run(), Codes{0});
}

TEST(Gemm, NanAndInfinity) {
    EXPECT_EQ(mx_dot("e2m1", {0}, {0}, 255, 127).run(), Codes{f32_nan});
    EXPECT_EQ(mx_dot("e4m3", {0x38, 0x7F}, {0x38, 0}, 127, 127).run(), Codes{f32_nan});
    EXPECT_EQ(mx_dot("e5m2", {0x3C, 0x3C}, {0x3C, 0xFC}, 127, 127).run(),
              Codes{f32_infinity | 0x80000000});
    EXPECT_EQ(mx_dot("e5m2", {0x3C, 0}, {0x3C, 0xFC}, 127, 127).run(), Codes{f32_nan});
    Gemm half = mx_dot("e4m3", {0x7F}, {0}, 127, 127);
    for (const char* type : {"bf16", "f16"}) {
        half.d.type = type;
        EXPECT_EQ(half.run(), Codes{0x7FFF});
    }
}

// 2^24 swallows ones that come one by one, but not two of them together.
TEST(Gemm, TheOrderIsThatOfTheAlgorithm) {
    Codes a(258, 0), b(258, 0);
    a[0] = b[0] = 0x6C;  // 2^12 of E5M2
    a[256] = a[257] = b[256] = b[257] = 0x3C;
    Gemm gemm = mx_dot("e5m2", a, b, 127, 127);
    EXPECT_EQ(gemm.run(), Codes{bits(16777216)});
    gemm.asked.algorithm = "fma-chain";
    EXPECT_EQ(gemm.run(), Codes{bits(16777216)});
    gemm.asked.algorithm = "fma-parts";
    EXPECT_EQ(gemm.run(), Codes{bits(16777218)});
    gemm.asked.algorithm = "fma";
    EXPECT_EQ(gemm.call(), MX_NOT_SUPPORTED);
}

Codes random_codes(std::int64_t count, std::uint32_t limit, std::uint32_t seed) {
    std::mt19937 random(seed);
    Codes codes;
    for (std::int64_t i = 0; i < count; ++i)
        codes.push_back(static_cast<std::uint32_t>(random() % limit));
    return codes;
}

// Integers of at most 2^24: any order gives them.
TEST(Gemm, ExactSumsInIntegers) {
    const std::int64_t rows = 19, columns = 13, depth = 333, blocks = 11;
    constexpr int doubled[] = {0, 1, 2, 3, 4, 6, 8, 12};  // E2M1, doubled
    const auto number = [&](std::uint32_t code) {
        return code < 8 ? doubled[code] : -doubled[code - 8];
    };
    Gemm gemm{{{"e2m1", 2 * rows, depth, random_codes(2 * rows * depth, 16, 1)},
               {"e8m0", 2 * rows, blocks, random_codes(2 * rows * blocks, 4, 2)},
               {"e2m1", 2 * columns, depth, random_codes(2 * columns * depth, 16, 3)},
               {"e8m0", 2 * columns, blocks, random_codes(2 * columns * blocks, 4, 4)}},
              {"f32", 2 * rows, columns, {}}};
    for (const std::size_t scales : {1u, 3u})
        for (std::uint32_t& code : gemm.inputs[scales].codes) code += 127;
    gemm.asked.scaling_a = gemm.asked.scaling_b = "1x32";
    gemm.asked.batches = 2;
    const auto at = [&](std::size_t input, std::int64_t row, std::int64_t column) {
        const Operand& operand = gemm.inputs[input];
        return operand.codes[static_cast<std::size_t>(row * operand.columns + column)];
    };
    Codes expected;
    for (std::int64_t row = 0; row < 2 * rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
            const std::int64_t other = row / rows * columns + column;
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
                const std::uint32_t scale = at(1, row, k / 32) + at(3, other, k / 32) - 254;
                sum += std::int64_t{number(at(0, row, k)) * number(at(2, other, k))} << scale;
            }
            expected.push_back(bits(static_cast<float>(sum) / 4));
        }
    for (const char* algorithm : algorithms) {
        gemm.asked.algorithm = algorithm;
        EXPECT_EQ(gemm.run(), expected) << algorithm;
    }
}

// One fused multiply-add a product, in the order of k, of values that double holds; every
// instruction set gives the same.
TEST(Gemm, IsAChainOnEveryInstructionSet) {
    const std::int64_t rows = 9, columns = 17, depth = 600, blocks = 19;
    Gemm gemm{{{"e4m3", rows, depth, random_codes(rows * depth, 0x7F, 5)},
               {"e8m0", rows, blocks, random_codes(rows * blocks, 40, 6)},
               {"e5m2", columns, depth, random_codes(columns * depth, 0x7C, 7)},
               {"e8m0", columns, blocks, random_codes(columns * blocks, 40, 8)}},
              {"f32", rows, columns, {}}};
    for (const std::size_t scales : {1u, 3u})
        for (std::uint32_t& code : gemm.inputs[scales].codes) code += 100;
    gemm.asked.scaling_a = gemm.asked.scaling_b = "1x32";
    const auto value = [&](std::size_t input, std::int64_t row, std::int64_t k) {
        const Operand& codes = gemm.inputs[input];
        const Operand& scales = gemm.inputs[input + 1];
        const auto scale = scales.codes[static_cast<std::size_t>(row * blocks + k / 32)];
        return static_cast<float>(
            std::ldexp(element_value(facts_of(codes.type),
                                     codes.codes[static_cast<std::size_t>(row * depth + k)]),
                       static_cast<int>(scale) - 127));
    };
    Codes chains, in_parts;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
            float chain = 0, part = 0, total = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
                chain = std::fma(value(0, row, k), value(2, column, k), chain);
                part = std::fma(value(0, row, k), value(2, column, k), part);
                if (k % 256 != 255 && k + 1 != depth) continue;
                total += part;
                part = 0;
            }
            chains.push_back(bits(chain));
            in_parts.push_back(bits(total));
        }
    EXPECT_NE(chains, in_parts);
    for (const std::string_view target : cpu_targets()) {
        ASSERT_TRUE(set_cpu_target(target));
        gemm.asked.algorithm = "fma-chain";
        EXPECT_EQ(gemm.run(), chains) << target;
        gemm.asked.algorithm = "fma-parts";
        EXPECT_EQ(gemm.run(), in_parts) << target;
    }
    EXPECT_TRUE(set_cpu_target("best"));
}

TEST(Gemm, LayoutsDoNotMatter) {
    Gemm plain = mx_dot("e2m1", {1, 2, 3, 4, 5, 6}, {7, 6, 5, 4, 3, 2}, 127, 129);
    const Codes expected = plain.run();
    Gemm packed = plain;
    packed.inputs[0] = {"e2m1", 1, 6, {0x21, 0x43, 0x65}, "packed-low"};
    packed.inputs[2] = {"e2m1", 1, 6, {0x76, 0x54, 0x32}, "packed-high"};
    packed.inputs[1].layout = packed.inputs[3].layout = "128x4";
    packed.inputs[1].codes = Codes(512, 3);  // pads may be anything
    packed.inputs[1].codes[0] = 127;
    packed.inputs[3].codes = Codes(512, 0);
    packed.inputs[3].codes[0] = 129;
    EXPECT_EQ(packed.run(), expected);
    // Row 33 of 34 lies in the second group of four.
    Gemm tall = mx_dot("e4m3", Codes(2, 0x38), Codes(2, 0x38), 127, 127);
    tall.inputs[0] = {"e4m3", 34, 2, Codes(68, 0x38)};
    tall.inputs[1] = {"e8m0", 34, 1, Codes(512, 0), "128x4"};
    tall.inputs[1].codes[1 * 16 + 1 * 4] = 130;
    tall.d.rows = 34;
    EXPECT_EQ(tall.run()[33], bits(16));
}

TEST(Gemm, FinishesInBinary32) {
    Gemm gemm{{{"f32", 1, 1, {bits(3)}}, {"f32", 2, 1, {bits(2), bits(2)}}}, {"f32", 1, 2, {}}};
    gemm.asked.alpha = bits(0.5f);
    gemm.asked.beta = bits(2);
    gemm.asked.epilogue = "bias-relu";
    gemm.inputs.push_back({"f32", 1, 2, {bits(5), bits(-3)}});
    gemm.inputs.push_back({"bf16", 1, 2, {0x3F80, 0xBF80}});
    EXPECT_EQ(gemm.run(), (Codes{bits(14), 0}));
    gemm.asked.epilogue = "bias";
    EXPECT_EQ(gemm.run(), (Codes{bits(14), bits(-4)}));
    gemm.asked.scaling_out = "tensor";
    gemm.inputs.push_back({"f32", 1, 1, {bits(0.25f)}});
    gemm.d.type = "e4m3";
    EXPECT_EQ(gemm.run(), (Codes{0x46, 0xB8}));
    gemm.inputs.back().codes = {bits(1e6f)};
    EXPECT_EQ(gemm.run(), (Codes{0x7E, 0xFE}));
}

TEST(Gemm, TensorScalesGoToAlphaAndThoseOfRowsToTheSum) {
    Gemm gemm{{{"e4m3", 2, 1, {0x38, 0x38}},
               {"f32", 1, 1, {bits(3)}},
               {"e4m3", 1, 1, {0x40}},
               {"f32", 1, 1, {bits(0.5f)}}},
              {"f32", 2, 1, {}}};
    gemm.asked.scaling_a = gemm.asked.scaling_b = "tensor";
    EXPECT_EQ(gemm.run(), (Codes{bits(3), bits(3)}));
    gemm.asked.scaling_a = gemm.asked.scaling_b = "row";
    gemm.inputs[1] = {"f32", 2, 1, {bits(3), bits(5)}};
    EXPECT_EQ(gemm.run(), (Codes{bits(3), bits(5)}));
    gemm.inputs[3].codes = {bits(0)};
    gemm.inputs[1].codes = {bits(-3), f32_nan};
    EXPECT_EQ(gemm.run(), (Codes{0x80000000, f32_nan}));
}

TEST(Gemm, HalvesOverflowToInfinity) {
    Gemm gemm{{{"f16", 1, 1, {0x7BFF}}, {"f16", 1, 1, {0x4000}}}, {"f16", 1, 1, {}}};
    EXPECT_EQ(gemm.run(), Codes{0x7C00});
    gemm.d.type = "bf16";
    EXPECT_EQ(gemm.run(), Codes{0x4800});
}

TEST(Gemm, NothingToSumIsZero) {
    Gemm gemm{{{"bf16", 2, 0, {}}, {"bf16", 1, 0, {}}}, {"f32", 2, 1, {}}};
    for (const char* algorithm : algorithms) {
        gemm.asked.algorithm = algorithm;
        EXPECT_EQ(gemm.run(), (Codes{0, 0}));
    }
}

// Five rows in groups of two, none and two, and one row of none; a B of one column for each group.
Gemm grouped() {
    Gemm gemm{{{"bf16", 5, 1, {0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0}},  // 1 to 5
               {"bf16", 3, 1, {0x3F80, 0x4120, 0x42C8}},                  // 1, 10, 100
               {"i32", 1, 4, {0, 2, 2, 4}}},
              {"f32", 5, 1, {}}};
    gemm.asked.groups = 3;
    return gemm;
}

TEST(Gemm, MultipliesEachGroupWithAMatrixOfItsOwn) {
    Gemm gemm = grouped();
    const std::uint32_t untouched = 0x5A5A5A5A;
    EXPECT_EQ(gemm.run(), (Codes{bits(1), bits(2), bits(300), bits(400), untouched}));
    gemm.inputs[2].codes = {0, 0, 5, 5};
    EXPECT_EQ(gemm.run(), (Codes{bits(10), bits(20), bits(30), bits(40), bits(50)}));
    gemm.inputs[2].codes = {0, 0, 0, 0};
    EXPECT_EQ(gemm.run(), Codes(5, untouched));
}

// Scales of 2 and 4 for the rows of A, each group in a tile of its own; those of B are 1, 1, 2.
TEST(Gemm, FindsTheScalesOfEachGroupInItsTile) {
    Codes scales_a(2 * 128 * 4, 255), scales_b(3 * 128 * 4, 255);
    scales_a[0] = scales_a[16] = 128;          // rows 0 and 1 of the first tile
    scales_a[512] = scales_a[512 + 16] = 129;  // rows 0 and 1 of the second
    scales_b[0] = scales_b[512] = 127;
    scales_b[1024] = 128;
    Gemm gemm{{{"e4m3", 5, 1, Codes(5, 0x38)},
               {"e8m0", 256, 1, scales_a, "128x4"},
               {"e4m3", 3, 1, Codes(3, 0x38)},
               {"e8m0", 384, 1, scales_b, "128x4"},
               {"i32", 1, 4, {0, 2, 2, 4}}},
              {"f32", 5, 1, {}}};
    gemm.asked.groups = 3;
    gemm.asked.scaling_a = gemm.asked.scaling_b = "1x32";
    EXPECT_EQ(gemm.run(), (Codes{bits(2), bits(2), bits(8), bits(8), 0x5A5A5A5A}));
    gemm.inputs[1].rows = 128;
    EXPECT_EQ(gemm.call(), MX_INVALID);
    EXPECT_NE(gemm.reason.find("the scales of A: 128 x 1 where 256 x 1 belongs"), std::string::npos)
        << gemm.reason;
}

TEST(Gemm, RefusesGroupsThatContradictThemselves) {
    const auto refused = [](Gemm gemm, std::string_view word) {
        EXPECT_EQ(gemm.call(), MX_INVALID) << gemm.reason;
        EXPECT_NE(gemm.reason.find(word), std::string::npos) << gemm.reason;
    };
    Gemm gemm = grouped();
    gemm.inputs[2].codes = {0, 3, 2, 4};
    refused(gemm, "do not rise");
    gemm.inputs[2].codes = {0, 2, 2, 6};
    refused(gemm, "at most 5");
    gemm.inputs[2].codes = {1, 2, 2, 4};
    refused(gemm, "the first row offset is 1");
    gemm = grouped();
    gemm.inputs[2] = {"i32", 1, 3, {0, 2, 2}};
    refused(gemm, "the row offsets: 1 x 3 where 1 x 4 belongs");
    gemm = grouped();
    gemm.asked.groups = 2;
    gemm.inputs[2] = {"i32", 1, 3, {0, 2, 4}};
    refused(gemm, "groups");
    gemm = grouped();
    gemm.asked.batches = 3;
    refused(gemm, "a grouped gemm of 3 batches");
    gemm = grouped();
    gemm.inputs.pop_back();
    refused(gemm, "the row offsets");
}

TEST(Gemm, RefusesWhatItDoesNotDo) {
    const Gemm good = mx_dot("e4m3", {0x38}, {0x38}, 127, 127);
    const auto refused = [](Gemm gemm, mx_status status, std::string_view word) {
        EXPECT_EQ(gemm.call(), status) << gemm.reason;
        EXPECT_NE(gemm.reason.find(word), std::string::npos) << gemm.reason;
    };
    Gemm gemm = good;
    gemm.asked.scaling_a = gemm.asked.scaling_b = "1x128";
    refused(gemm, MX_NOT_SUPPORTED, "1x128");
    gemm = good;
    gemm.asked.scaling_b = nullptr;
    refused(gemm, MX_NOT_SUPPORTED, "scalings");
    gemm = good;
    gemm.asked.epilogue = "gelu";
    refused(gemm, MX_NOT_SUPPORTED, "gelu");
    gemm = good;
    gemm.asked.accumulation = "fast";
    refused(gemm, MX_NOT_SUPPORTED, "fast");
    gemm = good;
    gemm.asked.scaling_out = "1x64";
    refused(gemm, MX_NOT_SUPPORTED, "of D");
    gemm = good;
    gemm.asked.scaling_out = "1x16";
    refused(gemm, MX_INVALID, "no input 4, the scale of D");
    gemm.inputs.push_back({"f32", 1, 1, {0x3F800000}});
    refused(gemm, MX_INVALID, "no output 1, the scales of D");
    gemm.scales_d = {"ue4m3", 1, 1, {}};
    refused(gemm, MX_NOT_SUPPORTED, "scales of a D of type \"f32\"");
    gemm.d.type = "e4m3";
    refused(gemm, MX_NOT_SUPPORTED, "\"1x16\" of a D of type \"e4m3\"");
    gemm.d.type = "e2m1";
    gemm.dialect = "torchao-nvfp4-single";
    refused(gemm, MX_NOT_SUPPORTED, "by dialect \"torchao-nvfp4-single\"");
    gemm = good;
    gemm.asked.scaling_out = "1x32";
    refused(gemm, MX_INVALID, "no output 1, the scales of D");
    gemm.scales_d = {"e8m0", 1, 1, {}};
    refused(gemm, MX_NOT_SUPPORTED, "scales of a D of type");
    gemm.d.type = "e4m3";
    refused(gemm, MX_NOT_SUPPORTED, "dialect");
    gemm.dialect = "cudnn";
    refused(gemm, MX_NOT_SUPPORTED, "dialect \"cudnn\"");
    gemm.dialect = "ocp";
    gemm.scales_d = {"e8m0", 1, 2, {}};
    refused(gemm, MX_INVALID, "1 x 2 where 1 x 1 belongs");
    gemm = good;
    gemm.asked.batches = 2;
    refused(gemm, MX_INVALID, "batches");
    gemm = good;
    gemm.inputs[2] = {"e4m3", 1, 2, {0x38, 0x38}};
    refused(gemm, MX_INVALID, "along k");
    gemm = good;
    gemm.inputs[1].rows = 2;
    refused(gemm, MX_INVALID, "the scales of A: 2 x 1");
    gemm = good;
    gemm.inputs[0].type = gemm.inputs[2].type = "bf16";
    refused(gemm, MX_NOT_SUPPORTED, "block scales");
    gemm = good;
    gemm.asked.beta = bits(1);
    refused(gemm, MX_INVALID, "no input 4, C");
}

// D = 33 columns of 1, 2, 3 ... times 16: a block of 32 under the scale of its largest, 512, and
// one of the last alone, 528. ocp takes the exponent of the largest less 8; nv rounds 512 / 448 up.
TEST(Gemm, MakesBlocksOfD) {
    constexpr std::int64_t columns = 33;
    Operand a{"bf16", 1, 1, {0x4180}};  // 16
    Operand b{"bf16", columns, 1, {}};
    for (std::int64_t i = 1; i <= columns; ++i)
        b.codes.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(i)) >> 16);
    Gemm gemm{{a, b}, {"e4m3", 1, columns, {}}};
    gemm.asked.scaling_out = "1x32";
    gemm.scales_d = {"e8m0", 1, 2, {}};
    gemm.dialect = "ocp";
    Codes d = gemm.run();
    EXPECT_EQ(gemm.scales_d.codes, (Codes{128, 128}));
    EXPECT_EQ(d[0], 0x50u);   // 8
    EXPECT_EQ(d[31], 0x78u);  // 256
    EXPECT_EQ(d[32], 0x78u);  // 264, of which three bits stay
    gemm.dialect = "nv";
    gemm.inputs[0].codes = {0x3F80};
    d = gemm.run();
    EXPECT_EQ(gemm.scales_d.codes, (Codes{124, 124}));  // 32 / 448 and 33 / 448, rounded up to 1/8
    EXPECT_EQ(d[31], 0x78u);
}

// 1, 2, 3 ... 33, halved by the scale of D. The largest of the first 16 is 8, and 8 / 6 becomes
// 1.375; of the next 16, and of the one that is left, 16 / 6 and 16.5 / 6 become 2.75.
TEST(Gemm, MakesNvfp4OfD) {
    constexpr std::int64_t columns = 33;
    Operand b{"bf16", columns, 1, {}};
    for (std::int64_t i = 1; i <= columns; ++i)
        b.codes.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(i)) >> 16);
    Gemm gemm{{{"bf16", 1, 1, {0x3F80}}, b, {"f32", 1, 1, {0x3F000000}}}, {"e2m1", 1, columns, {}}};
    gemm.asked.scaling_out = "1x16";
    gemm.scales_d = {"ue4m3", 1, 3, {}};
    gemm.dialect = "cublaslt-nvfp4";
    const Codes d = gemm.run();
    EXPECT_EQ(gemm.scales_d.codes, (Codes{0x3B, 0x43, 0x43}));
    EXPECT_EQ(d[0], 1u);   // 0.5 / 1.375 lies between 0.25 and 0.75
    EXPECT_EQ(d[7], 5u);   // 4 / 1.375 = 2.9
    EXPECT_EQ(d[15], 7u);  // 5.8
    EXPECT_EQ(d[16], 5u);  // 8.5 / 2.75 = 3.1
    EXPECT_EQ(d[32], 7u);
    gemm.d.layout = "packed-low";
    const Codes packed = gemm.run();
    for (std::size_t pair = 0; pair < 16; ++pair)
        EXPECT_EQ(packed[pair], d[2 * pair] | d[2 * pair + 1] << 4) << pair;
    EXPECT_EQ(packed[16], 7u);
}

TEST(Gemm, ListsItsAlgorithms) {
    mx_operation operation{};
    operation.struct_size = sizeof operation;
    operation.name = "quantize";
    const char* const* names = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(mx_cpu_device_api()->list_algorithms(cpu_device(), &operation, nullptr, 0, nullptr, 0,
                                                   &names, &count, nullptr),
              MX_NOT_SUPPORTED);
    mx_gemm asked{sizeof(mx_gemm), 1,       0,       0,       nullptr, nullptr,
                  nullptr,         nullptr, nullptr, nullptr, 0};
    operation.name = "gemm";
    operation.gemm = &asked;
    const mx_tensor factor{sizeof(mx_tensor), nullptr, "bf16", "host", "strided", 1, 1, 1, 1};
    const std::array<mx_tensor, 2> factors{factor, factor};
    ASSERT_EQ(mx_cpu_device_api()->list_algorithms(cpu_device(), &operation, factors.data(), 2,
                                                   &factor, 1, &names, &count, nullptr),
              MX_OK);
    ASSERT_EQ(count, algorithms.size());
    EXPECT_STREQ(names[0], algorithms[0]);
    EXPECT_STREQ(names[1], algorithms[1]);
}

}  // namespace
}  // namespace mx::cpu::test
