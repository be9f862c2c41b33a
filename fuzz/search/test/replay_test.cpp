// Finds of earlier searches asked again, and what a whole search has reached.
#include "fuzz/search/replay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fuzz/search/coverage.hpp"
#include "fuzz/search/store.hpp"

namespace mx::fuzz {
namespace {

Replayer answering(AnswerKind kind) {
    return {[kind] {
                Client client;
                client.ask = [kind](const Question&) {
                    return DeviceAnswer{.kind = kind, .reason = "made up"};
                };
                return Expected(client);
            },
            " --device made-up"};
}

class Replay : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(folder_);
        ASSERT_TRUE(make_finds_folder(folder_));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) const {
        const std::string path = folder_ + "/finds/" + name;
        std::ofstream(path) << text;
        return path;
    }

    const std::string folder_ =
        (std::filesystem::temp_directory_path() / ("replay-" + std::to_string(::getpid())))
            .string();
};

TEST_F(Replay, EveryFindOfTheFolderIsAskedInTheOrderOfItsName) {
    const std::string line = "quantize format=mxfp8-e4m3 shape=1x32 data=bits:3f800000\n";
    const std::string b = write("b.case", "# what it is\n" + line);
    const std::string a = write("a.case", line + line);
    write("empty.case", "# shows only among what was asked before it\n");
    write("notes.txt", "no case");
    const auto all = replay_remembered(answering(AnswerKind::crash), folder_);
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(all.value().size(), 2u);
    EXPECT_EQ(all.value()[0].path, a);
    EXPECT_EQ(all.value()[1].path, b);
    for (const Remembered& one : all.value())
        EXPECT_EQ(one.result.verdict, results::Verdict::crash);
    const auto refused = replay_remembered(answering(AnswerKind::not_supported), folder_);
    ASSERT_TRUE(refused);
    EXPECT_TRUE(results::may_pass(refused.value()[0].result.verdict));
}

TEST_F(Replay, AFileThatIsNoFindIsAnError) {
    write("a.case", "quantize nonsense\n");
    EXPECT_FALSE(replay_remembered(answering(AnswerKind::crash), folder_));
    EXPECT_FALSE(make_finds_folder(write("file", "")));
}

TEST(Verdicts, AFindThatCannotBeAskedAgainStaysAFailure) {
    for (const Outcome outcome :
         {Outcome::wrong, Outcome::crash, Outcome::timeout, Outcome::error, Outcome::own_fault})
        EXPECT_FALSE(results::may_pass(verdict_of(outcome)));
}

TEST(Totals, CountTheThemesThatWereSearched) {
    const std::vector<Case> themes = list_themes({{"quantize"}, {"mxfp8-e4m3"}, {"ocp"}, {}});
    ASSERT_GE(themes.size(), 3u);
    std::vector<Coverage> coverage{Coverage(themes[0]), Coverage(themes[1]), Coverage(themes[2])};
    coverage[0].blocks = 5;
    coverage[0].reach.set(static_cast<std::size_t>(Branch::amax_zero));
    coverage[1].is_refused = true;
    coverage[1].blocks = 5;
    const CoverageTotals totals = totals_of(coverage);
    EXPECT_EQ(totals.themes, 1u);
    EXPECT_EQ(totals.reached, 1u);
    EXPECT_EQ(totals.to_reach, coverage[0].decisions_to_reach());
    EXPECT_EQ(totals.variants, coverage[0].variants.size());
    const auto& rest = totals.in_no_theme;
    EXPECT_EQ(std::ranges::count(rest, "amax zero"), 0);
    EXPECT_EQ(std::ranges::count(rest, "amax NaN"), 1);
}

}  // namespace
}  // namespace mx::fuzz
