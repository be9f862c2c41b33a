// GEMM cases whose D lies in blocks with scales of their own, through the runner: the oracle as a
// device passes, and what is wrong with elements or scales fails.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/run/gemm_problem.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/fast/round.hpp"
#include "reference/gemm/output_blocks.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

const std::string mx_product = "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=mxfp8-e4m3 ";
const std::string exact_case = mx_product + "shape=24x80x160 data=gemm.exact-mantissas ";
const std::string model_case =
    mx_product + "shape=24x80x160 data=gemm.middle model=blackwell-mx dialect=nv ";

GemmSubject modelled() {
    return {.model = find_gemm_model("blackwell-mx")};
}

TEST(GemmBlocks, TheOraclePasses) {
    for (const std::string rest :
         {"dialect=ocp", "dialect=nv scales=128x4", "dialect=cublaslt alpha=-0.5 beta=2",
          "dialect=torchao-rceil epilogue=bias", "dialect=nv layout=padded"}) {
        const CaseResult result = run(exact_case + rest, {});
        EXPECT_EQ(result.verdict, Verdict::pass_exact) << told(result);
        EXPECT_EQ(result.elements, 24u * 80);
        EXPECT_EQ(result.scales, 24u * 3);
    }
    const CaseResult batches =
        run("gemm a=e4m3:tensor b=e5m2:tensor output=mxfp8-e5m2 shape=8x33x96 batches=3 dialect=nv "
            "data=gemm.exact-mantissas",
            {});
    EXPECT_EQ(batches.verdict, Verdict::pass_exact) << told(batches);
    const CaseResult model = run(model_case, modelled());
    EXPECT_EQ(model.verdict, Verdict::pass_exact) << told(model);
    EXPECT_NE(model.reason.find("bit for bit as model blackwell-mx"), std::string::npos);
}

TEST(GemmBlocks, RandomDataHasNoVerdictWithoutAModel) {
    const CaseResult result = run(mx_product + "shape=24x80x160 data=gemm.uniform", {});
    EXPECT_EQ(result.verdict, Verdict::insufficient_data) << told(result);
    EXPECT_NE(result.reason.find("blocks of D are not so"), std::string::npos) << result.reason;
}

// A NaN makes the whole block what the dialect makes of it, where its source says what that is.
TEST(GemmBlocks, SpecialsAreTheDialectsWhereItsSourceSaysSo) {
    const std::string specials = mx_product + "shape=24x80x160 data=gemm.exact-specials dialect=";
    EXPECT_EQ(run(specials + "nv", {}).verdict, Verdict::pass_exact);
    const CaseResult open = run(specials + "cublaslt", {});
    EXPECT_EQ(open.verdict, Verdict::insufficient_data) << told(open);
    EXPECT_NE(open.reason.find("dialect cublaslt leaves open: nan_in_block"), std::string::npos)
        << open.reason;
}

constexpr std::uint32_t nan_of_e4m3 = 0x7F;

// Of every block that has a NaN, each code.
GemmSubject spoilt_beside_nan(std::uint32_t (*spoil)(std::uint32_t code)) {
    GemmSubject subject = modelled();
    subject.spoil_result = [spoil](const PlainGemm&, Matrix& d) {
        for (auto& row : d)
            for (std::size_t first = 0; first < row.size(); first += 32) {
                const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
                const auto end = begin + std::min<std::ptrdiff_t>(32, row.end() - begin);
                if (std::find(begin, end, nan_of_e4m3) != end)
                    std::transform(begin, end, begin, spoil);
            }
    };
    return subject;
}

// What a NaN does to the scale of its block is open, but the other lanes must fit the scale.
TEST(GemmBlocks, LanesBesideANanMustFitTheScale) {
    const std::string special =
        mx_product + "shape=24x80x160 data=gemm.special model=blackwell-mx dialect=cublaslt";
    EXPECT_EQ(run(special, modelled()).verdict, Verdict::pass_exact);
    const CaseResult wrong = run(special, spoilt_beside_nan([](std::uint32_t code) {
                                     return code == nan_of_e4m3 ? code : code ^ 1;
                                 }));
    EXPECT_EQ(wrong.verdict, Verdict::fail) << told(wrong);
    const CaseResult spread =
        run(special, spoilt_beside_nan([](std::uint32_t) { return nan_of_e4m3; }));
    EXPECT_EQ(spread.verdict, Verdict::deviation) << told(spread);
}

// The scale of a block of zeros may be open, but no reading makes numbers NaN.
TEST(GemmBlocks, ABlockOfZerosMayHaveAnyScaleButNaN) {
    struct Scales {
        const char* output;
        std::uint32_t one, nan;
    };
    for (const Scales& codes :
         {Scales{"mxfp8-e4m3 dialect=cublaslt", 127, 0xFF}, Scales{"nvfp4", 0x38, 0x7F}}) {
        const std::string zeros =
            "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=24x80x160 "
            "data=gemm.zero-rows model=blackwell-mx output=" +
            std::string(codes.output);
        const auto with_scale = [&zeros](std::uint32_t code) {
            GemmSubject subject = modelled();
            subject.spoil_scales = [code](Matrix& scales) {
                for (auto& row : scales) std::replace(row.begin(), row.end(), 0u, code);
            };
            return run(zeros, subject);
        };
        const CaseResult one = with_scale(codes.one), nan = with_scale(codes.nan);
        EXPECT_EQ(one.verdict, Verdict::deviation) << told(one);
        EXPECT_EQ(nan.verdict, Verdict::fail) << told(nan);
    }
}

TEST(GemmBlocks, AScaleOneTooLargeFails) {
    GemmSubject subject;
    subject.spoil_scales = [](Matrix& scales) { ++scales[5][1]; };
    const CaseResult result = run(exact_case, subject);
    EXPECT_EQ(result.verdict, Verdict::fail) << told(result);
    EXPECT_EQ(result.mismatched_scales, 1u);
    EXPECT_EQ(result.mismatched_elements, 0u);
    ASSERT_EQ(result.mismatches.size(), 1u);
    EXPECT_EQ(result.mismatches[0].mismatch_class, "scale");
    EXPECT_EQ(result.mismatches[0].direction, "+1 code");
    EXPECT_NE(result.mismatches[0].note.find("the scale of the block at row 5, column 32"),
              std::string::npos)
        << result.mismatches[0].note;
}

TEST(GemmBlocks, TheScaleOfTheBlockBesideFails) {
    GemmSubject subject = modelled();
    subject.spoil_scales = [](Matrix& scales) {
        for (auto& row : scales) std::swap(row[0], row[1]);
    };
    const CaseResult result = run(model_case, subject);
    EXPECT_EQ(result.verdict, Verdict::fail) << told(result);
    EXPECT_GT(result.mismatched_scales, 0u);
}

TEST(GemmBlocks, NumbersRoundedBeforeFail) {
    GemmSubject subject = modelled();
    subject.spoil_numbers = [](const PlainGemm&, Matrix& numbers) {
        for (auto& row : numbers)
            for (std::uint32_t& number : row)
                number = fast::round(formats::bf16, Rounding::nearest_even, Overflow::overflow,
                                     fast::unpack(formats::f32, Code{number}))
                             .bits
                         << 16;
    };
    const CaseResult result =
        run(mx_product + "shape=64x96x160 data=gemm.middle model=blackwell-mx dialect=nv", subject);
    EXPECT_EQ(result.verdict, Verdict::fail) << told(result);
    EXPECT_GT(result.mismatched_elements, 0u);
}

TEST(GemmBlocks, ElementsOfOneBlockUnderAnothersScaleFail) {
    GemmSubject subject;
    subject.spoil_result = [](const PlainGemm&, Matrix& d) { ++d[3][7]; };
    const CaseResult result = run(exact_case, subject);
    EXPECT_EQ(result.verdict, Verdict::fail) << told(result);
    EXPECT_EQ(result.mismatched_elements, 1u);
    EXPECT_EQ(result.mismatched_scales, 0u);
}

TEST(GemmBlocks, DataWithOneScaleForAllIsMistrusted) {
    const CaseResult result = run(mx_product + "shape=1x64x1 data=gemm.exact-signs", {});
    EXPECT_EQ(result.verdict, Verdict::insufficient_data) << told(result);
    EXPECT_NE(result.reason.find("takes the scale of the block before"), std::string::npos)
        << told(result);
}

const std::string fp4 = "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=nvfp4 shape=24x80x160 ";
const std::string fp4_exact = fp4 + "data=gemm.exact-mantissas ";
const std::string fp4_model = fp4 + "data=gemm.middle model=blackwell-mx packing=low_first ";

TEST(GemmNvfp4, TheOraclePasses) {
    for (const std::string rest :
         {"", "packing=low_first", "scales=128x4 packing=low_first", "alpha=-0.5 beta=2",
          "dialect=torchao-nvfp4-single epilogue=bias", "layout=padded epilogue=relu"}) {
        const CaseResult result = run(fp4_exact + rest, {});
        EXPECT_EQ(result.verdict, Verdict::pass_exact) << told(result);
        EXPECT_EQ(result.elements, 24u * 80);
        EXPECT_EQ(result.scales, 24u * 5);
    }
    const CaseResult factors =
        run("gemm a=nvfp4 b=nvfp4 output=nvfp4 shape=8x33x96 batches=3 packing=low_first "
            "data=gemm.exact-signs",
            {});
    EXPECT_EQ(factors.verdict, Verdict::pass_exact) << told(factors);
    const CaseResult mxfp4 =
        run("gemm a=mxfp4-e2m1 b=mxfp4-e2m1 output=mxfp4-e2m1 shape=8x80x96 packing=low_first "
            "dialect=nv data=gemm.exact-mantissas",
            {});
    EXPECT_EQ(mxfp4.verdict, Verdict::pass_exact) << told(mxfp4);
    const CaseResult model = run(fp4_model, modelled());
    EXPECT_EQ(model.verdict, Verdict::pass_exact) << told(model);
    EXPECT_NE(model.reason.find("and dialect cublaslt-nvfp4"), std::string::npos) << model.reason;
}

// What the source of the recipe does not say is no device's fault, and gives no verdict.
TEST(GemmNvfp4, WhatIsOpenIsNotJudged) {
    const CaseResult zeros = run(fp4 + "data=gemm.one-hot alpha=0", {});
    EXPECT_EQ(zeros.verdict, Verdict::insufficient_data) << told(zeros);
    EXPECT_NE(zeros.reason.find("cublaslt-nvfp4 leaves open: a block of zeros"), std::string::npos)
        << zeros.reason;
}

TEST(GemmNvfp4, KnowsWhatIsOpen) {
    const auto c = parse_case(fp4_exact);
    ASSERT_TRUE(c.ok());
    const gemm::OutputBlocks blocks = *gemm_problem_of(c.value(), {}).blocks;
    constexpr Code one{0x3F800000}, most{0x45280000}, more{0x45280001}, nan{0x7FC00000},
        infinity{0xFF800000}, zero{0};
    const auto open = [&](std::vector<Code> numbers, std::uint32_t scale) {
        return open_decision_of(blocks, numbers, Code{scale});
    };
    EXPECT_EQ(open({one, zero}, 0x23), "");
    EXPECT_EQ(open({one, most}, 0x7E), "");
    EXPECT_EQ(open({one, more}, 0x7E), "a scale that rounds to 0 or lies beyond the largest");
    EXPECT_EQ(open({one}, 0), "a scale that rounds to 0 or lies beyond the largest");
    EXPECT_EQ(open({zero, zero}, 0), "a block of zeros");
    EXPECT_EQ(open({one, nan}, 0x23), "a NaN among the lanes");
    EXPECT_EQ(open({one, infinity}, 0x7E), "an infinity among the lanes");
    EXPECT_EQ(open_sign_of_zero(blocks), "the sign of a zero");
}

TEST(GemmNvfp4, EachPartThatIsWrongFails) {
    struct Wrong {
        const char* what;
        GemmSubject subject;
    };
    std::vector<Wrong> all;
    const auto add = [&](const char* what) -> GemmSubject& {
        all.push_back({what, modelled()});
        return all.back().subject;
    };
    add("one scale up").spoil_scales = [](Matrix& scales) { ++scales[5][1]; };
    add("scales of neighbours").spoil_scales = [](Matrix& scales) {
        for (auto& row : scales) std::swap(row[0], row[1]);
    };
    add("a sign in a scale").spoil_scales = [](Matrix& scales) { scales[3][4] |= 0x80; };
    add("nibbles exchanged").spoil_result = [](const PlainGemm&, Matrix& d) {
        for (auto& row : d)
            for (std::size_t i = 0; i + 1 < row.size(); i += 2) std::swap(row[i], row[i + 1]);
    };
    add("one element").spoil_result = [](const PlainGemm&, Matrix& d) { d[3][7] ^= 1; };
    add("D's scale left out").spoil = [](PlainGemm& gemm) { gemm.scale_out[0][0] = 0x3F800000; };
    for (const Wrong& wrong : all) {
        const CaseResult result = run(fp4_model, wrong.subject);
        EXPECT_EQ(result.verdict, Verdict::fail) << wrong.what << ": " << told(result);
    }
}

}  // namespace
}  // namespace mx
