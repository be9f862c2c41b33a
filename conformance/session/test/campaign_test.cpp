// Tests of a campaign whose cases and sweeps are made up: what is recorded and in which order, the
// outcome, resuming, and several processes. No GPU is asked, and no plug-in.
#include "conformance/session/campaign.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "conformance/results/results_file.hpp"
#include "conformance/session/interrupt.hpp"
#include "conformance/session/sweep_tasks.hpp"
#include "reference/base/files.hpp"

namespace mx::session {
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

    // A campaign of those cases, and of these sweeps after them.
    Campaign campaign_of(std::vector<sweep::GpuSweep> sweeps,
                         std::function<Expected<sweep::Gpu>()> find_gpu) const {
        Campaign campaign{.folder = {out_.string(), {"report.md"}}};
        for (const std::string& data : data_)
            campaign.cases.push_back(
                {"quantize",
                 parse_case("quantize format=mxfp8-e4m3 dialect=nv shape=2x32 data=" + data)
                     .value()});
        campaign.tasks = sweep_tasks(std::move(sweeps), std::move(find_gpu));
        return campaign;
    }

    // What it comes to. What cannot be conducted, a file that cannot be read here, is bad input.
    Outcome outcome_of(Campaign campaign) {
        Sources sources;
        const auto conducted =
            conduct(std::move(campaign),
                    [this]() -> Expected<Client> {
                        return Client{.ask = ask_, .close = [this] { return closing_; }};
                    },
                    sources,
                    {[this](const std::string& sentence) { said_ += sentence + "\n"; },
                     [this](const results::CaseResult& result, std::size_t place) {
                         told_ += std::to_string(place) + " " + result.case_text + "\n";
                     }});
        return conducted ? conducted.value().outcome : Outcome::bad_input;
    }

    // The cases are answered with "no".
    Outcome conduct_with(std::vector<sweep::GpuSweep> sweeps,
                         std::function<Expected<sweep::Gpu>()> find_gpu, bool resume = false) {
        Campaign campaign = campaign_of(std::move(sweeps), std::move(find_gpu));
        campaign.resume = resume;
        return outcome_of(std::move(campaign));
    }
    Outcome conduct_on_gpu(std::vector<sweep::GpuSweep> sweeps, bool resume = false) {
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
    std::string path_of(const char* name) const { return (out_ / name).string(); }

    std::string asked_, said_, told_;
    std::function<DeviceAnswer(const Question&)> ask_ = [](const Question&) {
        return DeviceAnswer{AnswerKind::not_supported, "no", {}, {}};
    };
    Status closing_ = success();  // of who answers
    static bool is_special(const Question& question) {
        return question.name.find("data=edge.special") != std::string::npos;
    }
    std::vector<std::string> data_{"edge.tie", "edge.special"};  // of the cases
};

constexpr Verdict no = Verdict::not_supported;
constexpr Verdict pass = Verdict::pass_exact;

TEST_F(CampaignTest, SweepsAreRecordedOneByOneAfterTheCases) {
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0), sweep_with("b", 0)}), Outcome::conformant);
    const results::Run run = recorded();
    EXPECT_TRUE(run.complete);
    EXPECT_EQ(run.header.case_count, 4u);
    EXPECT_EQ(verdicts(), (std::vector{no, no, pass, pass}));
    EXPECT_EQ(run.cases[2].index, 2u);
    EXPECT_EQ(run.cases[2].case_text, "sweep map=a");
    EXPECT_EQ(run.cases[3].case_text, "sweep map=b");
    EXPECT_EQ(run.footer.elements, std::uint64_t{2} << 32);
    EXPECT_EQ(asked_, "a b ");
    EXPECT_TRUE(told_.starts_with("0 quantize format=mxfp8-e4m3")) << told_;
    EXPECT_TRUE(told_.ends_with("2 sweep map=a\n3 sweep map=b\n")) << told_;
}

TEST_F(CampaignTest, TheOutcomeSaysWhatTheSweepsFound) {
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 7), sweep_with("b", 0)}), Outcome::mismatch);
    EXPECT_EQ(verdicts(), (std::vector{no, no, Verdict::fail, pass}));
    EXPECT_EQ(recorded().footer.mismatched_elements, 7u);
    // Our own fault ends the run.
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 1, Subject::oracle), sweep_with("b", 0)}),
              Outcome::own_fault);
    EXPECT_EQ(verdicts(), (std::vector{no, no, Verdict::oracle_disagreement}));
    sweep::GpuSweep lost = sweep_with("a", 0);
    lost.ask = [](const sweep::Watch&) -> Expected<sweep::SweepAnswer> {
        return Error{ErrorKind::device, "the GPU: lost"};
    };
    EXPECT_EQ(conduct_on_gpu({lost, sweep_with("b", 0)}), Outcome::device_fault);
    EXPECT_EQ(verdicts(), (std::vector{no, no, Verdict::device_error, pass}));
}

TEST_F(CampaignTest, WithoutAGpuNoSweepIsAskedAndNothingWasTested) {
    int looked_for = 0;
    const auto none = [&looked_for]() -> Expected<sweep::Gpu> {
        ++looked_for;
        return Error{ErrorKind::system, "the GPU: none can be used"};
    };
    EXPECT_EQ(conduct_with({sweep_with("a", 0), sweep_with("b", 0)}, none),
              Outcome::nothing_tested);
    EXPECT_EQ(verdicts(), (std::vector{no, no, no, no}));
    EXPECT_EQ(recorded().cases[3].reason, "the GPU: none can be used");
    EXPECT_EQ(asked_, "");
    EXPECT_EQ(looked_for, 1);
}

TEST_F(CampaignTest, AGpuThatIsThereAndCannotBeAskedIsAFault) {
    const auto lost = []() -> Expected<sweep::Gpu> {
        return Error{ErrorKind::device, "the GPU: busy"};
    };
    EXPECT_EQ(conduct_with({sweep_with("a", 0)}, lost), Outcome::device_fault);
    EXPECT_EQ(verdicts().back(), Verdict::device_error);
}

TEST_F(CampaignTest, EveryEarlierRecordIsKept) {
    for (const std::uint64_t differing : {1u, 2u, 3u})
        EXPECT_EQ(conduct_on_gpu({sweep_with("a", differing)}), Outcome::mismatch);
    EXPECT_EQ(recorded("results.previous.jsonl").footer.mismatched_elements, 1u);
    EXPECT_EQ(recorded("results.previous.2.jsonl").footer.mismatched_elements, 2u);
    EXPECT_EQ(recorded().footer.mismatched_elements, 3u);
}

// Its reports do go: they would be taken for those of the run that came to nothing.
TEST_F(CampaignTest, ARunWithoutACaseCostsNoRecord) {
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 7)}), Outcome::mismatch);
    ASSERT_TRUE(write_atomically(path_of("report.md"), {}));
    ASSERT_TRUE(write_atomically(path_of("notes.md"), {}));
    data_ = {"file:" + path_of("none.npy")};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(conduct_on_gpu({sweep_with("a", 7)}), Outcome::bad_input);
    EXPECT_EQ(files(), (std::set<std::string>{"notes.md", "results.jsonl"}));
    EXPECT_EQ(recorded().footer.mismatched_elements, 7u);
}

// --resume has nothing left to ask, and yet opens and closes the device.
TEST_F(CampaignTest, ADeviceThatDoesNotCloseIsToldInTheRecordAndOnResume) {
    closing_ = Error{ErrorKind::device, "it fell over"};
    for (const bool resume : {false, true}) {
        EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0)}, resume), Outcome::device_fault);
        EXPECT_EQ(recorded().footer.close_fault, "it fell over");
        EXPECT_EQ(recorded().footer.exit_code, number_of(Outcome::device_fault));
        EXPECT_EQ(verdicts(), (std::vector{no, no, pass}));
    }
    closing_ = success();
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0)}, true), Outcome::conformant);
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
    if (child == 0) {
        catch_interrupts("");
        ::_exit(number_of(conduct_on_gpu({sweep_with("a", 0), slow, sweep_with("c", 0)})));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), number_of(Outcome::incomplete));
    EXPECT_EQ(verdicts(), (std::vector{no, no, pass}));
    EXPECT_FALSE(recorded().complete);

    // Other sweeps must not be mixed in.
    EXPECT_EQ(conduct_on_gpu({sweep_with("A", 0), sweep_with("b", 0), sweep_with("c", 0)}, true),
              Outcome::bad_input);
    EXPECT_EQ(asked_, "");
    EXPECT_EQ(conduct_on_gpu({sweep_with("a", 0), sweep_with("b", 0), sweep_with("c", 0)}, true),
              Outcome::conformant);
    EXPECT_EQ(asked_, "b c ");
    EXPECT_EQ(verdicts(), (std::vector{no, no, pass, pass, pass}));
    EXPECT_TRUE(recorded().complete);
}

// Whatever a kill leaves of the record: the run that goes on ends in the bytes of one that was
// never killed, and asks nothing twice.
TEST_F(CampaignTest, ARecordThatIsCutAnywhereIsResumedToTheSameBytes) {
    const auto campaign = [this](bool resume) {
        Campaign made = campaign_of({sweep_with("a", 0), sweep_with("b", 3)}, [] {
            return Expected(sweep::Gpu{"a GPU", 90});
        });
        made.resume = resume;
        made.reproducible = true;
        return made;
    };
    EXPECT_EQ(outcome_of(campaign(false)), Outcome::mismatch);
    const std::string whole = text_of_file(path_of("results.jsonl")).value();
    for (std::size_t size = whole.find('\n') + 1; size < whole.size(); size += 5) {
        const std::string cut = whole.substr(0, size);
        ASSERT_TRUE(write_atomically(path_of("results.jsonl"), {std::as_bytes(std::span(cut))}));
        asked_.clear();
        EXPECT_EQ(outcome_of(campaign(true)), Outcome::mismatch) << size;
        EXPECT_EQ(text_of_file(path_of("results.jsonl")).value(), whole) << size;
        const bool has_a = cut.find("map=a\"") < cut.rfind('\n');
        const bool has_b = cut.find("map=b\"") < cut.rfind('\n');
        EXPECT_EQ(asked_, std::string(has_a ? "" : "a ") + (has_b ? "" : "b ")) << size;
    }
}

// Of a case that was never of this run.
TEST_F(CampaignTest, ARecordOfOtherCasesIsNotResumed) {
    EXPECT_EQ(conduct_on_gpu({}), Outcome::nothing_tested);
    const std::vector<results::CaseResult> before = recorded().cases;
    std::swap(data_[0], data_[1]);
    EXPECT_EQ(conduct_on_gpu({}, true), Outcome::bad_input);
    EXPECT_EQ(recorded().cases, before);
}

// A process whose device takes it along: what it had not done is left for --resume, and said.
TEST_F(CampaignTest, AWorkerThatDiesLeavesItsCasesForResume) {
    data_ = {"edge.tie", "edge.special", "edge.tie", "edge.special", "edge.tie", "edge.special"};
    const auto answers = ask_;
    const pid_t program = ::getpid();
    ask_ = [program](const Question& question) {
        if (::getpid() != program && is_special(question)) ::raise(SIGKILL);
        return DeviceAnswer{AnswerKind::not_supported, "no", {}, {}};
    };
    Campaign campaign = campaign_of({sweep_with("a", 0)}, [] {
        return Expected(sweep::Gpu{"a GPU", 90});
    });
    campaign.jobs = 2;
    EXPECT_EQ(outcome_of(campaign), Outcome::incomplete);
    EXPECT_EQ(said_,
              "a process of this run was ended from outside; --resume goes on\n"
              "stopped after 1 of 7 cases; --resume goes on\n");
    EXPECT_EQ(verdicts(), std::vector{no});
    EXPECT_EQ(asked_, "") << "a run that ends early has no tasks after its cases";
    EXPECT_FALSE(recorded().complete);

    ask_ = answers;
    campaign.resume = true;
    EXPECT_EQ(outcome_of(campaign), Outcome::conformant);
    EXPECT_TRUE(said_.ends_with("1 of 7 cases are already done\n")) << said_;
    EXPECT_EQ(verdicts(), (std::vector{no, no, no, no, no, no, pass}));
}

// A device that crashes is the device's fault, and the other cases are asked.
TEST_F(CampaignTest, ADeviceThatDiesIsRecordedAndTheRestIsAsked) {
    for (const std::size_t jobs : {1u, 2u}) {
        ask_ = [](const Question& question) {
            const bool dies = is_special(question);
            return DeviceAnswer{dies ? AnswerKind::crash : AnswerKind::not_supported,
                                dies ? "it died" : "no",
                                {},
                                {}};
        };
        data_ = {"edge.tie", "edge.special", "edge.tie"};
        Campaign campaign = campaign_of({}, {});
        campaign.jobs = jobs;
        EXPECT_EQ(outcome_of(campaign), Outcome::device_fault);
        EXPECT_EQ(verdicts(), (std::vector{no, Verdict::crash, no}));
        EXPECT_TRUE(recorded().complete);
        EXPECT_EQ(recorded().footer.exit_code, number_of(Outcome::device_fault));
    }
}

// The parts of a run hold its cases and tasks, each once and in its place.
TEST_F(CampaignTest, ShardsDealOutCasesAndTasksAsOneList) {
    const auto all = [this] {
        return campaign_of({sweep_with("a", 0), sweep_with("b", 0), sweep_with("c", 0)}, {});
    };
    const std::vector<std::string> whole = texts_of(all());
    ASSERT_EQ(whole.size(), 5u);
    for (const std::uint64_t count : {1u, 2u, 3u, 7u})
        for (std::uint64_t index = 0; index < count; ++index) {
            Campaign part = all();
            take_shard(part, {index, count});
            const std::vector<std::string> mine = texts_of(part);
            for (std::size_t i = 0; i < mine.size(); ++i)
                EXPECT_EQ(mine[i], whole.at(index + i * count));
            EXPECT_EQ(mine.size(), (whole.size() + count - 1 - index) / count);
        }
}

}  // namespace
}  // namespace mx::session
