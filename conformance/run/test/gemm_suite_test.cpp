// The suite of GEMMs on the exact oracle as a device: every case passes, so that what does not pass
// elsewhere is the device's doing. A case that its data cannot judge would show here.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "conformance/run/runner.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using results::Verdict;

// Every one of them is asked where a device is asked; here half, for the oracle is both sides.
constexpr std::size_t one_of = 2;

TEST(GemmSuite, CasesOfQuickPassOnTheOracle) {
    Sources sources;
    PlanRequest request;
    request.suite_glob = "gemm";
    const auto plan = plan_cases(built_in_suites(), request, sources);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_GT(plan.value().size(), 300u);
    const GemmSubject subject;
    Runner runner(
        Client{.ask = [&subject](const Question& question) { return subject.answer(question); }},
        sources, {});
    std::size_t exact = 0, bounded = 0;
    for (std::size_t i = 0; i < plan.value().size(); i += one_of) {
        const PlannedCase& planned = plan.value()[i];
        const auto result = runner.run(planned);
        ASSERT_TRUE(result.ok()) << result.error().message;
        const Verdict verdict = result.value().verdict;
        const bool is_bounded = planned.c.gemm.model.is_bounded;
        EXPECT_EQ(verdict, is_bounded ? Verdict::pass_bounded : Verdict::pass_exact)
            << result.value().case_text << ": " << name_of(verdict) << ", "
            << result.value().reason;
        exact += verdict == Verdict::pass_exact ? 1 : 0;
        bounded += verdict == Verdict::pass_bounded ? 1 : 0;
    }
    EXPECT_GT(exact, bounded);
    EXPECT_GT(bounded, 8u);
}

TEST(GemmSuite, GroupedCasesPassOnTheOracle) {
    Sources sources;
    PlanRequest request;
    request.suite_glob = "gemm_grouped";
    const auto plan = plan_cases(built_in_suites(), request, sources);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_GT(plan.value().size(), 50u);
    const GemmSubject subject;
    Runner runner(
        Client{.ask = [&subject](const Question& question) { return subject.answer(question); }},
        sources, {});
    for (const PlannedCase& planned : plan.value()) {
        const auto result = runner.run(planned);
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_TRUE(results::may_pass(result.value().verdict))
            << result.value().case_text << ": " << result.value().reason;
    }
}

TEST(GemmSuite, CasesOfFullArePlanned) {
    Sources sources;
    PlanRequest request;
    request.suite_glob = "gemm";
    const auto quick = plan_cases(built_in_suites(), request, sources);
    request.level = "full";
    const auto full = plan_cases(built_in_suites(), request, sources);
    ASSERT_TRUE(quick.ok()) << quick.error().message;
    ASSERT_TRUE(full.ok()) << full.error().message;
    EXPECT_GT(full.value().size(), quick.value().size());
    for (const PlannedCase& planned : full.value())
        EXPECT_TRUE(check_combination(planned.c)) << print(planned.c);
}

// The same on every row of gemm_models: no machine of the table may be accused. What walks codes
// one at a time is near the conditions of exactness, so it is what is asked.
TEST(GemmSuite, EveryModelPassesWhereOneCodeIsAskedAtATime) {
    Sources sources;
    PlanRequest request;
    request.suite_glob = "gemm";
    const auto plan = plan_cases(built_in_suites(), request, sources);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    std::size_t ran = 0;
    for (const PlannedCase& planned : plan.value())
        for (const GemmModel& row : gemm_models) {
            const std::string& data = planned.c.data;
            Case named = planned.c;
            named.gemm.model = {&row, false};
            const bool ends_in_half = row.accumulator.exponent_bits < 8;
            const bool is_one_code = data.ends_with("-codes") || data == "gemm.nonfinite";
            // A machine that takes subnormal factors for 0 is found by every code of f16 and bf16.
            if (row.sum == StepSum::pairs_flushed || flushes_in_f32(row.sum)) continue;
            if (!is_one_code || !check_combination(named) ||
                (ends_in_half && planned.c.gemm.output.element != formats::f16) ||
                ran++ % one_of != 0)
                continue;
            const GemmSubject subject{.model = &row};
            Runner runner(
                Client{.ask = [&subject](
                                  const Question& question) { return subject.answer(question); }},
                sources, {});
            const auto result = runner.run(planned);
            ASSERT_TRUE(result.ok()) << result.error().message;
            EXPECT_EQ(result.value().verdict, Verdict::pass_exact)
                << result.value().case_text << " by " << row.name << ": " << result.value().reason;
        }
    EXPECT_GT(ran, 100u);
}

// The requests that an H200 has answered: under the right model each is worth something.
TEST(GemmSuite, EveryRecordedRequestPassesOnItsModel) {
    std::ostringstream text;
    for (const char* name :
         {"nvidia_h200_gemm.suite", "nvidia_h200_gelu.suite", "nvidia_h200_mx.suite"})
        text << std::ifstream(std::string(MX_VECTORS "/") + name).rdbuf();
    Sources sources;
    PlanRequest request;
    request.level = "smoke";
    const auto plan = plan_cases({{"nvidia_h200", text.str()}}, request, sources);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_GT(plan.value().size(), 120u);
    for (const PlannedCase& planned : plan.value()) {
        const GemmSubject subject{.model = planned.c.gemm.model.row};
        Runner runner(
            Client{
                .ask = [&subject](const Question& question) { return subject.answer(question); }},
            sources, {});
        const auto result = runner.run(planned);
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_TRUE(results::may_pass(result.value().verdict))
            << result.value().case_text << ": " << result.value().reason;
    }
}

}  // namespace
}  // namespace mx
