// The JUnit file: well-formed, counted right, and no verdict shown greener than it is.
#include "reports/render/junit.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

using results::Verdict;

// Why the text is no well-formed XML of the plain kind written here (no CDATA, no comments), or "".
std::string defect_of(std::string_view xml) {
    std::vector<std::string> open;
    std::size_t at = 0;
    while ((at = xml.find('<', at)) != std::string_view::npos) {
        const std::size_t end = xml.find('>', at);
        if (end == std::string_view::npos) return "a tag is not closed";
        const std::string_view tag = xml.substr(at + 1, end - at - 1);
        at = end + 1;
        if (tag.starts_with("?")) continue;
        if (tag.find('<') != std::string_view::npos) return "< inside a tag";
        if (occurrences(tag, "\"") % 2 != 0) return "quotes do not pair: " + std::string(tag);
        const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
        if (tag.starts_with("/")) {
            if (open.empty() || "/" + open.back() != tag) return "unexpected <" + name + ">";
            open.pop_back();
        } else if (!tag.ends_with("/")) {
            open.push_back(name);
        }
    }
    for (std::size_t amp = xml.find('&'); amp != std::string_view::npos;
         amp = xml.find('&', amp + 1)) {
        const std::string_view entity = xml.substr(amp, xml.find(';', amp) - amp + 1);
        if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
            entity != "&#39;")
            return "unknown entity";
    }
    return open.empty() ? "" : "never closed: " + open.back();
}

TEST(Junit, TheCheckerSeesDefects) {
    EXPECT_EQ(defect_of("<a x=\"1\"><b/></a>"), "");
    EXPECT_NE(defect_of("<a><b></a>"), "");
    EXPECT_NE(defect_of("<a>"), "");
    EXPECT_NE(defect_of("<a x=\"1></a>"), "");
    EXPECT_NE(defect_of("<a>&nbsp;</a>"), "");
}

TEST(Junit, IsWellFormed) {
    for (const std::string_view name : fixture_names)
        EXPECT_EQ(defect_of(render_junit(fixture(name))), "") << name;
}

TEST(Junit, CountsWhatItHolds) {
    for (const std::string_view name : fixture_names) {
        const std::string xml = render_junit(fixture(name));
        const std::string wanted = " tests=\"" + std::to_string(occurrences(xml, "<testcase ")) +
                                   "\" failures=\"" +
                                   std::to_string(occurrences(xml, "<failure ")) + "\" errors=\"" +
                                   std::to_string(occurrences(xml, "<error ")) + "\" skipped=\"" +
                                   std::to_string(occurrences(xml, "<skipped ")) + "\"";
        const std::string root = xml.substr(xml.find("<testsuites"), 4000);
        EXPECT_NE(root.substr(0, root.find('>')).find(wanted), std::string::npos)
            << name << wanted << root.substr(0, root.find('>'));
    }
}

TEST(Junit, OneSuitePerOperation) {
    const std::string xml = render_junit(fixture("every_verdict"));
    EXPECT_EQ(occurrences(xml, "<testsuite "), 5u);
    for (const std::string name : {"run", "convert", "encode_scale", "quantize", "dequantize"})
        EXPECT_EQ(occurrences(xml, "<testsuite name=\"" + name + "\""), 1u) << name;
}

// The words of a verdict's own test case, from its name to the next.
std::string test_case_of(Verdict verdict) {
    results::Run run = empty_run();
    add_case(run, verdict).reason = "the reason";
    run.cases[0].case_text = "the case";
    const std::string xml = render_junit(run);
    return xml.substr(xml.find("<testcase name=\"the case\""));
}

TEST(Junit, EachVerdictHasItsKind) {
    const auto expect = [](Verdict verdict, std::string_view element) {
        const std::string text = test_case_of(verdict);
        for (const std::string_view each : {"<failure ", "<error ", "<skipped "})
            EXPECT_EQ(text.find(each) != std::string::npos, each == element)
                << results::name_of(verdict) << " " << each;
        EXPECT_EQ(text.find("the reason") != std::string::npos, true) << results::name_of(verdict);
    };
    for (const Verdict verdict : {Verdict::pass_exact, Verdict::pass_bounded, Verdict::deviation})
        expect(verdict, "");
    for (const Verdict verdict : {Verdict::not_supported, Verdict::waived})
        expect(verdict, "<skipped ");
    for (const Verdict verdict : {Verdict::fail, Verdict::flaky}) expect(verdict, "<failure ");
    for (const Verdict verdict :
         {Verdict::oracle_disagreement, Verdict::device_error, Verdict::crash, Verdict::timeout,
          Verdict::untested, Verdict::insufficient_data})
        expect(verdict, "<error ");
}

TEST(Junit, ADeviationPassesWithItsNote) {
    const std::string text = test_case_of(Verdict::deviation);
    EXPECT_NE(text.find("<system-out>deviation: "), std::string::npos);
    EXPECT_NE(text.find("leaves the answer open"), std::string::npos);
}

TEST(Junit, AnInterruptedOrEmptyRunIsNotGreen) {
    EXPECT_EQ(occurrences(render_junit(fixture("interrupted")), "<error "), 1u);
    EXPECT_EQ(occurrences(render_junit(fixture("clean_full")), "<error "), 0u);
    EXPECT_EQ(occurrences(render_junit(empty_run()), "<error "), 1u);
}

}  // namespace
}  // namespace mx::reports::test
