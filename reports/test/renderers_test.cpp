// The promises that every format keeps alike: pure, every verdict named, caveats on top, hostile
// text harmless.
#include "reports/render/renderers.hpp"

#include <gtest/gtest.h>

#include "reports/model/phrases.hpp"
#include "reports/model/summary.hpp"
#include "reports/render/escape.hpp"
#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

TEST(Renderers, ArePure) {
    for (const std::string_view name : fixture_names) {
        const results::Run run = fixture(name);
        for (const Renderer& renderer : renderers)
            EXPECT_EQ(renderer.render(run), renderer.render(run)) << renderer.name << " " << name;
    }
}

TEST(Renderers, EveryVerdictAppears) {
    const results::Run run = fixture("every_verdict");
    for (const Renderer& renderer : renderers) {
        const std::string page = renderer.render(run);
        for (const Verdict verdict : verdicts_by_severity) {
            // JUnit has a word of its own for a plain pass.
            if (renderer.name == "junit" &&
                (verdict == Verdict::pass_exact || verdict == Verdict::pass_bounded))
                continue;
            EXPECT_NE(page.find(words_of(verdict)), std::string::npos)
                << renderer.name << " lacks " << words_of(verdict);
        }
    }
}

TEST(Renderers, AVerdictThatDidNotOccurIsNotCounted) {
    const results::Run run = fixture("clean_full");
    for (const Renderer& renderer : renderers) {
        const std::string page = renderer.render(run);
        EXPECT_EQ(page.find("oracle disagreement"), std::string::npos) << renderer.name;
        EXPECT_EQ(page.find("NOT A CONFORMANCE RUN"), std::string::npos) << renderer.name;
        EXPECT_EQ(page.find("INTERRUPTED"), std::string::npos) << renderer.name;
        EXPECT_NE(page.find("Conformant: all of 8 cases"), std::string::npos) << renderer.name;
    }
}

// Before anything else that a reader could mistake for the result.
TEST(Renderers, CaveatsStandOnTop) {
    const results::Run run = fixture("interrupted");
    for (const Renderer& renderer : renderers) {
        const std::string page = renderer.render(run);
        const std::size_t first_result = page.find("quantize");
        for (const std::string_view caveat : {"INTERRUPTED", "NOT A CONFORMANCE RUN"}) {
            const std::size_t at = page.find(caveat);
            ASSERT_NE(at, std::string::npos) << renderer.name << " " << caveat;
            EXPECT_LT(at, first_result) << renderer.name << " " << caveat;
        }
    }
    EXPECT_LT(render_markdown(run).find("INTERRUPTED"), 10u);
    EXPECT_LT(render_html(run).find("INTERRUPTED"), render_html(run).find("<h1>"));
}

TEST(Renderers, AnEmptyRunIsAPageToo) {
    results::Run run;
    for (const Renderer& renderer : renderers) {
        const std::string page = renderer.render(run);
        EXPECT_NE(page.find("Nothing was tested"), std::string::npos) << renderer.name;
        EXPECT_NE(page.find("INTERRUPTED"), std::string::npos) << renderer.name;
    }
}

TEST(Renderers, HostileTextIsNeitherMarkupNorControl) {
    const results::Run run = fixture("hostile_text");
    ASSERT_NE(run.cases[0].case_text.find("</script><script>alert(1)"), std::string::npos);
    ASSERT_NE(run.cases[0].case_text.find("]]>"), std::string::npos);
    for (const Renderer& renderer : renderers) {
        const std::string page = renderer.render(run);
        EXPECT_EQ(page, printable(page)) << renderer.name;
        if (renderer.name == "markdown") continue;  // has code blocks, see markdown_test.cpp
        EXPECT_EQ(page.find("]]>"), std::string::npos) << renderer.name;
        EXPECT_EQ(page.find("<script>alert"), std::string::npos) << renderer.name;
        EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
    }
}

}  // namespace
}  // namespace mx::reports::test
