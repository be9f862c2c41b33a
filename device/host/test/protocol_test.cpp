// Every message comes back as it was, and no cut or lengthened message is taken for one.
#include "device/host/protocol.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mx {
namespace {

Request some_request() {
    Request request{Command::run, 4096, {}, {}, {}};
    request.operation = {"quantize", "mxfp8-e4m3", "ocp", "row", "", "", "honoured", 32};
    request.inputs.push_back({{"f32", 3, 5, 7, 2}, 64});
    request.outputs.push_back({{"e4m3", 3, 5, 5, 1}, 128});
    request.outputs.push_back({{"e8m0", 3, 1, 0, 0, "128x4"}, 256});
    return request;
}

TEST(Protocol, ARequestComesBack) {
    const Request sent = some_request();
    const std::optional<Request> got = decode_request(encode(sent));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->command, sent.command);
    EXPECT_EQ(got->memory_size, 4096u);
    EXPECT_EQ(got->operation, sent.operation);
    ASSERT_EQ(got->inputs.size(), 1u);
    EXPECT_EQ(got->inputs[0].spec, sent.inputs[0].spec);
    EXPECT_EQ(got->inputs[0].offset, 64u);
    ASSERT_EQ(got->outputs.size(), 2u);
    EXPECT_EQ(got->outputs[1].spec, sent.outputs[1].spec);
    EXPECT_EQ(got->outputs[1].offset, 256u);
}

TEST(Protocol, AGemmArrivesWhole) {
    Request sent;
    sent.operation.name = "gemm";
    sent.operation.gemm =
        GemmOperation{3, 0xBF800000, 1, "row", "1x128", "1x32", "bias", "fast", "7:splitk=2", 4};
    const std::optional<Request> got = decode_request(encode(sent));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->operation, sent.operation);
}

TEST(Protocol, ATensorsNumberIsAskedFor) {
    Request sent;
    sent.operation.name = "quantize";
    sent.operation.tensor_scale = "derived";
    const std::optional<Request> got = decode_request(encode(sent));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->operation.tensor_scale, "derived");
}

// A flag has one bit and alpha 32 of them: what is more was not written by this program.
TEST(Protocol, AGemmOfOddFlagsIsNoRequest) {
    Request request;
    request.operation.name = "gemm";
    const std::string without = encode(request);
    request.operation.gemm = GemmOperation{3, 0xBF800000, 1, "", "", "", "", "", "", 0};
    const std::string with = encode(request);
    const auto flag = static_cast<std::size_t>(
        std::mismatch(with.begin(), with.end(), without.begin(), without.end()).first -
        with.begin());
    ASSERT_EQ(with[flag], 1);
    const auto changed = [&with](std::size_t place) {
        std::string message = with;
        message[place] = 3;
        return decode_request(message);
    };
    ASSERT_TRUE(changed(flag + 8));  // the batches
    EXPECT_FALSE(changed(flag));
    EXPECT_FALSE(changed(flag + 16 + 4));  // above the 32 bits of alpha
    EXPECT_FALSE(changed(flag + 24 + 4));  // ... of beta
}

TEST(Protocol, AnAnswerComesBack) {
    const std::optional<CallResult> got =
        decode_result(encode(CallResult{MX_OUT_OF_MEMORY, "too large"}));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->status, MX_OUT_OF_MEMORY);
    EXPECT_EQ(got->message, "too large");
}

TEST(Protocol, AnOpeningComesBack) {
    const Facts facts = {{"name", "x"}, {"driver", "1.2"}};
    EXPECT_EQ(decode_opened(encode(Expected<Facts>(facts)))->value(), facts);
    const Error error{ErrorKind::device, "asleep"};
    const Expected<Facts> failed = *decode_opened(encode(Expected<Facts>(error)));
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().kind, ErrorKind::device);
    EXPECT_EQ(failed.error().message, "asleep");
}

TEST(Protocol, TooManyFactsAreCutToFitOneMessage) {
    const Facts facts(1000, {"key", std::string(1000, 'x')});
    const std::string message = encode(Expected<Facts>(facts));
    EXPECT_LT(message.size(), 128u * 1024);
    const Expected<Facts> got = *decode_opened(message);
    ASSERT_EQ(got.value().size(), 64u);
    EXPECT_EQ(got.value()[0].second, std::string(512, 'x') + "...");
}

TEST(Protocol, FactsThatWouldHaveBeenCutAreNone) {
    const auto number = [](std::uint64_t value) {
        return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const auto fact = [&](const std::string& text) {
        return number(text.size()) + text + number(0);
    };
    const auto opened = [&](std::uint64_t count, const std::string& text) {
        std::string message = number(1) + number(count);
        for (std::uint64_t i = 0; i < count; ++i) message += fact(text);
        return decode_opened(message).has_value();
    };
    EXPECT_TRUE(opened(64, std::string(512, 'x')));
    EXPECT_FALSE(opened(65, "x"));
    EXPECT_FALSE(opened(1, std::string(513, 'x')));
    EXPECT_TRUE(opened(1, std::string(512, 'x') + "..."));
}

TEST(Protocol, NonsenseIsNoMessage) {
    const std::string request = encode(some_request());
    const std::string result = encode(CallResult{MX_FAILED, "why"});
    const std::string opened = encode(Expected<Facts>(Facts{{"name", "x"}}));
    for (std::size_t size = 0; size < request.size(); ++size) {
        EXPECT_FALSE(decode_request(request.substr(0, size))) << size;
    }
    for (std::size_t size = 0; size < result.size(); ++size) {
        EXPECT_FALSE(decode_result(result.substr(0, size))) << size;
    }
    for (std::size_t size = 0; size < opened.size(); ++size) {
        EXPECT_FALSE(decode_opened(opened.substr(0, size))) << size;
    }
    EXPECT_FALSE(decode_request(request + "x"));
    EXPECT_FALSE(decode_result(result + "x"));
    EXPECT_FALSE(decode_opened(opened + "x"));
    EXPECT_FALSE(decode_result(std::string(16, '\xFF')));
    EXPECT_FALSE(decode_opened(std::string(16, '\xFF')));
    EXPECT_FALSE(decode_result(encode(CallResult{static_cast<mx_status>(6), ""})));
}

}  // namespace
}  // namespace mx
