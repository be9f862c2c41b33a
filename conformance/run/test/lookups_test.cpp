// A name is looked up once, where its line is read: from there to the verdict nothing asks a table
// for it again. Counted, so that whoever asks again is seen.
#include <gtest/gtest.h>

#include "conformance/case/names.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/runner.hpp"

namespace mx {
namespace {

// A device that answers the expected bytes, which it was given: no library, no child, no lookup.
DeviceAnswer right_answer(const Case& c, const std::vector<CodeTensor>& inputs) {
    DeviceAnswer answer;
    answer.kind = AnswerKind::answered;
    for (CodeTensor& expected : expect(c, inputs)) {
        const std::size_t count = expected.count();
        answer.outputs.push_back({std::move(expected.bytes), std::vector<std::uint8_t>(count)});
    }
    return answer;
}

struct Counted {
    results::Verdict verdict;
    std::uint64_t lookups;
};

// Of a second run: the first opens the data family, by its name, as a file is opened.
Counted run_again(const std::string& text) {
    const Case c = parse_case(text).value();
    Sources sources;
    const auto source = sources.open(c).value();
    const DeviceAnswer answer = right_answer(c, make_inputs(c, *source));
    Runner runner(Client{.ask = [&answer](const Question&) { return answer; }}, sources, {});
    const PlannedCase planned{"test", c};
    const std::uint64_t before = names_looked_up;
    const auto result = runner.run(planned);
    return {result.value().verdict, names_looked_up - before};
}

TEST(Lookups, ReadingALineIsCounted) {
    const std::uint64_t before = names_looked_up;
    EXPECT_TRUE(parse_case("quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie").ok());
    EXPECT_GE(names_looked_up - before, 6u);
    const std::uint64_t parsed = names_looked_up;
    EXPECT_NE(find_quantizer("nv"), nullptr);
    EXPECT_NE(find_element_format("e4m3"), nullptr);
    EXPECT_TRUE(check_name("axis", "row", axis_names()).ok());
    EXPECT_EQ(names_looked_up - parsed, 3u);
}

TEST(Lookups, APassingCaseMakesNone) {
    for (const char* text :
         {"quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie index=9",
          "quantize format=mxfp4-e2m1 dialect=nv axis=tile shape=32x32 data=edge.amax index=40",
          "quantize format=mxint8 axis=both block=16 shape=33x17 data=random.spread",
          "dequantize format=mxfp6-e2m3 output=bf16 axis=col shape=64x3 data=codes.all",
          "convert format=e5m2 rounding=stochastic8 shape=3x40 data=random.bits",
          "convert format=e8m0 dialect=nv input=f16 shape=1x64 data=random.spread",
          "encode_scale format=mxfp8-e5m2 shape=1x64 data=edge.amax"}) {
        const Counted counted = run_again(text);
        EXPECT_EQ(counted.verdict, results::Verdict::pass_exact) << text;
        EXPECT_EQ(counted.lookups, 0u) << text;
    }
}

// Its family of data is no file that stays open: the name is checked each time, and no other.
TEST(Lookups, APassingGemmMakesOneForItsData) {
    for (const char* text :
         {"gemm a=mxfp8-e4m3 b=mxfp4-e2m1 shape=16x24x96 data=gemm.exact-signs",
          "gemm a=e4m3:128x128 b=e5m2:1x128 output=f16 shape=16x8x144 alpha=0.5 beta=1 "
          "epilogue=bias-relu layout=padded data=gemm.exact-signs",
          "gemm a=nvfp4 b=nvfp4 output=nvfp4 shape=16x32x64 data=gemm.counting"}) {
        const Counted counted = run_again(text);
        EXPECT_EQ(counted.verdict, results::Verdict::pass_exact) << text;
        EXPECT_EQ(counted.lookups, 1u) << text;
    }
}

}  // namespace
}  // namespace mx
