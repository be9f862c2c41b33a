// Tests of comparison and classification on evidence made by hand: every class, every decision
// that the standard leaves open, exact totals, and the oracle's own disagreement.
#include "conformance/run/test/evidence_of.hpp"

namespace mx {
namespace {

constexpr std::uint32_t nan_code = 0x7FC00000, infinity = 0x7F800000, minus_zero = 0x80000000;

// Scale 127, which is one, so that lanes stand for themselves: 448 is the largest element, 17 a
// tie between 16 and 18, 16.5 just off it, 3/512 subnormal.
Evidence block_of(const std::string& dialect, float lane) {
    return quantized(dialect, f32_codes({448.0f, lane}));
}

void move_code(Evidence& e, std::size_t lane, int steps) {
    const auto code = static_cast<std::int64_t>(e.expected[0].at(lane));
    e.actual[0].set(lane, static_cast<std::uint32_t>(code + steps));
}

TEST(Classify, NothingDiffers) {
    const Classified result = classified(block_of("ocp", 17));
    EXPECT_TRUE(result.mismatches.empty());
    EXPECT_EQ(result.elements + result.scales, 0u);
}

TEST(Classify, Tie) {
    Evidence e = block_of("ocp", 17);
    ASSERT_EQ(e.expected[1].at(0), 127u);
    ASSERT_EQ(e.expected[0].at(1), 0x58u);
    move_code(e, 1, 1);
    const results::Mismatch m = only(e);
    EXPECT_EQ(m.mismatch_class, "tie");
    EXPECT_EQ(m.stage, "element");
    EXPECT_EQ(m.direction, "+1 code");
    EXPECT_EQ(m.open_decision, "");
    EXPECT_EQ(m.exact_value, "17, half way between 16 and 18");
    EXPECT_EQ(m.note, "all away from zero");
    EXPECT_EQ(m.lane, 1u);
    EXPECT_EQ(m.block, 0u);
    EXPECT_EQ(m.input_bits, "0x41880000");
    EXPECT_EQ(m.input_value, "17");
    EXPECT_EQ(m.amax_value, "448");
    EXPECT_EQ(m.expected_scale, "0x7f");
    EXPECT_EQ(m.expected_element, "0x58");
    EXPECT_EQ(m.actual_element, "0x59");
    EXPECT_EQ(m.expected_value, "16");
    EXPECT_EQ(m.actual_value, "18");
    EXPECT_EQ(m.lanes[1], 1u);
    EXPECT_EQ(m.of, 2u);
    EXPECT_EQ(m.count, 1u);
    EXPECT_EQ(m.source, std::string(find_quantizer("ocp")->source) +
                            "; known by: read; the standard's own text");
}

TEST(Classify, RoundingAndValue) {
    Evidence e = block_of("ocp", 16.5f);
    move_code(e, 1, 1);
    EXPECT_EQ(only(e).mismatch_class, "rounding");
    EXPECT_EQ(only(e).exact_value, "33/2, below half way between 16 and 18");
    move_code(e, 1, -1);
    EXPECT_EQ(only(e).mismatch_class, "rounding");
    EXPECT_EQ(only(e).direction, "-1 code");
    EXPECT_EQ(only(e).note, "all toward zero");
    move_code(e, 1, 5);
    EXPECT_EQ(only(e).mismatch_class, "value");
    EXPECT_EQ(only(e).direction, "several codes up");
    move_code(e, 1, 128);
    EXPECT_EQ(only(e).direction, "other sign");
    EXPECT_EQ(only(e).note, "");
}

TEST(Classify, Saturation) {
    Evidence e = block_of("ocp", 500);
    ASSERT_EQ(e.expected[0].at(1), 0x7Eu);
    move_code(e, 1, 1);
    EXPECT_EQ(only(e).mismatch_class, "saturation");
    EXPECT_EQ(only(e).direction, "NaN");
    EXPECT_EQ(only(e).exact_value, "500, beyond the largest value");
    move_code(e, 1, -6);
    EXPECT_EQ(only(e).mismatch_class, "saturation");
}

TEST(Classify, Subnormal) {
    Evidence e = block_of("ocp", 3.0f / 512);
    ASSERT_EQ(e.expected[0].at(1), 3u);
    move_code(e, 1, -3);
    EXPECT_EQ(only(e).mismatch_class, "subnormal");
    EXPECT_EQ(only(e).exact_value, "3/512, exactly");
    // A subnormal input in a block of its kind.
    Evidence small = quantized("nv", {0x00400000, 0x00300000});
    move_code(small, 1, -2);
    EXPECT_EQ(only(small).mismatch_class, "subnormal");
}

// 2^-149 has 45 digits below its fraction bar.
TEST(Classify, LongFractionsAreMultiplesOfPowersOfTwo) {
    Evidence e = right_answer(
        "dequantize format=mxfp8-e4m3 dialect=ocp output=bf16 data=codes.random shape=1x1",
        dequantized("mxfp8-e4m3", {5}, 0).inputs);
    move_code(e, 0, -1);
    EXPECT_EQ(only(e).exact_value, "5 * 2^-136, above half way between 0 and 2^-133");
}

// Where the first wrong element lies that is no code, as convert in that rounding prints it.
std::string clue_of(const std::string& rounding) {
    const std::string text =
        "convert format=e4m3 rounding=" + rounding + " shape=4x32 data=random.spread";
    for (const results::Mismatch& m : classified(wrong_everywhere(text)).mismatches)
        if (m.exact_value.find("half way between") != std::string::npos) return m.exact_value;
    return "";
}

TEST(Classify, AModeThatIsNotTheUsualOneStandsBesideTheExactValue) {
    EXPECT_NE(clue_of("toward_positive").find("; rounded toward_positive"), std::string::npos);
    const std::string usual = clue_of("nearest_even");
    EXPECT_NE(usual, "");
    EXPECT_EQ(usual.find("rounded"), std::string::npos);
    const std::string clue = clue_of("stochastic8");
    const std::size_t bits = clue.find("; rounded stochastic8 by 0x");
    ASSERT_NE(bits, std::string::npos) << clue;
    // Of the word the lowest eight bits.
    const std::string last_two = clue.substr(clue.size() - 2);
    EXPECT_NE(clue.find("by 0x" + last_two + " of the random word 0x"), std::string::npos) << clue;
}

TEST(Classify, Special) {
    Evidence e = quantized("nv", {nan_code, f32_codes({1.0f})[0]});
    ASSERT_EQ(e.expected[0].at(0), 0x7Fu);
    e.actual[0].set(0, 0xFF);
    EXPECT_EQ(only(e).mismatch_class, "special");
    EXPECT_EQ(only(e).direction, "another NaN");
    EXPECT_EQ(only(e).open_decision, "");
    EXPECT_EQ(only(e).exact_value, "nan");
    e.actual[0].set(0, 0x7E);
    EXPECT_EQ(only(e).direction, "a number for NaN");
}

TEST(Classify, SignOfZero) {
    Evidence e = quantized("nv", {f32_codes({1.0f})[0], minus_zero});
    e.actual[0].set(1, 0);
    EXPECT_EQ(only(e).mismatch_class, "sign_of_zero");
    EXPECT_EQ(only(e).direction, "other sign");
    EXPECT_EQ(only(e).open_decision, "");
}

TEST(Classify, ScaleAndTheElementsUnderIt) {
    Evidence e = block_of("ocp", -17);
    e.actual[1].set(0, 128);
    move_code(e, 0, -8);
    const Classified result = classified(e);
    EXPECT_EQ(result.scales, 1u);
    EXPECT_EQ(result.elements, 1u);
    ASSERT_EQ(result.mismatches.size(), 2u);
    for (const results::Mismatch& m : result.mismatches) {
        EXPECT_EQ(m.mismatch_class, "scale");
        EXPECT_EQ(m.stage, "scale");
        EXPECT_EQ(m.expected_scale, "0x7f");
        EXPECT_EQ(m.actual_scale, "0x80");
        EXPECT_EQ(m.direction,
                  m.expected_element.empty() ? "+1 code" : "element under a wrong scale");
    }
}

TEST(Classify, EncodeScaleCountsScales) {
    Evidence e = evidence_of("encode_scale format=mxfp8-e4m3 dialect=nv", f32_codes({448, 449}));
    e.actual[0].set(1, e.expected[0].at(1) - 1);
    const Classified result = classified(e);
    EXPECT_EQ(result.scales, 1u);
    EXPECT_EQ(result.elements, 0u);
    EXPECT_EQ(result.mismatches[0].mismatch_class, "scale");
    EXPECT_EQ(result.mismatches[0].expected_scale, "0x80");
    EXPECT_EQ(result.mismatches[0].actual_scale, "0x7f");
}

TEST(Classify, FlagsComeBeforeBits) {
    Evidence e = block_of("ocp", 17);
    e.flags[0][1] = flag_unwritten;
    EXPECT_EQ(only(e).mismatch_class, "unwritten");
    EXPECT_EQ(only(e).stage, "buffer");
    e.flags[0][1] = flag_differs;
    EXPECT_EQ(only(e).mismatch_class, "flaky");
    e.flags[0][1] = 0;
    e.flags[1][0] = flag_unwritten;
    EXPECT_EQ(only(e).mismatch_class, "unwritten");
    EXPECT_EQ(classified(e).scales, 1u);
}

TEST(Classify, TotalsAreExactForOneTwoAndAll) {
    const std::vector<std::uint32_t> codes(100, f32_codes({17.0f})[0]);
    for (const std::size_t wrong : {1u, 2u, 100u}) {
        Evidence e = quantized("ocp", codes);
        for (std::size_t i = 0; i < wrong; ++i) move_code(e, 99 - i, 1);
        const Classified result = classified(e);
        EXPECT_EQ(result.elements, wrong);
        ASSERT_EQ(result.mismatches.size(), 1u);
        EXPECT_EQ(result.mismatches[0].count, wrong);
        EXPECT_EQ(result.mismatches[0].of, 100u);
        std::uint64_t in_lanes = 0;
        for (const std::uint64_t count : result.mismatches[0].lanes) in_lanes += count;
        EXPECT_EQ(in_lanes, wrong);
    }
}

TEST(Classify, BeyondTheFirstFewTheRestHasItsClassToo) {
    Evidence e = quantized("ocp", std::vector<std::uint32_t>(40, f32_codes({17.0f})[0]));
    for (std::size_t i = 0; i < 7; ++i) move_code(e, i, 1);
    const Classified result = classified(e, 2);
    EXPECT_EQ(result.elements, 7u);
    ASSERT_EQ(result.mismatches.size(), 1u);
    EXPECT_EQ(result.mismatches[0].direction, "+1 code");
    EXPECT_EQ(result.mismatches[0].count, 7u);
}

TEST(Classify, LargestClusterFirst) {
    std::vector<float> lanes(40, 17.0f);
    lanes[0] = 16.5f;
    Evidence e = quantized("ocp", f32_codes(lanes));
    for (std::size_t i = 0; i < 3; ++i) move_code(e, i, 1);
    const Classified result = classified(e);
    ASSERT_EQ(result.mismatches.size(), 2u);
    EXPECT_EQ(result.mismatches[0].mismatch_class, "tie");
    EXPECT_EQ(result.mismatches[0].count, 2u);
    EXPECT_EQ(result.mismatches[1].mismatch_class, "rounding");
}

TEST(OpenDecisions, OfTheBlockExcuseItsScale) {
    struct Row {
        std::vector<std::uint32_t> codes;
        std::uint32_t actual;
        const char* decision;
    };
    const std::uint32_t one = f32_codes({1.0f})[0];
    const Row table[] = {
        {{nan_code, one}, 0x77, "nan_in_block"},
        {{infinity, one}, 0xFE, "infinity_in_block"},
        {{0, minus_zero}, 127, "zero_block"},
        {{0x00000100, 0}, 1, "scale_underflow"},
        {{one, one}, 0x78, ""},
    };
    for (const Row& row : table)
        for (const std::string dialect : {"ocp", "torchao-floor"}) {
            Evidence e = quantized(dialect, row.codes);
            e.actual[1].set(0, row.actual);
            const results::Mismatch m = only(e);
            EXPECT_EQ(m.mismatch_class, "scale") << row.decision;
            EXPECT_EQ(m.open_decision, dialect == "ocp" ? row.decision : "");
        }
}

TEST(OpenDecisions, OfTheLane) {
    Evidence zero = quantized("ocp", {f32_codes({1.0f})[0], minus_zero});
    zero.actual[0].set(1, 0);
    EXPECT_EQ(only(zero).open_decision, "sign_of_zero");
    Evidence convert = evidence_of("convert format=e4m3 dialect=ocp", {nan_code});
    convert.actual[0].set(0, 0xFF);
    EXPECT_EQ(only(convert).open_decision, "nan_code");
    Evidence beyond = dequantized("mxfp8-e4m3", {0x7E}, 254);
    ASSERT_EQ(beyond.expected[0].at(0), infinity);
    beyond.actual[0].set(0, infinity - 1);
    EXPECT_EQ(only(beyond).open_decision, "value_beyond_f32");
    EXPECT_EQ(only(beyond).mismatch_class, "saturation");
}

// The scale was open; once a device has taken ours, the elements follow from it.
TEST(OpenDecisions, DoNotExcuseElementsUnderTheExpectedScale) {
    Evidence zeros = quantized("ocp", {0, 0});
    move_code(zeros, 1, 0x38);
    EXPECT_EQ(only(zeros).open_decision, "");
    Evidence tiny = quantized("ocp", {0x00000100, 0x00200000, 0x00180000});
    ASSERT_EQ(tiny.expected[1].at(0), 0u);
    move_code(tiny, 2, 1);
    EXPECT_EQ(only(tiny).open_decision, "");
}

TEST(Compare, AnyNanWillDoInDequantizedValuesOnly) {
    Evidence e = dequantized("mxfp8-e4m3", {0x7F, 0xFF, 0x38}, 127);
    for (const std::uint32_t other : {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu}) {
        e.actual[0].set(0, other);
        EXPECT_TRUE(classified(e).mismatches.empty()) << std::hex << other;
    }
    e.actual[0].set(1, infinity);
    EXPECT_EQ(only(e).mismatch_class, "special");
    EXPECT_EQ(only(e).direction, "Inf");
    e.actual[0].set(1, nan_code);
    e.actual[0].set(2, nan_code);
    EXPECT_EQ(only(e).count, 1u);
    e.actual[0].set(2, e.expected[0].at(2));
    e.flags[0][0] = flag_differs;  // a NaN that changes from run to run
    EXPECT_EQ(only(e).mismatch_class, "flaky");
}

TEST(Compare, ScalesComeFirstThenElementsInRowMajorOrder) {
    Evidence e = quantized("ocp", std::vector<std::uint32_t>(64, f32_codes({17.0f})[0]));
    move_code(e, 3, 1);
    move_code(e, 60, 1);
    e.actual[1].set(1, 1);
    std::vector<std::pair<std::size_t, std::size_t>> seen;
    for_each_difference(e, [&](const Difference& d) { seen.push_back({d.output, d.element}); });
    EXPECT_EQ(seen, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {0, 3}, {0, 60}}));
}

TEST(Mistrust, OnlyDataThatNobodyDesignedAndThatCannotFail) {
    Evidence e = quantized("ocp", std::vector<std::uint32_t>(33, 0));
    EXPECT_TRUE(has_insufficient_data(e));
    e.c.data = "file:zeros.npy";
    EXPECT_TRUE(has_insufficient_data(e));
    e.c.data = "edge.special";
    EXPECT_FALSE(has_insufficient_data(e));
    e.c.data = "random.bits";
    e.expected[0].set(32, 1);
    EXPECT_FALSE(has_insufficient_data(e));
    EXPECT_FALSE(has_insufficient_data(quantized("ocp", std::vector<std::uint32_t>(32, 0))));
}

// Before a device is blamed the exact oracle is asked about that very element.
TEST(Disagreement, ExpectedBitsThatTheExactOracleDeniesAreOurFault) {
    Evidence e = block_of("ocp", 17);
    e.expected[0].set(1, 0x59);
    const Classified element = classified(e);
    EXPECT_EQ(element.disagreement, "block 0 lane 1: fast says 0x00000059, exact says 0x00000058");
    Evidence s = block_of("ocp", 17);
    s.expected[1].set(0, 126);
    EXPECT_NE(classified(s).disagreement.find("exact says 0x0000007f"), std::string::npos);
    Evidence v = dequantized("mxfp8-e5m2", {0x3C}, 127);
    v.expected[0].set(0, 0);
    EXPECT_NE(classified(v).disagreement.find("exact says 0x3f800000"), std::string::npos);
}

}  // namespace
}  // namespace mx
