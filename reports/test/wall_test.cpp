// The wall: words of verdicts, counts, and that no text of a record becomes markup.
#include "reports/render/wall_page.hpp"

#include <gtest/gtest.h>

namespace mx::reports {
namespace {

results::WallRow row_with(const std::string& verdict) {
    results::WallRow row;
    row.operation = "quantize";
    row.format = "mxfp4-e2m1";
    row.dialect = "ocp";
    row.verdict = verdict;
    row.cases = 1;
    row.elements = 32;
    row.scales = 1;
    row.bytes = 33;
    return row;
}

Wall wall_of(std::vector<results::WallRow> rows) {
    results::WallRecord record;
    record.library = "a <library>";
    record.version = "1.2";
    record.source = "owner/name@abc";
    record.rows = std::move(rows);
    return {{record}, {}};
}

TEST(WallTest, AVerdictIsAWord) {
    EXPECT_EQ(word_of(row_with("pass_exact")), "equal");
    EXPECT_EQ(word_of(row_with("deviation")), "equal but for open decisions");
    EXPECT_EQ(word_of(row_with("fail")), "differs");
    EXPECT_EQ(word_of(row_with("crash")), "no verdict");
}

TEST(WallTest, OpenDecisionsAreNamedOnce) {
    results::WallRow row = row_with("deviation");
    row.deviations = {"the source leaves open: nan_code", "the source leaves open: nan_code, zero"};
    EXPECT_EQ(decisions_of(row), "nan_code, zero");
}

TEST(WallTest, WhatWasNotAskedIsNotCounted) {
    const Wall wall =
        wall_of({row_with("pass_exact"), row_with("fail"), row_with("not_supported")});
    EXPECT_EQ(verdicts_of(wall.records[0]), "1 equal, 1 differs");
    EXPECT_EQ(sentence_of(wall),
              "1 peer, 99 bytes compared. Of 2 combinations of operation, format and dialect, or "
              "factors and model, 1 differ; 0 findings.");
}

TEST(WallTest, NoTextBecomesMarkup) {
    Wall wall = wall_of({row_with("pass_exact")});
    wall.findings.resize(1);
    wall.findings[0].what = "<script>|x";
    EXPECT_EQ(render_wall_html(wall).find("<script>"), std::string::npos);
    EXPECT_NE(render_wall_html(wall).find("a &lt;library&gt;"), std::string::npos);
    EXPECT_EQ(render_wall_markdown(wall).find("<library>"), std::string::npos);
    EXPECT_EQ(render_findings_markdown(wall).find("<script>"), std::string::npos);
}

TEST(WallTest, AMisspeltKeyIsAnError) {
    const auto read = results::parse_findings(R"({"finding": []})", "findings.json");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("findings"), std::string::npos);
    EXPECT_FALSE(results::parse_wall_record("{", "x.json"));
}

}  // namespace
}  // namespace mx::reports
