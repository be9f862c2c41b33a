// Tests of the case grammar: what prints parses back to itself, defaults are filled in, and the
// grid of blocks covers the tensor. Bad text is in bad_case_test.cpp.
#include <gtest/gtest.h>

#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/case/test/parsed.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

// Lines that name every field print back letter for letter: repro lines are compared as text.
TEST(CaseGrammar, FullLinesPrintBackToThemselves) {
    for (const std::string text : {
             "quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row block=32 layout=dense "
             "scales=linear packing=bytes shape=1x32 data=edge.tie index=499 seed=0",
             "quantize format=mxfp6-e2m3 dialect=torchao-rceil input=bf16 axis=col block=16 "
             "layout=padded scales=128x4 packing=six shape=95x7 data=random.bits "
             "index=18446744073709551615 seed=18446744073709551615",
             "quantize format=mxint8-symmetric dialect=nv input=f32 axis=tile block=64 "
             "layout=dense scales=linear packing=bytes shape=95x7 data=bits:3f800000,7fc00000 "
             "index=0 seed=1",
             "quantize format=mxfp4-e2m1 dialect=ocp input=f32 axis=both block=16 layout=padded "
             "scales=128x4 packing=low_first shape=95x7 data=edge.tie index=32 seed=1",
             "dequantize format=mxfp4-e2m1 dialect=nv output=f16 axis=col block=32 layout=dense "
             "scales=8x4 packing=low_first shape=0x32 data=codes.all index=1 seed=7",
             "convert format=e5m2 dialect=nv input=f16 rounding=toward_zero overflow=overflow "
             "subnormals=inputs_flushed layout=dense shape=1048576x1048576 data=all.bits index=3 "
             "seed=4",
             "convert format=int8 dialect=ocp input=bf16 rounding=stochastic8 overflow=saturate "
             "subnormals=honoured layout=dense shape=3x5 data=edge.tie index=0 seed=4",
             "convert format=e3m2 dialect=ocp input=f32 rounding=stochastic-x4 overflow=saturate "
             "subnormals=outputs_flushed layout=dense shape=3x5 data=edge.tie index=0 seed=4",
             "convert format=e8m0 dialect=nv input=f32 layout=dense shape=3x5 data=edge.tie "
             "index=0 seed=4",
             "encode_scale format=mxfp8-e4m3 dialect=ocp input=f32 layout=padded shape=7x33 "
             "data=edge.scale index=0 seed=1",
         })
        EXPECT_EQ(print(parsed(text)), text);
}

// Records written while microxcaling's rows took MXINT8 are read as what its library makes.
TEST(CaseGrammar, ALineOfARowThatWasMendedIsReadAsItsSuccessor) {
    for (const std::string dialect : {"microxcaling", "microxcaling-cuda"}) {
        const std::string rest = " dialect=" + dialect + " shape=2x64 data=edge.tie";
        EXPECT_EQ(parsed("quantize format=mxint8" + rest),
                  parsed("quantize format=mxint8-symmetric" + rest));
        EXPECT_EQ(parsed("convert format=int8" + rest),
                  parsed("convert format=int8-symmetric" + rest));
    }
    EXPECT_EQ(format_name(parsed("quantize format=mxint8 shape=2x64 data=edge.tie")), "mxint8");
}

TEST(CaseGrammar, FieldsMayComeInAnyOrder) {
    EXPECT_EQ(parsed("quantize  seed=3\tdata=edge.tie shape=2x64 format=mxfp8-e4m3 "),
              parsed("quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie seed=3"));
}

TEST(CaseGrammar, LeavesOutWhatHasADefault) {
    const Case c = parsed("quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie");
    EXPECT_EQ(print(c),
              "quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row block=32 layout=dense "
              "scales=linear packing=bytes shape=2x64 data=edge.tie index=0 seed=0");
    const Case convert = parsed("convert format=e4m3 shape=1x1 data=all.bits");
    const ElementRules defaults{Rounding::nearest_even, nullptr, Overflow::saturate,
                                Subnormals::honoured};
    EXPECT_EQ(convert.rules, defaults);
    // A cast to a scale has no element rules to have defaults.
    EXPECT_FALSE(parsed("convert format=e8m0 shape=1x1 data=all.bits").rules);
}

// No block format is made of FNUZ; convert alone has it.
TEST(CaseGrammar, ConvertHasElementsWithoutBlocks) {
    const Case c = parsed("convert format=e5m2fnuz shape=1x1 data=all.bits");
    EXPECT_EQ(element_format_of(c), formats::e5m2fnuz);
    EXPECT_TRUE(has_element_rules(c));
    EXPECT_EQ(format_name(c), "e5m2fnuz");
    EXPECT_EQ(parsed(print(c)), c);
}

TEST(CaseGrammar, EveryFieldReachesTheCase) {
    Case c;
    c.operation = OperationKind::convert;
    c.format = find_block_format("mxfp8-e5m2");
    c.dialect = find_quantizer("nv");
    c.type = formats::f16;
    c.axis = BlockAxis::row;
    c.rules = {Rounding::toward_negative, nullptr, Overflow::overflow, Subnormals::outputs_flushed};
    c.layout = RowLayout::padded;
    c.rows = 3;
    c.columns = 5;
    c.data = "random.bits";
    c.index = 7;
    c.seed = 9;
    EXPECT_EQ(parsed(print(c)), c);
}

// Paths come from users: blanks, quotes, backslashes and UTF-8 must survive the way there and back.
TEST(CaseGrammar, AwkwardPathsSurvive) {
    for (const std::string path : {"file:a b.npy", "file:\"quoted\".npy", "file:back\\slash.npy",
                                   "file:ends in \\", "file:tab\there",
                                   "file:gr\xC3\xBC\xC3\x9F"
                                   "e \xE2\x82\xAC.npy",
                                   "file:a=b c=d", "file: ", "file:\\\"", "file:it's", "file:"}) {
        Case c = parsed("quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie");
        c.data = path;
        EXPECT_EQ(parsed(print(c)), c) << print(c);
    }
}

TEST(CaseGrammar, QuotesMayStandRoundAValueThatNeedsNone) {
    EXPECT_EQ(parsed("quantize format=\"mxfp8-e4m3\" shape=2x64 data=edge.tie").format,
              find_block_format("mxfp8-e4m3"));
    EXPECT_EQ(parsed("quantize format=mxfp8-e4m3 shape=2x64 \"data=file:a b\"").data, "file:a b");
}

TEST(Words, AreSplitAtBlanksOutsideQuotes) {
    const auto words = split_words("run a=1  b=\"x \\\"y\\\" \\\\\"\tc=");
    ASSERT_TRUE(words.ok());
    EXPECT_EQ(words.value().head, "run");
    const std::vector<KeyValue> wanted{{"a", "1"}, {"b", "x \"y\" \\"}, {"c", ""}};
    EXPECT_EQ(words.value().fields, wanted);
}

TEST(Words, HaveBlanksAndQuotesInValuesAlone) {
    for (const char* text : {"run \"a b\"=1", "\"r un\" a=1", "run a\\b=1", "run \"a\\\"\"=1"}) {
        const auto words = split_words(text);
        ASSERT_FALSE(words.ok()) << text;
        EXPECT_NE(words.error().message.find("which no name has"), std::string::npos) << text;
    }
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
        {"quantize format=mxfp8-e4m3 shape=33x5 axis=col block=16 data=x", 3, 5},
        {"quantize format=mxfp8-e4m3 shape=3x65 axis=row block=64 data=x", 3, 2},
        {"quantize format=mxfp8-e4m3 shape=33x65 axis=tile block=32 data=x", 2, 3},
        {"dequantize format=mxfp8-e4m3 shape=0x65 axis=tile block=32 data=x", 0, 3},
        {"quantize format=mxfp8-e4m3 shape=33x65 axis=both block=32 data=x", 2, 96},
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

TEST(Lanes, AreTheBlockOrItsSquare) {
    EXPECT_EQ(lanes_of(parsed("quantize format=mxint8 shape=1x1 block=16 data=x")), 16);
    EXPECT_EQ(lanes_of(parsed("quantize format=mxint8 shape=1x1 block=64 axis=tile data=x")), 4096);
    EXPECT_EQ(lanes_of(parsed("convert format=int8 shape=1x1 data=x")), 32);
}

std::vector<Part> inputs(const Case& c) {
    const auto parts = inputs_of(c);
    return {parts.begin(), parts.end()};
}

struct PartRow {
    const char* text;
    Part part;
    PartShape shape;
};

TEST(Parts, HaveTheTypesAndShapesOfTheContract) {
    const PartRow rows[] = {
        {"quantize format=mxfp6-e3m2 shape=33x5 axis=col data=x",
         Part::elements,
         {formats::e3m2, 33, 5}},
        {"quantize format=mxint8 shape=33x65 axis=tile data=x",
         Part::scales,
         {formats::e8m0, 2, 3}},
        {"dequantize format=mxint8 output=bf16 shape=33x65 data=x",
         Part::values,
         {formats::bf16, 33, 65}},
        {"encode_scale format=mxint8 shape=3x4 data=x", Part::value_scales, {formats::e8m0, 3, 4}},
        {"convert format=e8m0 shape=3x4 data=x", Part::elements, {formats::e8m0, 3, 4}},
        {"convert format=e2m1 rounding=stochastic32 shape=3x5 data=x",
         Part::random_bits,
         {random_word, 3, 5}},
        {"convert format=e4m3 rounding=stochastic-x4 shape=3x5 data=x",
         Part::random_bits,
         {random_word, 3, 2}},
    };
    for (const PartRow& row : rows) {
        const PartShape shape = shape_of(parsed(row.text), row.part);
        EXPECT_EQ(shape.type, row.shape.type) << row.text;
        EXPECT_EQ(shape.rows, row.shape.rows) << row.text;
        EXPECT_EQ(shape.columns, row.shape.columns) << row.text;
    }
}

TEST(Parts, AxisBothIsRowsAndThenColumns) {
    const Case both = parsed("quantize format=mxfp8-e4m3 shape=33x65 axis=both data=x");
    const auto axes = axes_of(both);
    ASSERT_EQ(axes.size(), 2u);
    const Case row = along(both, axes[0]), column = along(both, axes[1]);
    EXPECT_EQ(row, parsed("quantize format=mxfp8-e4m3 shape=33x65 axis=row data=x"));
    EXPECT_EQ(column, parsed("quantize format=mxfp8-e4m3 shape=33x65 axis=col data=x"));
    EXPECT_EQ(inputs(both), (std::vector{Part::values}));
    EXPECT_EQ(outputs_of(both),
              (std::vector{Part::elements, Part::scales, Part::elements, Part::scales}));
    ASSERT_EQ(axes_of(column).size(), 1u);
    EXPECT_EQ(axes_of(column)[0], BlockAxis::col);
}

const std::string nvfp4 = "quantize format=nvfp4 dialect=te-nvfp4 shape=33x65 data=x";

TEST(Parts, OfAScaleWithAMantissaHaveTheNumberOfTheTensor) {
    EXPECT_EQ(inputs(parsed(nvfp4)), (std::vector{Part::values}));
    EXPECT_EQ(inputs(parsed(nvfp4 + " tensor=0x3f800000")),
              (std::vector{Part::values, Part::tensor_number}));
    EXPECT_EQ(outputs_of(parsed(nvfp4)),
              (std::vector{Part::elements, Part::scales, Part::tensor_number}));
    EXPECT_EQ(outputs_of(parsed(nvfp4 + " axis=both")).size(), 6u);
    const PartShape scales = shape_of(parsed(nvfp4), Part::scales);
    EXPECT_EQ(scales.type, ue4m3);
    EXPECT_EQ(scales.rows, 33);
    EXPECT_EQ(scales.columns, 5);
    EXPECT_EQ(shape_of(parsed(nvfp4), Part::tensor_number).type, formats::f32);

    const std::string dequantize = "dequantize format=nvfp4 shape=3x5 data=x dialect=";
    EXPECT_EQ(inputs(parsed(dequantize + "te-nvfp4")),
              (std::vector{Part::elements, Part::scales, Part::tensor_number}));
    EXPECT_EQ(inputs(parsed(dequantize + "torchao-nvfp4-single")),
              (std::vector{Part::elements, Part::scales}));

    const Case rounded = parsed("quantize format=nvfp4 dialect=te-nvfp4-sr shape=3x5 data=x");
    EXPECT_EQ(inputs(rounded), (std::vector{Part::values, Part::random_bits}));
    EXPECT_EQ(shape_of(rounded, Part::random_bits).columns, 5);
}

// The format says how its blocks lie, and what it does not say has a default.
TEST(Cases, OfAScaleWithAMantissaComeBackAsTheyWerePrinted) {
    for (const char* text :
         {"quantize format=nvfp4 dialect=te-nvfp4 input=f32 axis=row block=16 tensor=derived "
          "layout=dense scales=128x4 packing=low_first shape=3x5 data=x index=0 seed=0",
          "quantize format=nvfp4-16x16 dialect=te-nvfp4 input=bf16 axis=tile block=16 "
          "tensor=0x00000001 layout=dense scales=linear packing=bytes shape=3x5 data=x index=0 "
          "seed=0",
          "quantize format=fp8-e4m3-tensor dialect=te-fp8-delayed input=f32 axis=tensor "
          "tensor=0x3f800000 layout=dense scales=linear packing=bytes shape=3x5 data=x index=0 "
          "seed=0",
          "dequantize format=fp8-e5m2-128x128 dialect=te-fp8-block output=f32 axis=tile block=128 "
          "layout=dense scales=linear packing=bytes shape=3x5 data=x index=0 seed=0"})
        EXPECT_EQ(print(parsed(text)), text);
    EXPECT_EQ(parsed("quantize format=fp8-e4m3-128x128 dialect=te-fp8-block shape=3x5 data=x").axis,
              BlockAxis::tile);
    EXPECT_EQ(lanes_of(parsed("quantize format=fp8-e4m3-tensor dialect=te-fp8-current shape=3x5 "
                              "data=x")),
              15);
}

TEST(Parts, RandomBitsAreAskedForWhereTheRoundingNeedsThem) {
    EXPECT_EQ(inputs(parsed("convert format=e4m3 shape=1x1 data=x")), (std::vector{Part::values}));
    EXPECT_EQ(inputs(parsed("convert format=e4m3 shape=1x1 data=x rounding=stochastic8")),
              (std::vector{Part::values, Part::random_bits}));
}

// PTX cvt.rs: of each four values the first two in memory are operands f and e.
TEST(RandomBits, OfAWordServeOneValueOrFour) {
    const std::uint32_t word = 0x89ABCDEF;
    const auto bits = [&](std::size_t form, std::int64_t column) {
        const RandomBits random = random_bits_of(stochastic_forms[form], word, column);
        EXPECT_EQ(random.count, stochastic_forms[form].bits);
        return random.bits;
    };
    EXPECT_EQ(bits(0, 0), 0xEFu);
    EXPECT_EQ(bits(1, 3), 0xCDEFu);
    EXPECT_EQ(bits(2, 3), word);
    for (const std::int64_t column : {0, 1, 4, 9}) EXPECT_EQ(bits(3, column), 0xCDEFu);
    for (const std::int64_t column : {2, 3, 6, 11}) EXPECT_EQ(bits(3, column), 0x89ABu);
}

TEST(Rules, AreTheDialectsWithWhatConvertNames) {
    const Quantizer rules = rules_of(
        parsed("convert format=e4m3 rounding=to_odd overflow=overflow subnormals=inputs_flushed "
               "shape=1x1 data=x"));
    EXPECT_EQ(rules.element_rounding, Rounding::to_odd);
    EXPECT_EQ(rules.element_overflow, Overflow::overflow);
    EXPECT_EQ(rules.subnormals, Subnormals::inputs_flushed);
    EXPECT_EQ(rules_of(parsed("convert format=e4m3 rounding=stochastic16 shape=1x1 data=x"))
                  .element_rounding,
              Rounding::stochastic);
    EXPECT_EQ(element_format_of(parsed("convert format=e8m0 shape=1x1 data=x")).name, "e8m0");
    EXPECT_EQ(element_format_of(parsed("quantize format=mxfp6-e2m3 shape=1x1 data=x")).name,
              "e2m3");
}

// Only what needs the scale of a row that waits has no answer: the elements are known, and codes
// are read back by the format alone.
TEST(Rules, ARowThatWaitsLacksOnlyItsScale) {
    const std::string waiting = " dialect=fbgemm-nearest shape=1x32 data=x";
    ASSERT_FALSE(find_quantizer("fbgemm-nearest")->is_known());
    const std::string reason = "the scale of dialect 'fbgemm-nearest' waits for ";
    for (const char* text : {"quantize format=mxfp4-e2m1", "encode_scale format=mxfp4-e2m1"})
        EXPECT_TRUE(unknown_scale(parsed(text + waiting)).starts_with(reason)) << text;
    for (const char* text :
         {"dequantize format=mxfp4-e2m1", "convert format=e2m1", "convert format=e8m0"})
        EXPECT_EQ(unknown_scale(parsed(text + waiting)), "") << text;
    EXPECT_EQ(unknown_scale(parsed("quantize format=mxfp8-e4m3 shape=1x32 data=x")), "");
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
