// GEMM cases whose D lies in blocks with scales of their own, through the runner: the oracle as a
// device passes, and what is wrong with elements or scales fails.
#include <gtest/gtest.h>

#include "conformance/run/runner.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/fast/round.hpp"
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
    EXPECT_EQ(result.verdict, Verdict::mistrusted) << told(result);
    EXPECT_NE(result.reason.find("blocks of D are not so"), std::string::npos) << result.reason;
}

// A NaN makes the whole block what the dialect makes of it, where its source says what that is.
TEST(GemmBlocks, SpecialsAreTheDialectsWhereItsSourceSaysSo) {
    const std::string specials = mx_product + "shape=24x80x160 data=gemm.exact-specials dialect=";
    EXPECT_EQ(run(specials + "nv", {}).verdict, Verdict::pass_exact);
    const CaseResult open = run(specials + "cublaslt", {});
    EXPECT_EQ(open.verdict, Verdict::mistrusted) << told(open);
    EXPECT_NE(open.reason.find("dialect cublaslt leaves open: nan_in_block"), std::string::npos)
        << open.reason;
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
    EXPECT_EQ(result.verdict, Verdict::mistrusted) << told(result);
    EXPECT_NE(result.reason.find("takes the scale of the block before"), std::string::npos)
        << told(result);
}

}  // namespace
}  // namespace mx
