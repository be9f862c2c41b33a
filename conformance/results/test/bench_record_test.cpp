// Tests of the record of a benchmark: there and back, and files that lie.
#include "conformance/results/bench_record.hpp"

#include <gtest/gtest.h>

namespace mx::results {
namespace {

BenchHeader header() {
    BenchHeader header;
    header.program_version = "0.1.0";
    header.commit = "0123abcd";
    header.dirty = true;
    header.argv = {"mxcheck", "bench"};
    header.started = "2026-01-02T03:04:05Z";
    header.device = "cuda";
    header.data = "realistic";
    header.place = "cuda";
    header.clock = "device";
    header.device_facts = {{"name", "a \"GPU\""}};
    header.environment = {{"cpu", "x"}, {"os", "y"}};
    return header;
}

BenchRow row() {
    BenchRow row;
    row.what = "quantize";
    row.shape = "64x4096";
    row.types = "f32 to mxfp8-e4m3 ocp";
    row.cache = "cold";
    row.bytes = 7;
    row.samples = 20;
    row.seconds = 1.25e-4;
    row.low = 1e-4;
    row.high = 2e-4;
    row.batch = 5;
    row.quarters = {1.2e-4, 1.3e-4, 1.5e-4, 1.25e-4};
    row.roof_share = 0.5;
    row.state_before = "SM 1980 MHz";
    row.state_after = "SM 1755 MHz";
    return row;
}

std::string with(const std::string& from, const std::string& to) {
    std::string text = line_of(header()) + line_of(row());
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
}

TEST(BenchRecord, ComesBackAsItWent) {
    const auto bench = parse_bench(line_of(header()) + line_of(row()), "b");
    ASSERT_TRUE(bench);
    EXPECT_EQ(bench.value().header, header());
    ASSERT_EQ(bench.value().rows.size(), 1u);
    EXPECT_EQ(bench.value().rows[0], row());
    EXPECT_NEAR(bench.value().rows[0].noise(), 0.25, 1e-12);
}

TEST(BenchRecord, CountsAreWholeNumbers) {
    for (const char* count : {"7.5", "7e300", "-7"})
        EXPECT_FALSE(parse_bench(with("\"bytes\":7", std::string("\"bytes\":") + count), "b"))
            << count;
}

TEST(BenchRecord, ALineThatWasNeverFinishedIsDropped) {
    const auto bench = parse_bench(line_of(header()) + line_of(row()) + "{\"kind\":\"ro", "b");
    ASSERT_TRUE(bench);
    EXPECT_EQ(bench.value().rows.size(), 1u);
}

TEST(BenchRecord, IsCompleteWithItsLastLineAlone) {
    const std::string whole = line_of(header()) + line_of(row()) + last_line_of_bench();
    const auto complete = parse_bench(whole, "b");
    ASSERT_TRUE(complete);
    EXPECT_TRUE(complete.value().complete);
    EXPECT_EQ(complete.value().rows.size(), 1u);
    const auto cut = parse_bench(std::string_view(whole).substr(0, whole.size() - 1), "b");
    ASSERT_TRUE(cut);
    EXPECT_FALSE(cut.value().complete);
    const auto more = parse_bench(whole + line_of(row()), "b");
    ASSERT_FALSE(more);
    EXPECT_NE(more.error().message.find("line 4: there is a line after the end"),
              std::string::npos);
}

TEST(BenchRecord, FilesThatLieAreRefusedWithTheLine) {
    struct Lie {
        std::string text, sentence;
    };
    for (const Lie& lie : std::vector<Lie>{
             {"", "b: holds no whole line"},
             {"x\n", "b, line 1: is no line of a benchmark"},
             {line_of(row()), "b, line 1: a benchmark has one header"},
             {line_of(header()) + line_of(header()), "b, line 2: a benchmark has one header"},
             {with("\"version\":2", "\"version\":1"), "format version 1 is unknown"},
             {with("\"kind\":\"row\"", "\"kind\":\"case\""), "none of bench, row and end"},
             {with("\"seconds\":0.000125", "\"seconds\":0"), "b, line 2: the numbers cannot"},
             {with("\"seconds\":0.000125", "\"seconds\":-1"), "b, line 2: the numbers cannot"},
             {with("\"samples\":20", "\"samples\":0"), "b, line 2: the numbers cannot"},
             {with("\"reason\":\"\"", "\"reason\":\"no\""), "b, line 2: the numbers cannot"},
             {with("\"low\":0.0001", "\"low\":9.0"), "b, line 2: the numbers cannot"},
             {with("\"cache\"", "\"cash\""), "b, line 2: \"cache\" is missing"},
             {with("\"state_before\"", "\"state\":\"\",\"state_before\""),
              "b, line 2: \"state\" is no key that this program knows"},
             {with("\"samples\":20", "\"samples\":\"20\""),
              "b, line 2: \"samples\" must be a whole number"},
         }) {
        const auto bench = parse_bench(lie.text, "b");
        ASSERT_FALSE(bench) << lie.sentence;
        EXPECT_NE(bench.error().message.find(lie.sentence), std::string::npos)
            << bench.error().message;
    }
}

}  // namespace
}  // namespace mx::results
