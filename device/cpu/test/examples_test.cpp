// Numbers typed by hand: the same blocks through several dialects, as published sources and headers
// answer them. Each is run through the ABI on every instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Example {
    const char* dialect;
    std::vector<std::uint32_t> inputs;  // binary32; the rest of the block is zero
    unsigned scale;
    std::vector<unsigned> codes;
    unsigned rest;  // code of the zeros
    const char* format = "mxfp8-e4m3";
};

std::vector<std::uint32_t> values(std::initializer_list<float> floats) {
    std::vector<std::uint32_t> bits;
    for (const float value : floats) bits.push_back(bits_of(value));
    return bits;
}

void expect_example(const Example& example) {
    Tensor block("f32", 1, 32);
    block.fill([] { return 0u; });
    for (std::size_t i = 0; i < example.inputs.size(); ++i) {
        block.set_bits(0, static_cast<std::int64_t>(i), example.inputs[i]);
    }
    const auto operation = operation_of("quantize", example.format, example.dialect, "row");
    on_every_target([&](const std::string& target) {
        Quantized out = quantize(block, operation);
        const std::string where = target + " " + example.dialect;
        EXPECT_EQ(out.scales.bits(0, 0), example.scale) << where;
        for (std::int64_t i = 0; i < 32; ++i) {
            const auto lane = static_cast<std::size_t>(i);
            const unsigned code = lane < example.codes.size() ? example.codes[lane] : example.rest;
            EXPECT_EQ(out.codes.bits(0, i), code) << where << " lane " << i;
        }
    });
}

TEST(Examples, ScaleRulesPartAtTheEdgesOfAmax) {
    for (const char* floor : {"ocp", "torchao-floor", "torchao-even"}) {
        expect_example({floor, values({480}), 127, {0x7E}, 0});
        expect_example({floor, values({448}), 127, {0x7E}, 0});
    }
    for (const char* up : {"nv", "torchao-rceil", "torchao-ceil"}) {
        expect_example({up, values({480}), 128, {0x77}, 0});
    }
    for (const char* ratio : {"nv", "torchao-rceil"}) {
        expect_example({ratio, values({448}), 127, {0x7E}, 0});
    }
    expect_example({"torchao-ceil", values({448}), 128, {0x76}, 0});
    expect_example({"torchao-floor", values({496}), 127, {0x7E}, 0});
    for (const char* up : {"torchao-even", "torchao-rceil", "torchao-ceil", "nv"}) {
        expect_example({up, values({496}), 128, {0x78}, 0});
    }
    for (const char* one : {"ocp", "nv", "torchao-rceil"}) {
        expect_example({one, values({1}), 119, {0x78}, 0});
    }
    for (const char* same : {"ocp", "nv", "torchao-rceil"}) {
        expect_example({same, values({2.8f}), 120, {0x7B}, 0});
    }
    expect_example({"torchao-ceil", values({2.8f}), 121, {0x73}, 0});
}

TEST(Examples, PreciseAmaxIsNotRoundedToBfloat16First) {
    expect_example({"torchao-rceil", {0x40600001u}, 121, {0x76}, 0});
    expect_example({"torchao-floor", {0x43FFFFFFu}, 127, {0x7E}, 0});
    expect_example({"torchao-rceil", {0x47E00001u}, 136, {0x76}, 0});
    expect_example({"torchao-floor", {0x437FFFFFu}, 126, {0x7E}, 0});
    expect_example({"torchao-floor", {0x7F7FFFFFu}, 246, {0x7E}, 0});
    expect_example({"torchao-rceil", {0x7F7FFFFFu}, 247, {0x78}, 0});
}

TEST(Examples, TiesGoToTheEvenCode) {
    expect_example({"torchao-floor", values({256, 17}), 127, {0x78, 0x58}, 0});
}

TEST(Examples, SmallAndZeroBlocks) {
    for (const char* dialect : dialect_names) {
        expect_example({dialect, values({std::ldexp(1.0f, -120)}), 0, {0x70}, 0});
        expect_example({dialect, {}, 0, {}, 0});
        expect_example({dialect, values({-0.0f}), 0, {0x80}, 0});
    }
}

TEST(Examples, NanAndInfinity) {
    for (const char* poisoned :
         {"ocp", "torchao-floor", "torchao-ceil", "torchao-even", "torchao-rceil"}) {
        expect_example({poisoned, values({1, nan}), 0xFF, {}, 0x7F});
        expect_example({poisoned, values({1, -infinity}), 0xFF, {}, 0x7F});
    }
    expect_example({"nv", values({1, nan}), 119, {0x78, 0x7F}, 0});
    expect_example({"nv", values({1, -nan}), 119, {0x78, 0x7F}, 0});
    expect_example({"nv", values({1, infinity}), 0xFE, {0x00, 0x7E}, 0});
    expect_example({"nv", values({-1, -infinity}), 0xFE, {0x80, 0xFE}, 0});
    expect_example({"nv", values({nan}), 0, {0x7F}, 0});
    expect_example({"nv", values({-infinity, nan}), 0xFE, {0xFB, 0x7F}, 0, "mxfp8-e5m2"});
    expect_example({"torchao-even", {0x7F7FFFFFu}, 0xFF, {}, 0x7F});
}

TEST(Examples, SignOfZeroIsKept) {
    for (const char* dialect : {"ocp", "nv"}) {
        expect_example({dialect, values({1, -0.0f}), 119, {0x78, 0x80}, 0});
    }
}

TEST(Examples, Fp4) {
    for (const char* floor : {"ocp", "torchao-floor"})
        expect_example({floor, values({7}), 127, {7}, 0, "mxfp4-e2m1"});
    for (const char* up : {"torchao-rceil", "torchao-ceil", "torchao-even", "nv"})
        expect_example({up, values({7}), 128, {6}, 0, "mxfp4-e2m1"});
    for (const char* same : {"ocp", "torchao-rceil", "torchao-even", "nv"}) {
        expect_example({same,
                        values({6, 5, 3.5f, 2.5f, 1.75f, 0.75f, 0.25f}),
                        127,
                        {7, 6, 6, 4, 4, 2, 0},
                        0,
                        "mxfp4-e2m1"});
    }
    expect_example({"torchao-ceil", values({6}), 128, {5}, 0, "mxfp4-e2m1"});
    expect_example({"nv", values({1, nan, -nan}), 125, {6, 7, 7}, 0, "mxfp4-e2m1"});
    expect_example({"ocp", values({1, nan}), 255, {}, 7, "mxfp4-e2m1"});
    expect_example({"torchao-floor", values({1, nan}), 255, {}, 3, "mxfp4-e2m1"});
    expect_example({"nv", values({1, -infinity}), 254, {0, 15}, 0, "mxfp4-e2m1"});
}

TEST(Examples, Fp6) {
    for (const char* same : {"ocp", "torchao-floor", "nv", "torchao-rceil"}) {
        expect_example(
            {same, values({28, -28, 0.0625f, 26}), 127, {0x1F, 0x3F, 0x01, 0x1E}, 0, "mxfp6-e3m2"});
        expect_example({same,
                        values({7.5f, -7.5f, 0.125f, 0.0625f}),
                        127,
                        {0x1F, 0x3F, 0x01, 0},
                        0,
                        "mxfp6-e2m3"});
    }
    expect_example({"ocp", values({31}), 127, {0x1F}, 0, "mxfp6-e3m2"});
    expect_example({"nv", values({31}), 128, {0x1C}, 0, "mxfp6-e3m2"});
    expect_example({"torchao-even", values({31}), 128, {0x1C}, 0, "mxfp6-e3m2"});
    expect_example({"torchao-ceil", values({1, nan}), 255, {}, 0x0C, "mxfp6-e2m3"});
    expect_example({"torchao-ceil", values({1, infinity}), 255, {}, 0x0E, "mxfp6-e3m2"});
    expect_example({"ocp", values({1, nan}), 255, {}, 0x1F, "mxfp6-e2m3"});
}

// Two's complement in units of 2^-6; only one of the two readings has -2.
TEST(Examples, Int8) {
    for (const char* format : {"mxint8", "mxint8-symmetric"}) {
        expect_example({"ocp",
                        values({1, -1, 0.015625f, -0.015625f, -0.0f, 0.0234375f}),
                        127,
                        {64, 0xC0, 1, 0xFF, 0, 2},
                        0,
                        format});
        expect_example({"ocp", values({1.984375f, -1.984375f}), 127, {0x7F, 0x81}, 0, format});
        expect_example({"nv", values({1.984375f, -1.984375f}), 127, {0x7F, 0x81}, 0, format});
        expect_example({"nv", values({-1.9999f}), 128, {0xC0}, 0, format});
        expect_example({"nv", values({-1, nan}), 127, {0xC0, 0x7F}, 0, format});
        expect_example({"ocp", values({-1, nan}), 255, {}, 0x7F, format});
    }
    expect_example({"ocp", values({1.9999f, -1.9999f}), 127, {0x7F, 0x80}, 0, "mxint8"});
    expect_example({"ocp", values({1.9999f, -1.9999f}), 127, {0x7F, 0x81}, 0, "mxint8-symmetric"});
    expect_example({"nv", values({1, -infinity}), 254, {0, 0x80}, 0, "mxint8"});
    expect_example({"nv", values({1, -infinity}), 254, {0, 0x81}, 0, "mxint8-symmetric"});
    expect_example({"nv", {0x7F7E0001u}, 254, {0x7F}, 0, "mxint8"});
    expect_example({"nv", {0x7F7FFFFFu}, 254, {0x7F}, 0, "mxint8"});
}

struct ScaleExample {
    const char* dialect;
    float amax;
    unsigned scale;
};

TEST(Examples, ScalesOfAmaxAlone) {
    const float just_above = std::nextafter(448.0f, 500.0f);
    const ScaleExample examples[] = {
        {"nv", 0.0f, 0},
        {"nv", -0.0f, 0},
        {"nv", std::ldexp(448.0f, -127), 0},
        {"nv", 448.0f, 127},
        {"nv", just_above, 128},
        {"nv", 560.0f, 128},
        {"nv", 637.0f, 128},
        {"nv", 672.0f, 128},
        {"nv", 1344.0f, 129},
        {"nv", infinity, 254},
        {"nv", nan, 255},
        {"torchao-rceil", infinity, 255},
        {"torchao-rceil", nan, 255},
        {"torchao-rceil", just_above, 128},
        {"ocp", 256.0f, 127},
        {"ocp", 384.0f, 127},
        {"ocp", 768.0f, 128},
        {"ocp", infinity, 255},
        {"torchao-ceil", std::nextafter(256.0f, 300.0f), 128},
    };
    for (const ScaleExample& example : examples) {
        Tensor amax("f32", 1, 1);
        Tensor scale("e8m0", 1, 1);
        amax.set_bits(0, 0, bits_of(example.amax));
        const auto operation = operation_of("encode_scale", "mxfp8-e4m3", example.dialect, nullptr);
        EXPECT_EQ(run(operation, {amax.view()}, {scale.view()}).status, MX_OK);
        EXPECT_EQ(scale.bits(0, 0), example.scale) << example.dialect << " " << example.amax;
    }
}

}  // namespace
}  // namespace mx::cpu::test
