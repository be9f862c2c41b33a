// The Markdown for a pull request: short, its tables rectangular, its fences closed.
#include "reports/render/markdown.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

using results::Verdict;

std::size_t cells_of(const std::string& line) {
    std::size_t bars = 0;
    for (std::size_t at = 0; at < line.size(); ++at)
        if (line[at] == '|' && (at == 0 || line[at - 1] != '\\')) ++bars;
    return bars;
}

TEST(Markdown, TablesAreRectangular) {
    for (const std::string_view name : fixture_names) {
        std::istringstream page(render_markdown(fixture(name)));
        std::string line;
        std::size_t width = 0;
        while (std::getline(page, line)) {
            if (line.empty() || line[0] != '|') {
                width = 0;
                continue;
            }
            if (width == 0) width = cells_of(line);
            EXPECT_EQ(cells_of(line), width) << name << ": " << line;
        }
    }
}

TEST(Markdown, HoldsReproLinesAndTotals) {
    const std::string page = render_markdown(fixture("every_verdict"));
    EXPECT_NE(page.find("```text\nmxcheck replay 'quantize format=mxfp8-e4m3 dialect=ocp"),
              std::string::npos);
    EXPECT_NE(page.find("1,257 of 65,536 elements in 1 case"), std::string::npos);
    EXPECT_NE(page.find("12 of 2,048 scales in 1 case"), std::string::npos);
    EXPECT_NE(page.find("no f16 input in this release"), std::string::npos);
    EXPECT_NE(page.find("results format version 1"), std::string::npos);
}

TEST(Markdown, StaysShortHoweverMuchFails) {
    results::Run run = empty_run();
    for (int count = 0; count < 3000; ++count) {
        results::Mismatch mismatch;
        mismatch.direction = std::to_string(count) + " codes";
        add_case(run, Verdict::fail).mismatches = {mismatch};
        add_case(run, Verdict::not_supported).reason = "reason " + std::to_string(count);
    }
    const std::string page = render_markdown(run);
    EXPECT_LT(page.size(), 20'000u);
    EXPECT_NE(page.find("2,992 more clusters"), std::string::npos);
    EXPECT_NE(page.find("2,980 more reasons"), std::string::npos);
}

TEST(Markdown, MentionsNobodyAndOpensNoHtml) {
    const std::string page = render_markdown(fixture("hostile_text"));
    std::istringstream lines(page);
    std::string line;
    bool in_code = false;
    while (std::getline(lines, line)) {
        if (line.rfind("```", 0) == 0) in_code = !in_code;
        if (in_code) continue;
        // Code spans hold text as it is; what is outside them must be escaped.
        std::string outside;
        bool in_span = false;
        for (std::size_t at = 0; at < line.size(); ++at) {
            if (line[at] == '`' && (at == 0 || line[at - 1] != '\\')) {
                while (at + 1 < line.size() && line[at + 1] == '`') ++at;
                in_span = !in_span;
            } else if (!in_span) {
                outside.push_back(line[at]);
            }
        }
        if (line.find("`` ") != std::string::npos) continue;  // holds a backtick of its own
        EXPECT_EQ(outside.find('<'), std::string::npos) << line;
        EXPECT_EQ(outside.find('@'), std::string::npos) << line;
    }
    EXPECT_FALSE(in_code);
}

}  // namespace
}  // namespace mx::reports::test
