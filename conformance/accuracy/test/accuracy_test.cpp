// Blocks small enough to work out by hand.
#include "conformance/accuracy/accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "conformance/accuracy/distributions.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::accuracy {
namespace {

Quantization quantizer(const char* format, const char* dialect) {
    return {*find_block_format(format), *find_quantizer(dialect)};
}

Accuracy measured(const Quantization& by, const Rows& rows) {
    return measure(by, rows, encode(by, rows));
}
Accuracy measured(const Quantization& by, const std::vector<float>& values) {
    return measured(by, Rows{values, static_cast<std::int64_t>(values.size())});
}

TEST(Accuracy, ValuesThatAreElementsLoseNothing) {
    const Accuracy a = measured(quantizer("mxfp8-e4m3", "ocp"), {1, -1.5F, 0, 448, 0x1p-6F});
    EXPECT_EQ(a.elements, 5u);
    EXPECT_EQ(a.zeros, 1u);
    EXPECT_EQ(a.noise, 0);
    EXPECT_TRUE(std::isinf(a.sqnr()));
    EXPECT_EQ(a.scales[127], 1u);
    EXPECT_EQ(a.saturated + a.flushed + a.subnormal, 0u);
}

// Under ocp 500 has the scale 1, and saturates at 448. nv takes the scale 2: of 250, which lies
// between 240 and 256, it makes 256, and so 512.
TEST(Accuracy, SaturationIsCountedAndItsErrorExceedsHalfAnUlp) {
    const Accuracy ocp = measured(quantizer("mxfp8-e4m3", "ocp"), {500});
    EXPECT_EQ(ocp.saturated, 1u);
    EXPECT_DOUBLE_EQ(ocp.noise, 52.0 * 52);
    EXPECT_DOUBLE_EQ(ocp.relative_max, 52.0 / 500);
    EXPECT_DOUBLE_EQ(ocp.binades.at(8).largest, 52.0 / 32);
    const Accuracy nv = measured(quantizer("mxfp8-e4m3", "nv"), {500});
    EXPECT_EQ(nv.saturated, 0u);
    EXPECT_EQ(nv.scales[128], 1u);
    EXPECT_DOUBLE_EQ(nv.noise, 12.0 * 12);
    EXPECT_DOUBLE_EQ(nv.binades.at(7).largest, 12.0 / 32);
}

TEST(Accuracy, RoundingDownToTheLargestElementFromAboveItCountsAsSaturated) {
    EXPECT_EQ(measured(quantizer("mxfp8-e4m3", "ocp"), {450}).saturated, 1u);
    EXPECT_EQ(measured(quantizer("mxfp8-e4m3", "ocp"), {440}).saturated, 0u);
}

TEST(Accuracy, WhatIsTooSmallIsFlushedWithARelativeErrorOfOne) {
    const Accuracy a = measured(quantizer("mxfp8-e4m3", "ocp"), {256, 0x1p-11F, 0x1p-9F});
    EXPECT_EQ(a.flushed, 1u);
    EXPECT_EQ(a.subnormal, 1u);
    EXPECT_EQ(a.relative_max, 1);
    EXPECT_DOUBLE_EQ(a.relative_mean(), 1.0 / 3);
    EXPECT_DOUBLE_EQ(a.binades.at(-11).largest, 0.25);
}

TEST(Accuracy, NotFiniteValuesAreLeftOut) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Accuracy poisoned = measured(quantizer("mxfp8-e4m3", "ocp"), {nan, 1});
    EXPECT_EQ(poisoned.not_finite, 1u);
    EXPECT_EQ(poisoned.lost, 1u);
    EXPECT_EQ(poisoned.scales[255], 1u);
    EXPECT_EQ(poisoned.signal, 0);
}

TEST(Accuracy, BlocksEndWithTheRow) {
    const std::vector<float> values{1, 1, 448, 448};
    const Accuracy a = measured(quantizer("mxfp8-e4m3", "ocp"), Rows{values, 2});
    EXPECT_EQ(a.scales[119], 1u);
    EXPECT_EQ(a.scales[127], 1u);
}

// A quarter of the way from 16 to 18: nearest loses 0.5 each time; of stochastic roundings a
// quarter gain 1.5.
TEST(Accuracy, StochasticRoundingNowAndThenTakesTheOtherNeighbour) {
    std::vector<float> values(64, 16.5F);
    values[0] = 256;
    Quantization by = quantizer("mxfp8-e4m3", "ocp");
    by.block = 64;
    EXPECT_DOUBLE_EQ(measured(by, values).noise, 63 * 0.25);
    by.rules.element_rounding = Rounding::stochastic;
    const Accuracy a = measured(by, values);
    EXPECT_GT(a.noise, 63 * 0.4);
    EXPECT_LT(a.noise, 63 * 1.2);
    EXPECT_DOUBLE_EQ(a.relative_max, 1.5 / 16.5);
}

TEST(Accuracy, ChangesAreCountedByValueAndByScale) {
    const Quantization ocp = quantizer("mxfp8-e4m3", "ocp"), nv = quantizer("mxfp8-e4m3", "nv");
    const std::vector<float> values{500, 1, -0.0F};
    const Rows rows{values, 3};
    const BlockCodes first = encode(ocp, rows), second = encode(nv, rows);
    // 448 and 512 under scales of 1 and 2; 1 is 1 under both.
    const Changes found = changes({ocp, first}, {nv, second}, 3);
    EXPECT_EQ(found.values, 1u);
    EXPECT_EQ(found.scales, 1u);
    EXPECT_EQ(changes({ocp, first}, {ocp, first}, 3).values, 0u);
    BlockCodes other = first;
    other.elements[1] ^= 1;
    EXPECT_EQ(changes({ocp, other}, {ocp, first}, 3).values, 1u);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> poisoned{nan, 1};
    const BlockCodes lost = encode(ocp, {poisoned, 2});
    EXPECT_EQ(changes({ocp, lost}, {ocp, lost}, 2).values, 0u);
}

TEST(Distributions, AreWhatTheirNamesSay) {
    const auto moments = [](const char* name) {
        double sum = 0, squares = 0;
        for (const float value : draw(*find_distribution(name), {1 << 18, 7})) {
            sum += value;
            squares += double{value} * value;
        }
        const double n = 1 << 18;
        return std::pair{sum / n, squares / n};
    };
    EXPECT_NEAR(moments("normal").second, 1, 0.02);
    EXPECT_NEAR(moments("uniform").second, 1.0 / 3, 0.01);
    EXPECT_NEAR(moments("laplace").second, 2, 0.05);
    EXPECT_NEAR(moments("rectified").first, 0.3989, 0.01);
    EXPECT_NEAR(moments("outliers").second, 1 + 1e4 / 1024, 2);
    for (const char* name : {"normal", "uniform", "laplace", "student-3"})
        EXPECT_NEAR(moments(name).first, 0, 0.02) << name;
    EXPECT_EQ(draw(*find_distribution("normal"), {8, 1}),
              draw(*find_distribution("normal"), {8, 1}));
    EXPECT_NE(draw(*find_distribution("normal"), {8, 1}),
              draw(*find_distribution("normal"), {8, 2}));
}

}  // namespace
}  // namespace mx::accuracy
