// The model against numbers counted by hand from the fixtures, and the rules of the outcome.
#include "reports/model/summary.hpp"

#include <gtest/gtest.h>

#include "reports/model/phrases.hpp"
#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

using results::Mismatch;
using results::name_of;

Mismatch mismatch(std::string direction, std::uint64_t count) {
    Mismatch made;
    made.mismatch_class = "tie";
    made.stage = "element";
    made.direction = std::move(direction);
    made.count = count;
    made.of = 32;
    made.lanes = {count, 0};
    return made;
}

TEST(Summary, CountsOfTheFixture) {
    const results::Run run = fixture("every_verdict");
    const Summary summary = summarize(run);
    EXPECT_EQ(summary.totals.cases, 19u);
    EXPECT_EQ(summary.totals.elements, 720'896u);
    EXPECT_EQ(summary.totals.scales, 18'432u);
    EXPECT_EQ(summary.totals.mismatched_elements, 1'711u);
    EXPECT_EQ(summary.totals.mismatched_scales, 12u);
    EXPECT_EQ(summary.verdicts.of(Verdict::pass_exact), 4u);
    EXPECT_EQ(summary.verdicts.of(Verdict::fail), 2u);
    EXPECT_EQ(summary.verdicts.of(Verdict::not_supported), 3u);
    EXPECT_EQ(summary.verdicts.all(), 19u);
    EXPECT_EQ(summary.verdicts.passing(), 10u);
    EXPECT_EQ(summary.verdicts.worst(), Verdict::oracle_disagreement);
    EXPECT_FALSE(summary.conformant());
}

TEST(Summary, MismatchesOfEitherAxisAreClustersOfTheirOwn) {
    results::Run run = empty_run();
    results::CaseResult& result = add_case(run, Verdict::fail);
    for (const char* axis : {"row", "col", "col"}) {
        result.mismatches.push_back(mismatch("+1 code", 3));
        result.mismatches.back().axis = axis;
    }
    const Summary summary = summarize(run);
    ASSERT_EQ(summary.clusters.size(), 2u);
    EXPECT_EQ(summary.clusters[0].count + summary.clusters[1].count, 9u);
    EXPECT_EQ(place_of(result, result.mismatches[1]), "block 0, lane 0 of axis col");
    result.mismatches[1].axis = "";
    EXPECT_EQ(place_of(result, result.mismatches[1]), "block 0, lane 0");
}

TEST(Summary, HeadlineSaysItAll) {
    const results::Run bad = fixture("every_verdict");
    EXPECT_EQ(summarize(bad).headline,
              "Not conformant: 8 of 19 cases did not pass (1 oracle disagreement, 1 crash, "
              "1 timeout, 1 device error, 2 fail, 1 flaky, 1 untested), insufficient data in 1; "
              "1,711 of "
              "720,896 elements and 12 of 18,432 scales differ, and 1 case within a derived bound; "
              "level quick. "
              "NOT A CONFORMANCE RUN.");
    const results::Run good = fixture("clean_full");
    EXPECT_EQ(summarize(good).headline,
              "Conformant: all of 8 cases pass; 524,288 elements and 16,384 scales compared bit "
              "for bit, all equal; level full.");
    const results::Run cut = fixture("interrupted");
    EXPECT_EQ(summarize(cut).headline,
              "Interrupted: no fault found in 3 cases; 196,608 elements and 6,144 scales compared "
              "bit for bit, all equal; level quick. INTERRUPTED after 3 of 12 cases. "
              "NOT A CONFORMANCE RUN.");
}

TEST(Summary, ADeviceThatDidNotCloseIsNotConformant) {
    results::Run run = fixture("clean_full");
    run.footer.close_fault = "device \"x\" did not close: killed by signal 11";
    const Summary summary = summarize(run);
    EXPECT_EQ(summary.outcome, Outcome::not_conformant);
    EXPECT_EQ(summary.headline.find("Not conformant: device \"x\" did not close: killed by signal "
                                    "11; all of 8 cases pass; 524,288 elements"),
              0u);
    ASSERT_EQ(summary.caveats.size(), 1u);
    EXPECT_EQ(summary.caveats[0], "DEVICE FAULT: device \"x\" did not close: killed by signal 11.");
}

TEST(Summary, ARunThatTestedLessThanDemandedIsIncomplete) {
    results::Run run = fixture("clean_full");
    run.footer.unmet = {"--max-not-supported 0 is exceeded: 2 cases not supported"};
    const Summary summary = summarize(run);
    EXPECT_EQ(summary.outcome, Outcome::incomplete);
    EXPECT_EQ(summary.headline,
              "Incomplete: all of 8 cases pass; 524,288 elements and 16,384 scales compared bit "
              "for bit, all equal; level full. INCOMPLETE: --max-not-supported 0 is exceeded: 2 "
              "cases not supported.");
    ASSERT_EQ(summary.caveats.size(), 1u);
    EXPECT_EQ(summary.caveats[0], "INCOMPLETE: " + run.footer.unmet[0] + ".");
}

TEST(Summary, ACaseOfInsufficientDataIsNeitherAPassNorAFault) {
    results::Run run = empty_run();
    add_case(run, Verdict::pass_exact).elements = 32;
    add_case(run, Verdict::insufficient_data);
    const Summary summary = summarize(run);
    EXPECT_EQ(summary.outcome, Outcome::incomplete);
    EXPECT_EQ(summary.headline.find("Incomplete: insufficient data in 1 case, which shows nothing; "
                                    "all of 1 other case pass"),
              0u)
        << summary.headline;
    add_case(run, Verdict::fail);
    EXPECT_EQ(summarize(run).outcome, Outcome::not_conformant);
    results::Run nothing_else = empty_run();
    add_case(nothing_else, Verdict::insufficient_data);
    EXPECT_EQ(summarize(nothing_else).outcome, Outcome::incomplete);
}

TEST(Summary, ARunThatIsWorseThanItsBaselineSaysSoFirst) {
    results::Run run = fixture("clean_full");
    run.footer.unmet = {
        "WORSE THAN THE BASELINE last-week: of 9 cases that passed there 1 does not"};
    const Summary summary = summarize(run);
    EXPECT_EQ(summary.outcome, Outcome::worse);
    EXPECT_EQ(summary.headline,
              "Worse than before: all of 8 cases pass; 524,288 elements and 16,384 scales compared "
              "bit for bit, all equal; level full. " +
                  run.footer.unmet[0] + ".");
    ASSERT_EQ(summary.caveats.size(), 1u);
    EXPECT_EQ(summary.caveats[0], run.footer.unmet[0] + ".");
}

TEST(Summary, WhatComparedNothingIsNotCalledEqual) {
    results::Run run = empty_run();
    results::CaseResult& refused = add_case(run, Verdict::not_supported);
    refused.elements = refused.scales = 0;
    EXPECT_EQ(summarize(run).headline,
              "Nothing was tested in 1 case; nothing was compared; level full.");
    results::CaseResult& empty = add_case(run, Verdict::pass_exact);
    empty.elements = empty.scales = 0;
    EXPECT_EQ(summarize(run).outcome, Outcome::nothing_tested);
    add_case(run, Verdict::pass_exact);
    EXPECT_EQ(summarize(run).headline,
              "Conformant: all of 1 case that the device supports pass; 1 with nothing to compare; "
              "1 not supported; 32 elements and 1 scale compared bit for bit, all equal; level "
              "full.");
}

TEST(Summary, HeadlineDoesNotCallBoundedCasesEqual) {
    const auto headline = [](std::initializer_list<Verdict> verdicts) {
        results::Run run = empty_run();
        for (const Verdict verdict : verdicts) {
            results::CaseResult& result = add_case(run, verdict);
            result.elements = 32, result.scales = 1;
            result.mismatched_elements = verdict == Verdict::fail ? 3 : 0;
        }
        return summarize(run).headline;
    };
    const Verdict exact = Verdict::pass_exact, bounded = Verdict::pass_bounded;
    EXPECT_NE(headline({exact, bounded, bounded})
                  .find("96 elements and 3 scales compared: 1 case bit for bit, all equal, and "
                        "2 cases within a derived bound;"),
              std::string::npos);
    EXPECT_NE(headline({bounded}).find("32 elements and 1 scale compared: 1 case within a "
                                       "derived bound;"),
              std::string::npos);
    EXPECT_NE(headline({Verdict::fail, bounded})
                  .find("3 of 64 elements and 0 of 2 scales differ, and 1 case within a derived "
                        "bound;"),
              std::string::npos);
}

TEST(Summary, EveryCaveatOfTheInterruptedShard) {
    const results::Run run = fixture("interrupted");
    const Summary summary = summarize(run);
    ASSERT_EQ(summary.caveats.size(), 4u);
    EXPECT_EQ(summary.caveats[0].rfind("INTERRUPTED: 3 of 12 cases", 0), 0u);
    EXPECT_NE(summary.caveats[1].find("level quick"), std::string::npos);
    EXPECT_NE(summary.caveats[2].find("shard 1/4"), std::string::npos);
    EXPECT_NE(summary.caveats[3].find("quant*"), std::string::npos);
}

TEST(Summary, ConformantNeedsEverything) {
    results::Run run = empty_run();
    EXPECT_EQ(summarize(run).outcome, Outcome::nothing_tested);
    add_case(run, Verdict::not_supported).elements = 0;
    run.cases[0].scales = 0;
    EXPECT_EQ(summarize(run).outcome, Outcome::nothing_tested);
    add_case(run, Verdict::pass_exact);
    EXPECT_EQ(summarize(run).outcome, Outcome::conformant);

    const auto with = [&](auto change) {
        results::Run changed = run;
        change(changed);
        return summarize(changed).outcome;
    };
    EXPECT_EQ(with([](auto& r) { r.header.level = "quick"; }), Outcome::clean);
    EXPECT_EQ(with([](auto& r) { r.header.shard = "0/2"; }), Outcome::clean);
    EXPECT_EQ(with([](auto& r) { r.header.suites = "quant*"; }), Outcome::clean);
    EXPECT_EQ(with([](auto& r) { r.header.suites = "*"; }), Outcome::conformant);
    EXPECT_EQ(with([](auto& r) { r.complete = false; }), Outcome::incomplete);
    EXPECT_EQ(with([](auto& r) { ++r.header.case_count; }), Outcome::incomplete);
}

TEST(Summary, EachVerdictDecidesTheOutcomeAsTheContractSays) {
    for (const Verdict verdict : verdicts_by_severity) {
        results::Run run = empty_run();
        add_case(run, Verdict::pass_exact);
        add_case(run, verdict);
        EXPECT_EQ(summarize(run).conformant(), results::may_pass(verdict)) << name_of(verdict);
    }
}

TEST(Summary, SeverityListsEveryVerdictOnce) {
    VerdictCounts counts;
    for (const Verdict verdict : verdicts_by_severity) counts.add(verdict);
    for (int verdict = 0; verdict < results::verdict_count; ++verdict)
        EXPECT_EQ(counts.of(static_cast<Verdict>(verdict)), 1u);
    EXPECT_LT(severity_rank(Verdict::fail), severity_rank(Verdict::deviation));
}

TEST(Summary, MatrixPlacesEveryCase) {
    const results::Run run = fixture("every_verdict");
    const Matrix matrix = summarize(run).matrix;
    ASSERT_EQ(matrix.rows.size(), 7u);
    const std::vector<Matrix::Column> columns{{"", "f32"},     {"", "bf16"},   {"ocp", "f32"},
                                              {"ocp", "bf16"}, {"ocp", "f16"}, {"nv", "f32"},
                                              {"nv", "bf16"},  {"nv", "f16"}};
    EXPECT_EQ(matrix.columns, columns);
    EXPECT_EQ(matrix.rows[3].operation, "quantize");
    EXPECT_EQ(matrix.rows[3].format, "mxfp8-e4m3");
    EXPECT_EQ(matrix.rows[3].cells[2].worst(), Verdict::fail);
    EXPECT_EQ(matrix.rows[3].cells[3].worst(), Verdict::deviation);
    EXPECT_EQ(matrix.rows[3].cells[0].all(), 0u);
    std::uint64_t all = 0;
    for (const Matrix::Row& row : matrix.rows)
        for (const VerdictCounts& cell : row.cells) all += cell.all();
    EXPECT_EQ(all, run.cases.size());
}

TEST(Summary, LikeMismatchesOfLikeCasesAreOneCluster) {
    results::Run run = empty_run();
    add_case(run, Verdict::fail).mismatches = {mismatch("+1 code", 2), mismatch("-1 code", 9)};
    add_case(run, Verdict::fail).mismatches = {mismatch("+1 code", 3)};
    add_case(run, Verdict::fail).mismatches = {mismatch("+1 code", 100)};
    run.cases[2].input = "bf16";
    const Summary summary = summarize(run);
    ASSERT_EQ(summary.clusters.size(), 3u);
    EXPECT_EQ(summary.clusters[0].count, 100u);
    EXPECT_EQ(summary.clusters[1].count, 9u);
    const Cluster& joined = summary.clusters[2];
    EXPECT_EQ(joined.count, 5u);
    EXPECT_EQ(joined.of, 64u);
    EXPECT_EQ(joined.cases, 2u);
    EXPECT_EQ(joined.lanes, (std::vector<std::uint64_t>{5, 0}));
    EXPECT_EQ(joined.first_case, &run.cases[0]);
    EXPECT_EQ(joined.witness, &run.cases[0].mismatches[0]);
}

TEST(Summary, AnOpenDecisionInAFailingCaseStaysADeviation) {
    results::Run run = empty_run();
    add_case(run, Verdict::fail).mismatches = {mismatch("+1 code", 1), mismatch("-0 to +0", 500)};
    run.cases[0].mismatches[1].open_decision = "sign_of_zero";
    const Summary summary = summarize(run);
    ASSERT_EQ(summary.clusters.size(), 2u);
    EXPECT_EQ(summary.clusters[0].verdict, Verdict::fail);
    EXPECT_EQ(summary.clusters[1].verdict, Verdict::deviation);
    ASSERT_EQ(summary.deviations.size(), 1u);
    EXPECT_EQ(summary.deviations[0].decision, "sign_of_zero");
    EXPECT_EQ(summary.deviations[0].count, 500u);
    EXPECT_EQ(summary.deviations[0].cases, 1u);
}

TEST(Summary, ACrashIsAClusterWithALineToRunItAgain) {
    results::Run run = empty_run();
    run.header.device = "./it's mine.so";
    add_case(run, Verdict::crash);
    const Summary summary = summarize(run);
    ASSERT_EQ(summary.clusters.size(), 1u);
    EXPECT_EQ(summary.clusters[0].witness, nullptr);
    EXPECT_EQ(summary.clusters[0].repro,
              "mxcheck replay 'quantize case 0' --device './it'\\''s mine.so'");
}

TEST(Summary, WhatWasNotRunIsGroupedByReason) {
    const results::Run run = fixture("every_verdict");
    const Summary summary = summarize(run);
    ASSERT_EQ(summary.not_run.size(), 2u);
    EXPECT_EQ(summary.not_run[0].verdict, Verdict::untested);
    EXPECT_EQ(summary.not_run[0].cases, 1u);
    EXPECT_EQ(summary.not_run[1].verdict, Verdict::not_supported);
    EXPECT_EQ(summary.not_run[1].reason, "no f16 input in this release");
    EXPECT_EQ(summary.not_run[1].cases, 3u);
}

TEST(Phrases, Numbers) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(4'194'304), "4,194,304");
    EXPECT_EQ(grouped(18'446'744'073'709'551'615u), "18,446,744,073,709,551,615");
    EXPECT_EQ(counted(1, "case"), "1 case");
    EXPECT_EQ(counted(2048, "case"), "2,048 cases");
    EXPECT_EQ(duration(3.21), "3.21 s");
    EXPECT_EQ(duration(59.94), "59.9 s");
    EXPECT_EQ(duration(250), "4 min 10 s");
    EXPECT_EQ(duration(7'300), "2 h 1 min");
    EXPECT_EQ(duration(-1), "unknown");
}

}  // namespace
}  // namespace mx::reports::test
