// Typed values: every form, what is said of inexact ones, and what is refused. Bits are typed by
// hand from IEEE 754.
#include <gtest/gtest.h>

#include "conformance/emulate/parse_value.hpp"
#include "reference/spec/formats.hpp"

namespace mx::emulate {
namespace {

struct Row {
    const char* text;
    const ElementFormat& format;
    std::uint32_t bits;
};

TEST(ParseValue, EveryForm) {
    const Row rows[] = {
        {"1", formats::f32, 0x3f800000},
        {"+1.5", formats::f32, 0x3fc00000},
        {"-0", formats::f32, 0x80000000},
        {"-0.0", formats::bf16, 0x8000},
        {".5", formats::f16, 0x3800},
        {"5.", formats::f32, 0x40a00000},
        {"1e3", formats::f32, 0x447a0000},
        {"1E+3", formats::f32, 0x447a0000},
        {"0x1.8p3", formats::f32, 0x41400000},
        {"-0X1P-149", formats::f32, 0x80000001},
        {"0xff", formats::f32, 0x437f0000},
        {"0x1.fffffep+9", formats::f32, 0x447fffff},
        {"inf", formats::f32, 0x7f800000},
        {"-Infinity", formats::f16, 0xfc00},
        {"nan", formats::f32, 0x7fc00000},
        {"nan", formats::bf16, 0x7fc0},
        {"+nan", formats::f16, 0x7e00},
        {"-NaN", formats::f32, 0xffc00000},
        {"-nan", formats::f16, 0xfe00},
        {"bits:0x7fffffff", formats::f32, 0x7fffffff},
        {"bits:0x3f800000", formats::f32, 0x3f800000},
        {"BITS:0X7fc0", formats::bf16, 0x7fc0},
        {"65504", formats::f16, 0x7bff},
        {"340282346638528859811704183484516925440", formats::f32, 0x7f7fffff},
    };
    for (const Row& row : rows) {
        const auto value = parse_value(row.format, row.text);
        ASSERT_TRUE(value.ok()) << row.text << ": " << value.error().message;
        EXPECT_EQ(value.value().code.bits, row.bits) << row.text;
        EXPECT_EQ(value.value().note, "") << row.text;
    }
}

TEST(ParseValue, RoundsOnceToNearestEvenAndSaysSo) {
    const Row rows[] = {
        {"2.8", formats::f32, 0x40333333},
        {"1e-3", formats::f32, 0x3a83126f},
        {"0x1.000001p0", formats::f32, 0x3f800000},  // a tie, to even
        {"0x1.000003p0", formats::f32, 0x3f800002},  // a tie, to even
        {"0x1.00000100000001p0", formats::f32, 0x3f800001},
        {"0x1p-150", formats::f32, 0x00000000},  // a tie between 0 and 2^-149
        {"-1e-400", formats::f32, 0x80000000},
        {"65519.99", formats::f16, 0x7bff},
    };
    for (const Row& row : rows) {
        const auto value = parse_value(row.format, row.text);
        ASSERT_TRUE(value.ok()) << row.text;
        EXPECT_EQ(value.value().code.bits, row.bits) << row.text;
        EXPECT_NE(value.value().note.find("nearest even gives"), std::string::npos) << row.text;
    }
    const auto beyond = parse_value(formats::f16, "-65520");
    ASSERT_TRUE(beyond.ok());
    EXPECT_EQ(beyond.value().code.bits, 0xfc00u);
    EXPECT_EQ(beyond.value().note, "-65520 is beyond the largest f16: it became -inf");
}

TEST(ParseValue, RefusesWhatIsNoNumberWithOneSentence) {
    for (const char* text : {"",        "-",         "+",
                             ".",       "e5",        "1e",
                             "1e+",     "1e+-5",     "1.2.3",
                             "0x",      "0x1p",      "1_0",
                             "1f",      "0x1g",      "--1",
                             "-+1",     "nan(7)",    "infin",
                             "1 2",     "bits:",     "bits:7",
                             "bits:0x", "bits:0x1g", "-bits:0x1",
                             "1e5001",  "1e-5001",   "1e99999999999999999999"}) {
        const auto value = parse_value(formats::f32, text);
        ASSERT_FALSE(value.ok()) << text;
        EXPECT_EQ(value.error().message.find('\n'), std::string::npos) << text;
        EXPECT_EQ(value.error().kind, ErrorKind::bad_input);
    }
    EXPECT_FALSE(parse_value(formats::f32, std::string(401, '1')).ok());
    EXPECT_EQ(parse_value(formats::bf16, "bits:0x10000").error().message,
              "value 'bits:0x10000' has more than the 16 bits of bf16");
    EXPECT_FALSE(parse_value(formats::f32, "bits:0x1ffffffffffffffffffff").ok());
}

TEST(ParseValues, SplitsAtCommasAndTakesOneBlock) {
    const auto values = parse_values(formats::f32, " 1, 2 ,-0");
    ASSERT_TRUE(values.ok());
    ASSERT_EQ(values.value().size(), 3u);
    EXPECT_EQ(values.value()[1].code.bits, 0x40000000u);
    EXPECT_EQ(values.value()[2].code.bits, 0x80000000u);
    for (const char* text : {"", "1,", ",1", "1,,2"})
        EXPECT_FALSE(parse_values(formats::f32, text).ok()) << text;
    std::string many = "1";
    for (int i = 1; i < 32; ++i) many += ",1";
    EXPECT_TRUE(parse_values(formats::f32, many).ok());
    const auto too_many = parse_values(formats::f32, many + ",1");
    ASSERT_FALSE(too_many.ok());
    EXPECT_EQ(too_many.error().message, "more than 32 values: explain takes one block");
}

}  // namespace
}  // namespace mx::emulate
