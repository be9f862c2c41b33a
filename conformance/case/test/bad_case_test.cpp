// Tests of what the case grammar says to bad text: one line that names the wrong word and, where
// one is near, the right one. Good text is in case_test.cpp.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/case/fields.hpp"

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
    });
}

TEST(BadCase, NamesNearNothingGetTheWholeList) {
    expect_sentences({
        {"brew format=mxfp8-e4m3 shape=2x64 data=x",
         {"unknown operation 'brew'; known are: convert encode_scale quantize dequantize"}},
        {good + " axis=diagonal", {"unknown axis 'diagonal'; known are: row col"}},
        {good + " dialect=", {"unknown dialect ''", "ocp", "torchao-rceil"}},
    });
}

// Each operation has names of its own.
TEST(BadCase, NamesOfAnotherOperation) {
    expect_sentences({
        {"convert format=mxfp8-e4m3 shape=2x64 data=x", {"unknown format 'mxfp8-e4m3'", "e4m3"}},
        {"quantize format=e4m3 shape=2x64 data=x", {"unknown format 'e4m3'", "mxfp8-e4m3"}},
        {"dequantize format=mxfp8-e4m3 shape=2x64 data=x input=f32",
         {"unknown field 'input'; known are: format dialect output"}},
        {good + " output=f32", {"unknown field 'output'", "known are: format dialect input"}},
        {good_convert + " axis=col", {"convert has no blocks", "axis=col"}},
        {"encode_scale format=mxfp8-e4m3 shape=2x64 data=x axis=col",
         {"encode_scale has no blocks", "axis=col"}},
        {good + " rounding=nearest_even", {"rounding=", "belong to convert", "quantize"}},
        {good + " overflow=saturate", {"overflow=", "belong to convert", "quantize"}},
    });
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

TEST(Validate, ContradictionsThatNoTextCanSpell) {
    Case c = parse_case(good_convert).value();
    c.rounding = "";
    EXPECT_FALSE(validate(c).ok());
    c = parse_case(good).value();
    c.type = "e4m3";  // a format, but not one of values
    EXPECT_FALSE(validate(c).ok());
}

}  // namespace
}  // namespace mx
