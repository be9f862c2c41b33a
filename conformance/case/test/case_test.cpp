// Tests of the case grammar: what prints parses back to itself, defaults are filled in, and the
// grid of blocks covers the tensor. Bad text is in bad_case_test.cpp.
#include <gtest/gtest.h>

#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"

namespace mx {
namespace {

Case parsed(const std::string& text) {
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << text << ": " << (c ? "" : c.error().message);
    return c ? c.value() : Case{};
}

// Lines that name every field print back letter for letter: repro lines are compared as text.
TEST(CaseGrammar, FullLinesPrintBackToThemselves) {
    for (const std::string text : {
             "quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row layout=dense shape=1x32 "
             "data=edge.tie index=499 seed=0",
             "quantize format=mxfp8-e5m2 dialect=torchao-rceil input=bf16 axis=col layout=padded "
             "shape=95x7 data=random.bits index=18446744073709551615 seed=18446744073709551615",
             "dequantize format=mxfp8-e4m3 dialect=nv output=f16 axis=col layout=dense shape=0x32 "
             "data=codes.all index=1 seed=7",
             "convert format=e5m2 dialect=nv input=f16 rounding=toward_zero overflow=overflow "
             "layout=dense shape=1048576x1048576 data=all.bits index=3 seed=4",
             "encode_scale format=mxfp8-e4m3 dialect=ocp input=f32 layout=padded shape=7x33 "
             "data=edge.scale index=0 seed=1",
         })
        EXPECT_EQ(print(parsed(text)), text);
}

TEST(CaseGrammar, FieldsMayComeInAnyOrder) {
    EXPECT_EQ(parsed("quantize  seed=3\tdata=edge.tie shape=2x64 format=mxfp8-e4m3 "),
              parsed("quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie seed=3"));
}

TEST(CaseGrammar, LeavesOutWhatHasADefault) {
    const Case c = parsed("quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie");
    EXPECT_EQ(print(c),
              "quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row layout=dense shape=2x64 "
              "data=edge.tie index=0 seed=0");
    const Case convert = parsed("convert format=e4m3 shape=1x1 data=all.bits");
    EXPECT_EQ(convert.rounding, "nearest_even");
    EXPECT_EQ(convert.overflow, "saturate");
}

TEST(CaseGrammar, EveryFieldReachesTheCase) {
    Case c;
    c.operation = "convert";
    c.format = "e5m2";
    c.dialect = "nv";
    c.type = "f16";
    c.axis = "row";
    c.rounding = "toward_negative";
    c.overflow = "overflow";
    c.layout = "padded";
    c.rows = 3;
    c.columns = 5;
    c.data = "random.bits";
    c.index = 7;
    c.seed = 9;
    EXPECT_EQ(parsed(print(c)), c);
}

// Paths come from users: blanks, quotes, backslashes and UTF-8 must survive the way there and back.
TEST(CaseGrammar, AwkwardPathsSurvive) {
    for (const std::string path :
         {"file:a b.npy", "file:\"quoted\".npy", "file:back\\slash.npy", "file:ends in \\",
          "file:tab\there", "file:gr\xC3\xBC\xC3\x9F" "e \xE2\x82\xAC.npy", "file:a=b c=d",
          "file: ", "file:\\\"", "file:it's", "file:"}) {
        Case c = parsed("quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie");
        c.data = path;
        EXPECT_EQ(parsed(print(c)), c) << print(c);
    }
}

TEST(CaseGrammar, QuotesMayStandRoundAValueThatNeedsNone) {
    EXPECT_EQ(parsed("quantize format=\"mxfp8-e4m3\" shape=2x64 data=edge.tie").format,
              "mxfp8-e4m3");
    EXPECT_EQ(parsed("quantize format=mxfp8-e4m3 shape=2x64 \"data=file:a b\"").data, "file:a b");
}

TEST(Words, AreSplitAtBlanksOutsideQuotes) {
    const auto words = split_words("run a=1  b=\"x \\\"y\\\" \\\\\"\tc=");
    ASSERT_TRUE(words.ok());
    EXPECT_EQ(words.value().head, "run");
    const std::vector<KeyValue> wanted{{"a", "1"}, {"b", "x \"y\" \\"}, {"c", ""}};
    EXPECT_EQ(words.value().fields, wanted);
}

struct GridRow {
    const char* text;
    std::int64_t block_rows, block_columns;
};

TEST(BlockGrid, CoversTheTensorWithWholeAndPartialBlocks) {
    const GridRow rows[] = {
        {"quantize format=mxfp8-e4m3 shape=3x64 axis=row data=x", 3, 2},
        {"quantize format=mxfp8-e4m3 shape=3x65 axis=row data=x", 3, 3},
        {"quantize format=mxfp8-e4m3 shape=33x5 axis=col data=x", 2, 5},
        {"dequantize format=mxfp8-e4m3 shape=32x1 axis=col data=x", 1, 1},
        {"quantize format=mxfp8-e4m3 shape=0x5 axis=col data=x", 0, 5},
        {"quantize format=mxfp8-e4m3 shape=5x0 axis=row data=x", 5, 0},
        {"convert format=e4m3 shape=7x33 data=x", 1, 8},
        {"encode_scale format=mxfp8-e4m3 shape=8x8 data=x", 1, 2},
        {"convert format=e4m3 shape=0x7 data=x", 1, 0},
    };
    for (const GridRow& row : rows) {
        const BlockGrid grid = block_grid(parsed(row.text));
        EXPECT_EQ(grid.block_rows, row.block_rows) << row.text;
        EXPECT_EQ(grid.block_columns, row.block_columns) << row.text;
    }
}

TEST(Glob, StarsAndQuestionMarks) {
    EXPECT_TRUE(matches_glob("*", ""));
    EXPECT_TRUE(matches_glob("*quant*", "dequantize"));
    EXPECT_TRUE(matches_glob("c?nvert", "convert"));
    EXPECT_TRUE(matches_glob("**", "x"));
    EXPECT_FALSE(matches_glob("quant", "quantize"));
    EXPECT_FALSE(matches_glob("quantize?", "quantize"));
    EXPECT_FALSE(matches_glob("", "x"));
}

}  // namespace
}  // namespace mx
