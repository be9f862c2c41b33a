// Demands on a run: which are understood, which are met, and the exit code.
#include "conformance/session/demands.hpp"

#include <gtest/gtest.h>

#include "conformance/case/fields.hpp"

namespace mx::session {
namespace {

using results::Verdict;

results::CaseResult result_of(const std::string& format, Verdict verdict) {
    results::CaseResult result;
    result.operation = "quantize";
    result.format = format;
    result.verdict = verdict;
    result.elements = verdict == Verdict::not_supported ? 0 : 64;
    return result;
}

// Of MXFP8 one case is compared, of MXFP4 none.
results::Run run_with(std::vector<results::Field> demands) {
    results::Run run;
    run.header.demands = std::move(demands);
    run.cases = {result_of("mxfp8-e4m3", Verdict::pass_exact),
                 result_of("mxfp8-e4m3", Verdict::not_supported),
                 result_of("mxfp4-e2m1", Verdict::not_supported)};
    return run;
}

TEST(Demands, APatternIsMetWhenEachItFitsWasCompared) {
    results::Run met = run_with({{"require", "mxfp8-e4m3/quantize"}, {"max-not-supported", "2"}});
    EXPECT_EQ(judge_demands(met, Outcome::conformant), Outcome::conformant);
    EXPECT_TRUE(met.footer.unmet.empty());

    results::Run unmet = run_with({{"require", "mx*/quant?ze"}, {"max-not-supported", "1"}});
    EXPECT_EQ(judge_demands(unmet, Outcome::conformant), Outcome::incomplete);
    EXPECT_EQ(unmet.footer.unmet, (std::vector<std::string>{
                                      "--require mx*/quant?ze is not met: nothing was compared of "
                                      "mxfp4-e2m1/quantize",
                                      "--max-not-supported 1 is exceeded: 2 cases not "
                                      "supported"}));
    results::Run none = run_with({});
    EXPECT_EQ(judge_demands(none, Outcome::conformant), Outcome::conformant);
}

TEST(Demands, WhatIsWorseStays) {
    results::Run run = run_with({{"max-not-supported", "0"}});
    EXPECT_EQ(judge_demands(run, Outcome::nothing_tested), Outcome::incomplete);
    for (const Outcome outcome :
         {Outcome::mismatch, Outcome::bad_input, Outcome::device_fault, Outcome::own_fault})
        EXPECT_EQ(judge_demands(run, outcome), outcome);
    EXPECT_EQ(run.footer.unmet.size(), 1u) << "judged again, and not told twice";
}

std::string refusal_of(const DemandOptions& options) {
    const Case c =
        parse_case("quantize format=mxfp8-e4m3 dialect=ocp shape=2x32 data=edge.tie").value();
    const auto demands = demands_of(options, {{"quantize", c}});
    return demands ? "" : demands.error().message;
}

TEST(Demands, WhatFitsNoCaseIsRefused) {
    EXPECT_EQ(refusal_of({{"mxfp8-e4m3/quantize", "*/*"}, "0"}), "");
    EXPECT_EQ(refusal_of({{"mxfp8-e4m3/quantise"}, ""}),
              "--require 'mxfp8-e4m3/quantise' fits no case of this run; did you mean "
              "'mxfp8-e4m3/quantize'?");
    EXPECT_EQ(refusal_of({{"x"}, ""}),
              "--require 'x' fits no case of this run, which has: mxfp8-e4m3/quantize");
    EXPECT_EQ(refusal_of({{}, "-1"}), "--max-not-supported '-1' is not a whole number");
}

}  // namespace
}  // namespace mx::session
