// Files that lie, one defect each: an error that names the line and the key, never a crash.
#include <gtest/gtest.h>

#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/results/test/sample_run.hpp"

namespace mx::results::test {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << "the sample no longer holds " << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string header_line() {
    return line_of(sample_header());
}
std::string case_line() {
    return line_of(sample_case(0, Verdict::waived));
}
std::string footer_line() {
    return line_of(count_cases(std::vector{sample_case(0, Verdict::waived)}));
}

struct Defect {
    std::string text;
    std::string message;
};

std::vector<Defect> defects_of_lines() {
    return {
        {"", "holds no whole line"},
        {"\n", "line 1: not JSON"},
        {"garbage\n", "line 1: not JSON"},
        {std::string(16, '\0') + "\n", "line 1: not JSON"},
        {"[]\n", "line 1: a line must be a JSON object"},
        {"{}\n", "line 1: \"kind\" is missing"},
        {"{\"kind\":7}\n", "line 1: \"kind\" must be a string"},
        {"{\"kind\":\"trailer\"}\n", "line 1: \"kind\" is \"trailer\""},
        {case_line(), "line 1: is no header"},
        {footer_line(), "line 1: is no header"},
        {header_line() + header_line(), "line 2: is a second header"},
        {header_line() + case_line() + case_line(), "line 3: records case 0 a second time"},
        {header_line() + case_line().substr(0, 90) + "\n" + footer_line(), "line 2: not JSON"},
        {header_line() + "\n" + case_line(), "line 2: not JSON"},
        {header_line() + "{\"kind\":\"case\",\"index\":1e999}\n", "line 2: holds a number"},
        {header_line() + case_line() + footer_line() + case_line(), "line 4: stands after"},
        {header_line() + case_line() + footer_line() + footer_line(), "line 4: stands after"},
        {header_line() + footer_line(), "the footer counts 1 cases, the lines before it 0"},
        {header_line() + "{\"kind\":\"case\",\"reason\":\"\xff\"}\n", "line 2: not JSON"},
        {std::string(100'000, '[') + "\n", "line 1: not JSON"},
        {std::string(100'000, '[') + std::string(100'000, ']') + "\n", "must be a JSON object"},
    };
}

std::vector<Defect> defects_of_values() {
    const auto header = [](std::string_view from, std::string_view to) {
        return replaced(header_line(), from, to);
    };
    const auto result = [](std::string_view from, std::string_view to) {
        return header_line() + replaced(case_line(), from, to);
    };
    const std::string seed = "\"18446744073709551615\"";
    return {
        {result("\"waivers\":[1]", "\"waivers\":[2]"),
         "line 2: names waiver 2, and the header has 1"},
        {result("\"waivers\":[1]", "\"waivers\":[0]"), "line 2: names waiver 0"},
        {header("\"version\":1", "\"version\":2"), "results format version 2 is unknown here"},
        {header("\"version\":1", "\"version\":\"1\""), "\"version\" must be a whole number"},
        {header("\"version\":1", "\"version\":1e300"), "\"version\" must be a whole number"},
        {header("\"version\":1", "\"version\":4294967297"), "\"version\" must fit 32 bits"},
        {header("\"dirty\":true", "\"dirty\":1"), "\"dirty\" must be true or false"},
        {header("[\"mxcheck\"", "[null"), "\"argv[0]\" must be a string"},
        {header(seed, "5"), "\"seed\" must be a string"},
        {header(seed, "\"18446744073709551616\""), "\"seed\" must be a string of decimal digits"},
        {header(seed, "\"NaN\""), "\"seed\" must be a string of decimal digits"},
        {header(seed, "\"-1\""), "\"seed\" must be a string of decimal digits"},
        {header(seed, "\"1 \""), "\"seed\" must be a string of decimal digits"},
        {header("\"level\":", "\"lebel\":"), "\"level\" is missing"},
        {header("\"value\":\"Sample\"", "\"value\":[]"), "\"device_facts[0].value\" must be"},
        {header("[{\"key\":\"cpu\"", "{\"key\":[\"cpu\""), "line 1: not JSON"},
        {result("\"index\":0", "\"index\":-1"), "line 2: \"index\" must be a whole number"},
        {result("\"index\":0", "\"index\":0.5"), "\"index\" must be a whole number"},
        {result("\"index\":0", "\"index\":18446744073709551616"), "\"index\" must be a whole"},
        {result("\"verdict\":\"waived\"", "\"verdict\":\"pass\""), "\"pass\", which is no verdict"},
        {result("\"verdict\":\"waived\"", "\"verdict\":null"), "\"verdict\" must be a string"},
        {result("\"lane\":17", "\"lane\":4294967296"), "\"mismatches[0].lane\" must fit 32 bits"},
        {result("\"lanes\":[0,", "\"lanes\":[true,"), "\"mismatches[0].lanes[0]\" must be"},
        {result("\"mismatches\":[", "\"mismatches\":[3,"), "\"mismatches[0]\" must be an object"},
        {header_line() + case_line() + replaced(footer_line(), "\"scales\":128", "\"scales\":127"),
         "line 3: the footer counts 127 scales, the lines before it 128"},
        {header_line() + case_line() + replaced(footer_line(), "\"seconds\":0.0", "\"seconds\":{}"),
         "line 3: \"seconds\" must be a number"},
    };
}

void expect_each_is_refused(const std::vector<Defect>& defects) {
    for (const Defect& defect : defects) {
        const Expected<results::Run> run = parse_results(defect.text, "r.jsonl");
        ASSERT_FALSE(run.ok()) << "accepted, wanted: " << defect.message;
        const std::string& message = run.error().message;
        EXPECT_NE(message.find(defect.message), std::string::npos)
            << "got: " << message << "\nwanted: " << defect.message;
        EXPECT_EQ(message.rfind("r.jsonl", 0), 0u) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

TEST(MalformedFile, TheSampleItselfIsAccepted) {
    const auto run = parse_results(header_line() + case_line() + footer_line(), "r");
    EXPECT_TRUE(run.ok()) << run.error().message;
}

TEST(MalformedFile, EveryBadLineIsNamed) {
    expect_each_is_refused(defects_of_lines());
}

TEST(MalformedFile, EveryBadValueIsNamed) {
    expect_each_is_refused(defects_of_values());
}

// A key that may be left out would read as not measured, were its misspelling not an error.
TEST(MalformedFile, AKeyThatNobodyKnowsIsRefused) {
    expect_each_is_refused(
        {{replaced(header_line(), "{\"kind\"", "{\"later\":[1],\"kind\""),
          "line 1: \"later\" is no key that this program knows"},
         {header_line() + replaced(case_line(), "\"waivers\":", "\"waiver\":"),
          "line 2: \"waiver\" is no key"},
         {header_line() + replaced(case_line(), "\"lanes\":[0,", "\"lane_s\":0,\"lanes\":[0,"),
          "line 2: \"mismatches[0].lane_s\" is no key"}});
}

// Every byte of every line, flipped: an error or a run, but always an answer.
TEST(MalformedFile, NoFlippedByteCrashes) {
    const std::string good = header_line() + case_line() + footer_line();
    std::size_t refused = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string text = good;
        text[at] = static_cast<char>(text[at] ^ 0x11);
        const Expected<results::Run> run = parse_results(text, "r");
        if (run.ok()) continue;
        ++refused;
        EXPECT_FALSE(run.error().message.empty());
    }
    EXPECT_GT(refused, good.size() / 4);
}

}  // namespace
}  // namespace mx::results::test
