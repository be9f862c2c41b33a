// What is worse than an earlier run, and what is not; a baseline that promises nothing is refused.
#include "conformance/session/baseline.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <optional>

#include "conformance/results/results_file.hpp"
#include "conformance/session/results_folder.hpp"

namespace mx::session {
namespace {

using results::Verdict;

// As the reader takes it.
results::CaseResult sample_case(std::uint64_t index, Verdict verdict) {
    results::CaseResult result;
    result.index = index;
    result.case_text = "quantize index=" + std::to_string(index);
    result.verdict = verdict;
    if (verdict == Verdict::deviation) result.mismatches.emplace_back().open_decision = "nan_code";
    if (verdict == Verdict::fail) result.mismatches.emplace_back();
    return result;
}

// Case i of any run is the same case.
results::Run run_of(const std::vector<Verdict>& verdicts) {
    results::Run run;
    for (const Verdict verdict : verdicts)
        run.cases.push_back(sample_case(run.cases.size(), verdict));
    run.header.case_count = run.cases.size();
    run.footer = results::count_cases(run.cases);
    run.footer.exit_code = 1;
    return run;
}

class TemporaryFolder {
public:
    TemporaryFolder() {
        path_ = std::filesystem::path(testing::TempDir()) /
                ("baseline_test_" + std::to_string(::getpid()));
        std::filesystem::remove_all(path_);
        std::filesystem::create_directory(path_);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

void write(const results::Run& run, const std::string& folder) {
    auto writer = results::ResultsWriter::create(results_path(folder), run.header);
    ASSERT_TRUE(writer) << writer.error().message;
    for (const results::CaseResult& result : run.cases) ASSERT_TRUE(writer.value().append(result));
    if (run.complete) {
        ASSERT_TRUE(writer.value().finish(run.footer));
    }
}

Baseline baseline_with(const std::vector<Verdict>& verdicts) {
    const TemporaryFolder folder;
    results::Run run = run_of(verdicts);
    run.complete = true;
    write(run, folder.path());
    auto baseline = baseline_of(folder.path());
    EXPECT_TRUE(baseline) << baseline.error().message;
    baseline.value().folder = "before";
    return baseline.value();
}

std::string worse_than(const Baseline& baseline, const std::vector<Verdict>& now) {
    results::Run run = run_of(now);
    const Outcome outcome = judge_baseline(baseline, run, Outcome::conformant);
    EXPECT_EQ(outcome, run.footer.unmet.empty() ? Outcome::conformant : Outcome::mismatch);
    return run.footer.unmet.empty() ? "" : run.footer.unmet.front();
}

TEST(Baseline, WhatPassedAndIsNotSupportedNotRunOrOpenIsWorse) {
    const Verdict pass = Verdict::pass_exact;
    const Baseline two = baseline_with({pass, pass});
    EXPECT_EQ(worse_than(two, {pass, pass}), "");
    EXPECT_EQ(worse_than(two, {pass, Verdict::pass_bounded}), "");
    EXPECT_EQ(worse_than(two, {pass, pass, Verdict::not_supported}), "") << "new, not promised";
    EXPECT_EQ(worse_than(two, {pass, Verdict::not_supported}),
              "WORSE THAN THE BASELINE before: of 2 cases that passed there 1 does not any more "
              "(1 not_supported), first quantize index=1");
    EXPECT_EQ(worse_than(two, {Verdict::deviation}),
              "WORSE THAN THE BASELINE before: of 2 cases that passed there 2 do not any more "
              "(1 deviation, 1 not run), first quantize index=0");
    EXPECT_NE(worse_than(two, {Verdict::waived, pass}), "");
    EXPECT_NE(worse_than(two, {pass, Verdict::untested}), "");
}

TEST(Baseline, WhatWasOpenMayStaySo) {
    const Baseline open =
        baseline_with({Verdict::deviation, Verdict::not_supported, Verdict::fail});
    EXPECT_EQ(worse_than(open, {Verdict::deviation}), "");
    EXPECT_EQ(worse_than(open, {Verdict::pass_exact}), "");
    EXPECT_NE(worse_than(open, {Verdict::not_supported}), "");
}

TEST(Baseline, ACaseThatIsThereTwiceIsAsGoodAsTheWorse) {
    const Baseline one = baseline_with({Verdict::pass_exact});
    results::Run run = run_of({Verdict::pass_exact});
    run.cases.push_back(sample_case(0, Verdict::not_supported));
    EXPECT_EQ(judge_baseline(one, run, Outcome::conformant), Outcome::mismatch);
}

TEST(Baseline, WhatIsWorseStays) {
    const Baseline one = baseline_with({Verdict::pass_exact});
    for (const Outcome outcome : {Outcome::bad_input, Outcome::device_fault, Outcome::own_fault}) {
        results::Run run = run_of({});
        EXPECT_EQ(judge_baseline(one, run, outcome), outcome);
    }
    results::Run nothing = run_of({});
    EXPECT_EQ(judge_baseline(one, nothing, Outcome::nothing_tested), Outcome::mismatch);
}

// What is said of a folder that holds this run, or of one without a run.
std::string refusal_of(const std::optional<results::Run>& run) {
    const TemporaryFolder folder;
    if (run) write(*run, folder.path());
    const auto baseline = baseline_of(folder.path());
    return baseline ? "" : baseline.error().message;
}

TEST(Baseline, OneThatPromisesNothingIsRefused) {
    EXPECT_NE(refusal_of(std::nullopt).find("cannot open"), std::string::npos);
    results::Run run = run_of({Verdict::pass_exact});
    EXPECT_NE(refusal_of(run).find("was interrupted"), std::string::npos);
    run.complete = true;
    EXPECT_EQ(refusal_of(run), "");
    results::Run nothing = run_of({Verdict::fail, Verdict::not_supported});
    nothing.complete = true;
    EXPECT_NE(refusal_of(nothing).find("no case of that run passed"), std::string::npos);
}

}  // namespace
}  // namespace mx::session
