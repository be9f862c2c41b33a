// Tests of the short way: it takes what is right in every code and written, and nothing else.
#include <gtest/gtest.h>

#include "conformance/run/convert_tables.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/runner.hpp"

namespace mx {
namespace {

constexpr std::uint64_t count = 1u << 20;

// 2^20 codes of f32; index 32536 starts at 0x000FE300, in the subnormal numbers.
std::string converting(const std::string& rest) {
    return "convert input=f32 shape=32768x32 data=all.bits " + rest;
}
Case case_of(const std::string& text) {
    return parse_case(text).value();
}

DeviceAnswer answer_of_oracle(const Case& c) {
    Sources sources;
    DeviceAnswer answer;
    answer.kind = AnswerKind::answered;
    for (CodeTensor& tensor : expect(c, make_inputs(c, *sources.open(c).value()))) {
        OutputTensor output;
        output.flags.resize(tensor.count());
        output.bytes = std::move(tensor.bytes);
        answer.outputs.push_back(std::move(output));
    }
    return answer;
}

TEST(ConvertTables, TakeEveryFormatRoundingAndRuleForSubnormals) {
    ConvertTables tables;
    for (const std::string format : {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8"})
        for (const std::string rules :
             {"rounding=nearest_even overflow=overflow",
              "rounding=toward_positive overflow=saturate",
              "rounding=to_odd overflow=saturate subnormals=inputs_flushed"})
            for (const std::string index : {"0", "32536", "33423360", "134184960"}) {
                const Case c =
                    case_of(converting("format=" + format + " " + rules + " index=" + index));
                EXPECT_EQ(tables.right_codes(c, answer_of_oracle(c)), count) << print(c);
            }
}

TEST(ConvertTables, LeaveEveryWrongUnwrittenOrUnsteadyCodeToTheLongWay) {
    ConvertTables tables;
    const Case c = case_of(converting("format=e4m3 index=33423360"));
    for (const std::size_t at : {std::size_t{0}, std::size_t{0x80001}, std::size_t{count - 1}}) {
        DeviceAnswer answer = answer_of_oracle(c);
        answer.outputs[0].bytes[at] ^= std::byte{1};
        EXPECT_EQ(tables.right_codes(c, answer), 0u) << at;
    }
    DeviceAnswer unwritten = answer_of_oracle(c), unsteady = answer_of_oracle(c),
                 cut = answer_of_oracle(c);
    unwritten.outputs[0].unwritten = 1;
    unsteady.outputs[0].differing = 1;
    cut.outputs[0].bytes.pop_back();
    for (const DeviceAnswer& answer : {unwritten, unsteady, cut})
        EXPECT_EQ(tables.right_codes(c, answer), 0u);
    // The same output is wrong one block further on.
    EXPECT_EQ(
        tables.right_codes(case_of(converting("format=e4m3 index=33423361")), answer_of_oracle(c)),
        0u);
}

TEST(ConvertTables, TakeTheScalesOfEveryAmax) {
    ConvertTables tables;
    for (const std::string rules : {"mxfp8-e4m3 dialect=ocp", "mxfp8-e4m3 dialect=nv",
                                    "mxint8 dialect=nv", "mxfp4-e2m1 dialect=torchao-even"})
        for (const std::string index : {"0", "32536", "33423360", "67076096"}) {
            const Case c =
                case_of("encode_scale input=f32 shape=32768x32 data=all.bits format=" + rules +
                        " index=" + index);
            DeviceAnswer answer = answer_of_oracle(c);
            EXPECT_EQ(tables.right_codes(c, answer), count) << print(c);
            answer.outputs[0].bytes[count - 1] ^= std::byte{1};
            EXPECT_EQ(tables.right_codes(c, answer), 0u) << print(c);
        }
}

TEST(ConvertTables, TakeNoOtherKindOfCase) {
    ConvertTables tables;
    for (const std::string text :
         {"convert format=e4m3 input=f32 shape=32768x32 data=random.bits",
          "convert format=e4m3 input=f32 shape=34953x30 data=all.bits",
          "convert format=e4m3 input=f32 shape=2048x32 data=all.bits",
          "convert format=e4m3 input=bf16 shape=32768x32 data=all.bits",
          "convert format=e4m3 input=f32 shape=32768x32 data=all.bits layout=padded",
          "convert format=e4m3 input=f32 shape=32768x32 data=all.bits rounding=stochastic8",
          "convert format=e4m3 input=f32 shape=32768x32 data=all.bits index=134217727",
          "convert format=e8m0 input=f32 shape=32768x32 data=all.bits",
          "encode_scale format=mxfp8-e4m3 input=f32 shape=32768x32 data=all.bits index=67108863",
          "encode_scale format=mxfp8-e4m3 input=f32 shape=32768x32 data=random.bits"}) {
        const auto c = parse_case(text);
        ASSERT_TRUE(c.ok()) << text << ": " << c.error().message;
        EXPECT_EQ(tables.right_codes(c.value(), answer_of_oracle(c.value())), 0u) << text;
    }
}

// With or without the table the record of a run is the same.
TEST(ConvertTables, TheRunnerCountsWhatTheTableFoundRightAndClassifiesWhatItDidNot) {
    const Case c = case_of(converting("format=e5m2 index=33423360"));
    std::byte flaw{0};
    Sources sources;
    Runner runner(Client{.ask =
                             [&flaw](const Question& asked) {
                                 DeviceAnswer answer =
                                     answer_of_oracle(parse_case(asked.name).value());
                                 answer.outputs[0].bytes[5] ^= flaw;
                                 return answer;
                             }},
                  sources, {""});
    const results::CaseResult right = runner.run({"test", c}).value();
    EXPECT_EQ(right.verdict, results::Verdict::pass_exact);
    EXPECT_EQ(right.elements, count);
    flaw = std::byte{1};
    const results::CaseResult wrong = runner.run({"test", c}).value();
    EXPECT_EQ(wrong.verdict, results::Verdict::fail);
    EXPECT_EQ(wrong.elements, count);
    EXPECT_EQ(wrong.mismatched_elements, 1u);
    flaw = std::byte{0};
    const results::CaseResult scales =
        runner
            .run({"test", case_of("encode_scale format=mxfp8-e4m3 input=f32 shape=32768x32 "
                                  "data=all.bits index=33423360")})
            .value();
    EXPECT_EQ(scales.verdict, results::Verdict::pass_exact);
    EXPECT_EQ(scales.scales, count);
    EXPECT_EQ(scales.elements, 0u);
}

}  // namespace
}  // namespace mx
