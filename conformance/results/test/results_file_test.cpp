// What is written can be read back, field by field. Uses the writer and the reader together.
#include "conformance/results/results_file.hpp"

#include <gtest/gtest.h>

#include "conformance/results/test/sample_run.hpp"

namespace mx::results::test {
namespace {

// Every verdict once.
std::vector<CaseResult> all_verdicts() {
    std::vector<CaseResult> cases;
    for (int verdict = 0; verdict < verdict_count; ++verdict)
        cases.push_back(
            sample_case(static_cast<std::uint64_t>(verdict), static_cast<Verdict>(verdict)));
    return cases;
}

RunHeader header_of_all() {
    RunHeader header = sample_header();
    header.case_count = all_verdicts().size();
    return header;
}

void write_run(const std::string& path, const RunHeader& header,
               const std::vector<CaseResult>& cases) {
    Expected<ResultsWriter> writer = ResultsWriter::create(path, header);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    for (const CaseResult& result : cases) ASSERT_TRUE(writer.value().append(result).ok());
    RunFooter footer = count_cases(cases);
    footer.seconds = 1.25;
    footer.exit_code = 1;
    footer.close_fault = "did not close";
    footer.unmet = {"not met"};
    ASSERT_TRUE(writer.value().finish(footer).ok());
}

TEST(ResultsFile, RoundTrip) {
    const TemporaryFolder folder;
    const std::string path = folder.file("results.jsonl");
    write_run(path, header_of_all(), all_verdicts());

    const Expected<results::Run> run = read_results(path);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run.value().header, header_of_all());
    EXPECT_EQ(run.value().cases, all_verdicts());
    EXPECT_TRUE(run.value().complete);
    RunFooter footer = count_cases(all_verdicts());
    footer.seconds = 1.25;
    footer.exit_code = 1;
    footer.close_fault = "did not close";
    footer.unmet = {"not met"};
    EXPECT_EQ(run.value().footer, footer);
}

TEST(ResultsFile, TheSameRunGivesTheSameBytes) {
    const TemporaryFolder folder;
    write_run(folder.file("a"), header_of_all(), all_verdicts());
    write_run(folder.file("b"), header_of_all(), all_verdicts());
    EXPECT_EQ(text_of(folder.file("a")), text_of(folder.file("b")));
    EXPECT_FALSE(text_of(folder.file("a")).empty());
}

TEST(ResultsFile, CountsAreExact) {
    const RunFooter footer = count_cases(all_verdicts());
    EXPECT_EQ(footer.cases, 13u);
    EXPECT_EQ(footer.elements, 8u * 4096 + 33);  // eight compare; their indices add up to 33
    EXPECT_EQ(footer.scales, 8u * 128);
    EXPECT_EQ(footer.mismatched_elements, 5u * 3);
    EXPECT_EQ(footer.mismatched_scales, 5u);
    ASSERT_EQ(footer.verdicts.size(), 13u);
    EXPECT_EQ(footer.verdicts[7], (Field{"fail", "1"}));
    EXPECT_TRUE(count_cases({}).verdicts.empty());
}

TEST(ResultsFile, BytesThatAreNoTextAreReplacedNotFatal) {
    const TemporaryFolder folder;
    CaseResult result = sample_case(0, Verdict::device_error);
    result.reason = "bad \xff\xfe bytes, cut \xe2\x82";
    RunHeader header = sample_header();
    header.device_facts = {{"na\x80me", "v\xc0\xaf"}};
    write_run(folder.file("r"), header, {result});

    const Expected<results::Run> run = read_results(folder.file("r"));
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run.value().cases.at(0).reason.substr(0, 7), "bad \xef\xbf\xbd");
    EXPECT_NE(run.value().cases.at(0).reason.find("bytes, cut"), std::string::npos);
}

TEST(ResultsFile, NoFooterMeansInterrupted) {
    const TemporaryFolder folder;
    write_run(folder.file("r"), header_of_all(), all_verdicts());
    std::string text = text_of(folder.file("r"));
    text.erase(text.rfind("\n{\"kind\":\"footer\"") + 1);

    const Expected<results::Run> run = parse_results(text, "r");
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_FALSE(run.value().complete);
    EXPECT_EQ(run.value().cases, all_verdicts());
}

TEST(ResultsFile, ALineWithoutItsNewlineIsDroppedWhereverItWasCut) {
    const TemporaryFolder folder;
    write_run(folder.file("r"), sample_header(), {sample_case(0, Verdict::fail)});
    const std::string text = text_of(folder.file("r"));
    const std::size_t header_end = text.find('\n') + 1;
    const std::size_t case_end = text.find('\n', header_end) + 1;
    for (std::size_t size = 0; size < text.size(); ++size) {
        const auto run = parse_results(std::string_view(text).substr(0, size), "r");
        ASSERT_EQ(run.ok(), size >= header_end) << size;
        if (!run.ok()) continue;
        EXPECT_EQ(run.value().cases.size(), size >= case_end ? 1u : 0u) << size;
        EXPECT_FALSE(run.value().complete) << size;
    }
}

TEST(ResultsFile, AFileThatCannotBeReadSaysWhy) {
    const TemporaryFolder folder;
    const Expected<results::Run> missing = read_results(folder.file("none"));
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().kind, ErrorKind::system);
    EXPECT_EQ(missing.error().message,
              folder.file("none") + ": cannot open: No such file or directory");
    const Expected<results::Run> directory = read_results(folder.file(""));
    ASSERT_FALSE(directory.ok());
    EXPECT_NE(directory.error().message.find("Is a directory"), std::string::npos);
}

}  // namespace
}  // namespace mx::results::test
