// Tests of a campaign whose cases and sweeps are made up: what is recorded and in which order, the
// exit code, resuming, and several processes. No GPU is asked, and no plug-in.
#include "conformance/cli/campaign.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "conformance/cli/session.hpp"
#include "conformance/cli/sweep_errands.hpp"
#include "conformance/cli/workers.hpp"
#include "conformance/results/results_file.hpp"

namespace mx::cli {
namespace {

using results::Verdict;
using sweep::Output;
using sweep::Subject;

class CampaignTest : public testing::Test {
protected:
    CampaignTest() { std::filesystem::remove_all(out_); }
    ~CampaignTest() override { std::filesystem::remove_all(out_); }

    // A sweep over 2^32 inputs of which so many differ.
    sweep::GpuSweep sweep_with(const std::string& name, std::uint64_t differing,
                               Subject subject = Subject::device) {
        return {name,
                "made up",
                subject,
                Output::elements,
                0,
                [this, name, differing](const sweep::Watch&) -> Expected<sweep::SweepAnswer> {
                    asked_ += name + " ";
                    sweep::SweepAnswer answer;
                    answer.inputs = std::uint64_t{1} << 32;
                    answer.differing = differing;
                    return answer;
                }};
    }

    // Its exit code. The cases are answered with "no".
    int conduct_with(std::vector<sweep::GpuSweep> sweeps,
                     std::function<Expected<sweep::Gpu>()> find_gpu, bool resume = false) {
        Campaign campaign{out_.string(), resume, "", {}, {}};
        for (const std::string& data : data_)
            campaign.cases.push_back(
                {"quantize",
                 parse_case("quantize format=mxfp8-e4m3 dialect=nv shape=2x32 data=" + data)
                     .value()});
        campaign.errands = sweep_errands(std::move(sweeps), std::move(find_gpu));
        const Asker no = [](const Case&, const Question&) {
            return DeviceAnswer{AnswerKind::not_supported, "no", {}, {}};
        };
        Sources sources;
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int code = conduct(
            std::move(campaign),
            [&]() -> Expected<Respondent> {
                return Respondent{no, {}, [this] { return closing_; }};
            },
            sources);
        testing::internal::GetCapturedStdout();
        testing::internal::GetCapturedStderr();
        return code;
    }
    int conduct_on_gpu(std::vector<sweep::GpuSweep> sweeps, bool resume = false) {
        return conduct_with(
            std::move(sweeps),
            [] {
                return Expected(sweep::Gpu{"a GPU", 90});
            },
            resume);
    }

    results::Run recorded(const char* name = "results.jsonl") const {
        return results::read_results((out_ / name).string()).value();
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(out_))
            names.insert(entry.path().filename().string());
        return names;
    }
    std::vector<Verdict> verdicts() const {
        std::vector<Verdict> verdicts;
        for (const results::CaseResult& result : recorded().cases)
            verdicts.push_back(result.verdict);
        return verdicts;
    }

    std::filesystem::path out_ =
        std::filesystem::path(testing::TempDir()) / ("campaign_test_" + std::to_string(::getpid()));
    std::string asked_;
    Status closing_ = success();                                 // of who answers
    std::vector<std::string> data_{"edge.tie", "edge.special"};  // of the cases
};

constexpr Verdict no = Verdict::not_supported;
constexpr Verdict pass = Verdict::pass_exact;

TEST_F(CampaignTest, SweepsAreRecordedOneByOneAfterTheCases) {
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0), sweep_with("b", 0)}), exit_conformant);
    const results::Run run = recorded();
    EXPECT_TRUE(run.complete);
    EXPECT_EQ(run.header.case_count, 4u);
    EXPECT_EQ(verdicts(), (std::vector{no, no, pass, pass}));
    EXPECT_EQ(run.cases[2].index, 2u);
    EXPECT_EQ(run.cases[2].case_text, "sweep map=a");
    EXPECT_EQ(run.cases[3].case_text, "sweep map=b");
    EXPECT_EQ(run.footer.elements, std::uint64_t{2} << 32);
    EXPECT_EQ(asked_, "a b ");
}

TEST_F(CampaignTest, TheExitCodeSaysWhatTheSweepsFound) {
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 7), sweep_with("b", 0)}), exit_mismatch);
    EXPECT_EQ(verdicts(), (std::vector{no, no, Verdict::fail, pass}));
    EXPECT_EQ(recorded().footer.mismatched_elements, 7u);
    // Our own fault ends the run.
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 1, Subject::oracle), sweep_with("b", 0)}),
              exit_self_test);
    EXPECT_EQ(verdicts(), (std::vector{no, no, Verdict::oracle_disagreement}));
    sweep::GpuSweep lost = sweep_with("a", 0);
    lost.ask = [](const sweep::Watch&) -> Expected<sweep::SweepAnswer> {
        return Error{ErrorKind::device, "the GPU: lost"};
    };
    EXPECT_EQ(conduct_on_gpu({lost, sweep_with("b", 0)}), exit_device);
    EXPECT_EQ(verdicts(), (std::vector{no, no, Verdict::device_error, pass}));
}

TEST_F(CampaignTest, WithoutAGpuNoSweepIsAskedAndNothingWasTested) {
    int looked_for = 0;
    const auto none = [&looked_for]() -> Expected<sweep::Gpu> {
        ++looked_for;
        return Error{ErrorKind::system, "the GPU: none can be used"};
    };
    EXPECT_EQ(conduct_with({sweep_with("a", 0), sweep_with("b", 0)}, none), exit_nothing_tested);
    EXPECT_EQ(verdicts(), (std::vector{no, no, no, no}));
    EXPECT_EQ(recorded().cases[3].reason, "the GPU: none can be used");
    EXPECT_EQ(asked_, "");
    EXPECT_EQ(looked_for, 1);
}

TEST_F(CampaignTest, AGpuThatIsThereAndCannotBeAskedIsAFault) {
    const auto lost = []() -> Expected<sweep::Gpu> {
        return Error{ErrorKind::device, "the GPU: busy"};
    };
    EXPECT_EQ(conduct_with({sweep_with("a", 0)}, lost), exit_device);
    EXPECT_EQ(verdicts().back(), Verdict::device_error);
}

TEST_F(CampaignTest, EveryEarlierRecordIsKept) {
    for (const std::uint64_t differing : {1u, 2u, 3u})
        EXPECT_EQ(conduct_on_gpu({sweep_with("a", differing)}), exit_mismatch);
    EXPECT_EQ(recorded("results.previous.jsonl").footer.mismatched_elements, 1u);
    EXPECT_EQ(recorded("results.previous.2.jsonl").footer.mismatched_elements, 2u);
    EXPECT_EQ(recorded().footer.mismatched_elements, 3u);
}

// Its reports do go: they would be taken for those of the run that came to nothing.
TEST_F(CampaignTest, ARunWithoutACaseCostsNoRecord) {
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 7)}), exit_mismatch);
    EXPECT_EQ(files(),
              (std::set<std::string>{"junit.xml", "report.html", "report.md", "results.jsonl"}));
    data_ = {"file:" + (out_ / "none.npy").string()};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(conduct_on_gpu({sweep_with("a", 7)}), exit_usage);
    EXPECT_EQ(files(), std::set<std::string>{"results.jsonl"});
    EXPECT_EQ(recorded().footer.mismatched_elements, 7u);
}

// --resume has nothing left to ask, and yet opens and closes the device.
TEST_F(CampaignTest, ADeviceThatDoesNotCloseIsToldInTheRecordAndOnResume) {
    closing_ = Error{ErrorKind::device, "it fell over"};
    for (const bool resume : {false, true}) {
        EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0)}, resume), exit_device);
        EXPECT_EQ(recorded().footer.close_fault, "it fell over");
        EXPECT_EQ(recorded().footer.exit_code, exit_device);
        EXPECT_EQ(verdicts(), (std::vector{no, no, pass}));
    }
    closing_ = success();
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0)}, true), exit_conformant);
    EXPECT_EQ(recorded().footer.close_fault, "");
}

// In a process of its own, for an interrupt is remembered.
TEST_F(CampaignTest, AnInterruptedSweepIsDoneAgainAndNoOther) {
    sweep::GpuSweep slow = sweep_with("b", 0);
    slow.ask = [](const sweep::Watch& go_on) -> Expected<sweep::SweepAnswer> {
        sweep::SweepAnswer answer;
        ::raise(SIGINT);
        answer.complete = go_on({1, 64});
        answer.differing = 99;  // must not be recorded
        return answer;
    };
    const pid_t child = ::fork();
    if (child == 0) ::_exit(conduct_on_gpu({sweep_with("a", 0), slow, sweep_with("c", 0)}));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), exit_incomplete);
    EXPECT_EQ(verdicts(), (std::vector{no, no, pass}));
    EXPECT_FALSE(recorded().complete);

    // Other sweeps must not be mixed in.
    EXPECT_EQ(conduct_on_gpu({sweep_with("A", 0), sweep_with("b", 0), sweep_with("c", 0)}, true),
              exit_usage);
    EXPECT_EQ(asked_, "");
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0), sweep_with("b", 0), sweep_with("c", 0)}, true),
              exit_conformant);
    EXPECT_EQ(asked_, "b c ");
    EXPECT_EQ(verdicts(), (std::vector{no, no, pass, pass, pass}));
    EXPECT_TRUE(recorded().complete);
}

results::CaseResult result_at(std::size_t index) {
    results::CaseResult result;
    result.case_text = "case " + std::to_string(index);
    result.reason = "by " + std::to_string(::getpid());
    result.verdict = Verdict::not_supported;
    return result;
}

TEST(Workers, ReturnResultsInOrderFromEveryProcess) {
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < 1000; ++i) todo.push_back(3 * i);
    auto workers = Workers::start(3, todo, [] {
        return Expected(Workers::Work{[](std::size_t i) { return result_at(i); }});
    });
    ASSERT_TRUE(workers.ok());
    std::vector<std::string> processes;
    for (const std::size_t i : todo) {
        const auto result = workers.value().next();
        ASSERT_TRUE(result.ok());
        ASSERT_TRUE(result.value().has_value());
        EXPECT_EQ(result.value()->case_text, "case " + std::to_string(i));
        processes.push_back(result.value()->reason);
    }
    EXPECT_NE(processes[0], processes[1]);
    EXPECT_NE(processes[0], processes[2]);
    EXPECT_EQ(processes[0], processes[999]);
    EXPECT_NE(processes[0], "by " + std::to_string(::getpid()));
}

TEST(Workers, TellHowTheyClosed) {
    for (const bool is_sound : {true, false}) {
        auto workers = Workers::start(2, {0, 1, 2}, [is_sound] {
            return Expected(Workers::Work{[](std::size_t i) { return result_at(i); },
                                          [is_sound]() -> Status {
                                              if (is_sound) return success();
                                              return Error{ErrorKind::device, "it fell over"};
                                          }});
        });
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(workers.value().next().value().has_value());
        const Status closed = workers.value().close();
        EXPECT_EQ(closed.ok(), is_sound);
        EXPECT_EQ(closed ? "" : closed.error().message, is_sound ? "" : "it fell over");
    }
}

TEST(Workers, PassOnWhatWentWrong) {
    auto unable = Workers::start(2, {0, 1}, []() -> Expected<Workers::Work> {
        return Error{ErrorKind::device, "it did not open"};
    });
    const auto unopened = unable.value().next();
    ASSERT_FALSE(unopened.ok());
    EXPECT_EQ(unopened.error().kind, ErrorKind::device);
    EXPECT_EQ(unopened.error().message, "it did not open");

    auto dying = Workers::start(2, {0, 1}, [] {
        return Expected(Workers::Work{[](std::size_t i) {
            if (i == 1) ::raise(SIGKILL);
            return result_at(i);
        }});
    });
    EXPECT_TRUE(dying.value().next().ok());
    // As if the run had been interrupted: --resume goes on.
    const auto gone = dying.value().next();
    ASSERT_TRUE(gone.ok());
    EXPECT_FALSE(gone.value().has_value());
}

}  // namespace
}  // namespace mx::cli
