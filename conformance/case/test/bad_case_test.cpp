// Tests of what the case grammar says to bad text: one line that names the wrong word and, where
// one is near, the right one. Good text is in case_test.cpp.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/case/fields.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

struct BadText {
    std::string text;
    std::vector<std::string> says;  // all of these stand in the sentence
};

void expect_sentences(std::initializer_list<BadText> table) {
    for (const BadText& row : table) {
        const auto c = parse_case(row.text);
        ASSERT_FALSE(c.ok()) << "accepted: " << row.text;
        EXPECT_EQ(c.error().kind, ErrorKind::bad_input);
        const std::string& message = c.error().message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        for (const std::string& wanted : row.says)
            EXPECT_NE(message.find(wanted), std::string::npos)
                << row.text << "\n  said: " << message << "\n  not: " << wanted;
    }
}

const std::string good = "quantize format=mxfp8-e4m3 shape=2x64 data=edge.tie";
const std::string without_shape = "quantize format=mxfp8-e4m3 data=edge.tie";
const std::string good_convert = "convert format=e4m3 shape=2x64 data=edge.tie";

TEST(BadCase, TheTextsThatTheTablesChangeAreGood) {
    EXPECT_TRUE(parse_case(good).ok());
    EXPECT_TRUE(parse_case(good_convert).ok());
    EXPECT_TRUE(parse_case(without_shape + " shape=2x64").ok());
}

TEST(BadCase, UnknownNamesGetTheNearest) {
    expect_sentences({
        {"quantise format=mxfp8-e4m3 shape=2x64 data=x",
         {"unknown operation 'quantise'; did you mean 'quantize'?"}},
        {good + " dialct=ocp", {"unknown field 'dialct'; did you mean 'dialect'?"}},
        {good + " dialect=opc", {"unknown dialect 'opc'; did you mean 'ocp'?"}},
        {good + " input=f23", {"unknown type 'f23'"}},
        {good + " axis=rwo", {"unknown axis 'rwo'; did you mean 'row'?"}},
        {good + " layout=dens", {"unknown layout 'dens'; did you mean 'dense'?"}},
        {"quantize format=mxfp8-e4m4 shape=2x64 data=x",
         {"unknown format 'mxfp8-e4m4'; did you mean 'mxfp8-e4m3'?"}},
        {good_convert + " rounding=nearest_evn",
         {"unknown rounding 'nearest_evn'; did you mean 'nearest_even'?"}},
        {good_convert + " overflow=saturat",
         {"unknown overflow 'saturat'; did you mean 'saturate'?"}},
        {good_convert + " subnormals=honored",
         {"unknown subnormals 'honored'; did you mean 'honoured'?"}},
        {good_convert + " rounding=stochastic",
         {"unknown rounding 'stochastic'; did you mean 'stochastic"}},
    });
}

TEST(BadCase, NamesNearNothingGetTheWholeList) {
    expect_sentences({
        {"brew format=mxfp8-e4m3 shape=2x64 data=x",
         {"unknown operation 'brew'; known are: convert encode_scale quantize dequantize"}},
        {good + " axis=diagonal", {"unknown axis 'diagonal'; known are: row col tile both tensor"}},
        {good + " block=8", {"unknown block '8'", "16", "32", "64"}},
        {good + " block=032", {"unknown block '032'"}},
        {good + " dialect=", {"unknown dialect ''", "ocp", "torchao-rceil"}},
    });
}

// Each operation has names of its own.
TEST(BadCase, NamesOfAnotherOperation) {
    expect_sentences({
        {"convert format=mxfp8-e4m3 shape=2x64 data=x", {"unknown format 'mxfp8-e4m3'", "e4m3"}},
        {"convert format=e4m3fnu shape=2x64 data=x", {"did you mean 'e4m3fnuz'?"}},
        {"quantize format=e4m3fnuz shape=2x64 data=x", {"unknown format 'e4m3fnuz'"}},
        {"encode_scale format=e4m3fnuz shape=2x64 data=x", {"unknown format 'e4m3fnuz'"}},
        {"quantize format=e4m3 shape=2x64 data=x", {"unknown format 'e4m3'", "mxfp8-e4m3"}},
        {"dequantize format=mxfp8-e4m3 shape=2x64 data=x input=f32",
         {"unknown field 'input'; known are: format dialect output"}},
        {good + " output=f32", {"unknown field 'output'", "known are: format dialect input"}},
        {good_convert + " axis=col", {"convert has no blocks", "axis=col"}},
        {"dequantize format=mxfp8-e4m3 shape=2x64 data=x axis=both",
         {"axis=both makes two tensors of one, which dequantize does not",
          "axis=row, col or tile"}},
        {"dequantize format=nvfp4 dialect=te-nvfp4 shape=2x64 data=x axis=both",
         {"which dequantize does not: it takes axis=row or col"}},
        {"dequantize format=fp8-e4m3-tensor dialect=te-fp8-current shape=2x64 data=x axis=both",
         {"has one block, the whole tensor, so it has no axis=both"}},
        {"encode_scale format=mxfp8-e4m3 shape=2x64 data=x axis=col",
         {"encode_scale has no blocks", "axis=col"}},
        {good + " rounding=nearest_even", {"rounding=", "belong to convert", "quantize"}},
        {good + " overflow=saturate", {"overflow=", "belong to convert", "quantize"}},
        {good + " subnormals=honoured", {"subnormals=", "belong to convert", "quantize"}},
        {"convert format=e8m0 shape=2x64 data=x rounding=nearest_even",
         {"rounding=", "belong to convert to elements", "convert format=e8m0"}},
        {good_convert + " block=64", {"convert has no blocks", "block=64"}},
    });
}

TEST(BadCase, WhatADialectDoesNotDo) {
    expect_sentences({
        {"quantize format=mxint8 dialect=torchao-floor shape=2x64 data=x",
         {"dialect 'torchao-floor' does not quantize mxint8"}},
        {"convert format=e4m3fnuz dialect=nv shape=2x64 data=x",
         {"dialect 'nv' does not quantize e4m3fnuz"}},
        {"convert format=int8 dialect=torchao-floor shape=2x64 data=x",
         {"dialect 'torchao-floor' does not quantize int8"}},
        {"dequantize format=mxint8 dialect=torchao-floor shape=2x64 data=x",
         {"dialect 'torchao-floor' does not quantize mxint8"}},
    });
    // A cast to a scale hangs on no format.
    EXPECT_TRUE(parse_case("convert format=e8m0 dialect=torchao-floor shape=2x64 data=x").ok());
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const std::string_view type : input_types) {
            const std::string text = "convert format=e8m0 dialect=" + std::string(dialect.name) +
                                     " input=" + std::string(type) + " shape=2x64 data=x";
            EXPECT_EQ(parse_case(text).ok(), dialect.reads(type)) << text;
        }
}

TEST(BadCase, WhatFormatsWithOtherScalesDoNotHave) {
    const std::string nvfp4 = "quantize format=nvfp4 dialect=te-nvfp4 shape=2x64 data=x";
    const std::string of_128 =
        "quantize format=fp8-e4m3-1x128 dialect=te-fp8-block shape=2x64 data=x";
    expect_sentences({
        {nvfp4 + " block=32", {"format 'nvfp4' has blocks of 1x16, not block=32"}},
        {nvfp4 + " axis=tile", {"format 'nvfp4' has blocks of 1x16, so it has no axis=tile"}},
        {nvfp4 + " axis=tensor", {"format 'nvfp4' has blocks of 1x16, so it has no axis=tensor"}},
        {good + " axis=tensor", {"has blocks of 1x32, so it has no axis=tensor"}},
        {"quantize format=nvfp4-16x16 dialect=te-nvfp4 shape=2x64 data=x axis=row",
         {"format 'nvfp4-16x16' has blocks of 16x16, so it has no axis=row"}},
        {"quantize format=fp8-e4m3-tensor dialect=te-fp8-current shape=2x64 data=x axis=row",
         {"has one block, the whole tensor, so it has no axis=row"}},
        {nvfp4 + " tensor=1.0", {"tensor '1.0' is neither derived nor the code of a binary32"}},
        {nvfp4 + " tensor=0x", {"tensor '0x' is neither derived nor"}},
        {nvfp4 + " tensor=0x100000000", {"tensor '0x100000000' is neither"}},
        {nvfp4 + " tensor=0xbf800000", {"tensor=0xbf800000 is negative, which no amax is"}},
        {good + " tensor=0x3f800000", {"dialect 'ocp' has no number for the whole tensor"}},
        {good + " tensor=derived", {"dialect 'ocp' has no number for the whole tensor"}},
        {good_convert + " tensor=0x3f800000", {"convert has no blocks, so it has no tensor="}},
        {"dequantize format=nvfp4 dialect=te-nvfp4 shape=2x64 data=x tensor=derived",
         {"dequantize takes the number that quantize kept"}},
        {"quantize format=fp8-e4m3-tensor dialect=te-fp8-delayed shape=2x64 data=x tensor=derived",
         {"takes its scale from earlier tensors"}},
        {"quantize format=nvfp4 dialect=te-nvfp4-rht input=bf16 shape=2x40 data=x",
         {"rotates groups of 16 elements, but there are 40 along axis=row"}},
        {nvfp4 + " packing=inline", {"packing=inline is for scales of E8M0"}},
        {of_128 + " scales=128x4", {"scales=128x4 is for scales of one byte"}},
        {"quantize format=nvfp4 dialect=ocp shape=2x64 data=x", {"does not quantize nvfp4"}},
        {"quantize format=mxfp4-e2m1 dialect=te-nvfp4 shape=2x64 data=x",
         {"dialect 'te-nvfp4' does not quantize mxfp4-e2m1"}},
        {"encode_scale format=nvfp4 shape=2x64 data=x", {"unknown format 'nvfp4'"}},
        {"quantize format=nvfp5 shape=2x64 data=x",
         {"unknown format 'nvfp5'; did you mean 'nvfp4'"}},
    });
}

TEST(BadCase, WhatNoSourceSaysOfFourRoundedAtOnce) {
    const std::string x4 = " rounding=stochastic-x4 shape=2x64 data=x";
    expect_sentences({
        {"convert format=e2m1" + x4, {"stochastic-x4 is defined for", "for e2m1 no source says"}},
        {"convert format=int8" + x4, {"for int8 no source says"}},
        {"convert format=e4m3 input=bf16" + x4, {"takes input=f32 and overflow=saturate alone"}},
        {"convert format=e4m3 overflow=overflow" + x4, {"input=f32 and overflow=saturate alone"}},
    });
    EXPECT_TRUE(parse_case("convert format=e2m3" + x4).ok());
}

TEST(BadCase, FieldsMissingOrGivenTwice) {
    expect_sentences({
        {without_shape, {"no shape=ROWSxCOLUMNS", without_shape}},
        {"quantize shape=2x64 data=x", {"no format="}},
        {"quantize format=mxfp8-e4m3 shape=2x64", {"no data="}},
        {"quantize format=mxfp8-e4m3 shape=2x64 data=", {"no data="}},
        {good + " data=edge.scale", {"'data' is given twice"}},
        {good + " quantize", {"'quantize' is not of the form key=value"}},
        {"format=mxfp8-e4m3 quantize", {"'quantize' is not of the form key=value"}},
        {"format=mxfp8-e4m3 shape=2x64", {"the first word must be an operation"}},
        {"", {"the first word must be an operation"}},
        {" \t ", {"the first word must be an operation"}},
    });
}

TEST(BadCase, Shapes) {
    const auto shape = [](const std::string& text) { return without_shape + " shape=" + text; };
    expect_sentences({
        {shape("4294967296x4294967296"), {"'4294967296x4294967296' has more than 2^40 elements"}},
        {shape("1099511627777x1"), {"more than 2^40 elements"}},
        {shape("1099511627777x0"), {"more than 2^40 elements"}},
        {shape("1048577x1048576"), {"more than 2^40 elements"}},
        {shape("18446744073709551616x1"), {"rows '18446744073709551616' does not fit 64 bits"}},
        {shape("-1x3"), {"rows '-1' is not a whole number"}},
        {shape("3"), {"shape '3' is not of the form ROWSxCOLUMNS"}},
        {shape(""), {"shape '' is not of the form ROWSxCOLUMNS"}},
        {shape("3x"), {"columns '' is not a whole number"}},
        {shape("ax3"), {"rows 'a' is not a whole number"}},
        {shape("3x4x5"), {"columns '4x5' is not a whole number"}},
        {shape("3X4"), {"ROWSxCOLUMNS"}},
        {shape("+3x4"), {"rows '+3' is not a whole number"}},
        {shape("0x3x"), {"columns '3x' is not a whole number"}},
    });
    EXPECT_TRUE(parse_case(shape("1048576x1048576")).ok()) << "2^40 elements are the limit";
    EXPECT_TRUE(parse_case(shape("0x0")).ok());
}

TEST(BadCase, Numbers) {
    for (const std::string key : {"seed", "index"}) {
        for (const std::string value : {"nan", "-1", "1e3", "0x10", "1.5", "", "+1", "1_0"})
            expect_sentences({{good + " " + key + "=" + value,
                               {key + " '" + value + "' is not a whole number"}}});
        expect_sentences({{good + " " + key + "=18446744073709551616",
                           {key + " '18446744073709551616' does not fit 64 bits"}}});
    }
    expect_sentences({{good + " seed=\" 1\"", {"seed ' 1' is not a whole number"}}});
}

TEST(BadCase, UnclosedQuotes) {
    expect_sentences({
        {"quantize format=mxfp8-e4m3 shape=2x64 data=\"file:a b", {"double quote is not closed"}},
        {"quantize data=\"file:a\\\"", {"double quote is not closed"}},
        {"\"", {"double quote is not closed"}},
    });
}

TEST(BadCase, RulesThatOnlyATypedCaseCanHave) {
    Case c = parse_case(good).value();
    EXPECT_TRUE(check_combination(c).ok());
    c.rules = ElementRules{};
    EXPECT_FALSE(check_combination(c).ok());
}

}  // namespace
}  // namespace mx
