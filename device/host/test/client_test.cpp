// What an answer is worth to whoever asks: refusals by their kind, and each thing that no answer
// may do.
#include "device/host/client.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mx {
namespace {

const Question question{.outputs = {dense("e4m3", 1, 4), dense("e8m0", 1, 1)}};

DeviceAnswer answered() {
    DeviceAnswer answer;
    answer.kind = AnswerKind::answered;
    answer.outputs.resize(2);
    answer.outputs[0].bytes.resize(4);
    return answer;
}

std::string refusal(const DeviceAnswer& answer, const Question& asked = question) {
    const auto outputs = outputs_of(answer, asked);
    return outputs ? "" : outputs.error().message;
}

TEST(Client, TakesAnAnswerThatIsOne) {
    const auto outputs = outputs_of(answered(), question);
    ASSERT_TRUE(outputs);
    EXPECT_EQ(outputs.value().size(), 2u);
    EXPECT_EQ(outputs.value()[0].bytes.size(), 4u);
}

TEST(Client, TellsWhoseFaultARefusalIs) {
    const auto kind_of = [](AnswerKind kind) {
        return outputs_of({kind, "why", {}, {}}, question).error().kind;
    };
    EXPECT_EQ(kind_of(AnswerKind::not_supported), ErrorKind::bad_input);
    EXPECT_EQ(kind_of(AnswerKind::host_error), ErrorKind::system);
    for (const AnswerKind kind : {AnswerKind::device_error, AnswerKind::crash, AnswerKind::timeout})
        EXPECT_EQ(kind_of(kind), ErrorKind::device);
    EXPECT_EQ(refusal({AnswerKind::crash, "it died", {}, {}}), "it died");
    EXPECT_EQ(refusal({AnswerKind::not_supported, "", {}, {}}), "no reason given");
}

// D has a third row that belongs to no group.
TEST(Client, LetsRowsOfNoGroupStayUnwritten) {
    const std::array<std::int32_t, 3> offsets{0, 1, 2};
    Question grouped{.operation = {.name = "gemm", .gemm = GemmOperation{.groups = 2}},
                     .inputs = {{dense("i32", 1, 3), std::as_bytes(std::span(offsets))}},
                     .outputs = {dense("f32", 3, 2)}};
    DeviceAnswer answer;
    answer.kind = AnswerKind::answered;
    answer.outputs.resize(1);
    answer.outputs[0].flags = {0, 0, 0, 0, flag_unwritten, flag_unwritten};
    answer.outputs[0].unwritten = 2;
    EXPECT_EQ(refusal(answer, grouped), "");
    answer.outputs[0].flags[3] = flag_unwritten;
    answer.outputs[0].unwritten = 3;
    EXPECT_NE(refusal(answer, grouped), "");
    grouped.operation.gemm->groups = 0;
    answer.outputs[0].flags[3] = 0;
    EXPECT_NE(refusal(answer, grouped), "");
}

TEST(Client, SeesWhatNoAnswerMayDo) {
    const auto misbehaved = [](const std::string& what) {
        return "the device misbehaved: " + what + "; `mxcheck run` says where";
    };
    DeviceAnswer unwritten = answered();
    unwritten.outputs[1].unwritten = 1;
    EXPECT_EQ(refusal(unwritten), misbehaved("it left elements unwritten"));
    DeviceAnswer flaky = answered();
    flaky.outputs[0].differing = 1;
    EXPECT_EQ(refusal(flaky), misbehaved("two runs gave different bits"));
    DeviceAnswer beside = answered();
    beside.findings.red_zone_hits.emplace_back();
    EXPECT_EQ(refusal(beside), misbehaved("it wrote to an input or a red zone"));
    DeviceAnswer backwards = answered();
    backwards.findings.modified_inputs.emplace_back();
    EXPECT_EQ(refusal(backwards), misbehaved("it wrote to an input or a red zone"));
}

TEST(Client, PadsOfOtherLayoutsMayStay) {
    Question swizzled = question;
    swizzled.outputs[1].layout = "128x4";
    DeviceAnswer padded = answered();
    padded.outputs[1].unwritten = 511;
    EXPECT_EQ(refusal(padded, swizzled), "");
    padded.outputs[1].differing = 1;
    EXPECT_NE(refusal(padded, swizzled), "");
}

}  // namespace
}  // namespace mx
