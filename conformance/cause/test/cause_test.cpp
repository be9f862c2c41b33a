// Causes of devices with faults that are known here: the planted bugs, which share no line with the
// hypotheses; two faults at once; faults that no hypothesis describes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stdexcept>

#include "conformance/case/case.hpp"
#include "conformance/cause/cause.hpp"
#include "conformance/cause/explainer.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/judge.hpp"
#include "conformance/run/runner.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;

std::string quantize_line(const std::string& format, const std::string& dialect,
                          const std::string& data, const std::string& more = "shape=64x64") {
    return "quantize format=" + format + " dialect=" + dialect + " input=f32 " + more +
           " data=" + data;
}

const std::vector<std::string> quantize_lines{
    quantize_line("mxfp8-e4m3", "ocp", "edge.tie"),
    quantize_line("mxfp8-e4m3", "nv", "edge.tie"),
    quantize_line("mxfp8-e5m2", "nv", "random.spread"),
    quantize_line("mxfp8-e4m3", "nv", "random.spread"),
    quantize_line("mxfp8-e4m3", "nv", "random.spread", "axis=col shape=64x96"),
    quantize_line("mxfp8-e5m2", "ocp", "random.spread"),
    quantize_line("mxfp6-e2m3", "ocp", "random.spread"),
    quantize_line("mxfp4-e2m1", "ocp", "random.spread"),
    quantize_line("mxint8", "ocp", "random.spread"),
    quantize_line("mxfp8-e4m3", "ocp", "edge.special"),
    quantize_line("mxfp8-e4m3", "nv", "edge.special"),
    quantize_line("mxfp8-e4m3", "nv", "bits:3f800000,7f800000,ff7fffff", "shape=1x32"),
    quantize_line("mxfp8-e4m3", "nv", "random.bits"),
    quantize_line("mxfp8-e4m3", "ocp", "random.bits"),
};

// What a run of a planted bug comes to.
Cause cause_of_bug(const std::string& bug, const std::vector<std::string>& lines,
                   const std::string& library = "mutants.so") {
    DeviceSource source;
    source.name = library + ":bug=" + bug;
    source.path = MX_MUTANT_DIRECTORY "/" + library;
    source.configuration = "bug=" + bug;
    const auto client = open_client(source, {});
    if (!client) throw std::runtime_error(client.error().message);
    Sources sources;
    Runner runner(client.value(), sources, {"", false, 0, Explainer()});
    std::vector<CaseResult> cases;
    for (const std::string& line : lines) {
        const auto c = parse_case(line);
        if (!c) throw std::runtime_error(c.error().message);
        auto result = runner.run({"test", c.value()});
        if (!result) throw std::runtime_error(result.error().message);
        cases.push_back(std::move(result).value());
    }
    return cause_of(cases, sources);
}

void expect_named(const std::string& bug, const std::string& kind,
                  const std::vector<std::string>& lines = quantize_lines,
                  const std::string& library = "mutants.so") {
    const Cause cause = cause_of_bug(bug, lines, library);
    ASSERT_EQ(cause.kinds.size(), 1u) << bug << ": " << cause.sentence;
    EXPECT_NE((" | " + cause.kinds[0] + " | ").find(" | " + kind + " | "), std::string::npos)
        << bug << ": " << cause.kinds[0];
    EXPECT_NE(cause.sentence.find("nothing else is wrong"), std::string::npos) << cause.sentence;
}

TEST(Cause, NothingWrongHasNone) {
    const Cause cause = cause_of_bug("none", quantize_lines);
    EXPECT_EQ(cause.sentence, "");
    EXPECT_TRUE(cause.kinds.empty());
}

TEST(Cause, IsOneSentenceOverFormatsDialectsAndAxes) {
    const Cause cause = cause_of_bug("ties_away", quantize_lines);
    EXPECT_TRUE(
        cause.sentence.starts_with("Every tie is rounded away from zero; nothing else is wrong ("))
        << cause.sentence;
    EXPECT_TRUE(cause.sentence.ends_with(" explained).")) << cause.sentence;
}

TEST(Cause, DecisionsOfTheTable) {
    expect_named("ties_away", "element_rounding:nearest_even->nearest_away");
    expect_named("truncation", "element_rounding:nearest_even->toward_zero");
    expect_named("minus_zero_lost", "sign_of_zero:kept->dropped");
    expect_named("nan_spreads", "nan_in_block:own_lane_only->poisons_amax");
    expect_named("nv_floor_for_ceil", "scale_rounding:toward_positive->toward_zero");
}

TEST(Cause, TransformationsOfData) {
    expect_named("amax_ignores_lane_31", "amax_without:element_31");
    expect_named("amax_signed", "amax_without:negative_elements");
    expect_named("ties_up", "ties:up");
    expect_named("mantissa_carry_lost", "carry_lost");
    expect_named("double_rounding_bf16", "value_through:bf16");
    expect_named("scale_from_previous_block", "scale_of:block_before");
    expect_named("int8_wraps", "integer_wraps");
    expect_named("col_strides_swapped", "exchanged:elements");
    expect_named("int8_sign_magnitude", "code:sign_and_magnitude");
    expect_named("nv_power_of_two_up", "exact_scale_up");
    expect_named("saturates_at_240", "code:top_binade_unused");
    expect_named("stale_output", "stale_answer");
}

TEST(Cause, RandomBits) {
    const auto line = [](const std::string& rounding, const std::string& data) {
        return "convert format=e4m3 dialect=ocp input=f32 rounding=" + rounding +
               " overflow=saturate subnormals=honoured shape=64x31 data=" + data;
    };
    const std::vector<std::string> of_words{
        line("stochastic8", "random.spread"), line("stochastic16", "random.spread"),
        line("stochastic32", "random.spread"), line("nearest_even", "random.spread")};
    const std::vector<std::string> of_shared_words{line("stochastic-x4", "random.spread"),
                                                   line("stochastic16", "random.spread")};
    expect_named("stochastic_toward_positive", "random_bits:inverted_if_negative", of_words);
    expect_named("stochastic_high_bits", "random_bits:other_end", of_words);
    expect_named("stochastic_x4_halves_exchanged", "random_bits:halves_exchanged", of_shared_words);
    expect_named("stochastic_x4_words_run_on", "random_bits:run_on", of_shared_words);
}

TEST(Cause, ScalesWithAMantissa) {
    std::vector<std::string> lines;
    for (const char* dialect : {"te-nvfp4", "torchao-nvfp4"})
        for (const char* number : {"derived", "0x44280000"})
            for (const char* shape : {"shape=32x48", "shape=9x40"})
                lines.push_back(quantize_line("nvfp4", dialect, "random.spread",
                                              std::string(shape) + " tensor=" + number));
    for (const char* dialect : {"te-nvfp4", "torchao-nvfp4"})
        lines.push_back("dequantize format=nvfp4 dialect=" + std::string(dialect) +
                        " output=f32 tensor=0x44280000 shape=64x64 data=codes.random");
    const std::vector<std::pair<std::string, std::string>> planted{
        {"number_inverted", "number:inverted"},
        {"number_ignored", "number:not_in_scales"},
        {"scale_toward_zero", "e4m3_scale:toward_zero"},
        {"ratio_through_bf16", "e4m3_scale:through_bf16"},
        {"scale_has_sign", "scale_signed"},
        {"short_block_reads_on", "amax_reads_next_row"},
        {"dequantize_nan_scale_as_480", "read:nan_scale_as_number"},
        {"dequantize_amax_as_scale", "way_back:times_scale_amax->times_scale_tensor"},
    };
    for (const auto& [bug, kind] : planted) expect_named(bug, kind, lines, "real_scale_mutants.so");
}

// Guards of an amax that gives no number and no scale, each lost alone; and what the amax of a
// tensor that is rotated is looked for among.
TEST(Cause, AmaxOfNoUse) {
    const auto quantize = [](const std::string& what, const std::string& shape) {
        return "quantize format=" + what + " shape=" + shape;
    };
    const auto named = [](const std::string& bug, const std::string& kind,
                          const std::vector<std::string>& lines) {
        expect_named(bug, kind, lines, "real_scale_mutants.so");
    };
    const std::string nvfp4 = "nvfp4 dialect=te-nvfp4 input=f32 data=edge.special tensor=";
    named("zero_amax_unguarded", "number:of_zero_amax",
          {quantize(nvfp4 + "0x00000000", "1061x16")});
    named("infinite_amax_unguarded", "number:of_infinite_amax",
          {quantize(nvfp4 + "0x7f800000", "1061x16")});
    named("subnormal_amax_flushed", "number:of_subnormal_amax",
          {quantize(nvfp4 + "0x00000001", "1061x16")});
    const std::string fp8 = "fp8-e4m3-1x128 dialect=te-fp8-block data=edge.special input=";
    named("infinite_block_unguarded", "unguarded:infinite_amax",
          {quantize(fp8 + "f32", "512x128"), quantize(fp8 + "bf16", "512x128")});
    named("largest_f32_for_input", "encode_overflow:largest_input->largest_f32",
          {quantize(fp8 + "bf16", "512x128")});
    const std::string rotated =
        "nvfp4 dialect=te-nvfp4-rht input=bf16 tensor=derived data=random.spread";
    named("tensor_amax_before_rotation", "tensor_amax:before_rotation",
          {quantize(rotated, "64x64")});
    named(
        "tensor_amax_signed", "tensor_amax_without:negative",
        {quantize(rotated, "64x64"),
         quantize("nvfp4 dialect=te-nvfp4 input=f32 tensor=derived data=random.spread", "71x33")});
}

TEST(Cause, WhatWasSeenNeedsNoHypothesis) {
    expect_named("last_block_unwritten", "unwritten");
    expect_named("scale_overwrites_red_zone", "red_zone");
    expect_named("crash_on_nan", "crash");
}

TEST(Cause, WhatNoHypothesisDescribesIsNotExplained) {
    const Cause cause = cause_of_bug("canary", quantize_lines);
    EXPECT_TRUE(cause.kinds.empty()) << cause.sentence;
    EXPECT_NE(cause.sentence, "");
}

// Scales and codes that lie elsewhere. A case alone may not tell two layouts apart; one is named
// where it explains every case.
TEST(Cause, OtherLayouts) {
    const std::string long_grid = "block=16 shape=130x161 scales=";
    const auto scales_in = [&](const std::string& storage, const std::string& more = "") {
        return quantize_line("mxfp4-e2m1", "ocp", "random.spread", long_grid + storage + more);
    };
    const std::vector<std::string> by_128x4{scales_in("128x4"), scales_in("128x4", " axis=col")};
    expect_named("swizzle_quarters_unshuffled",
                 "layout:scales of 128x4 with its steps of 1 on the long side and 32 on the long "
                 "side in the other order",
                 by_128x4);
    expect_named("swizzle_assumes_32", "layout:scales of 128x4 with rows of tiles half as long",
                 by_128x4);
    expect_named("col_swizzle_as_row", "layout:scales as of blocks along the other axis", by_128x4);
    expect_named("swizzle_8x4_linear", "layout:scales line by line with the pads of whole tiles",
                 {scales_in("8x4"), scales_in("8x4", " axis=col")});
    const auto packed_as = [](const std::string& format, const std::string& more) {
        return quantize_line(format, "ocp", "random.spread", more);
    };
    expect_named("fp6_bits_reversed", "packing:the bits of a byte in the other order",
                 {packed_as("mxfp6-e3m2", "shape=3x65 packing=six")});
    expect_named("packed_rows_run_on", "packing:rows that begin within a byte",
                 {packed_as("mxfp4-e2m1", "shape=5x33 packing=low_first")});
    expect_named("inline_scale_first", "packing:the scale of a block before its codes",
                 {packed_as("mxfp4-e2m1", "shape=3x65 packing=inline")});
    // Pads that are not written are no other place of the scale.
    expect_named("inline_tail_unwritten", "padding",
                 {packed_as("mxfp4-e2m1", "shape=1x1 packing=inline")});
}

// An answer that somebody made, judged as a device's.
CaseResult judged(const std::string& line, const std::function<void(Evidence&)>& spoil,
                  Explainer& explainer) {
    Evidence e;
    e.c = parse_case(line).value();
    Sources sources;
    e.inputs = make_inputs(e.c, *sources.open(e.c).value());
    e.expected = expect(e.c, e.inputs);
    e.actual = e.expected;
    spoil(e);
    for (const CodeTensor& tensor : e.expected) e.flags.emplace_back(tensor.count(), 0);
    e.answer.kind = AnswerKind::answered;
    CaseResult result = blank_result({"test", e.c});
    judge_bits(e, {}, result);
    explainer(e, result);
    return result;
}

CaseResult judged(const std::string& line, const std::function<void(Evidence&)>& spoil) {
    Explainer explainer;
    return judged(line, spoil, explainer);
}

void truncate(Evidence& e) {
    Case other = e.c;
    Quantizer rules = *e.c.dialect;
    rules.element_rounding = Rounding::toward_zero;
    other.dialect = &rules;
    e.actual = expect(other, e.inputs);
}

// A UE5M3 scale rounded toward zero, and the elements under it, in binary64: a quotient of a
// binary32 number by one of four bits lies on a tie or far from it.
void cut_scales(Evidence& e) {
    constexpr double elements[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};  // by code
    constexpr double ratio_min = 0x1p-17;
    const CodeTensor& x = e.inputs[0];
    const auto value_at = [&](std::size_t i) { return std::bit_cast<float>(x.at(i)); };
    for (std::size_t block = 0; block < e.actual[1].count(); ++block) {
        float amax = 0;
        for (std::size_t i = 16 * block; i < 16 * block + 16; ++i)
            amax = std::max(amax, std::abs(value_at(i)));
        const double ratio = std::max(static_cast<double>(amax / 6), ratio_min);
        const int binade = std::ilogb(ratio), quantum = std::max(binade - 3, -17);
        const double units = std::floor(std::ldexp(ratio, -quantum));
        const double scale = std::ldexp(units, quantum);
        e.actual[1].set(block, static_cast<std::uint32_t>(
                                   quantum > binade - 3 ? units : 8 * (binade + 15) + units - 8));
        for (std::size_t i = 16 * block; i < 16 * block + 16; ++i) {
            const double magnitude = std::abs(value_at(i)) / scale;
            std::uint32_t code = 0;
            for (std::uint32_t next = 1; next < 8; ++next) {
                const double border = (elements[next - 1] + elements[next]) / 2;
                if (magnitude > border || (magnitude == border && next % 2 == 0)) code = next;
            }
            e.actual[0].set(i, code | (std::signbit(value_at(i)) ? 8 : 0));
        }
    }
}

TEST(Cause, ScalesWithoutASign) {
    const std::string line =
        "quantize format=fp4-ue5m3-1x16 dialect=alto-amdfp4-block input=f32 "
        "shape=64x64 data=random.spread";
    Sources sources;
    const std::vector<CaseResult> cases{judged(line, cut_scales)};
    const Cause cause = cause_of(cases, sources);
    EXPECT_EQ(cause.kinds, std::vector<std::string>{"ue5m3_scale:toward_zero"}) << cause.sentence;
    EXPECT_TRUE(cause.sentence.starts_with("A UE5M3 scale is rounded toward zero; nothing else"))
        << cause.sentence;
}

TEST(Cause, TwoFaultsAtOnce) {
    Sources sources;
    const std::vector<CaseResult> cases{
        judged(quantize_line("mxfp8-e4m3", "ocp", "random.bits"), [](Evidence& e) {
            truncate(e);
            for (std::size_t i = 0; i < e.actual[0].count(); ++i)
                if (e.actual[0].at(i) == 0x7F) e.actual[0].set(i, 0);  // a NaN
        })};
    const Cause cause = cause_of(cases, sources);
    ASSERT_EQ(cause.kinds.size(), 2u)
        << cause.sentence << " " << testing::PrintToString(cases[0].explanations);
    EXPECT_TRUE(cause.sentence.starts_with("2 causes: ")) << cause.sentence;
    EXPECT_NE(cause.sentence.find("elements are rounded toward zero"), std::string::npos)
        << cause.sentence;
    EXPECT_NE(cause.sentence.find("a NaN becomes zero"), std::string::npos) << cause.sentence;
}

// Nothing but zeros lies elsewhere: no case tells the last block from all blocks, unless it is all.
TEST(Cause, WhatOnlyTheLastBlockShowsIsSaid) {
    for (const std::int64_t columns : {32, 96}) {
        Sources sources;
        const std::string shape = "shape=64x" + std::to_string(columns);
        const std::vector<CaseResult> cases{
            judged(quantize_line("mxfp8-e4m3", "ocp", "random.spread", shape), [&](Evidence& e) {
                for (std::size_t i = 0; i < e.inputs[0].count(); ++i)
                    if (static_cast<std::int64_t>(i) % columns < columns - 32)
                        e.inputs[0].set(i, 0);
                e.expected = expect(e.c, e.inputs);
                truncate(e);
            })};
        const Cause cause = cause_of(cases, sources);
        EXPECT_NE(cause.sentence.find("rounded toward zero"), std::string::npos) << cause.sentence;
        EXPECT_EQ(cause.sentence.find("seen in the last block of a line") != std::string::npos,
                  columns > 32)
            << cause.sentence;
    }
}

// Two, of which one can be said in two ways: what is subnormal is never a tie here.
TEST(Cause, OneOfTwoMayBeAmbiguous) {
    Sources sources;
    const std::vector<CaseResult> cases{
        judged(quantize_line("mxfp8-e4m3", "ocp", "random.bits"), [](Evidence& e) {
            truncate(e);
            for (std::size_t i = 0; i < e.actual[0].count(); ++i)
                if ((e.actual[0].at(i) & 0x78) == 0) e.actual[0].set(i, e.actual[0].at(i) & 0x80);
        })};
    const Cause cause = cause_of(cases, sources);
    ASSERT_EQ(cause.kinds.size(), 2u)
        << cause.sentence << " " << testing::PrintToString(cases[0].explanations);
    EXPECT_NE(cause.sentence.find("elements are rounded toward zero"), std::string::npos)
        << cause.sentence;
    EXPECT_NE(cause.sentence.find("subnormal elements become zero"), std::string::npos)
        << cause.sentence;
    EXPECT_NE((cause.kinds[0] + cause.kinds[1]).find("code:subnormal_as_zero | subnormals:"),
              std::string::npos)
        << cause.kinds[0] << " and " << cause.kinds[1];
}

// A cast has no blocks, so no parts of tensors in which one of the two could lie.
TEST(Cause, TwoFaultsOfACast) {
    const CaseResult result = judged(
        "convert format=e4m3 dialect=ocp input=f32 rounding=nearest_even overflow=saturate "
        "subnormals=honoured layout=dense shape=200x32 data=random.bits index=0 seed=0",
        [](Evidence& e) {
            Case other = e.c;
            other.rules->rounding = Rounding::toward_zero;
            e.actual = expect(other, e.inputs);
            for (std::size_t i = 0; i < e.actual[0].count(); ++i)
                if (e.actual[0].at(i) == 0x7F) e.actual[0].set(i, 0);  // a NaN
        });
    ASSERT_FALSE(result.explanations.empty());
    EXPECT_NE(result.explanations[0].find(" + "), std::string::npos) << result.explanations[0];
}

// E4M3 in units of its smallest subnormal, 2^-9: the code that `rounded` makes of a number of them
// below 8, in place of the right one. Blocks of 32 along rows of 64.
void round_subnormals(Evidence& e, const std::function<double(double units)>& rounded) {
    for (std::size_t i = 0; i < e.actual[0].count(); ++i) {
        const double value = std::bit_cast<float>(e.inputs[0].at(i));
        const int scale = static_cast<int>(e.expected[1].at(i / 32)) - 127;
        const double units = std::ldexp(std::fabs(value), 9 - scale);
        if (scale == 128 || !(units < 8)) continue;
        e.actual[0].set(
            i, (std::signbit(value) ? 0x80u : 0u) | static_cast<std::uint32_t>(rounded(units)));
    }
}

TEST(Cause, FaultsOfARounder) {
    const std::string line = quantize_line("mxfp8-e4m3", "ocp", "edge.tie");
    const auto expect_kind = [&](const std::string& kind,
                                 const std::function<double(double)>& rounded) {
        Sources sources;
        const std::vector<CaseResult> cases{
            judged(line, [&](Evidence& e) { round_subnormals(e, rounded); })};
        EXPECT_EQ(cause_of(cases, sources).kinds, std::vector<std::string>{kind})
            << cause_of(cases, sources).sentence;
    };
    Sources sources;
    const std::vector<CaseResult> right{judged(line, [](Evidence& e) {
        round_subnormals(e, [](double units) { return std::nearbyint(units); });
    })};
    EXPECT_EQ(cause_of(right, sources).sentence, "");
    expect_kind("sticky_lost:subnormal",
                [](double units) { return std::nearbyint(std::floor(2 * units) / 2); });
    expect_kind("subnormal_shift:-1", [](double units) { return std::nearbyint(units / 2); });
}

TEST(Cause, ElementsInAnotherOrder) {
    for (const auto& order : {std::pair{"order:pairs", 1u}, {"order:whole", 31u}}) {
        Sources sources;
        std::vector<CaseResult> cases;
        // The last block of a row is short: what stands beside its last element is none.
        for (const char* shape : {"shape=8x64", "shape=8x63"})
            cases.push_back(judged(
                quantize_line("mxfp8-e4m3", "ocp", "random.spread", shape), [&](Evidence& e) {
                    const auto columns = static_cast<std::size_t>(e.actual[0].columns);
                    for (std::size_t i = 0; i < e.actual[0].count(); ++i) {
                        const std::size_t from = i % columns ^ order.second;
                        e.actual[0].set(
                            i, from < columns ? e.expected[0].at(i / columns * columns + from) : 0);
                    }
                }));
        EXPECT_EQ(cause_of(cases, sources).kinds, std::vector<std::string>{order.first})
            << cause_of(cases, sources).sentence;
    }
}

// The codes of lane 0 are those of the second answer, all others those of the first.
void join_lane_0(Evidence& e, const Tensors& others, const Tensors& lane_0) {
    for (std::size_t i = 0; i < e.actual[0].count(); ++i)
        e.actual[0].set(i, (i % 32 == 0 ? lane_0 : others)[0].at(i));
    e.actual[1] = others[1];
}

std::uint32_t magnitude_of(const CodeTensor& values, std::size_t at) {
    return values.at(at) & 0x7FFFFFFF;
}

// The planted bugs of a GPU have these faults too, but need a GPU.
TEST(Cause, WhatAParallelKernelGetsWrong) {
    struct Fault {
        const char* kind;
        const char* shape;
        void (*make)(Evidence& e);
    };
    const Fault faults[] = {
        {"early_elements:4", "shape=64x64",
         [](Evidence& e) {
             Tensors unseen = e.inputs;
             for (std::size_t i = 0; i < unseen[0].count(); ++i)
                 if (i % 32 < 4) unseen[0].set(i, 0);
             const Tensors early = expect(e.c, unseen);
             for (std::size_t i = 0; i < early[0].count(); ++i)
                 if (i % 32 >= 4) e.actual[0].set(i, early[0].at(i));
         }},
        {"vector_address:16", "shape=9x67",
         [](Evidence& e) {
             Tensors read = e.inputs;
             for (std::size_t i = 0; i < read[0].count(); ++i)
                 read[0].set(i, e.inputs[0].at(i - i / 67 * 67 % 4));
             e.actual = expect(e.c, read);
         }},
        {"amax_keeps:2", "shape=8x160",
         [](Evidence& e) {
             // The amax so far of every second block stands in lane 0, or in lane 1.
             Tensors first = e.inputs, second = e.inputs;
             for (std::size_t block = 0; block < first[0].count() / 32; ++block) {
                 std::uint32_t amax = 0;
                 for (std::size_t at = block % 5 % 2; at <= block % 5; at += 2)
                     for (std::size_t lane = 0; lane < 32; ++lane)
                         amax = std::max(
                             amax, magnitude_of(e.inputs[0], (block / 5 * 5 + at) * 32 + lane));
                 first[0].set(block * 32, amax);
                 second[0].set(block * 32 + 1, amax);
             }
             join_lane_0(e, expect(e.c, first), expect(e.c, second));
         }},
    };
    for (const Fault& fault : faults) {
        Sources sources;
        std::vector<CaseResult> cases;
        for (const char* format : {"mxfp8-e4m3", "mxfp4-e2m1"})
            cases.push_back(
                judged(quantize_line(format, "nv", "random.spread", fault.shape), fault.make));
        const Cause cause = cause_of(cases, sources);
        ASSERT_EQ(cause.kinds.size(), 1u) << fault.kind << ": " << cause.sentence;
        EXPECT_TRUE(cause.kinds[0].starts_with(fault.kind)) << cause.sentence;
        EXPECT_NE(cause.sentence.find("nothing else is wrong"), std::string::npos)
            << cause.sentence;
    }
}

TEST(Cause, ASinglePlaceMoreIsEnoughToDoubt) {
    Sources sources;
    const auto spoil = [](bool one_more) {
        return [one_more](Evidence& e) {
            truncate(e);
            if (one_more) e.actual[0].set(77, e.actual[0].at(77) ^ 0x10u);
        };
    };
    const std::string line = quantize_line("mxfp8-e4m3", "ocp", "random.spread");
    const std::vector<CaseResult> clean{judged(line, spoil(false))};
    EXPECT_FALSE(cause_of(clean, sources).kinds.empty());
    const std::vector<CaseResult> doubtful{judged(line, spoil(true))};
    EXPECT_TRUE(cause_of(doubtful, sources).kinds.empty());
}

// In parts and as a whole a run that is to be repeated byte for byte says the same of a case; one
// that is not stops to explain when its time is spent.
TEST(Cause, WhatIsSaidOfACaseHangsOnThoseBeforeItOnlyWhereThatIsAllowed) {
    const std::string line = quantize_line("mxfp8-e4m3", "ocp", "edge.tie", "shape=1x32");
    for (const Memory memory : {Memory::none, Memory::of_the_run}) {
        Explainer explainer(memory);
        const CaseResult first = judged(line, truncate, explainer);
        ASSERT_FALSE(first.explanations.empty());
        CaseResult last = first;
        for (int i = 0; i < 257; ++i) last = judged(line, truncate, explainer);
        EXPECT_EQ(last == first, memory == Memory::none);
    }
}

// A passing case in which the hypothesis would have changed something takes the cause away.
TEST(Cause, IsRefutedByAPassingCase) {
    Sources sources;
    const std::string line = quantize_line("mxfp8-e4m3", "ocp", "random.spread");
    std::vector<CaseResult> cases{judged(line, truncate)};
    ASSERT_FALSE(cause_of(cases, sources).kinds.empty());
    cases.push_back(judged(line + " index=640", [](Evidence&) {}));
    EXPECT_TRUE(cause_of(cases, sources).kinds.empty());
    // With another format it holds in the one alone.
    cases.pop_back();
    cases.push_back(judged(quantize_line("mxfp8-e5m2", "ocp", "random.spread"), [](Evidence&) {}));
    EXPECT_TRUE(
        cause_of(cases, sources)
            .sentence.starts_with(
                "In elements of e4m3, elements are rounded toward zero; nothing else is wrong"))
        << cause_of(cases, sources).sentence;
}

TEST(Cause, AnotherEntryOfTheTableIsNamed) {
    Sources sources;
    const std::vector<CaseResult> cases{
        judged(quantize_line("mxfp8-e4m3", "nv", "random.bits"), [](Evidence& e) {
            Case other = e.c;
            other.dialect = find_quantizer("ocp");
            e.actual = expect(other, e.inputs);
        })};
    const Cause cause = cause_of(cases, sources);
    EXPECT_TRUE(cause.sentence.starts_with("These bits follow ")) << cause.sentence;
    EXPECT_NE(cause.sentence.find("ocp"), std::string::npos) << cause.sentence;
    EXPECT_NE(cause.sentence.find(", not nv"), std::string::npos) << cause.sentence;
}

// What a judge of GEMMs found, of a case that can be made again.
CaseResult wrong_gemm(const std::string& more, const std::vector<std::string>& explanations) {
    const auto c = parse_case("gemm a=mxfp8-e4m3 b=mxfp8-e4m3 " + more).value();
    CaseResult result = blank_result({"test", c});
    result.verdict = results::Verdict::fail;
    results::Mismatch m;
    m.mismatch_class = "value";
    m.direction = "several codes up";
    m.count = 100;
    result.mismatches = {m};
    result.looked_at = 100;
    result.explanations = explanations;
    return result;
}

// A sum whose altered data hang on their order stays unexplained; the others name the cause.
TEST(Cause, OfMostGemmsIsSaidOfThoseAlone) {
    Sources sources;
    const std::vector<std::string> transposed{"gemm:D is transposed"};
    std::vector<CaseResult> cases{wrong_gemm("shape=8x12x64 data=gemm.small", transposed),
                                  wrong_gemm("shape=12x8x96 data=gemm.small", transposed),
                                  wrong_gemm("shape=16x8x96 data=gemm.small", {})};
    const Cause cause = cause_of(cases, sources);
    EXPECT_EQ(cause.sentence,
              "In 2 of the 3 failing cases one cause explains every difference: D is transposed; "
              "the other 1 is not explained.");
    EXPECT_EQ(cause.kinds, transposed);
    // Half of them are not most, and a passing case that it would have changed refutes it.
    cases.push_back(wrong_gemm("shape=16x12x96 data=gemm.small", {}));
    EXPECT_TRUE(cause_of(cases, sources).kinds.empty());
    cases.back().verdict = results::Verdict::pass_exact;
    cases.back().mismatches.clear();
    EXPECT_TRUE(cause_of(cases, sources).kinds.empty());
}

// The number that all cases have in common is the one that counts.
std::string gemm_line(const std::string& more) {
    return "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 " + more;
}

void expect_gemm(const std::string& bug, const std::string& kind,
                 const std::vector<std::string>& lines) {
    expect_named(bug, "gemm:" + kind, lines, "gemm_mutants.so");
}

TEST(Cause, StepsOfAnEpilogueInAnotherOrder) {
    const std::vector<std::string> lines{
        gemm_line("output=f32 shape=24x12x64 alpha=-1.7 beta=0.7 c=f32 epilogue=bias-relu "
                  "model=blackwell-mx data=gemm.middle"),
        gemm_line("output=bf16 shape=24x12x64 alpha=1.1 beta=0 epilogue=bias "
                  "model=blackwell-mx data=gemm.middle"),
        gemm_line("output=f32 shape=24x12x64 model=blackwell-mx data=gemm.middle")};
    expect_gemm("relu_before_c", "the activation comes before C", lines);
    expect_gemm("relu_before_bias", "the activation comes before the bias", lines);
    expect_gemm("alpha_on_c", "alpha multiplies the sum and C together", lines);
    expect_gemm("bias_before_alpha", "alpha multiplies the sum and the bias together", lines);
    expect_gemm("rounded_before_bias", "the sum is rounded to the type of D before the bias",
                lines);
}

TEST(Cause, ScalesOfBothFactors) {
    const std::vector<std::string> lines{
        gemm_line("output=f32 shape=24x16x160 data=gemm.lowest-scale"),
        gemm_line("output=f32 shape=20x12x176 model=blackwell-mx data=gemm.middle")};
    expect_gemm("scale_slice_reused",
                "the scales of A and B from block # on are those of block # on again", lines);
    expect_gemm("block_index_off_by_one",
                "the last element of a block of A and B takes the scale of the next block", lines);
}

TEST(Cause, ScalesThatAreNumbersOrLeaveTheirRange) {
    const std::vector<std::string> lines{
        gemm_line("output=f32 shape=32x40x96 alpha=-0.5 data=gemm.nonfinite"),
        gemm_line("output=f32 shape=24x20x96 model=blackwell-mx data=gemm.dominant"),
        gemm_line("output=f32 shape=20x12x176 model=blackwell-mx data=gemm.middle")};
    expect_gemm("nan_scale_as_infinity", "NaN scales are taken as Inf", lines);
    expect_gemm("nan_scale_ignored", "NaN scales are read as numbers", {lines[0], lines[2]});
    expect_gemm("scale_product_in_f32", "the scales of A and B are multiplied in binary#", lines);
    expect_gemm("scale_sum_in_8_bits", "the exponents of two scales are added in eight bits",
                lines);
}

TEST(Cause, SumsThatBeginOrEndWithSomethingElse) {
    const std::vector<std::string> lines{
        gemm_line("output=f32 shape=20x12x176 model=blackwell-mx data=gemm.middle"),
        gemm_line("output=f32 shape=24x12x96 model=blackwell-mx data=gemm.small"),
        gemm_line("output=f32 shape=32x32x128 data=gemm.exact-mantissas")};
    expect_gemm("stale_accumulator", "the sum of a row begins with that of the row # above", lines);
    expect_gemm("last_k_doubled", "the last k of a step that is not of whole # is counted twice",
                lines);
}

TEST(Cause, BlocksOfD) {
    const auto line = [](const std::string& output) {
        return gemm_line("output=" + output + " shape=16x72x160 data=gemm.exact-mantissas");
    };
    const std::vector<std::string> lines{line("mxfp8-e4m3 dialect=ocp"),
                                         line("mxfp8-e4m3 dialect=nv"),
                                         line("mxfp4-e2m1 dialect=ocp"), line("f32")};
    expect_gemm("d_scale_one_up", "the scales of D are stored as the next larger", lines);
    expect_gemm("d_scale_of_block_before", "a block of D stores the scale of the block before",
                lines);
    expect_gemm("d_elements_unscaled", "the elements of D are made as if its scales were #", lines);
    expect_gemm("d_rounded_before_blocks", "D is rounded to bf# before it is rounded", lines);
    // What is wrong with a sum is wrong with what blocks are made of.
    expect_gemm("half_of_k_missing", "the second half of K is not counted", lines);
}

TEST(Cause, ASizeOrAnExceptionLimitsIt) {
    const Cause of_long =
        cause_of_bug("half_of_k_missing",
                     {gemm_line("output=f32 shape=16x72x160 data=gemm.exact-mantissas"),
                      gemm_line("output=f32 shape=12x24x96 data=gemm.exact-mantissas"),
                      gemm_line("output=f32 shape=5x7x33 data=gemm.exact-mantissas")},
                     "gemm_mutants.so");
    EXPECT_TRUE(of_long.sentence.starts_with(
        "Where K is 96 or more, the second half of K is not counted; nothing else is wrong"))
        << of_long.sentence;
    const auto line = [](const std::string& rounding) {
        return "convert format=e2m1 dialect=nv input=f32 rounding=" + rounding +
               " overflow=saturate subnormals=honoured shape=2x32 data=edge.tie";
    };
    const Cause directed = cause_of_bug("directed_underflow_unsigned",
                                        {line("toward_zero"), line("toward_positive"),
                                         line("nearest_toward_zero"), line("nearest_even")});
    EXPECT_TRUE(directed.sentence.starts_with(
        "Except under rounding nearest_even, sign_of_zero is underflow_dropped, not kept"))
        << directed.sentence;
}

// Whose scale is not there, those elements are made of nothing.
TEST(Cause, ElementsUnderAnUnwrittenScaleAreNoSecondFault) {
    const Cause cause = cause_of_bug(
        "last_row_missing",
        {gemm_line("output=mxfp4-e2m1 dialect=ocp shape=16x72x160 data=gemm.exact-mantissas")},
        "gemm_mutants.so");
    EXPECT_EQ(cause.kinds, std::vector<std::string>{"unwritten"}) << cause.sentence;
}

// Of blocks as of GEMMs, where most of the cases have one explanation and it changes the others.
TEST(Cause, OfMostBlocksIsSaidOfThoseAlone) {
    const Cause cause = cause_of_bug(
        "partial_block_padding_read",
        {quantize_line("mxfp8-e4m3", "ocp", "random.spread", "shape=240x67"),
         quantize_line("mxfp8-e4m3", "nv", "random.spread", "shape=240x67"),
         quantize_line("mxfp8-e4m3", "ocp", "random.spread", "shape=71x33 axis=tile")});
    EXPECT_EQ(cause.kinds, std::vector<std::string>{"amax_reads_on | amax_reads_on@last_blocks"})
        << cause.sentence;
    EXPECT_TRUE(cause.sentence.starts_with("In 2 of the 3 failing cases one cause explains every"))
        << cause.sentence;
    EXPECT_TRUE(cause.sentence.ends_with("; the other 1 is not explained.")) << cause.sentence;
}

TEST(Cause, OfOneNumberIsNotOfAnyNumber) {
    Sources sources;
    const std::vector<std::string> alone{"gemm:alpha is taken as 1"};
    std::vector<CaseResult> cases{
        wrong_gemm("shape=8x12x64 data=gemm.small alpha=2 beta=1", alone),
        wrong_gemm("shape=12x8x96 data=gemm.small alpha=2 beta=1", alone)};
    cases.push_back(wrong_gemm("shape=12x8x96 data=gemm.small alpha=2 beta=2", {}));
    cases.back().verdict = results::Verdict::pass_exact;
    cases.back().mismatches.clear();
    EXPECT_TRUE(
        cause_of(cases, sources)
            .sentence.starts_with("Where beta is 1, alpha is taken as 1; nothing else is wrong"))
        << cause_of(cases, sources).sentence;
}

}  // namespace
}  // namespace mx::cause
