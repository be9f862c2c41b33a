// Columns, paragraphs and lane ranges, and the spelling of exact numbers.
#include <gtest/gtest.h>

#include "conformance/emulate/number_text.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/spec/formats.hpp"

namespace mx::emulate {
namespace {

TEST(TextTable, AlignsColumnsAndLeavesNoBlanksAtLineEnds) {
    TextTable table({{"n", Align::right}, {"name"}, {"x", Align::right}});
    table.add({"7", "a", ""});
    table.add({"123", "longer", "1"});
    EXPECT_EQ(table.print(), "    n  name    x\n    7  a\n  123  longer  1\n");
}

TEST(Paragraph, BreaksAtBlanksBeforeTheWidth) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "word ";
    const std::string broken = paragraph(text + "end");
    std::size_t start = 0, lines = 0;
    while (start < broken.size()) {
        const std::size_t end = broken.find('\n', start);
        EXPECT_LE(end - start, text_width);
        EXPECT_GT(end - start, 0u);
        start = end + 1;
        ++lines;
    }
    EXPECT_EQ(lines, 3u);
    EXPECT_EQ(paragraph("one two"), "  one two\n");
}

TEST(LanesText, JoinsNeighbours) {
    EXPECT_EQ(lanes_text({3}), "lane 3");
    EXPECT_EQ(lanes_text({0, 1}), "lanes 0-1");
    EXPECT_EQ(lanes_text({0, 2, 3, 4, 9}), "lanes 0, 2-4, 9");
}

TEST(LaneNotes, SayOneThingOnce) {
    LaneNotes notes;
    notes.add(0, "tie");
    notes.add(1, "zero");
    notes.add(2, "tie");
    EXPECT_EQ(notes.print(), "  lanes 0, 2: tie\n  lane 1: zero\n");
}

TEST(NumberText, FractionsShortAndLong) {
    const auto value = [](std::uint32_t bits) {
        return exact_text(exact::decode(formats::f32, Code{bits}));
    };
    EXPECT_EQ(value(0x3fe80000), "29/16");
    EXPECT_EQ(value(0xc0a00000), "-5");
    EXPECT_EQ(value(0x80000000), "-0");
    EXPECT_EQ(value(0x00000001), "2^-149");
    EXPECT_EQ(value(0x80000003), "-3 * 2^-149");
    EXPECT_EQ(value(0x7f7fffff), "16777215 * 2^104");
    EXPECT_EQ(value(0xff800000), "-inf");
    EXPECT_EQ(value(0x7fc00000), "nan");
    EXPECT_EQ(exact_and_decimal(positive(exact::Rational(29) / 16)), "29/16 = 1.8125");
    EXPECT_EQ(exact_and_decimal(positive(7)), "7");
}

TEST(NumberText, CodesHaveAllTheirDigits) {
    EXPECT_EQ(hex_code(formats::e4m3, Code{0x7}), "0x07");
    EXPECT_EQ(hex_code(formats::e3m2, Code{0x1d}), "0x1d");  // six bits
    EXPECT_EQ(hex_code(formats::bf16, Code{0x80}), "0x0080");
    EXPECT_EQ(hex_code(formats::f32, Code{0x3f800000}), "0x3f800000");
}

}  // namespace
}  // namespace mx::emulate
