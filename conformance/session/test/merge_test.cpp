// Tests of shards that are joined: the run that was never in parts, and every way in which they are
// not all of one run.
#include "conformance/session/merge.hpp"
#include "conformance/session/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/results/results_file.hpp"
#include "conformance/session/outcome.hpp"
#include "conformance/session/plan.hpp"
#include "conformance/session/shard.hpp"

namespace mx::session {
namespace {

using results::CaseResult;
using results::Verdict;

// Case 4 of so many fails.
results::Run whole_run(std::size_t cases) {
    results::Run run;
    run.header.argv = {"mxcheck", "run", "--shard=0/1"};
    run.header.shard = "0/1";
    run.header.device = "cpu";
    run.header.started = "2026-11-23T10:00:00Z";
    run.header.environment = {{"cpu", "a"}};
    run.header.case_count = cases;
    for (std::size_t i = 0; i < cases; ++i) {
        CaseResult result;
        result.index = i;
        result.case_text = "quantize seed=" + std::to_string(i);
        result.verdict = i == 4 ? Verdict::fail : Verdict::pass_exact;
        result.elements = 10 + i;
        run.cases.push_back(result);
    }
    run.footer = results::count_cases(run.cases);
    run.footer.exit_code = number_of(Outcome::mismatch);
    run.complete = true;
    return run;
}

ShardRun part_of(const results::Run& whole, Shard shard) {
    results::Run run = whole;
    run.header.shard = text_of(shard);
    run.header.argv.back() = "--shard=" + run.header.shard;
    run.cases = of_shard(whole.cases, shard);
    run.header.case_count = run.cases.size();
    run.footer = results::count_cases(run.cases);
    run.footer.seconds = 2;
    return {"out." + std::to_string(shard.index), std::move(run)};
}

std::vector<ShardRun> parts_of(const results::Run& whole, std::uint64_t count) {
    std::vector<ShardRun> parts;
    for (std::uint64_t i = 0; i < count; ++i) parts.push_back(part_of(whole, {i, count}));
    return parts;
}

std::string refusal_of(const std::vector<ShardRun>& shards) {
    const auto run = merged(shards);
    return run ? "" : run.error().message;
}

TEST(Merge, GivesTheRunThatWasNeverInParts) {
    results::Run whole = whole_run(7);
    Sources sources;
    add_cause(whole, sources);
    EXPECT_NE(whole.footer.cause, "");
    for (const std::uint64_t count : {1u, 2u, 3u, 7u}) {
        std::vector<ShardRun> parts = parts_of(whole, count);
        std::reverse(parts.begin(), parts.end());
        const auto joined = merged(parts);
        ASSERT_TRUE(joined) << joined.error().message;
        results::Run run = joined.value();
        EXPECT_TRUE(run.complete);
        EXPECT_EQ(run.footer.seconds, 2.0 * static_cast<double>(count));
        run.footer.seconds = 0;
        EXPECT_EQ(run.header, whole.header);
        EXPECT_EQ(run.cases, whole.cases);
        EXPECT_EQ(run.footer, whole.footer);
    }
}

TEST(Merge, TheFirstStartAndEveryMachineIsKept) {
    std::vector<ShardRun> parts = parts_of(whole_run(6), 3);
    parts[1].run.header.started = "2026-11-23T09:00:00Z";
    parts[2].run.header.environment = {{"cpu", "b"}};
    parts[2].run.footer.close_fault = "it fell over";
    const auto run = merged(parts);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run.value().header.started, "2026-11-23T09:00:00Z");
    EXPECT_EQ(run.value().header.environment.front().value, "a (shard 0/3, 1/3); b (shard 2/3)");
    EXPECT_EQ(run.value().footer.close_fault, "it fell over");
    EXPECT_EQ(run.value().footer.exit_code, number_of(Outcome::device_fault));
}

TEST(Merge, AShardThatIsMissingOrThereTwiceIsNamed) {
    std::vector<ShardRun> parts = parts_of(whole_run(7), 4);
    EXPECT_EQ(refusal_of({parts[0], parts[3]}), "missing: shard 1/4, 2/4");
    EXPECT_EQ(refusal_of({parts[0], parts[1], parts[1], parts[2]}),
              "shard 1/4 is there twice: out.1 and out.1");
    EXPECT_EQ(refusal_of({parts[0], part_of(whole_run(7), {1, 2})}),
              "out.1 is shard 1/2, and out.0 is shard 0/4");
    results::Run of_many = parts[1].run;
    of_many.header.shard = "1/999999999999";
    EXPECT_TRUE(refusal_of({{"many", of_many}}).ends_with("and 999999999982 more"));
}

// A hole in a record: cut at its end, without its footer, with a case left out or numbered as
// another, and with all shards short.
TEST(Merge, AHoleInARecordIsSeen) {
    const results::Run whole = whole_run(9);
    std::vector<ShardRun> cut = parts_of(whole, 3);
    cut[1].run.cases.pop_back();
    EXPECT_EQ(refusal_of(cut),
              "out.1: shard 1/3 is not finished, 2 of 3 cases; mxcheck run --resume goes on");
    std::vector<ShardRun> unfinished = parts_of(whole, 3);
    unfinished[2].run.complete = false;
    EXPECT_EQ(refusal_of(unfinished),
              "out.2: shard 2/3 is not finished, 3 of 3 cases; mxcheck run --resume goes on");

    std::vector<ShardRun> doubled = parts_of(whole, 3);
    doubled[1].run.cases[1].index = 1;  // instead of 4
    EXPECT_EQ(refusal_of(doubled), "no shard has case 4");
    std::vector<ShardRun> strange = parts_of(whole, 3);
    strange[1].run.cases[1].index = 5;
    EXPECT_EQ(refusal_of(strange), "out.1: case 5 is not of shard 1/3");

    std::vector<ShardRun> shorter = parts_of(whole, 3);
    shorter[0].run.cases.erase(shorter[0].run.cases.begin());
    shorter[0].run.header.case_count = 2;  // as if the plan had been another
    EXPECT_EQ(refusal_of(shorter),
              "out.2: case 8 is beyond the 8 cases of all shards; one of them is short");
}

TEST(Merge, ShardsOfTwoRunsAreNotJoined) {
    const results::Run whole = whole_run(4);
    const auto refusal_with = [&whole](void (*change)(results::RunHeader&)) {
        std::vector<ShardRun> parts = parts_of(whole, 2);
        change(parts[1].run.header);
        return refusal_of(parts);
    };
    EXPECT_EQ(refusal_with([](results::RunHeader& header) { header.seed = 7; }),
              "out.1 is of another run than out.0: seed \"7\", not \"0\"");
    EXPECT_EQ(refusal_with([](results::RunHeader& header) { header.device = "cuda"; }),
              "out.1 is of another run than out.0: device \"cuda\", not \"cpu\"");
    EXPECT_EQ(refusal_with([](results::RunHeader& header) {
                  header.table_hashes = {{"formats", "x"}};
              }),
              "out.1 is of another run than out.0: table hashes \"formats=x\", not \"\"");
    EXPECT_EQ(refusal_with([](results::RunHeader& header) { header.argv.push_back("--strict"); }),
              "out.1 is of another run than out.0: command line \"mxcheck run --shard=0/1 "
              "--strict\", not \"mxcheck run --shard=0/1\"");
    EXPECT_EQ(refusal_with([](results::RunHeader&) {}), "");
}

// What only the whole can know is judged of the whole, and said.
TEST(Merge, DemandsAndWaiversAreThoseOfTheWhole) {
    results::Run whole = whole_run(4);
    whole.header.demands = {{"max-not-supported", "1"}};
    whole.cases[0].verdict = whole.cases[1].verdict = Verdict::not_supported;
    const auto demanding = merged(parts_of(whole, 2));
    ASSERT_TRUE(demanding) << demanding.error().message;
    EXPECT_EQ(demanding.value().footer.exit_code, number_of(Outcome::incomplete));
    EXPECT_EQ(demanding.value().footer.unmet.size(), 1u);

    whole.header.demands.clear();
    results::Waiver waiver;
    waiver.state = "in force";
    waiver.case_pattern = "quantize seed=9";
    whole.header.waivers = {waiver};
    for (const bool strict : {false, true}) {
        if (strict) whole.header.argv.insert(whole.header.argv.begin() + 2, "--strict");
        std::string said;
        const auto run =
            merged(parts_of(whole, 2), [&said](const std::string& sentence) { said += sentence; });
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(said.find("waiver 1 was not needed: quantize seed=9"), strict ? 0u : 9u) << said;
        EXPECT_EQ(run.value().footer.exit_code,
                  number_of(strict ? Outcome::bad_input : Outcome::conformant));
    }
}

}  // namespace
}  // namespace mx::session
