// Tests of what is recorded of a sweep, with sweeps that no GPU was asked for.
#include <gtest/gtest.h>

#include "conformance/case/fields.hpp"
#include "conformance/results/record_json.hpp"
#include "conformance/run/sweep_result.hpp"

namespace mx {
namespace {

using results::Verdict;
using sweep::Output;
using sweep::Subject;

const sweep::Gpu hopper{"a GPU", 90};

sweep::GpuSweep sweep_named(const std::string& name, Subject subject, Output output) {
    return {name, "all 2^32 codes of f32", subject, output, 0, {}};
}
const sweep::GpuSweep elements =
    sweep_named("device elements mxfp8-e4m3 nv", Subject::device, Output::elements);
const sweep::GpuSweep scales =
    sweep_named("device scale mxfp8-e4m3 nv", Subject::device, Output::scales);
const sweep::GpuSweep oracle =
    sweep_named("round e4m3 nearest_even f32", Subject::oracle, Output::elements);

sweep::SweepAnswer right_answer() {
    sweep::SweepAnswer answer;
    answer.inputs = std::uint64_t{1} << 40;
    return answer;
}
sweep::SweepAnswer wrong_answer() {
    sweep::SweepAnswer answer = right_answer();
    answer.differing = 184'549'376;
    answer.first = {{"0x3f800001", "0xfe", "0x0", "0x1"}};
    return answer;
}

TEST(SweepResult, CountsWhatWasAskedAndNamesTheGpu) {
    const results::CaseResult right = result_of(elements, hopper, right_answer());
    EXPECT_EQ(right.verdict, Verdict::pass_exact);
    EXPECT_EQ(right.suite, "sweep");
    EXPECT_EQ(right.operation, "sweep");
    EXPECT_EQ(right.case_text, "sweep map=\"device elements mxfp8-e4m3 nv\"");
    EXPECT_EQ(right.elements, std::uint64_t{1} << 40);
    EXPECT_EQ(right.scales, 0u);
    EXPECT_TRUE(right.mismatches.empty());
    EXPECT_EQ(right.reason, "on a GPU (sm_90), by code inside mxcheck of the plug-in's sources");
    const results::CaseResult of_scales = result_of(scales, hopper, right_answer());
    EXPECT_EQ(of_scales.elements, 0u);
    EXPECT_EQ(of_scales.scales, std::uint64_t{1} << 40);
}

TEST(SweepResult, SaysWhatWasAskedAndEveryPlaceThatIsKnownToDiffer) {
    sweep::SweepAnswer answer = wrong_answer();
    answer.note = "7 GEMMs by 2 algorithms";
    answer.first.push_back({"0x3f800002", "0xfe", "0x3", "0x4"});
    const results::CaseResult wrong = result_of(elements, hopper, answer);
    EXPECT_TRUE(wrong.reason.ends_with("; 7 GEMMs by 2 algorithms")) << wrong.reason;
    EXPECT_EQ(wrong.mismatches.at(0).note,
              "device elements mxfp8-e4m3 nv, all 2^32 codes of f32; also 0x3f800002: 0x3 where "
              "0x4 is expected");
}

TEST(SweepResult, NamesWhatDiffersAndTheCommandThatShowsItAgain) {
    const results::CaseResult wrong = result_of(elements, hopper, wrong_answer());
    EXPECT_EQ(wrong.verdict, Verdict::fail);
    EXPECT_EQ(wrong.mismatched_elements, 184'549'376u);
    EXPECT_EQ(wrong.mismatched_scales, 0u);
    ASSERT_EQ(wrong.mismatches.size(), 1u);
    const results::Mismatch& m = wrong.mismatches[0];
    EXPECT_EQ(m.stage, "element");
    EXPECT_EQ(m.count, 184'549'376u);
    EXPECT_EQ(m.of, std::uint64_t{1} << 40);
    EXPECT_EQ(m.input_bits, "0x3f800001");
    EXPECT_EQ(m.expected_scale, "0xfe");
    EXPECT_EQ(m.actual_scale, "0xfe");
    EXPECT_EQ(m.expected_element, "0x1");
    EXPECT_EQ(m.actual_element, "0x0");
    EXPECT_EQ(m.note, "device elements mxfp8-e4m3 nv, all 2^32 codes of f32");
    EXPECT_EQ(m.repro, "mxcheck prove --gpu 'device elements mxfp8-e4m3 nv'");

    const results::CaseResult of_scales = result_of(scales, hopper, wrong_answer());
    ASSERT_EQ(of_scales.mismatches.size(), 1u);
    EXPECT_EQ(of_scales.mismatches[0].mismatch_class, "scale");
    EXPECT_EQ(of_scales.mismatches[0].expected_scale, "0x1");
    EXPECT_EQ(of_scales.mismatches[0].actual_scale, "0x0");
    EXPECT_EQ(of_scales.mismatches[0].expected_element, "");
    EXPECT_EQ(of_scales.mismatched_scales, 184'549'376u);
}

TEST(SweepResult, BlamesTheOracleForItsOwnCodeAndForAnUnknownDigest) {
    EXPECT_EQ(result_of(oracle, hopper, wrong_answer()).verdict, Verdict::oracle_disagreement);
    EXPECT_EQ(result_of(oracle, hopper, right_answer()).verdict, Verdict::pass_exact);
    sweep::SweepAnswer other_digest = right_answer();
    other_digest.wrong_digest = "the digest is another one";
    for (const sweep::GpuSweep& sweep : {oracle, elements}) {
        const results::CaseResult result = result_of(sweep, hopper, other_digest);
        EXPECT_EQ(result.verdict, Verdict::oracle_disagreement);
        EXPECT_EQ(result.reason, "the digest is another one");
    }
}

TEST(SweepResult, SaysWhatOfAPluginWasNotCompared) {
    sweep::GpuSweep gemm =
        sweep_named("gemm e4m3 x e4m3 to f32", Subject::plugin, Output::elements);
    gemm.device = "hopper";
    sweep::SweepAnswer partly = right_answer();
    partly.refused = 3;
    partly.refusal = "no such epilogue";
    const results::CaseResult passed = result_of(gemm, hopper, partly);
    EXPECT_EQ(passed.verdict, Verdict::pass_exact);
    EXPECT_EQ(passed.reason,
              "on a GPU (sm_90), by the device, against the model of its arithmetic; 3 problems "
              "were not compared: no such epilogue");
    partly.inputs = 0;
    EXPECT_EQ(result_of(gemm, hopper, partly).verdict, Verdict::not_supported);
    EXPECT_EQ(result_of(gemm, hopper, partly).reason, "no such epilogue");
    EXPECT_EQ(result_of(gemm, hopper, sweep::SweepAnswer{}).verdict, Verdict::untested);

    const results::CaseResult wrong = result_of(gemm, hopper, wrong_answer());
    EXPECT_EQ(wrong.verdict, Verdict::fail);
    ASSERT_EQ(wrong.mismatches.size(), 1u);
    EXPECT_EQ(wrong.mismatches[0].direction, "gemm e4m3 x e4m3 to f32: not the bits of the model");
    EXPECT_EQ(wrong.mismatches[0].repro,
              "mxcheck replay 'sweep map=\"gemm e4m3 x e4m3 to f32\"' --device hopper");
}

TEST(SweepResult, OfAGpuThatFailedOrCannotIsNoPass) {
    const results::CaseResult failed =
        result_of(elements, hopper, Error{ErrorKind::device, "the GPU: lost"});
    EXPECT_EQ(failed.verdict, Verdict::device_error);
    EXPECT_EQ(failed.reason, "the GPU: lost");
    EXPECT_EQ(failed.elements, 0u);

    sweep::GpuSweep blackwell = elements;
    blackwell.first_architecture = 100;
    EXPECT_EQ(missing_on(hopper, elements), "");
    EXPECT_EQ(missing_on({"another", 100}, blackwell), "");
    const std::string missing = missing_on(hopper, blackwell);
    EXPECT_EQ(missing, "a GPU (sm_90) does not have this instruction: it is unverified");
    const results::CaseResult absent = not_supported(blackwell, missing);
    EXPECT_EQ(absent.verdict, Verdict::not_supported);
    EXPECT_EQ(absent.reason, missing);
    EXPECT_EQ(absent.elements + absent.scales, 0u);
}

// Every sweep there is: a line of its own in the results file, which reads back, and whose text
// splits back into the sweep's name.
TEST(SweepResult, IsALineOfTheResultsFile) {
    std::size_t pairs = 0;
    for (const sweep::GpuSweep& sweep : sweep::gpu_sweeps()) {
        const results::CaseResult result = result_of(sweep, hopper, wrong_answer());
        const auto record = results::record_of(results::line_of(result));
        ASSERT_TRUE(record.ok()) << sweep.name;
        EXPECT_EQ(std::get<results::CaseResult>(record.value()), result) << sweep.name;
        const auto words = split_words(result.case_text);
        ASSERT_TRUE(words.ok()) << result.case_text;
        ASSERT_EQ(words.value().fields.size(), 1u);
        EXPECT_EQ(words.value().fields[0].value, sweep.name);
        pairs += sweep.name.starts_with("device elements ") ? 1 : 0;
    }
    EXPECT_GE(pairs, 12u);
}

}  // namespace
}  // namespace mx
