// Escaping, with the texts that break out where it is forgotten.
#include "reports/render/escape.hpp"

#include <gtest/gtest.h>

namespace mx::reports::test {
namespace {

constexpr const char* unknown = "\xef\xbf\xbd";

TEST(Escape, MarkupCannotBeLeft) {
    EXPECT_EQ(escape_markup("</script>&\"'"), "&lt;/script&gt;&amp;&quot;&#39;");
    EXPECT_EQ(escape_markup("]]>"), "]]&gt;");
    EXPECT_EQ(escape_markup("&amp;"), "&amp;amp;");
    EXPECT_EQ(escape_markup("plain 0x3e +1"), "plain 0x3e +1");
}

TEST(Escape, OnlyPrintableUtf8Remains) {
    EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
    EXPECT_EQ(printable(std::string_view("\0\x01\x1b\r\x7f", 5)),
              std::string(unknown) + unknown + unknown + unknown + unknown);
    EXPECT_EQ(printable("\xc2\x85"), unknown);  // a control of the upper half
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "abc"),
              std::string(unknown) + "abc");        // override
    EXPECT_EQ(printable("\xef\xbf\xbe"), unknown);  // U+FFFE
    EXPECT_EQ(printable("é – 日本 😀"), "é – 日本 😀");
}

TEST(Escape, BrokenUtf8IsReplacedByteForByte) {
    EXPECT_EQ(printable("\xff"), unknown);
    EXPECT_EQ(printable("\xc0\xaf"), std::string(unknown) + unknown);         // overlong
    EXPECT_EQ(printable("\xe0\x80\xaf").size(), 9u);                          // overlong
    EXPECT_EQ(printable("\xed\xa0\x80").size(), 9u);                          // surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80").size(), 12u);                     // beyond U+10FFFF
    EXPECT_EQ(printable("a\xe2\x82"), std::string("a") + unknown + unknown);  // cut
    EXPECT_EQ(printable("\xe2\x28\xa1"), std::string(unknown) + "(" + unknown);
}

TEST(Escape, MarkdownStaysOneLineOfText) {
    EXPECT_EQ(escape_markdown("a|b`c*d_e[f]"), "a\\|b\\`c\\*d\\_e\\[f\\]");
    EXPECT_EQ(escape_markdown("<img>\n@team #7 &"), "&lt;img&gt; &#64;team &#35;7 &amp;");
    EXPECT_EQ(escape_markdown("\\|"), "\\\\\\|");
}

TEST(Escape, MarkdownCodeCannotBeClosedFromInside) {
    EXPECT_EQ(markdown_code_span("0x3e"), "`0x3e`");
    EXPECT_EQ(markdown_code_span("a`b``c"), "``` a`b``c ```");
    EXPECT_EQ(markdown_code_span("a|b\nc"), "`a\\|b c`");
    EXPECT_EQ(markdown_code_block("run"), "```text\nrun\n```\n");
    EXPECT_EQ(markdown_code_block("x\n````\ny"), "`````text\nx\n````\ny\n`````\n");
}

}  // namespace
}  // namespace mx::reports::test
