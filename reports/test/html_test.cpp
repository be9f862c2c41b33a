// The HTML page: self-contained, its numbers those of the model, its links whole.
#include "reports/render/html.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "reports/model/summary.hpp"
#include "reports/render/html_parts.hpp"
#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

// Everything between `before` and `after`, wherever that occurs.
std::vector<std::string> all_between(std::string_view text, std::string_view before,
                                     std::string_view after) {
    std::vector<std::string> found;
    for (std::size_t at = text.find(before); at != std::string_view::npos;
         at = text.find(before, at)) {
        at += before.size();
        found.emplace_back(text.substr(at, text.find(after, at) - at));
    }
    return found;
}

std::string value_at(const std::string& page, const std::string& marker) {
    const auto found = all_between(page, marker + "><data value=\"", "\"");
    return found.size() == 1 ? found[0] : "found " + std::to_string(found.size()) + " times";
}

TEST(Html, NumbersAreTheModels) {
    for (const std::string_view name : fixture_names) {
        const results::Run run = fixture(name);
        const Summary summary = summarize(run);
        const std::string page = render_html(run);
        const Totals& totals = summary.totals;
        EXPECT_EQ(value_at(page, "id=\"total-cases\""), std::to_string(totals.cases));
        EXPECT_EQ(value_at(page, "id=\"total-elements\""), std::to_string(totals.elements));
        EXPECT_EQ(value_at(page, "id=\"total-scales\""), std::to_string(totals.scales));
        EXPECT_EQ(value_at(page, "id=\"total-mismatched-elements\""),
                  std::to_string(totals.mismatched_elements));
        EXPECT_EQ(value_at(page, "id=\"total-mismatched-scales\""),
                  std::to_string(totals.mismatched_scales));
        for (const Verdict verdict : verdicts_by_severity) {
            if (summary.verdicts.of(verdict) == 0) continue;
            const std::string marker =
                "data-verdict=\"" + std::string(results::name_of(verdict)) + "\"";
            EXPECT_EQ(value_at(page, marker), std::to_string(summary.verdicts.of(verdict)));
        }
    }
}

TEST(Html, MatrixHoldsEveryCell) {
    const results::Run run = fixture("every_verdict");
    const std::string page = render_html(run);
    const auto tables = all_between(page, "<table class=\"matrix\"", "</table>");
    ASSERT_EQ(tables.size(), 4u);  // one for each operation
    std::string matrix;
    for (const std::string& table : tables) matrix += table;
    EXPECT_EQ(occurrences(matrix, "<th scope=\"row\">"), 7u);
    // convert 2 x 2, encode_scale 1 x 1, quantize 2 x 6, dequantize 2 x 2
    EXPECT_EQ(occurrences(matrix, "<td class="), 21u);
    EXPECT_EQ(occurrences(matrix, "<b>FAIL</b>"), 2u);
    EXPECT_EQ(occurrences(matrix, "<b>n/s</b>"), 3u);
    EXPECT_EQ(occurrences(matrix, "<b>pass</b>"), 4u);
}

TEST(Html, RowsOfWhichNothingIsSupportedAreFolded) {
    results::Run run = fixture("every_verdict");
    constexpr std::string_view summary = "<summary>Not supported at all: ";
    EXPECT_EQ(occurrences(render_html(run), summary), 0u);
    for (auto& result : run.cases)
        if (result.operation == "convert") result.verdict = Verdict::not_supported;
    const std::string page = render_html(run);
    EXPECT_EQ(occurrences(page, summary), 1u);
    EXPECT_NE(page.find(std::string(summary) + "2 rows of convert</summary>"), page.npos);
    EXPECT_EQ(all_between(page, "<table class=\"matrix\"", "</table>").size(), 4u);
}

TEST(Html, EveryLinkInThePageHasItsTarget) {
    for (const std::string_view name : fixture_names) {
        const std::string page = render_html(fixture(name));
        const auto ids = all_between(page, " id=\"", "\"");
        const std::set<std::string> targets(ids.begin(), ids.end());
        EXPECT_EQ(targets.size(), ids.size()) << "an id occurs twice in " << name;
        const auto links = all_between(page, "href=\"#", "\"");
        EXPECT_GE(links.size(), 6u);
        for (const std::string& link : links) EXPECT_EQ(targets.count(link), 1u) << link;
    }
}

TEST(Html, ReachesForNothingOutsideItself) {
    for (const std::string_view name : fixture_names) {
        const std::string page = render_html(fixture(name));
        EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
        EXPECT_EQ(occurrences(page, "href=\""),
                  occurrences(page, "href=\"#") + occurrences(page, "href=\"data:image/png;"));
        for (const std::string_view reach : {" src=", "http://", "https://", "@import", "url("})
            EXPECT_EQ(page.find(reach), std::string::npos) << reach;
        EXPECT_EQ(occurrences(page, "<script>"), 1u);
        EXPECT_EQ(occurrences(page, "</script>"), 1u);
    }
}

TEST(Html, ElementsAreClosed) {
    for (const std::string_view name : fixture_names) {
        const std::string page = render_html(fixture(name));
        for (const std::string tag : {"section", "article", "table", "tr", "dl", "details", "svg",
                                      "figure", "ul", "main", "code", "p", "div", "td", "span"})
            EXPECT_EQ(occurrences(page, "<" + tag + ">") + occurrences(page, "<" + tag + " "),
                      occurrences(page, "</" + tag + ">"))
                << tag << " in " << name;
    }
}

TEST(Html, WitnessShowsWhichBitsDiffer) {
    const std::string page = render_html(fixture("every_verdict"));
    EXPECT_NE(page.find("0011 111<mark>0</mark>"), std::string::npos);
    EXPECT_NE(page.find("0011 111<mark>1</mark>"), std::string::npos);
    EXPECT_NE(page.find("0111 1010</span></td><td class=\"soft\">equal"), std::string::npos);
    EXPECT_NE(page.find("lane 17: 57</title>"), std::string::npos);
    EXPECT_NE(page.find("31 of 32 lanes are hit, most often lane 17 with 57."), std::string::npos);
    EXPECT_NE(page.find("12 in each of 32 lanes."), std::string::npos);
}

// A cluster with a witness links to its block, where the page that explains blocks lies beside it.
TEST(Html, AClusterLinksToTheStepsOfItsBlock) {
    std::size_t links = 0;
    for (const std::string_view name : fixture_names) {
        const results::Run run = fixture(name);
        Material material(run);
        EXPECT_EQ(render_html(material).find("#case="), std::string::npos) << name;
        material.explain_page = "explain.html";
        for (const std::string& line :
             all_between(render_html(material), "href=\"explain.html#case=", "\"")) {
            EXPECT_EQ(line.find_first_of(" '<>&"), std::string::npos) << line;
            links += line.find("%20format%3D") != std::string::npos ? 1 : 0;
        }
    }
    EXPECT_GT(links, 0u);
}

TEST(Html, SaysWhetherConformant) {
    EXPECT_NE(render_html(fixture("clean_full")).find("data-conformant=\"yes\""),
              std::string::npos);
    EXPECT_NE(render_html(fixture("every_verdict")).find("data-conformant=\"no\""),
              std::string::npos);
}

TEST(Html, ALongRunListsOnlyWhatDidNotPass) {
    results::Run run = empty_run();
    for (int count = 0; count < 2000; ++count) add_case(run, Verdict::pass_exact);
    EXPECT_EQ(occurrences(render_html(run), "quantize case "), 2000u);
    add_case(run, Verdict::not_supported).reason = "why not";
    const std::string page = render_html(run);
    EXPECT_EQ(occurrences(page, "<code>quantize case "), 1u);
    EXPECT_NE(page.find("2,000 passing cases not listed"), std::string::npos);
}

TEST(Html, ManyClustersAreCountedNotDrawn) {
    results::Run run = empty_run();
    for (std::size_t count = 0; count < html::clusters_drawn_max + 3; ++count) {
        results::Mismatch mismatch;
        mismatch.direction = std::to_string(count) + " codes";
        mismatch.count = 1;
        add_case(run, Verdict::fail).mismatches = {mismatch};
    }
    const std::string page = render_html(run);
    EXPECT_EQ(occurrences(page, "<article "), html::clusters_drawn_max);
    EXPECT_NE(page.find("3 smaller clusters not drawn"), std::string::npos);
}

TEST(Html, RowsOfCompanionsThatFindNoRoomAreCounted) {
    results::Attachments beside = everything_beside();
    const auto grow = [](auto& rows) { rows.resize(html::rows_listed_max + 7, rows.front()); };
    grow(beside.quantize), grow(beside.gemm), grow(beside.training);
    grow(beside.benches.front().rows), grow(beside.kills.front().blocks.bugs);
    const results::Run run = empty_run();
    Material material(run);
    material.attached = &beside;
    EXPECT_EQ(occurrences(render_html(material), "<p>7 more rows in the file.</p>"), 5u);
    EXPECT_EQ(occurrences(render_html(run), "in the file.</p>"), 0u);
}

TEST(Html, ChartsBeyondTheMostAreCounted) {
    results::Attachments beside = everything_beside();
    for (std::size_t count = 0; count < html::charts_drawn_max + 2; ++count) {
        const std::string name = "named " + std::to_string(count);
        beside.training.push_back(beside.training.front());
        beside.training.back().task = name;
        auto& rows = beside.benches.front().rows;
        rows.push_back(rows.front());
        rows.back().what = name;
    }
    const results::Run run = empty_run();
    Material material(run);
    const std::string before = render_html(material);
    material.attached = &beside;
    const std::string page = render_html(material);
    EXPECT_EQ(occurrences(page, " more charts not drawn; the file holds the numbers.</p>"), 2u);
    EXPECT_EQ(occurrences(before, " more charts not drawn"), 0u);
    EXPECT_NE(page.find("<p>3 more charts not drawn"), page.npos);
}

}  // namespace
}  // namespace mx::reports::test
