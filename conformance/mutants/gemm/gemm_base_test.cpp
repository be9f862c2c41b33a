// The base that every planted bug of a GEMM is cut from, held to numbers worked out by hand and to
// what others have published of the hardware.
#include <gtest/gtest.h>

#include "conformance/mutants/gemm/gemm_probes.hpp"

namespace mx::mutants::gemm {
namespace {

constexpr std::uint32_t sixteenth = 0x18, large = 0x70;  // E4M3: 1/16, 128
constexpr std::uint32_t minus = 0x80, f32_nan = 0x7FFFFFFF, f32_infinity = 0x7F800000;

class GemmBase : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_NE(base_.api, nullptr); }
    Codes d_of(const Probe& probe) const {
        const Answer answer = answer_of(base_, probe);
        EXPECT_EQ(answer.status, MX_OK) << probe.name;
        return answer.d;
    }

    const Planted base_ = planted_bug(MX_MUTANT_DIRECTORY "/gemm_mutants.so", "none");
};

// One output of a product whose other factors are all 0.
Probe dot(Codes a, Codes b) {
    const auto depth = static_cast<std::int64_t>(a.size());
    return {"dot", {1, 1, depth}, {"e4m3", std::move(a)}, {"e4m3", std::move(b)}};
}

// 1x32 with the same scales for both.
Probe scaled(Probe probe, Codes scale_a, Codes scale_b) {
    probe.scaling = "1x32";
    probe.a.scales = std::move(scale_a);
    probe.b.scales = std::move(scale_b);
    return probe;
}

TEST_F(GemmBase, SumsOnes) {
    EXPECT_EQ(d_of(uniform("ones", {2, 3, 32}, one, one)), Codes(6, 0x42000000));
    EXPECT_EQ(d_of(uniform("a tail", {1, 1, 33}, one, one)), Codes{0x42040000});
    EXPECT_EQ(d_of(uniform("no k", {1, 1, 0}, one, one)), Codes{0});
}

// 128 * 128 and its opposite set the quantum: 2^(14 - 13) for FP8, 2^(14 - 25) for MX.
TEST_F(GemmBase, CutsWhatLiesFarBelowTheLargestProduct) {
    const auto beside = [](std::uint32_t x, std::uint32_t y) {
        return dot({large, large | minus, x}, {large, large, y});
    };
    EXPECT_EQ(d_of(beside(one, 0x40)), Codes{0x40000000});
    EXPECT_EQ(d_of(beside(one, one)), Codes{0});
    EXPECT_EQ(d_of(beside(one | minus, one)), Codes{0});    // toward zero, not downward
    EXPECT_EQ(d_of(beside(0x44, one)), Codes{0x40000000});  // 3 becomes 2
    EXPECT_EQ(d_of(scaled(beside(sixteenth, 0x04), {127}, {127})), Codes{0x3A000000});  // 2^-11
    EXPECT_EQ(d_of(scaled(beside(sixteenth, 0x02), {127}, {127})), Codes{0});           // 2^-12
}

// On a GH200 the chain without promotion stays at 64.0.
TEST_F(GemmBase, AFastAccumulatorStagnatesAt64) {
    Probe probe = uniform("1/16", {1, 1, 32768}, sixteenth, sixteenth);
    EXPECT_EQ(d_of(probe), Codes{0x43000000});
    probe.accumulation = "fast";
    EXPECT_EQ(d_of(probe), Codes{0x42800000});
}

// A product of zero has no exponent, that of a subnormal element the one of the smallest normal.
TEST_F(GemmBase, ReadsExponentsFromTheFields) {
    EXPECT_EQ(d_of(dot({0, 0x01}, {0x7E, 0x01})), Codes{0x36800000});  // 2^-18
    // 2^-9 * 1 counts as 2^-6, so that of 2^-6 * 2^-14 nothing is left, and 2^-6 * 2^-13 stays.
    Probe probe = dot({0x01, 0x08}, {0x3C, 0x04});
    probe.b.type = "e5m2";
    EXPECT_EQ(d_of(probe), Codes{0x3B000000});
    probe.b.codes[1] = 0x08;
    EXPECT_EQ(d_of(probe), Codes{0x3B002000});
}

TEST_F(GemmBase, ScalesMoveExponentsWhereverTheyAre) {
    const auto ones = [](std::uint32_t scale_a, std::uint32_t scale_b) {
        return scaled(uniform("scaled", {1, 1, 32}, one, one), {scale_a}, {scale_b});
    };
    EXPECT_EQ(d_of(ones(127, 127)), Codes{0x42000000});
    EXPECT_EQ(d_of(ones(254, 0)), Codes{0x42000000});
    EXPECT_EQ(d_of(ones(0, 100)), Codes{1});                                   // 32 * 2^-154
    EXPECT_EQ(d_of(scaled(dot({one | minus}, {one}), {0}, {100})), Codes{0});  // -2^-154
    EXPECT_EQ(d_of(ones(254, 254)), Codes{f32_infinity});
    EXPECT_EQ(d_of(ones(255, 127)), Codes{f32_nan});
    EXPECT_EQ(d_of(scaled(uniform("NaN", {1, 1, 32}, 0, 0), {127}, {255})), Codes{f32_nan});
}

TEST_F(GemmBase, KnowsNanAndInfinity) {
    EXPECT_EQ(d_of(dot({one, 0x7F}, {one, 0})), Codes{f32_nan});
    Probe infinity = dot({one, one}, {one, 0xFC});
    infinity.b.type = "e5m2";
    infinity.b.codes[0] = 0x3C;
    EXPECT_EQ(d_of(infinity), Codes{f32_infinity | 0x80000000});
    infinity.a.codes[1] = 0;
    EXPECT_EQ(d_of(infinity), Codes{f32_nan});
}

TEST_F(GemmBase, FinishesInBinary32) {
    Probe probe = uniform("3 * 2", {1, 2, 1}, 0x44, 0x40);
    probe.alpha = 0x3F000000;
    EXPECT_EQ(d_of(probe), Codes(2, 0x40400000));
    probe.beta = 0x40000000;
    probe.c = {0x40A00000, 0xC0400000};  // 5, -3
    EXPECT_EQ(d_of(probe), (Codes{0x41500000, 0xC0400000}));
    probe.epilogue = "bias-relu";
    probe.bias = {0x3F800000, 0xBF800000};
    EXPECT_EQ(d_of(probe), (Codes{0x41600000, 0}));
    probe.epilogue = "bias";
    EXPECT_EQ(d_of(probe), (Codes{0x41600000, 0xC0800000}));
}

Probe of_type(const char* type, Codes a, Codes b) {
    Probe probe = dot(std::move(a), std::move(b));
    probe.a.type = probe.b.type = type;
    return probe;
}

// 0x40 is 1 in both, 0x7F a number, 0x80 the one NaN.
TEST_F(GemmBase, ReadsFnuzAsCdna3Does) {
    EXPECT_EQ(d_of(of_type("e4m3fnuz", {0x40, 0x7F}, {0x40, 0x40})), Codes{0x43710000});  // 241
    EXPECT_EQ(d_of(of_type("e5m2fnuz", {0x7F}, {0x40})), Codes{0x47600000});              // 57344
    EXPECT_EQ(d_of(of_type("e4m3fnuz", {0x80}, {0})), Codes{f32_nan});
}

// 2^30 of even k, and of odd k -2^-10, which becomes -2^6 and not 0.
TEST_F(GemmBase, SumsEvenAndOddKApart) {
    EXPECT_EQ(d_of(of_type("e5m2fnuz", {0x7C, 0xAC}, {0x7C, 0x2C})), Codes{0x4E7FFFFF});
    EXPECT_EQ(d_of(of_type("e5m2fnuz", {0x7C, 0, 0xAC}, {0x7C, 0, 0x2C})), Codes{0x4E800000});
}

// 2^24 + 1 is rounded to 2^24, 1 - 2^24 is not.
TEST_F(GemmBase, AddsProductsOfBf16InPairs) {
    EXPECT_EQ(d_of(of_type("bf16", {0x4B80, 0x3F80, 0x3F80, 0xCB80}, Codes(4, 0x3F80))),
              Codes{0x3F800000});
}

// A factor of 2^-127 beside 2^126, and a product of 2^-128.
TEST_F(GemmBase, FlushesWhatIsSubnormalInBf16) {
    EXPECT_EQ(d_of(of_type("bf16", {0x0040}, {0x7E80})), Codes{0});
    EXPECT_EQ(d_of(of_type("f16", {0x0200, 0x0400}, {0x3C00, 0x3C00})), Codes{0x38800000});
    EXPECT_EQ(d_of(of_type("bf16", {0x1F80}, {0x1F80})), Codes{0});
    EXPECT_EQ(d_of(of_type("bf16", {0x0080}, {0x3F80})), Codes{0x00800000});
}

// What cuBLASLt on an H200 answered.
TEST_F(GemmBase, GeluAsAnH200HasIt) {
    struct Seen {
        std::uint32_t x, d;
    };
    for (const Seen seen : {Seen{0x3F800000, 0x3F57587A}, Seen{0xC0000000, 0xBD39F740},
                            Seen{0x40400000, 0x403FC468}, Seen{0xBF110000, 0xBE25A6C2},
                            Seen{0x3D800000, 0x3D066100}, Seen{0x3B800000, 0x3B006621}}) {
        Probe probe = uniform("1", {1, 1, 1}, one, one);
        probe.alpha = seen.x;
        probe.epilogue = "gelu";
        EXPECT_EQ(d_of(probe), Codes{seen.d}) << std::hex << seen.x;
    }
}

TEST_F(GemmBase, RoundsOnceToD) {
    Probe probe = dot({one, 0x20}, {one, 0x10});  // 1 + 2^-8: a tie of bfloat16
    probe.d_type = "bf16";
    EXPECT_EQ(d_of(probe), Codes{0x3F80});
    probe.d_type = "f16";
    EXPECT_EQ(d_of(probe), Codes{0x3C04});
    probe = uniform("448^2", {1, 1, 1}, 0x7E, 0x7E);
    probe.d_type = "f16";
    EXPECT_EQ(d_of(probe), Codes{0x7C00});
    probe.a.codes = {0x7F};
    EXPECT_EQ(d_of(probe), Codes{0x7FFF});
}

TEST_F(GemmBase, BatchesHaveOperandsOfTheirOwn) {
    Probe probe = uniform("two batches", {1, 1, 2, 2}, one, one);
    probe.b.codes = {one, 0x40, 0x44, 0x48};
    EXPECT_EQ(d_of(probe), (Codes{0x40400000, 0x40E00000}));
}

TEST_F(GemmBase, RefusesWhatItDoesNotKnow) {
    Probe probe = uniform("ones", {2, 3, 32}, one, one);
    probe.epilogue = "silu";
    EXPECT_EQ(answer_of(base_, probe).status, MX_NOT_SUPPORTED);
    probe.epilogue = nullptr;
    probe.accumulation = "slow";
    EXPECT_EQ(answer_of(base_, probe).status, MX_NOT_SUPPORTED);
    probe.accumulation = nullptr;
    probe.c = {0, 0, 0, 0, 0, 0};  // beta is 0
    EXPECT_EQ(answer_of(base_, probe).status, MX_INVALID);
}

}  // namespace
}  // namespace mx::mutants::gemm
