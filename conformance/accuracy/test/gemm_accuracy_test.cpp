// Products small enough to work out by hand, and what an error is counted in.
#include "conformance/accuracy/gemm_accuracy.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "conformance/case/case.hpp"

namespace mx::accuracy {
namespace {

Case gemm_case(const std::string& fields, const std::string& model) {
    auto c = read_case("gemm " + fields + " model=" + model + " data=gemm.uniform");
    EXPECT_TRUE(c) << c.error().message;
    EXPECT_TRUE(check_combination(c.value()));
    return c.value();
}

// One row of A, one of B, each of bfloat16.
GemmFactors factors_of(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    GemmFactors factors;
    for (const auto& codes : {a, b}) {
        CodeTensor tensor = make_tensor("bf16", 1, static_cast<std::int64_t>(codes.size()));
        for (std::size_t i = 0; i < codes.size(); ++i) tensor.set(i, codes[i]);
        factors.inputs.push_back(std::move(tensor));
    }
    return factors;
}

Code f32(float value) {
    return Code{std::bit_cast<std::uint32_t>(value)};
}

constexpr std::uint32_t one = 0x3F80, two = 0x4000;

// 1 * 1 + 1 * 2 = 3. In [2, 4) the gap of binary32 is 2^-22.
TEST(GemmAccuracy, ErrorsAreCountedInGapsOfTheOutputAndInBounds) {
    const Case c = gemm_case("a=bf16 b=bf16 output=f32 shape=1x1x2", "bounded:fma-chain");
    const GemmFactors factors = factors_of({one, one}, {one, two});
    const GemmAccuracy right = measure(c, factors, {f32(3)});
    EXPECT_EQ(right.outputs, 1u);
    EXPECT_EQ(right.ulp_max, 0);
    EXPECT_EQ(right.noise, 0);
    EXPECT_EQ(right.shares, (std::map<int, std::uint64_t>{{exact_share, 1}}));
    const GemmAccuracy near = measure(c, factors, {f32(3 + 0x3p-22F)});
    EXPECT_EQ(near.ulp_max, 3);
    EXPECT_EQ(near.ulp_mean(), 3);
    EXPECT_EQ(near.signal, 9);
    EXPECT_EQ(near.noise, 0x9p-44);
    EXPECT_GT(near.share_max, 0.1);
    EXPECT_EQ(near.beyond, 0u);
    const GemmAccuracy far = measure(c, factors, {f32(3.5F)});
    EXPECT_EQ(far.beyond, 1u);
    EXPECT_GT(far.share_max, 1);
}

TEST(GemmAccuracy, WhatIsNotFiniteIsCountedAndLeftOut) {
    const Case c = gemm_case("a=bf16 b=bf16 output=f32 shape=1x1x2", "bounded");
    for (const float wrong : {INFINITY, NAN}) {
        const GemmAccuracy a = measure(c, factors_of({one, one}, {one, two}), {f32(wrong)});
        EXPECT_EQ(a.not_finite, 1u);
        EXPECT_EQ(a.judged, 1u);
        EXPECT_EQ(a.beyond, 1u);
    }
    const GemmAccuracy nan = measure(c, factors_of({0x7FC0, one}, {one, two}), {f32(3)});
    EXPECT_EQ(nan.not_finite, 1u);
    EXPECT_EQ(nan.beyond, 1u);
    EXPECT_EQ(nan.signal, 0);
}

// Such a model has no bound, and an error all the same.
TEST(GemmAccuracy, WithoutABoundThereIsStillAnError) {
    const Case c =
        gemm_case("a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=2x2x64", "bounded:hopper-mx-bf16");
    const auto factors = gemm_factors(c, *find_distribution("normal"), "ocp");
    ASSERT_TRUE(factors);
    const Case made =
        gemm_case("a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=2x2x64", "hopper-mx-bf16");
    const GemmAccuracy a = measure(c, factors.value(), expected_outputs(made, factors.value()));
    EXPECT_EQ(a.without_bound, 4u);
    EXPECT_GT(a.signal, 1);
    EXPECT_LT(a.ulp_mean(), 1000);
}

TEST(GemmAccuracy, ModelsKeepTheirBoundsAndTheExactSumIsTheBest) {
    for (const char* fields : {"a=mxfp8-e4m3 b=mxfp8-e5m2 output=f32 shape=4x4x128",
                               "a=e4m3:tensor b=e4m3:tensor output=f32 shape=4x4x128",
                               "a=e4m3:1x128 b=e4m3:128x128 output=bf16 shape=4x4x256",
                               "a=e5m2:row b=e4m3:row output=f32 shape=4x4x96"}) {
        const Case any = gemm_case(fields, "bounded");
        const auto factors = gemm_factors(any, *find_distribution("outliers"), "nv");
        ASSERT_TRUE(factors) << factors.error().message;
        const GemmAccuracy exact =
            measure(any, factors.value(), expected_outputs(any, factors.value()));
        EXPECT_LE(exact.ulp_max, 0.5) << fields;
        EXPECT_EQ(exact.beyond, 0u) << fields;
        const double quantizing = quantizing_sqnr(any, factors.value());
        EXPECT_GT(quantizing, 15) << fields;
        EXPECT_LT(quantizing, 45) << fields;
    }
    const char* fields = "a=e4m3:tensor b=e4m3:tensor output=f32 shape=4x4x512";
    const Case bounded = gemm_case(fields, "bounded:hopper-fp8");
    const auto factors = gemm_factors(bounded, *find_distribution("normal"), "");
    ASSERT_TRUE(factors);
    const GemmAccuracy model =
        measure(bounded, factors.value(),
                expected_outputs(gemm_case(fields, "hopper-fp8"), factors.value()));
    EXPECT_EQ(model.beyond, 0u);
    EXPECT_GT(model.ulp_mean(), 10);
}

TEST(GemmAccuracy, FactorsThatItCannotMakeAreRefused) {
    const Case c = gemm_case("a=nvfp4 b=nvfp4 output=f32 shape=1x1x32", "bounded");
    const auto factors = gemm_factors(c, *find_distribution("normal"), "");
    ASSERT_FALSE(factors);
    EXPECT_NE(factors.error().message.find("makes no factor of nvfp4"), std::string::npos);
}

}  // namespace
}  // namespace mx::accuracy
