// Tests of tensors that are judged in slices: what the device is given is what it would be given
// whole, planted bugs that wrap are seen where they wrap, and what does not fit is said in bytes.
#include "conformance/run/in_slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/data/test/case_of.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/call_buffers.hpp"
#include "device/host/layout.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

const std::string quantize =
    "quantize format=mxfp8-e4m3 dialect=ocp input=bf16 axis=row data=repeat:509:random.spread ";

// What such a case asks when it is asked whole, as a device in this process.
struct Whole {
    explicit Whole(const Case& asked) : c(asked) {
        const auto source = sources.open(c);
        inputs = make_inputs(c, *source.value());
        question = make_question(c, inputs, storage);
        const std::vector<CodeTensor> expected = expect(c, inputs);
        for (const Buffer& buffer : output_buffers(c))
            outputs.push_back(is_strided(buffer.spec) ? expected[buffer.tensor].bytes
                                                      : lay_out(buffer, expected, std::byte{0}));
    }

    // Holds what it is given against what it would have been given, and answers what is right,
    // after `spoil` has been at it.
    using Spoil = std::function<void(int run, std::vector<std::vector<std::byte>>& inputs,
                                     std::vector<std::vector<std::byte>>& outputs)>;
    Client client(const Spoil& spoil) {
        Client answering{.ask = [](const Question&) { return DeviceAnswer{}; }};
        answering.ask_in_place = [this, spoil](const Question& asked, const CallInPlace& call) {
            EXPECT_EQ(asked.operation, question.operation);
            std::vector<std::vector<std::byte>> given;
            for (const InputTensor& input : question.inputs)
                given.emplace_back(input.data.size(), std::byte{0x77});
            call.fill(spans_of(given));
            for (std::size_t i = 0; i < given.size(); ++i)
                EXPECT_TRUE(std::ranges::equal(given[i], question.inputs[i].data)) << i;
            for (const std::byte poison : {first_poison, second_poison}) {
                std::vector<std::vector<std::byte>> made = outputs;
                spoil(poison == first_poison ? 1 : 2, given, made);
                call.look(spans_of(given), spans_of(made), poison);
            }
            for (std::size_t i = 0; i < given.size(); ++i)
                EXPECT_TRUE(std::ranges::equal(given[i], question.inputs[i].data)) << i;
            return DeviceAnswer{.kind = AnswerKind::answered};
        };
        return answering;
    }

    static std::vector<std::span<std::byte>> spans_of(std::vector<std::vector<std::byte>>& all) {
        return {all.begin(), all.end()};
    }

    CaseResult judged(const Spoil& spoil) {
        EXPECT_TRUE(is_judged_in_slices(c)) << print(c);
        CaseResult result = blank_result({"test", c});
        const Status status = judge_in_slices(c, client(spoil), sources, result);
        EXPECT_TRUE(status) << (status ? "" : status.error().message);
        return result;
    }

    Case c;
    Sources sources;
    std::vector<CodeTensor> inputs;
    std::vector<std::vector<std::byte>> storage;
    Question question;
    std::vector<std::vector<std::byte>> outputs;
};

void spoil_nothing(int, std::vector<std::vector<std::byte>>&,
                   std::vector<std::vector<std::byte>>&) {}

TEST(InSlices, ADeviceIsGivenWhatItWouldBeGivenWhole) {
    for (const char* text :
         {"quantize format=mxfp8-e4m3 dialect=ocp input=f32 axis=row shape=45x96 "
          "data=repeat:15:random.spread",
          "quantize format=mxfp8-e4m3 dialect=nv input=bf16 axis=col shape=960x16 "
          "data=repeat:15:random.bits",
          "quantize format=mxfp6-e2m3 dialect=ocp input=bf16 axis=tile shape=192x96 "
          "data=repeat:9:random.spread",
          "quantize format=mxfp8-e4m3 dialect=nv input=bf16 axis=row scales=128x4 shape=768x128 "
          "data=repeat:3:random.spread",
          "quantize format=mxfp4-e2m1 dialect=ocp input=bf16 axis=row packing=low_first "
          "shape=14x64 data=repeat:7:random.spread",
          "quantize format=nvfp4 dialect=te-nvfp4 input=bf16 axis=row block=16 "
          "packing=low_first shape=14x64 data=repeat:7:random.spread",
          "dequantize format=mxfp8-e5m2 dialect=ocp output=bf16 axis=row shape=22x64 "
          "data=repeat:11:codes.random",
          "convert format=e4m3 dialect=ocp input=bf16 rounding=nearest_even overflow=saturate "
          "subnormals=honoured shape=26x64 data=repeat:13:random.bits"}) {
        SCOPED_TRACE(text);
        Whole whole(case_of(text));
        const CaseResult result = whole.judged(spoil_nothing);
        EXPECT_EQ(result.verdict, Verdict::pass_exact) << result.reason;
        EXPECT_EQ(result.elements + result.scales > 0, true);
        EXPECT_EQ(result.mismatched_elements + result.mismatched_scales, 0u);
        EXPECT_EQ(result.elements, static_cast<std::uint64_t>(element_count(whole.c)));
    }
}

TEST(InSlices, WhatDiffersIsCountedAndNamedByItsBlock) {
    Whole whole(case_of(quantize + "shape=10180x64"));  // 20 periods of 1,018 blocks
    const CaseResult result = whole.judged([](int, auto&, auto& outputs) {
        for (const std::size_t element : {std::size_t{64}, std::size_t{651520 - 1}})
            outputs[0][element] ^= std::byte{1};
    });
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(result.mismatched_elements, 2u);
    EXPECT_EQ(result.reason, "the first block that differs is 2 of 20,360");
    std::uint64_t count = 0;
    for (const results::Mismatch& m : result.mismatches) count += m.count;
    EXPECT_EQ(count, 2u);
}

// Of more slices than are classified all differences are counted.
TEST(InSlices, NoDifferenceIsLostBeyondTheSlicesThatAreKept) {
    Whole whole(case_of(quantize + "shape=10180x64"));
    const CaseResult result = whole.judged([](int, auto&, auto& outputs) {
        for (std::size_t row = 0; row < 10180; ++row) outputs[0][row * 64] ^= std::byte{0x80};
    });
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(result.mismatched_elements, 10180u);
    const auto is_rest = [](const results::Mismatch& m) {
        return m.mismatch_class == "unclassified";
    };
    const auto rest = std::ranges::find_if(result.mismatches, is_rest);
    ASSERT_NE(rest, result.mismatches.end());
    EXPECT_EQ(rest->count, 4u * 509u);
}

TEST(InSlices, UnwrittenFlakyAndModifiedAreWhatTheyAre) {
    Whole whole(case_of(quantize + "shape=10180x64"));
    const CaseResult unwritten = whole.judged([](int run, auto&, auto& outputs) {
        const std::byte poison = run == 1 ? first_poison : second_poison;
        std::fill(outputs[0].end() - 100, outputs[0].end(), poison);
    });
    ASSERT_EQ(unwritten.mismatches.size(), 1u);
    EXPECT_EQ(unwritten.mismatches[0].mismatch_class, "unwritten");
    EXPECT_EQ(unwritten.mismatches[0].count, 100u);
    const CaseResult flaky = whole.judged([](int run, auto&, auto& outputs) {
        if (run == 2) outputs[1][700] ^= std::byte{1};
    });
    EXPECT_EQ(flaky.verdict, Verdict::flaky);
    CaseResult modified = blank_result({"test", whole.c});
    const Client client = whole.client([](int run, auto& inputs, auto&) {
        if (run == 1) inputs[0][77] ^= std::byte{1};
    });
    ASSERT_TRUE(judge_in_slices(whole.c, client, whole.sources, modified));
    ASSERT_EQ(modified.mismatches.size(), 1u);
    EXPECT_EQ(modified.mismatches[0].mismatch_class, "input_modified");
    EXPECT_EQ(modified.mismatches[0].note, "input 0, first at element 38");
}

CaseResult asked(const std::string& configuration, const std::string& text, Limits limits = {}) {
    const auto client = open_client({.name = "large_mutants.so",
                                     .path = MX_MUTANT_DIRECTORY "/large_mutants.so",
                                     .configuration = configuration},
                                    limits);
    EXPECT_TRUE(client.ok()) << (client ? "" : client.error().message);
    Sources sources;
    Runner runner(client.value(), sources, {});
    auto result = runner.run({"large", case_of(text)});
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
    return result ? result.value() : CaseResult{};
}

const std::string beyond_2to21 = quantize + "shape=33594x64";  // 2,150,016 elements

TEST(InSlices, TheBaseOfThePlantedBugsIsClean) {
    const CaseResult result = asked("bug=none", beyond_2to21);
    EXPECT_EQ(result.verdict, Verdict::pass_exact) << result.reason;
    EXPECT_EQ(result.elements, 2'150'016u);
    EXPECT_EQ(result.scales, 67'188u);
}

TEST(InSlices, AnOffsetThatWrapsIsSeenWhereItWraps) {
    const CaseResult written = asked("bug=element_offset_wraps,bits=21", beyond_2to21);
    EXPECT_EQ(written.verdict, Verdict::fail);
    const auto unwritten =
        std::ranges::find(written.mismatches, "unwritten", &results::Mismatch::mismatch_class);
    ASSERT_NE(unwritten, written.mismatches.end());
    EXPECT_EQ(unwritten->count, 2'150'016u - (1u << 21));
    EXPECT_EQ(unwritten->block, 1u << 16);
    EXPECT_NE(unwritten->note.find("first in block 2^16"), std::string::npos) << unwritten->note;
    const CaseResult read = asked("bug=input_offset_wraps,bits=21", beyond_2to21);
    EXPECT_EQ(read.verdict, Verdict::fail);
    EXPECT_EQ(read.reason, "the first block that differs is 65,536 of 67,188");
}

TEST(InSlices, ABlockIndexThatWrapsIsSeen) {
    const CaseResult result = asked("bug=block_index_wraps,bits=16", beyond_2to21);
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_GT(result.mismatched_scales, 67'188u - 65'536u);
}

// State that is kept from call to call, in one process.
TEST(InSlices, WhatRunsOutAfterManyCallsIsSeen) {
    const auto client = open_client({.name = "large_mutants.so",
                                     .path = MX_MUTANT_DIRECTORY "/large_mutants.so",
                                     .configuration = "bug=calls_run_out,bits=6"});
    ASSERT_TRUE(client.ok());
    Sources sources;
    Runner runner(client.value(), sources, {});
    int failed = 0;
    for (int index = 0; index < 40; ++index) {
        const auto result = runner.run(
            {"large", case_of("quantize format=mxfp8-e4m3 dialect=ocp input=bf16 axis=row "
                              "shape=4x64 data=random.spread index=" +
                              std::to_string(8 * index))});
        ASSERT_TRUE(result.ok());
        failed += result.value().verdict == Verdict::pass_exact ? 0 : 1;
        EXPECT_EQ(result.value().verdict == Verdict::pass_exact, index < 32) << index;
    }
    EXPECT_EQ(failed, 8);
}

TEST(InSlices, WhatDoesNotFitIsSaidInBytes) {
    const CaseResult result = asked("bug=none", beyond_2to21, {.memory_max = 1'000'000});
    EXPECT_EQ(result.verdict, Verdict::untested);
    EXPECT_EQ(result.reason,
              "not asked: its tensors need 6,541,824 bytes, of which 1,000,000 may be used");
}

TEST(InSlices, OddPeriodsAlone) {
    Sources sources;
    for (const char* data : {"repeat:512:random.spread", "repeat:1:random.spread", "repeat:9",
                             "repeat:x:random.spread", "repeat:9:random.spreat"}) {
        const auto source = sources.open(
            case_of("quantize format=mxfp8-e4m3 dialect=ocp input=bf16 axis=row shape=4x64 data=" +
                    std::string(data)));
        EXPECT_FALSE(source.ok()) << data;
    }
    CaseResult result;
    const Case ragged = case_of(quantize + "shape=1019x64");
    const Status status = judge_in_slices(ragged, Client{}, sources, result);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("no whole number of periods of 509"), std::string::npos);
}

}  // namespace
}  // namespace mx
