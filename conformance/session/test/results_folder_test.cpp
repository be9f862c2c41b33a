// Tests of the folder of a run: no earlier record is lost, and no report outlives the record that
// it speaks of.
#include "conformance/session/results_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "reference/base/files.hpp"

namespace mx::session {
namespace {

class FolderOfARun : public testing::Test {
protected:
    FolderOfARun() { EXPECT_TRUE(prepare_folder(folder_.path)); }
    ~FolderOfARun() override { std::filesystem::remove_all(folder_.path); }

    Expected<FolderRecord> begin() {
        results::RunHeader header;
        header.case_count = 1;
        return FolderRecord::begin(folder_, header, [this](const std::string& sentence) {
            said_ += std::filesystem::path(sentence).filename().string() + "\n";
        });
    }
    void record(const std::string& case_text) {
        auto record = begin();
        ASSERT_TRUE(record) << record.error().message;
        results::CaseResult result;
        result.case_text = case_text;
        result.verdict = results::Verdict::pass_exact;
        EXPECT_TRUE(record.value().append(result));
        EXPECT_TRUE(record.value().finish(results::count_cases({&result, 1})));
    }
    std::string case_in(const std::string& name) const {
        return results::read_results(folder_.path + "/" + name).value().cases.front().case_text;
    }
    void touch(const std::string& name) const {
        ASSERT_TRUE(write_atomically(folder_.path + "/" + name, {}));
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path))
            names.insert(entry.path().filename().string());
        return names;
    }

    const ResultsFolder folder_{
        (std::filesystem::path(testing::TempDir()) / ("folder_test_" + std::to_string(::getpid())))
            .string(),
        {"report.md", "report.html"}};
    std::string said_;
};

TEST_F(FolderOfARun, EarlierRecordsAreMovedAsideAndNamed) {
    for (const char* text : {"first", "second", "third"}) record(text);
    EXPECT_EQ(case_in("results.previous.jsonl"), "first");
    EXPECT_EQ(case_in("results.previous.2.jsonl"), "second");
    EXPECT_EQ(case_in("results.jsonl"), "third");
    EXPECT_EQ(said_, "results.previous.jsonl\nresults.previous.2.jsonl\n");
}

TEST_F(FolderOfARun, ReportsGoAtOnceAndTheRecordWhenAnotherHasACase) {
    record("first");
    for (const char* name : {"report.md", "mine.txt"}) touch(name);
    {
        const auto begun = begin();
        ASSERT_TRUE(begun);
        EXPECT_EQ(files(),
                  (std::set<std::string>{"mine.txt", "results.jsonl", "results.new.jsonl"}));
    }
    EXPECT_EQ(files(), (std::set<std::string>{"mine.txt", "results.jsonl"}));
    EXPECT_EQ(case_in("results.jsonl"), "first");
}

TEST_F(FolderOfARun, OfTwoWritersTheSecondIsRefused) {
    const auto first = begin();
    ASSERT_TRUE(first);
    const auto second = begin();
    ASSERT_FALSE(second.ok());
    EXPECT_TRUE(second.error().message.ends_with("another run is writing it"));
    EXPECT_FALSE(move_aside(results_path(folder_.path), [](const std::string&) {}));
}

}  // namespace
}  // namespace mx::session
