// The GEMMs that a device is asked on a GPU, without a GPU: what is asked, and which model answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/sweep/gemm_sweeps.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

using enum FactorScaling;

GemmProblem scaled(FactorScaling scaling_a, FactorScaling scaling_b) {
    return {.a = {formats::e4m3, scaling_a},
            .b = {formats::e5m2, scaling_b},
            .output = {formats::bf16},
            .m = 256,
            .n = 128,
            .k = 1024};
}

// Of 16 bits to binary32.
GemmProblem halves(const ElementFormat& type, std::int64_t k) {
    return {.a = {type}, .b = {type}, .m = 16, .n = 16, .k = k};
}

Expected<GemmModelled> modelled(const GemmProblem& gemm, const std::string& algorithm,
                                int architecture) {
    return modelled(DrawnGemm{gemm, {}}, algorithm, architecture);
}

std::string model_of(const GemmProblem& gemm, const std::string& algorithm = "") {
    const auto found = modelled(gemm, algorithm, 90);
    return found ? std::string(gemm_models[found.value().model].name) : found.error().message;
}

TEST(GemmData, EveryCodeIsOneOfItsKind) {
    for (const ElementFormat& format : {formats::e4m3, formats::e5m2, formats::bf16}) {
        for (std::size_t data = 0; data < gemm_data_names.size(); ++data) {
            std::set<std::uint32_t> codes;
            for (std::uint64_t k = 0; k < 4096; ++k) {
                const Code code = gemm_code(static_cast<GemmData>(data), format, {7, 0, k / 64, k});
                codes.insert(code.bits);
                if (data != static_cast<std::size_t>(GemmData::special)) {
                    EXPECT_LE(format.magnitude(code), format.code_max_finite());
                }
                if (data == static_cast<std::size_t>(GemmData::positive)) {
                    EXPECT_FALSE(format.is_negative(code));
                }
            }
            EXPECT_GE(codes.size(), 8u) << format.name << " " << gemm_data_names[data];
        }
    }
}

TEST(GemmData, SpecialHasNanAndInfinityZerosHaveZeros) {
    std::set<std::uint32_t> codes;
    int zeros = 0;
    for (std::uint64_t k = 0; k < 30000; ++k) {
        codes.insert(gemm_code(GemmData::special, formats::e5m2, {1, 0, 0, k}).bits & 0x7F);
        zeros += (gemm_code(GemmData::zeros, formats::e4m3, {1, 0, 0, k}).bits & 0x7F) == 0;
    }
    EXPECT_TRUE(codes.contains(0x7C) && codes.contains(0x7F));
    EXPECT_NEAR(zeros, 10000, 500);
}

TEST(GemmData, CancellingPairsAreOpposite) {
    int opposite = 0;
    for (std::uint64_t k = 0; k < 1000; k += 2) {
        const auto code = [k](std::uint64_t at) {
            return gemm_code(GemmData::cancelling, formats::e4m3, {3, 0, 5, k + at}).bits;
        };
        opposite += (code(0) ^ code(1)) == 0x80;
    }
    EXPECT_GT(opposite, 400);
    EXPECT_LT(opposite, 500);
}

TEST(GemmData, ZerosMeetTheLargest) {
    for (std::uint64_t k = 0; k < 99; k += 3) {
        const auto code = [k](GemmPart part) {
            return gemm_code(GemmData::zero_beside, formats::e4m3,
                             {1, static_cast<std::uint32_t>(part), 0, k})
                .bits;
        };
        EXPECT_EQ(code(GemmPart::a) + code(GemmPart::b), 0x7Eu);
        EXPECT_NE(code(GemmPart::a), code(GemmPart::b));
    }
}

TEST(GemmModelled, ScalesOfUnlikeKindsHaveNoModel) {
    for (const FactorScaling other : {none, tensor, row, f32_1x128, f32_128x128})
        for (const auto& s : {scaled(e8m0_1x32, other), scaled(other, e8m0_1x32)})
            EXPECT_NE(model_of(s, "wgmma").find("no model is known of"), std::string::npos)
                << text_of({s, {}});
    GemmProblem half = scaled(none, e8m0_1x32);
    half.a.element = half.b.element = formats::bf16;
    EXPECT_NE(model_of(half).find("no model is known of"), std::string::npos);
}

TEST(GemmTensors, AreThoseOfTheAbi) {
    GemmProblem s = scaled(f32_1x128, f32_128x128);
    s.beta = 0x3F800000;
    s.epilogue.adds_bias = true;
    const auto tensors = tensors_of(problem_of(s));
    ASSERT_EQ(tensors.size(), 7u);
    EXPECT_EQ(tensors[0].spec, dense("e4m3", 256, 1024));
    EXPECT_EQ(tensors[1].spec, (TensorSpec{"f32", 256, 8, 1, 256, "strided"}));
    EXPECT_EQ(tensors[2].spec, dense("e5m2", 128, 1024));
    EXPECT_EQ(tensors[3].spec, (TensorSpec{"f32", 1, 8, 8, 1, "strided"}));
    EXPECT_EQ(tensors[4].spec, dense("bf16", 256, 128));
    EXPECT_EQ(tensors[5].spec, dense("bf16", 1, 128));
    EXPECT_EQ(tensors[6].spec, dense("bf16", 256, 128));
    EXPECT_EQ(tensors[6].part, GemmPart::d);
    s.beta = 0x80000000;
    EXPECT_EQ(tensors_of(problem_of(s)).size(), 6u) << "-0 is no C";
}

TEST(GemmTensors, Fp8OutputHasAScaleOfItsOwn) {
    GemmProblem s = scaled(tensor, tensor);
    s.output.element = formats::e4m3;
    s.beta = 0x3F800000;
    EXPECT_EQ(operation_of(problem_of(s)).gemm->scaling_out, "tensor");
    const auto tensors = tensors_of(problem_of(s));
    ASSERT_EQ(tensors.size(), 7u);
    EXPECT_EQ(tensors[4].spec.type, "bf16");
    EXPECT_EQ(tensors[5].part, GemmPart::scale_out);
}

TEST(GemmModelled, TheRowThatFits) {
    EXPECT_EQ(model_of(scaled(tensor, tensor)), "hopper-fp8-promoted");
    EXPECT_EQ(model_of(scaled(row, row)), "hopper-fp8-promoted");
    GemmProblem fast = scaled(tensor, tensor);
    fast.accumulation = Accumulation::fast;
    EXPECT_EQ(model_of(fast), "hopper-fp8");
    fast.epilogue = {true, Activation::gelu};
    EXPECT_EQ(model_of(fast), "hopper-fp8");
    EXPECT_EQ(model_of(scaled(f32_1x128, f32_1x128)), "hopper-fp8-1x128");
    EXPECT_EQ(model_of(scaled(f32_128x128, f32_1x128)), "hopper-fp8-128x128");
    const GemmProblem half = halves(formats::bf16, 64);
    EXPECT_EQ(model_of(half, "id=66,tile=20,splitk=1"), "hopper-half");
    EXPECT_EQ(model_of(half, "id=16,tile=20,splitk=1"), "fma-chain");
}

TEST(GemmModelled, WhatNobodyKnowsHasNoModel) {
    EXPECT_FALSE(modelled(scaled(tensor, tensor), "", 100));
    EXPECT_FALSE(modelled(scaled(tensor, row), "", 90));
    EXPECT_FALSE(modelled(scaled(e8m0_1x32, e8m0_1x32), "", 90));
}

TEST(GemmModelled, SplitsAreWholeTiles) {
    GemmProblem s = scaled(tensor, tensor);
    s.k = 16384;
    const GemmModelled split = modelled(s, "id=66,splitk=6,reduction=2", 90).value();
    EXPECT_EQ(split.parts, 6);
    EXPECT_EQ(split.epilogue.kernel, GemmKernel::adds_parts);
    EXPECT_EQ(part_length(s, split.parts), 22 * 128);
    EXPECT_EQ(part_length(s, modelled(s, "id=66,splitk=1", 90).value().parts), 0);
    s.a.scaling = f32_1x128;
    s.b.scaling = f32_128x128;
    EXPECT_EQ(part_length(s, split.parts), 24 * 128);
    EXPECT_EQ(part_length(halves(formats::f16, 4112), split.parts), 11 * 64);
}

TEST(GemmFamilies, CoverTypesScalesAndDepths) {
    std::set<std::string> names;
    for (const GemmEffort effort : {GemmEffort::quick, GemmEffort::full}) {
        names.clear();
        for (const GemmFamily& family : gemm_families(effort)) {
            EXPECT_TRUE(names.insert(family.name).second) << family.name;
            std::set<std::int64_t> depths;
            for (const DrawnGemm& s : family.gemms) {
                depths.insert(s.gemm.k);
                EXPECT_TRUE(modelled(s, "", 90)) << text_of(s);
            }
            EXPECT_TRUE(depths.contains(16) && depths.contains(32768)) << family.name;
            EXPECT_TRUE(depths.contains(48) && depths.contains(528)) << family.name;
        }
    }
    EXPECT_EQ(names.size(), 102u);
    EXPECT_TRUE(names.contains("gemm e5m2 x e4m3 to f16, scales row x row, fast"));
}

// Has the family a problem of which this is true?
template <typename Question>
bool asks(const GemmFamily& family, Question question) {
    return std::any_of(family.gemms.begin(), family.gemms.end(), question);
}

// Every pair, output, accumulation and beta of SCALAR_32F, and every kind of data under each.
TEST(GemmFamilies, ScalesOfTensorsAreAskedWithEverything) {
    std::set<std::string> seen;
    for (const GemmFamily& family : gemm_families(GemmEffort::full)) {
        const GemmProblem& first = family.gemms.front().gemm;
        if (first.a.scaling != tensor) continue;
        EXPECT_TRUE(seen.insert(family.name).second) << family.name;
        for (std::size_t data = 0; data < gemm_data_names.size(); ++data)
            for (const std::uint32_t beta : {0x00000000u, 0x3F800000u, 0x3F451EB8u})
                EXPECT_TRUE(asks(family, [&](const DrawnGemm& s) {
                    return s.draw.data == static_cast<GemmData>(data) && s.gemm.beta == beta;
                })) << family.name;
        for (const std::uint32_t binades : {8u, 120u, 250u})
            EXPECT_TRUE(asks(family, [&](const DrawnGemm& s) {
                return s.draw.scale_binades == binades;
            })) << family.name;
        EXPECT_TRUE(asks(family, [](const DrawnGemm& s) { return s.gemm.m == 1; })) << family.name;
        EXPECT_TRUE(asks(family, [](const DrawnGemm& s) { return s.gemm.alpha << 1 == 0; }));
        EXPECT_TRUE(asks(family, [](const DrawnGemm& s) { return s.gemm.a.scaling == none; }));
        EXPECT_TRUE(asks(family, [](const DrawnGemm& s) { return s.gemm.batches > 1; }));
        const bool is_fp8 = first.output.element.code_bits() == 8;
        EXPECT_EQ(asks(family, [](const DrawnGemm& s) { return s.gemm.c == formats::f16; }),
                  is_fp8);
    }
    // Four pairs to f32, bf16, f16 and e4m3, three of them to e5m2, with and without fast.
    EXPECT_EQ(seen.size(), 2u * (4 * 4 + 3));
}

}  // namespace
}  // namespace mx::sweep
