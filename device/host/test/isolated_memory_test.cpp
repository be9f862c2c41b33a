// Devices that answer but treat memory badly: what was seen, and where.
#include <gtest/gtest.h>

#include "device/host/isolated_device.hpp"
#include "device/host/test/plugin_under_test.hpp"

namespace mx {
namespace {

using test::ask_plugin;
using test::ConvertQuestion;

void expect_one_hit(const DeviceAnswer& answer, const RedZoneHit& expected) {
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_TRUE(answer.findings.modified_inputs.empty());
    ASSERT_EQ(answer.findings.red_zone_hits.size(), 1u);
    const RedZoneHit& hit = answer.findings.red_zone_hits[0];
    EXPECT_EQ(hit.role, expected.role);
    EXPECT_EQ(hit.tensor, expected.tensor);
    EXPECT_EQ(hit.side, expected.side);
    EXPECT_EQ(hit.first_byte, expected.first_byte);
    EXPECT_EQ(hit.count, expected.count);
}

TEST(IsolatedMemory, WritesBesideATensorAreSeen) {
    expect_one_hit(ask_plugin("write_past_end"), {TensorRole::output, 0, RedZoneSide::after, 0, 3});
    expect_one_hit(ask_plugin("write_before_begin"),
                   {TensorRole::output, 0, RedZoneSide::before, -2, 2});
    expect_one_hit(ask_plugin("write_in_second_run"),
                   {TensorRole::output, 0, RedZoneSide::after, 0, 1});
    expect_one_hit(ask_plugin("write_beside_input"),
                   {TensorRole::input, 0, RedZoneSide::before, -1, 1});
}

TEST(IsolatedMemory, WritesBesideATensorOfZeroElementsAreSeen) {
    const ConvertQuestion asked({0, 5});
    expect_one_hit(ask_plugin("write_past_end", asked),
                   {TensorRole::output, 0, RedZoneSide::after, 0, 3});
    expect_one_hit(ask_plugin("write_before_begin", asked),
                   {TensorRole::output, 0, RedZoneSide::before, -2, 2});
}

TEST(IsolatedMemory, WritesBetweenTheElementsAreSeen) {
    const ConvertQuestion asked({"f32", 3, 5, 6, 1}, {"e8m0", 3, 5, 8, 1});
    const DeviceAnswer answer = ask_plugin("write_in_gap", asked);
    expect_one_hit(answer, {TensorRole::output, 0, RedZoneSide::gap, 5, 1});
    EXPECT_EQ(answer.outputs[0].bytes, asked.expected);
    expect_one_hit(ask_plugin("modify_input_gap", asked),
                   {TensorRole::input, 0, RedZoneSide::gap, 20, 1});
}

TEST(IsolatedMemory, AModifiedInputIsSeenAndRestored) {
    const DeviceAnswer answer = ask_plugin("modify_input");
    ASSERT_EQ(answer.kind, AnswerKind::answered);
    EXPECT_TRUE(answer.findings.red_zone_hits.empty());
    ASSERT_EQ(answer.findings.modified_inputs.size(), 1u);
    EXPECT_EQ(answer.findings.modified_inputs[0].tensor, 0u);
    EXPECT_EQ(answer.findings.modified_inputs[0].first_element, 2u);
    EXPECT_EQ(answer.findings.modified_inputs[0].count, 1u);
}

TEST(IsolatedMemory, UnwrittenElementsAreFlagged) {
    const DeviceAnswer last = ask_plugin("last_unwritten");
    ASSERT_EQ(last.kind, AnswerKind::answered);
    std::vector<std::uint8_t> expected(15, 0);
    expected[14] = flag_unwritten;
    EXPECT_EQ(last.outputs[0].flags, expected);
    EXPECT_EQ(last.outputs[0].unwritten, 1u);
    EXPECT_EQ(ask_plugin("half_unwritten").outputs[0].unwritten, 6u);
}

TEST(IsolatedMemory, ElementsThatDifferBetweenTheRunsAreFlagged) {
    const DeviceAnswer flaky = ask_plugin("flaky");
    ASSERT_EQ(flaky.kind, AnswerKind::answered);
    EXPECT_EQ(flaky.outputs[0].flags[1], flag_differs);
    EXPECT_EQ(flaky.outputs[0].differing, 1u);
    EXPECT_EQ(flaky.outputs[0].bytes[1], std::byte{1}) << "the bits are those of the first run";
    EXPECT_EQ(flaky.outputs[0].unwritten, 0u);
    const DeviceAnswer reader = ask_plugin("reads_output");
    ASSERT_EQ(reader.kind, AnswerKind::answered);
    EXPECT_EQ(reader.outputs[0].flags[0], flag_differs);
}

}  // namespace
}  // namespace mx
