// The writer against full disks, kills, second writers and other people's files. Uses the real file
// system and /dev/full.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "conformance/results/results_file.hpp"
#include "conformance/results/test/sample_run.hpp"

namespace mx::results::test {
namespace {

// Writes past `bytes` fail for as long as it lives: first short, then with EFBIG.
class FileSizeLimit {
public:
    explicit FileSizeLimit(std::uint64_t bytes) {
        previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &previous_);
        rlimit limit = previous_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &previous_);
        std::signal(SIGXFSZ, previous_handler_);
    }

private:
    rlimit previous_{};
    void (*previous_handler_)(int) = SIG_DFL;
};

ResultsWriter started(const std::string& path) {
    Expected<ResultsWriter> writer = ResultsWriter::create(path, sample_header());
    EXPECT_TRUE(writer.ok());
    return std::move(writer).value();
}

TEST(ResultsWriter, EachLineIsInTheFileAtOnce) {
    const TemporaryFolder folder;
    ResultsWriter writer = started(folder.file("r"));
    ASSERT_TRUE(writer.append(sample_case(0, Verdict::waived)).ok());
    const Expected<results::Run> run = read_results(folder.file("r"));
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run.value().cases.size(), 1u);
}

TEST(ResultsWriter, RefusesToOverwriteUnlessTold) {
    const TemporaryFolder folder;
    write_text(folder.file("r"), "precious");
    const auto refused = ResultsWriter::create(folder.file("r"), sample_header());
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("already exists"), std::string::npos);
    EXPECT_EQ(text_of(folder.file("r")), "precious");

    ASSERT_TRUE(
        ResultsWriter::create(folder.file("r"), sample_header(), ExistingFile::replace).ok());
    const Expected<results::Run> run = read_results(folder.file("r"));
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run.value().header, sample_header());
}

TEST(ResultsWriter, AFolderThatIsNotThereIsOneSentence) {
    const TemporaryFolder folder;
    const auto writer = ResultsWriter::create(folder.file("no/such/r"), sample_header());
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.error().message,
              folder.file("no/such/r") + ": cannot create: No such file or directory");
}

TEST(ResultsWriter, AFullDiskIsReportedAtTheHeader) {
    // Where the device is missing, a file of that name would be made, and would not be full.
    if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    const auto writer = ResultsWriter::create("/dev/full", sample_header(), ExistingFile::replace);
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.error().kind, ErrorKind::system);
    EXPECT_EQ(writer.error().message, "/dev/full: cannot write: No space left on device");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(ResultsWriter, AHeaderThatDoesNotFitLeavesNoFile) {
    const TemporaryFolder folder;
    {
        const FileSizeLimit limit(10);
        EXPECT_FALSE(ResultsWriter::create(folder.file("r"), sample_header()).ok());
    }
    EXPECT_FALSE(std::filesystem::exists(folder.file("r")));
}

TEST(ResultsWriter, AShortWriteLeavesOnlyWholeLinesAndTheRunCanGoOn) {
    const TemporaryFolder folder;
    const std::string path = folder.file("r");
    ResultsWriter writer = started(path);
    ASSERT_TRUE(writer.append(sample_case(0, Verdict::waived)).ok());
    const std::string before = text_of(path);
    {
        const FileSizeLimit limit(before.size() + 50);
        const Status failed = writer.append(sample_case(1, Verdict::waived));
        ASSERT_FALSE(failed.ok());
        EXPECT_EQ(failed.error().kind, ErrorKind::system);
        EXPECT_EQ(failed.error().message, path + ": cannot write: File too large");
    }
    EXPECT_EQ(text_of(path), before);
    ASSERT_TRUE(writer.append(sample_case(1, Verdict::waived)).ok());
    const Expected<results::Run> run = read_results(path);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run.value().cases.size(), 2u);
}

TEST(ResultsWriter, NothingFollowsTheFooter) {
    const TemporaryFolder folder;
    ResultsWriter writer = started(folder.file("r"));
    ASSERT_TRUE(writer.finish(count_cases({})).ok());
    const std::string before = text_of(folder.file("r"));
    EXPECT_FALSE(writer.append(sample_case(0, Verdict::waived)).ok());
    EXPECT_EQ(text_of(folder.file("r")), before);
}

TEST(ResultsWriter, ASecondWriterIsTurnedAway) {
    const TemporaryFolder folder;
    const ResultsWriter writer = started(folder.file("r"));
    const std::string before = text_of(folder.file("r"));
    const auto resumed = ResultsWriter::resume(folder.file("r"), sample_header());
    ASSERT_FALSE(resumed.ok());
    EXPECT_NE(resumed.error().message.find("another run"), std::string::npos);
    EXPECT_FALSE(
        ResultsWriter::create(folder.file("r"), sample_header(), ExistingFile::replace).ok());
    EXPECT_EQ(text_of(folder.file("r")), before);
}

RunHeader header_of_three() {
    RunHeader header = sample_header();
    header.case_count = 3;
    return header;
}

// Leaves a file that ends as `tail` says after `cases` whole case lines.
void leave_behind(const std::string& path, std::uint64_t cases, std::string_view tail,
                  const RunHeader& header = sample_header()) {
    {
        ResultsWriter writer = ResultsWriter::create(path, header).value();
        for (std::uint64_t index = 0; index < cases; ++index)
            ASSERT_TRUE(writer.append(sample_case(index, Verdict::pass_exact)).ok());
    }
    write_text(path, text_of(path) + std::string(tail));
}

TEST(ResultsWriter, ResumeDropsTheHalfLineAndGoesOn) {
    const TemporaryFolder folder;
    const std::string path = folder.file("r");
    leave_behind(path, 2, "{\"kind\":\"case\",\"index\":2,\"sui", header_of_three());
    {
        auto resumed = ResultsWriter::resume(path, header_of_three());
        ASSERT_TRUE(resumed.ok()) << resumed.error().message;
        ASSERT_EQ(resumed.value().cases.size(), 2u);
        EXPECT_EQ(resumed.value().cases[1], sample_case(1, Verdict::pass_exact));
        EXPECT_EQ(resumed.value().header, header_of_three());
        ResultsWriter& writer = resumed.value().writer;
        ASSERT_TRUE(writer.append(sample_case(2, Verdict::waived)).ok());
        std::vector<CaseResult> cases = resumed.value().cases;
        cases.push_back(sample_case(2, Verdict::waived));
        ASSERT_TRUE(writer.finish(count_cases(cases)).ok());
    }
    const Expected<results::Run> run = read_results(path);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_TRUE(run.value().complete);
    EXPECT_EQ(run.value().cases.size(), 3u);
}

TEST(ResultsWriter, AFinishedFileCanBeFinishedAgain) {
    const TemporaryFolder folder;
    const std::string path = folder.file("r");
    {
        ResultsWriter writer = started(path);
        ASSERT_TRUE(writer.append(sample_case(0, Verdict::waived)).ok());
        ASSERT_TRUE(writer.finish(count_cases(std::vector{sample_case(0, Verdict::waived)})).ok());
    }
    const std::string before = text_of(path);
    {
        auto resumed = ResultsWriter::resume(path, sample_header());
        ASSERT_TRUE(resumed.ok()) << resumed.error().message;
        ASSERT_TRUE(resumed.value().writer.finish(count_cases(resumed.value().cases)).ok());
    }
    EXPECT_EQ(text_of(path), before);
}

TEST(ResultsWriter, ResumeRefusesAnotherRunAndNamesTheField) {
    struct Change {
        const char* field;
        std::function<void(RunHeader&)> apply;
    };
    const Change changes[] = {
        {"program_version", [](RunHeader& h) { h.program_version = "0.2.0"; }},
        {"commit", [](RunHeader& h) { h.commit = "ffff"; }},
        {"level", [](RunHeader& h) { h.level = "full"; }},
        {"suites", [](RunHeader& h) { h.suites = "quant*"; }},
        {"dialects", [](RunHeader& h) { h.dialects = "nv"; }},
        {"seed", [](RunHeader& h) { h.seed = 1; }},
        {"shard", [](RunHeader& h) { h.shard = "1/2"; }},
        {"case_count", [](RunHeader& h) { h.case_count = 4; }},
        {"device", [](RunHeader& h) { h.device = "other.so"; }},
        {"device_facts", [](RunHeader& h) { h.device_facts[0].value = "New driver"; }},
        {"table_hashes", [](RunHeader& h) { h.table_hashes[1].value = "0"; }},
    };
    const TemporaryFolder folder;
    leave_behind(folder.file("r"), 1, "half a li");
    const std::string before = text_of(folder.file("r"));
    for (const Change& change : changes) {
        RunHeader header = sample_header();
        change.apply(header);
        const auto resumed = ResultsWriter::resume(folder.file("r"), header);
        ASSERT_FALSE(resumed.ok()) << change.field;
        const std::string wanted = "cannot resume, " + std::string(change.field) + " was \"";
        EXPECT_NE(resumed.error().message.find(wanted), std::string::npos)
            << resumed.error().message;
        EXPECT_EQ(text_of(folder.file("r")), before) << change.field;
    }
}

TEST(ResultsWriter, ResumeForgivesWhatDecidesNothing) {
    const TemporaryFolder folder;
    leave_behind(folder.file("r"), 1, "");
    RunHeader header = sample_header();
    header.started = "2027-01-01T00:00:00Z";
    header.argv.push_back("--resume");
    header.environment[0].value = "another terminal";
    EXPECT_TRUE(ResultsWriter::resume(folder.file("r"), header).ok());
}

TEST(ResultsWriter, ResumeComparesBytesThatAreNoTextAsTheyWereWritten) {
    const TemporaryFolder folder;
    RunHeader header = sample_header();
    header.device_facts[0].value = "driver \xff";
    ASSERT_TRUE(ResultsWriter::create(folder.file("r"), header).ok());
    const auto resumed = ResultsWriter::resume(folder.file("r"), header);
    EXPECT_TRUE(resumed.ok()) << resumed.error().message;
}

TEST(ResultsWriter, ResumeOfWhatIsNoResultsFileChangesNothing) {
    const TemporaryFolder folder;
    for (const std::string_view text : {"", "hello", "hello\nworld", "{}\n"}) {
        write_text(folder.file("r"), text);
        EXPECT_FALSE(ResultsWriter::resume(folder.file("r"), sample_header()).ok()) << text;
        EXPECT_EQ(text_of(folder.file("r")), text);
    }
}

}  // namespace
}  // namespace mx::results::test
