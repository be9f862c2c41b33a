// The self-test as a whole, on small casts of players: what must make it fail does.
#include "conformance/selftest/selftest.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "conformance/mutants/gemm/gemm_mutants.hpp"
#include "conformance/mutants/gemm_acceptance.hpp"
#include "conformance/mutants/gpu/gpu_mutants.hpp"
#include "conformance/mutants/mutants.hpp"
#include "conformance/mutants/real_scale/real_scale_mutants.hpp"
#include "conformance/selftest/test/subject_under_test.hpp"

namespace mx::selftest {
namespace {

Settings smoke() {
    Settings settings;
    settings.level = "smoke";
    return settings;
}

Subjects cast(std::vector<Subject> bugs) {
    return {mutant("none"), failure(), std::move(bugs)};
}

std::vector<std::string> problems_with(const Subjects& subjects) {
    const auto table = run_selftest(subjects, smoke());
    EXPECT_TRUE(table.ok());
    return table.ok() ? table.value().problems : std::vector<std::string>{};
}

TEST(Selftest, PassesWithARealBug) {
    std::vector<std::string> steps;
    Settings settings = smoke();
    settings.progress = [&](const Step& step) {
        EXPECT_LE(step.done, step.total);
        steps.push_back(step.name);
    };
    const Subjects subjects{mutant("none"), mutant("canary"), {mutant("ties_up")}};
    const auto table = run_selftest(subjects, settings);
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_TRUE(table.value().problems.empty()) << table.value().problems[0];
    EXPECT_EQ(summary_line(table.value()),
              "killed 1 of 1 planted bugs; canary failed, clean base passed");
    EXPECT_EQ(table.value().rows[0].outcomes.size(), acceptance::rules().size());
    EXPECT_EQ(steps.front(), "the canary");
    EXPECT_EQ(steps.back(), "ties_up");
}

TEST(Selftest, SaysTheSameWithAnyNumberOfProcesses) {
    Subjects subjects{mutant("none"), mutant("canary"), {mutant("ties_up"), sleeper()}};
    Settings settings = smoke();
    settings.names_causes = true;
    const auto alone = run_selftest(subjects, settings);
    settings.jobs = 3;
    const auto shared = run_selftest(subjects, settings);
    ASSERT_TRUE(alone.ok() && shared.ok());
    EXPECT_EQ(render_json(alone.value()), render_json(shared.value()));
    EXPECT_EQ(alone.value().rows[0].hunt.cause->sentence,
              shared.value().rows[0].hunt.cause->sentence);
    EXPECT_GT(shared.value().base.cases, 100u);
}

TEST(Selftest, FailsWhenABugSurvives) {
    const auto problems = problems_with(cast({mutant("ties_up"), sleeper()}));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 16), "sleeper survived");
}

TEST(Selftest, FailsWhenTheCanarySings) {
    Subjects subjects = cast({mutant("ties_up")});
    subjects.canary = mutant("none");
    const auto problems = problems_with(subjects);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 17), "none did not fail");
}

TEST(Selftest, FailsWhenTheBaseIsNotClean) {
    Subjects subjects = cast({mutant("ties_up")});
    subjects.base = mutant("minus_zero_lost");
    const auto problems = problems_with(subjects);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 28), "minus_zero_lost is not clean");
}

TEST(Selftest, APluginThatDoesNotOpenFailsItAndKillsNothing) {
    Subject broken = mutant("ties_up");
    broken.shows_on = "convert";  // so that the audit need not open it either
    broken.source.path = MX_MUTANT_DIRECTORY "/no_such_plugin.so";
    const auto table = run_selftest(cast({broken}), smoke());
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(summary_line(table.value()).substr(0, 13), "killed 0 of 1");
    ASSERT_EQ(table.value().problems.size(), 1u);
    EXPECT_EQ(table.value().problems[0].substr(0, 9), "ties_up: ");
}

// Bugs of the CPU stand in for those of a GPU: the way is the same.
Subjects on_gpu(Subject base, std::vector<Subject> bugs) {
    return {{}, {}, {}, {"", std::move(base), std::move(bugs)}};
}

TEST(SelftestOfAGpu, KillsWhatOpens) {
    const auto table = run_selftest(on_gpu(mutant("none"), {mutant("ties_up")}), smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    const GpuTable& gpu = table.value().gpu;
    EXPECT_TRUE(table.value().problems.empty()) << table.value().problems[0];
    EXPECT_EQ(gpu.not_run, "");
    EXPECT_GT(gpu.base.scales, 0u);
    ASSERT_EQ(gpu.rows.size(), 1u);
    ASSERT_TRUE(gpu.rows[0].hunt.kill.has_value());
    EXPECT_TRUE(gpu.rows[0].hunt.kill->case_text.starts_with("quantize format=mxfp8-e4m3 "));
    EXPECT_EQ(summary_line(table.value()),
              "planted bugs of a GPU: killed 1 of 1, clean base passed");
}

TEST(SelftestOfAGpu, WithoutOneNothingIsKilledAndNothingFails) {
    Subjects subjects = cast({mutant("ties_up")});
    subjects.gpu = {"", absentee(), {mutant("ties_away")}};
    const auto table = run_selftest(subjects, smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_TRUE(table.value().problems.empty()) << table.value().problems[0];
    EXPECT_EQ(table.value().gpu.not_run, "no GPU here");
    EXPECT_FALSE(table.value().gpu.rows[0].hunt.kill.has_value());
    EXPECT_EQ(table.value().gpu.rows[0].hunt.cases, 0u);
    EXPECT_EQ(summary_line(table.value()),
              "killed 1 of 1 planted bugs; canary failed, clean base passed; of a GPU: 1 not run");
}

TEST(SelftestOfAGpu, WhatWasNotBuiltIsNotOpened) {
    Subjects subjects = on_gpu(mutant("none"), {mutant("ties_up")});
    subjects.gpu.absence = "not built";
    const auto table = run_selftest(subjects, smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_TRUE(table.value().problems.empty());
    EXPECT_EQ(table.value().gpu.not_run, "not built");
    EXPECT_FALSE(table.value().gpu.rows[0].hunt.kill.has_value());
}

TEST(SelftestOfAGpu, FailsWhenABugSurvives) {
    const auto problems = problems_with(on_gpu(mutant("none"), {sleeper()}));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 16), "sleeper survived");
}

TEST(SelftestOfAGpu, ACrashKillsNothing) {
    const auto table = run_selftest(on_gpu(mutant("none"), {mutant("crash_on_nan")}), smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_FALSE(table.value().gpu.rows[0].hunt.kill.has_value());
    ASSERT_EQ(table.value().problems.size(), 1u);
    EXPECT_EQ(table.value().problems[0].substr(0, 45),
              "crash_on_nan: not killed by its bits: crash, ");
}

TEST(SelftestOfAGpu, FailsWhenTheBaseIsNotClean) {
    const auto problems = problems_with(on_gpu(mutant("minus_zero_lost"), {mutant("ties_up")}));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 28), "minus_zero_lost is not clean");
}

TEST(SelftestOfAGpu, AGpuThatIsBrokenIsNoneThatIsAbsent) {
    const auto problems = problems_with(on_gpu(invalid(), {invalid()}));
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_NE(problems[0].find("the GPU is broken"), std::string::npos) << problems[0];
    EXPECT_NE(problems[1].find("the GPU is broken"), std::string::npos) << problems[1];
}

Subject mutant_of(const std::string& library, const std::string& name) {
    Subject subject = mutant(name);
    subject.source.name = library + ":bug=" + name;
    subject.source.path = MX_MUTANT_DIRECTORY "/" + library;
    return subject;
}
Subject gemm_mutant(const std::string& name) {
    return mutant_of("gemm_mutants.so", name);
}
Subject real_scale_mutant(const std::string& name) {
    return mutant_of("real_scale_mutants.so", name);
}

Subjects on_gemm(Subject base, std::vector<Subject> bugs) {
    Subjects subjects;
    subjects.gemm = {std::move(base), gemm_mutant("canary"), std::move(bugs)};
    return subjects;
}

// Each is killed under a model, and this one is what no rule elsewhere sees.
TEST(SelftestOfAGemm, KillsWhatOtherRulesMiss) {
    const auto table =
        run_selftest(on_gemm(gemm_mutant("none"), {gemm_mutant("fraction_bit_short")}), smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    const CastTable& gemm = table.value().gemm;
    EXPECT_TRUE(table.value().problems.empty()) << table.value().problems[0];
    ASSERT_EQ(gemm.rows.size(), 1u);
    ASSERT_TRUE(gemm.rows[0].hunt.kill.has_value());
    EXPECT_EQ(gemm.rows[0].hunt.kill->suite, "selftest");
    EXPECT_EQ(gemm.rows[0].outcomes.size(), acceptance::gemm_rules().size());
    EXPECT_EQ(gemm.rows[0].outcomes[0], Outcome::missed);
    EXPECT_GT(gemm.base.elements, 0u);
    EXPECT_GT(gemm.canary.failed, 0u);
}

TEST(SelftestOfAGemm, FailsWhenABugSurvivesOrTheBaseIsNotClean) {
    const auto table =
        run_selftest(on_gemm(gemm_mutant("floor_for_truncation"), {gemm_mutant("none")}), smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    ASSERT_EQ(table.value().problems.size(), 2u);
    EXPECT_EQ(table.value().problems[0].substr(0, 33), "floor_for_truncation is not clean");
    EXPECT_EQ(table.value().problems[1].substr(0, 13), "none survived");
}

TEST(SelftestOfRealScales, KillsAndFailsWhereItMust) {
    Subjects subjects;
    subjects.real_scales = {real_scale_mutant("none"),
                            real_scale_mutant("canary"),
                            {real_scale_mutant("scale_toward_zero")}};
    auto table = run_selftest(subjects, smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_TRUE(table.value().problems.empty()) << table.value().problems[0];
    EXPECT_EQ(table.value().real_scales.rows[0].hunt.kill->suite, "nvfp4");
    EXPECT_GT(table.value().real_scales.base.scales, 0u);
    subjects.real_scales = {real_scale_mutant("scale_toward_zero"),
                            real_scale_mutant("canary"),
                            {real_scale_mutant("none")}};
    table = run_selftest(subjects, smoke());
    ASSERT_TRUE(table.ok()) << table.error().message;
    ASSERT_EQ(table.value().problems.size(), 2u);
    EXPECT_EQ(table.value().problems[0].substr(0, 30), "scale_toward_zero is not clean");
    EXPECT_EQ(table.value().problems[1].substr(0, 13), "none survived");
}

TEST(Selftest, RefusesAnUnknownLevel) {
    Settings settings;
    settings.level = "slow";
    EXPECT_FALSE(run_selftest(cast({}), settings).ok());
}

TEST(FindSubjects, FindsEveryLineOfTheTable) {
    const auto subjects = find_subjects(MX_MUTANT_DIRECTORY);
    ASSERT_TRUE(subjects.ok()) << subjects.error().message;
    EXPECT_EQ(subjects.value().base.name, "none");
    EXPECT_EQ(subjects.value().canary.name, "canary");
    EXPECT_EQ(subjects.value().bugs.size(), mutants::table.size() - 2);
    for (const Subject& bug : subjects.value().bugs) EXPECT_FALSE(bug.shows_on.empty());
    EXPECT_EQ(subjects.value().real_scales.base.name, "real_scale_none");
    EXPECT_EQ(subjects.value().real_scales.canary.name, "real_scale_canary");
    EXPECT_EQ(subjects.value().real_scales.bugs.size(), mutants::real_scale::table.size() - 2);
    EXPECT_EQ(subjects.value().gemm.base.name, "gemm_none");
    EXPECT_EQ(subjects.value().gemm.canary.name, "gemm_canary");
    EXPECT_EQ(subjects.value().gemm.bugs.size(), mutants::gemm::table.size() - 2);
}

TEST(FindSubjects, NamesTheFolderThatIsMissing) {
    const auto subjects = find_subjects("/no/such/folder");
    ASSERT_FALSE(subjects.ok());
    EXPECT_EQ(subjects.error().message, "there is no folder of planted bugs at '/no/such/folder'");
}

TEST(FindSubjects, KnowsThoseOfAGpuWhereverItIsBuilt) {
    for (const auto& subjects :
         {find_subjects(MX_MUTANT_DIRECTORY), find_gpu_subjects(MX_MUTANT_DIRECTORY)}) {
        ASSERT_TRUE(subjects.ok()) << subjects.error().message;
        EXPECT_EQ(subjects.value().gpu.base.name, "gpu_none");
        EXPECT_EQ(subjects.value().gpu.bugs.size(), mutants::gpu::table.size() - 1);
    }
    EXPECT_TRUE(find_gpu_subjects(MX_MUTANT_DIRECTORY).value().bugs.empty());
}

// A folder with files of these names and nothing in them that could be opened.
class FolderOf {
public:
    explicit FolderOf(const std::vector<std::string>& files) {
        std::filesystem::create_directories(path_);
        for (const std::string& file : files) std::ofstream(path_ / file) << "not empty";
    }
    FolderOf(const FolderOf&) = delete;
    FolderOf& operator=(const FolderOf&) = delete;
    ~FolderOf() { std::filesystem::remove_all(path_); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("mx_selftest_" + std::to_string(getpid()));
};

TEST(FindSubjects, NamesThePluginThatIsMissing) {
    const FolderOf none({});
    const auto subjects = find_subjects(none.path());
    ASSERT_FALSE(subjects.ok());
    EXPECT_EQ(subjects.error().message,
              "the planted bugs of mutants.so are missing in '" + none.path() + "'");
    const FolderOf half({"mutants.so"});
    EXPECT_EQ(find_subjects(half.path()).error().message,
              "the planted bugs of gemm_mutants.so are missing in '" + half.path() + "'");
}

TEST(FindSubjects, ThoseOfAGpuMayBeMissing) {
    const FolderOf none({});
    const auto absent = find_gpu_subjects(none.path());
    ASSERT_TRUE(absent.ok()) << absent.error().message;
    EXPECT_EQ(absent.value().gpu.absence,
              "they were not built, which takes an nvcc of CUDA 12.9 or later");
    const FolderOf built({"gpu_mutants.so"});
    EXPECT_EQ(find_gpu_subjects(built.path()).value().gpu.absence, "");
}

}  // namespace
}  // namespace mx::selftest
