// The words of options as a GEMM.
#include "conformance/identify/gemm_setting.hpp"

#include <gtest/gtest.h>

#include "conformance/case/gemm_case.hpp"
#include "conformance/identify/test/dressed_gemm.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

const Client& machine() {
    static const Client client = device_of(dressed_as(*find_gemm_model("hopper-fp8")));
    return client;
}

Client refusing() {
    Client client;
    const auto no = [](const Question&) {
        return DeviceAnswer{.kind = AnswerKind::not_supported, .reason = "not today"};
    };
    client.ask = no;
    client.refuses = no;
    return client;
}

GemmProblem setting(const GemmWords& words, const Client& device) {
    const auto found = setting_of(words, device);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found.value() : GemmProblem{};
}

TEST(GemmWords, Fp8HasTensorScalesWhereTheDeviceTakesThem) {
    EXPECT_EQ(setting({}, machine()).a.scaling, FactorScaling::tensor);
    EXPECT_EQ(setting({}, refusing()).a.scaling, FactorScaling::none);
    EXPECT_EQ(setting({.scaling = {"none"}}, machine()).a.scaling, FactorScaling::none);
    EXPECT_EQ(setting({.types = {"bf16"}}, machine()).a.scaling, FactorScaling::none);
}

// A device of MX alone is asked for MX where nothing was said; what was said stays.
TEST(GemmWords, WhatTheDeviceTakesIsAskedFirst) {
    const Client mx = device_of(dressed_as(*find_gemm_model("blackwell-mx")));
    Client only_blocks = mx;
    only_blocks.ask = [mx](const Question& question) {
        return question.operation.gemm->scaling_a == "1x32"
                   ? mx.ask(question)
                   : DeviceAnswer{.kind = AnswerKind::not_supported, .reason = "blocks alone"};
    };
    EXPECT_EQ(setting({}, only_blocks).a, *parse_gemm_factor("mxfp8-e4m3"));
    EXPECT_EQ(setting({.types = {"e4m3"}}, only_blocks).a.scaling, FactorScaling::none);
    EXPECT_EQ(setting({.scaling = {"none"}}, only_blocks).a.scaling, FactorScaling::none);
    EXPECT_EQ(setting({}, refusing()).a.element, formats::e4m3);
}

TEST(GemmWords, OneNameIsOfBothFactors) {
    const GemmProblem two =
        setting({.types = {"e4m3", "e5m2"}, .scaling = {"tensor", "none"}}, machine());
    EXPECT_EQ(two.a.element, formats::e4m3);
    EXPECT_EQ(two.b.element, formats::e5m2);
    EXPECT_EQ(two.a.scaling, FactorScaling::tensor);
    EXPECT_EQ(two.b.scaling, FactorScaling::none);
    const GemmProblem blocks = setting({.formats = {"mxfp8-e4m3"}}, machine());
    EXPECT_EQ(blocks.a, blocks.b);
    EXPECT_EQ(scaling_text(blocks.a.scaling), "1x32");
}

TEST(GemmWords, NamesThatNoTableHasAreRefused) {
    for (const GemmWords& words :
         {GemmWords{.types = {"e9m9"}}, GemmWords{.types = {"e4m3", "e4m3", "e4m3"}},
          GemmWords{.scaling = {"1x7"}}, GemmWords{.formats = {"mxint8"}},
          GemmWords{.accumulation = "slow"}})
        EXPECT_FALSE(setting_of(words, machine()));
}

TEST(GemmWords, AShapeIsThreeNumbers) {
    EXPECT_EQ(text_of(shape_of("64x32x128").value()), "64x32x128");
    for (const char* text : {"", "64x32", "64x32x0", "64x32x128x2", "ax1x1"})
        EXPECT_FALSE(shape_of(text)) << text;
}

}  // namespace
}  // namespace mx::identify
