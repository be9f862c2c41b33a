// Explanations line by line: steps typed by hand from the definitions, what each operation shows,
// which blocks do not exist.
#include "conformance/emulate/explain.hpp"

#include <gtest/gtest.h>

#include "conformance/emulate/text_table.hpp"

namespace mx::emulate {
namespace {

std::string explained(const TypedValues& typed) {
    const auto target = target_of_values(typed);
    EXPECT_TRUE(target.ok()) << target.error().message;
    const Explanation explanation = explain(target.value());
    EXPECT_EQ(explanation.fault, "");
    return explanation.text;
}

std::string explained(const std::string& case_text, std::uint64_t block = 0) {
    const auto c = parse_case(case_text);
    EXPECT_TRUE(c.ok()) << c.error().message;
    Sources sources;
    const auto target = target_of_case(c.value(), block, sources);
    EXPECT_TRUE(target.ok()) << target.error().message;
    const Explanation explanation = explain(target.value());
    EXPECT_EQ(explanation.fault, "");
    return explanation.text;
}

void expect_lines(const std::string& text, std::initializer_list<const char*> lines) {
    for (const char* line : lines)
        EXPECT_NE(text.find(std::string("\n") + line + "\n"), std::string::npos)
            << line << "\n---\n"
            << text;
}

TEST(Explain, FloorRuleStepByStep) {
    expect_lines(
        explained({"2.8,-1.2", "mxfp8-e4m3", "ocp", "f32"}),
        {"     0  0x40333333   2.79999995231...  11744051/4194304",
         "  amax = 11744051/4194304 = 2.79999995231..., magnitude 0x40333333, in lane 0",
         "  argument: amax / 2^8 = 11744051/1073741824 = 0.0109374998137...",
         "  cast: 2^-7 < argument < 2^-6, rounded down: scale_rounding = toward_zero",
         "  byte: 0x78 = 120 = -7 + 127", "  X = 2^-7 = 1/128 = 0.0078125",
         "     1  -5033165/4194304  -5033165/32768  -153.600006103...",
         "     0  0x7b 352   0x7c 384   below half  below   0x7b   352   2.75",
         "     1  0xf1 -144  0xf2 -160  above half  above   0xf2  -160  -1.25",
         "  torchao-ceil, torchao-ceil-legacy, aiter-ceil part from ocp on scale_rounding: "
         "toward_positive instead of toward_zero",
         "  vllm-rocm-53110 parts from ocp on scale_ratio: none instead of over_emax",
         "  not here: thunderkittens, which does not read f32"});
}

TEST(Explain, RatioRuleShowsConstantProductAndRounding) {
    expect_lines(
        explained({"464", "mxfp8-e4m3", "nv", "f32"}),
        {"  constant: fl32(1 / 448) = 0x3b124925 = 9586981/4294967296 = 0.00223214295692...",
         "  product: amax * constant = 278022449/268435456 = 1.03571433201...",
         "  argument: fl32(amax * fl32(1 / 448)) = 0x3f84924a = 4344101/4194304 = 1.03571438789...",
         "  cast: 2^0 < argument < 2^1, rounded up: scale_rounding = toward_positive",
         "  byte: 0x80 = 128 = 1 + 127",
         "     0  0x76 224  0x77 240  HALF WAY  below   0x76  224    448",
         "  lane 0: a tie: element_rounding = nearest_even"});
}

TEST(Explain, EvenRuleShowsTheRoundedAmax) {
    expect_lines(explained({"496", "mxfp8-e4m3", "torchao-even", "f32"}),
                 {"  amax_rounding = nearest_away: 512 (rounded up)", "  argument: amax / 2^8 = 2",
                  "  cast: argument = 2^1, a power of two"});
}

TEST(Explain, DialectsThatAgreeAreOneColumn) {
    const std::string text = explained({"0x1p-120", "mxfp8-e4m3", "ocp", "f32"});
    // Legacy RCEIL divides by 1 there, legacy FLOOR by 2^-126.
    expect_lines(
        text, {"  torchao-rceil-legacy, torchao-rceil-legacy-cuda part from ocp on inverse: "
               "one_for_byte_zero instead of exact_power",
               "  torchao-floor-legacy, torchao-ceil-legacy, torchao-even-legacy part from ocp on "
               "inverse: over_scale_bits instead of"});
    std::size_t columns = 0;
    for (const char* label : {"\n  A: ocp, ", "\n  B: ", "\n  C: ", "\n  D: "})
        columns += text.find(label) != std::string::npos;
    EXPECT_EQ(columns, 4u) << text;
}

TEST(Explain, ClampsAndSpecialArgumentsNameTheirDecision) {
    expect_lines(
        explained({"0x1p-120", "mxfp8-e4m3", "ocp", "f32"}),
        {"  decision: below 2^-126: scale_underflow = clamp", "  byte: 0x00 = 0 = -127 + 127",
         "  scale_underflow (chosen: scale_underflow = clamp): a device that chose "
         "otherwise deviates, it does not fail"});
    expect_lines(
        explained({"0,-0", "mxfp8-e4m3", "nv", "f32"}),
        {"  amax = 0, magnitude 0x00000000, in lanes 0-1", "  amax is zero: zero_block = as_cast",
         "  decision: the argument is zero: scale_zero = 0x00",
         "  lane 1: minus zero; sign_of_zero = kept"});
    expect_lines(explained({"1,-inf", "mxfp8-e4m3", "nv", "f32"}),
                 {"  amax = inf, magnitude 0x7f800000, in lane 1",
                  "  infinity in lane 1: infinity_in_block = is_amax",
                  "  decision: the argument is infinite: scale_infinity = 0xfe",
                  "  lane 1: infinite: element_overflow = saturate"});
    expect_lines(
        explained({"1,nan", "mxfp8-e4m3", "ocp", "f32"}),
        {"  NaN in lane 1: nan_in_block = poisons_amax", "  amax = nan",
         "  decision: the argument is NaN: scale_nan = 0xff", "  byte: 0xff", "  X = nan"});
    expect_lines(explained({"512", "mxfp8-e4m3", "ocp", "bf16"}), {"  X = 2^1 = 2"});
    expect_lines(explained({"480", "mxfp8-e4m3", "ocp", "f32"}),
                 {"     0  0x7e 448  no code 480  beyond    overflow  0x7e  448    448",
                  "  lane 0: beyond the largest finite value 448: element_overflow = saturate"});
}

TEST(Explain, TypedValuesSayWhenTheyWereRounded) {
    expect_lines(explained({"1,2.8", "mxfp8-e5m2", "ocp", "bf16"}),
                 {"  lane 1: 2.8 is no bf16 value: nearest even gives 0x4033 = 2.796875, "
                  "off by 0.00312..."});
}

TEST(Explain, OtherOperations) {
    const std::string convert = explained(
        "convert format=e5m2 dialect=ocp input=f32 overflow=overflow shape=1x32 data=edge.tie");
    EXPECT_NE(convert.find("element_overflow = overflow"), std::string::npos);
    EXPECT_EQ(convert.find("amax"), std::string::npos);
    const std::string scales =
        explained("encode_scale format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.amax");
    EXPECT_NE(scales.find("argument: fl32(amax * fl32(1 / 448))"), std::string::npos);
    EXPECT_NE(scales.find("lane 31"), std::string::npos);
    const std::string values =
        explained("dequantize format=mxfp8-e4m3 dialect=nv output=f16 shape=1x32 data=codes.all");
    EXPECT_NE(values.find("scale X: 0x"), std::string::npos);
    const std::string casts = explained(
        "convert format=e8m0 dialect=ml_dtypes input=f32 shape=1x3 data=bits:0,c0000000,3fc00000");
    EXPECT_NE(casts.find("lane 1: negative: scale_negative = nan_byte"), std::string::npos);
    EXPECT_NE(casts.find("lane 0: the argument is zero: scale_zero = 0xff"), std::string::npos);
    EXPECT_NE(values.find("all dialects dequantize alike"), std::string::npos);
}

// An oracle that is wrong about one lane, under every dialect or under one.
Answers wrong_everywhere(const ExplainTarget& target, const Quantizer& rules) {
    Answers answers = exact_answers(target, rules);
    answers.back().code.bits ^= 1;
    return answers;
}
Answers wrong_under_nv(const ExplainTarget& target, const Quantizer& rules) {
    return rules.name == "nv" ? wrong_everywhere(target, rules) : exact_answers(target, rules);
}

TEST(Explain, NamesTheFaultWhenTheOraclesDiffer) {
    const auto block = target_of_values({"1", "mxfp8-e4m3", "ocp", "f32"});
    ASSERT_TRUE(block.ok());
    EXPECT_EQ(explain(block.value(), wrong_everywhere).fault,
              "lane 0: the exact oracle says 0x78, the fast oracle 0x79");
    EXPECT_EQ(explain(block.value(), wrong_under_nv).fault,
              "dialect nv, lane 0: the exact oracle says 0x78, the fast oracle 0x79");
    const auto c = parse_case("dequantize format=mxfp8-e4m3 shape=1x1 data=codes.all");
    ASSERT_TRUE(c.ok());
    Sources sources;
    const auto codes = target_of_case(c.value(), 0, sources);
    ASSERT_TRUE(codes.ok());
    EXPECT_NE(explain(codes.value(), wrong_everywhere).fault, "");
}

TEST(Explain, NeverWiderThan120) {
    for (const char* format : {"mxfp8-e4m3", "mxfp8-e5m2"})
        for (const char* dialect : {"ocp", "nv", "torchao-even"})
            for (const char* family : {"edge.tie", "edge.amax", "edge.special", "random.bits"}) {
                const std::string text =
                    explained(std::string("quantize format=") + format + " dialect=" + dialect +
                              " shape=1x32 data=" + family + " index=17");
                for (std::size_t start = 0; start < text.size();) {
                    const std::size_t end = text.find('\n', start);
                    EXPECT_LE(end - start, text_width) << text.substr(start, end - start);
                    start = end + 1;
                }
            }
}

TEST(ExplainTarget, BlocksOfEitherSideOfACaseOfBothAxes) {
    const auto c =
        parse_case("quantize format=mxfp8-e4m3 axis=both shape=34x40 data=random.bits index=5");
    ASSERT_TRUE(c.ok());
    Sources sources;
    const CodeTensor input = make_inputs(c.value(), *sources.open(c.value()).value())[0];
    const auto row = target_of_case(c.value(), 3, sources);
    ASSERT_TRUE(row.ok());
    ASSERT_EQ(row.value().lanes.size(), 8u);  // the second block of row 1
    for (std::size_t lane = 0; lane < 8; ++lane)
        EXPECT_EQ(row.value().lanes[lane].bits, input.at(40 + 32 + lane));
    const auto column = target_of_case(c.value(), 43, sources, "col");
    ASSERT_TRUE(column.ok());
    ASSERT_EQ(column.value().lanes.size(), 2u);  // the second block of column 3
    for (std::size_t lane = 0; lane < 2; ++lane)
        EXPECT_EQ(column.value().lanes[lane].bits, input.at((32 + lane) * 40 + 3));
    EXPECT_TRUE(column.value().title.ends_with(", block 43 of 80 of axis col"));
    EXPECT_EQ(target_of_case(c.value(), 0, sources, "tile").error().message,
              "the case has no blocks of axis tile, only of row and col");
    const auto plain = parse_case("quantize format=mxfp8-e4m3 axis=col shape=34x40 data=edge.tie");
    EXPECT_EQ(target_of_case(plain.value(), 0, sources, "row").error().message,
              "the case has no blocks of axis row, only of col");
}

TEST(ExplainTarget, BlocksOfACase) {
    const auto c = parse_case("quantize format=mxfp8-e4m3 shape=2x40 data=random.bits index=5");
    ASSERT_TRUE(c.ok());
    Sources sources;
    const auto last = target_of_case(c.value(), 3, sources);
    ASSERT_TRUE(last.ok());
    const std::vector<CodeTensor> inputs = make_inputs(c.value(), *sources.open(c.value()).value());
    ASSERT_EQ(last.value().lanes.size(), 8u);
    for (std::size_t lane = 0; lane < 8; ++lane)
        EXPECT_EQ(last.value().lanes[lane].bits, inputs[0].at(72 + lane));
    EXPECT_EQ(target_of_case(c.value(), 4, sources).error().message,
              "block 4 does not exist: the case has 4 blocks, from 0 on");
    Case empty = c.value();
    empty.columns = 0;
    EXPECT_EQ(target_of_case(empty, 0, sources).error().message,
              "the case has no elements, so there is nothing to explain");
}

TEST(ExplainTarget, RefusesUnknownNames) {
    EXPECT_FALSE(target_of_values({"1", "mxfp8-e4m4", "ocp", "f32"}).ok());
    EXPECT_FALSE(target_of_values({"1", "mxfp8-e4m3", "opc", "f32"}).ok());
    EXPECT_FALSE(target_of_values({"1", "mxfp8-e4m3", "ocp", "f64"}).ok());
    EXPECT_FALSE(target_of_values({"", "mxfp8-e4m3", "ocp", "f32"}).ok());
}

}  // namespace
}  // namespace mx::emulate
