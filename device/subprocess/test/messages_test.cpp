// Tests of the messages: requests as they stand in protocol.md, and every way in which a line from
// outside can be wrong.
#include "device/subprocess/messages.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mx::pipe {
namespace {

constexpr std::array bytes{std::byte{0x00}, std::byte{0x00}, std::byte{0x80}, std::byte{0x3f},
                           std::byte{0x00}, std::byte{0x00}, std::byte{0x80}, std::byte{0x7f}};

PipeRequest request_of_the_page() {
    PipeRequest request;
    request.id = "7";
    request.operation = {.name = "quantize",
                         .format = "mxfp8-e4m3",
                         .dialect = "ocp",
                         .axis = "row",
                         .block_size = 32};
    request.inputs = {{dense("f32", 1, 2), bytes}};
    request.outputs = {dense("e4m3", 1, 2), dense("e8m0", 1, 1)};
    return request;
}

TEST(Messages, ARequestIsTheOneOfThePage) {
    EXPECT_EQ(to_text(request_of_the_page()),
              R"({"id":"7","ask":"run","operation":"quantize","format":"mxfp8-e4m3",)"
              R"("dialect":"ocp","axis":"row","block_size":32,"form":"hex",)"
              R"("inputs":[{"type":"f32","layout":"strided","rows":1,"columns":2,"bytes":8}],)"
              R"("outputs":[{"type":"e4m3","layout":"strided","rows":1,"columns":2,"bytes":2},)"
              R"({"type":"e8m0","layout":"strided","rows":1,"columns":1,"bytes":1}]})"
              "\n0000803f0000807f\n");
}

TEST(Messages, AGemmSaysWhatItAsksBesideItsTensors) {
    PipeRequest request;
    request.id = "8";
    request.ask = Ask::supports;
    request.operation.name = "gemm";
    request.operation.gemm = GemmOperation{.batches = 2,
                                           .beta = 0x3F000000,
                                           .scaling_a = "1x32",
                                           .scaling_b = "1x32",
                                           .epilogue = "bias",
                                           .algorithm = "id=66,splitk=2",
                                           .groups = 3};
    const std::string text = to_text(request);
    EXPECT_NE(text.find(R"("operation":"gemm","gemm":{"batches":2,"alpha_bits":1065353216,)"
                        R"("beta_bits":1056964608,"scaling_a":"1x32","scaling_b":"1x32",)"
                        R"("epilogue":"bias","algorithm":"id=66,splitk=2","groups":3},)"
                        R"("form":"hex")"),
              std::string::npos)
        << text;
}

TEST(Messages, ABinaryRequestEndsWithTheBytesThemselves) {
    PipeRequest request = request_of_the_page();
    request.form = Form::binary;
    const std::string text = to_text(request);
    const std::size_t end = text.find('\n');
    ASSERT_NE(end, std::string::npos);
    EXPECT_NE(text.find("\"form\":\"binary\""), std::string::npos);
    EXPECT_EQ(text.substr(end + 1), std::string("\0\0\x80\x3f\0\0\x80\x7f", 8));
}

TEST(Messages, SupportsCarriesNoData) {
    PipeRequest request = request_of_the_page();
    request.ask = Ask::supports;
    const std::string text = to_text(request);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_NE(text.find("\"ask\":\"supports\""), std::string::npos);
}

TEST(Messages, StridedTensorsTravelWithoutGapsAndOthersAsTheyLie) {
    TensorSpec spec = dense("e4m3", 2, 3);
    spec.row_stride = 5;
    EXPECT_EQ(travelling_size(spec), 6u);
    std::vector<std::byte> scratch;
    EXPECT_EQ(as_it_travels(spec, std::span(bytes), scratch).size(), 6u);
    EXPECT_EQ(scratch[3], bytes[5]);
    TensorSpec packed{"e2m1", 1, 3, 0, 0, "packed-low"};
    EXPECT_EQ(travelling_size(packed), 2u);
}

TEST(Messages, AHelloGivesTheFormAndTheFacts) {
    const auto hello = parse_hello(R"({"mxpipe":1,"form":"binary","facts":{"name":"a","n":3}})");
    ASSERT_TRUE(hello) << hello.error().message;
    EXPECT_EQ(hello.value().form, Form::binary);
    EXPECT_EQ(hello.value().facts, (Facts{{"name", "a"}}));
    const auto bare = parse_hello(R"({"mxpipe":1})");
    ASSERT_TRUE(bare) << bare.error().message;
    EXPECT_EQ(bare.value().form, Form::hex);
}

TEST(Messages, AnAnswerIsRead) {
    const auto answer = parse_answer(
        R"({"id":"x","status":"not_supported","reason":"no\ne5m2","form":"binary","bytes":[1,2]})");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer.value().id, "x");
    EXPECT_EQ(answer.value().status, MX_NOT_SUPPORTED);
    EXPECT_EQ(answer.value().reason, "no e5m2");
    EXPECT_EQ(answer.value().sizes, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Messages, WrongLinesAreRefusedWithASentence) {
    for (const char* line : {"", "hello", "[1]", "{}", "{\"mxpipe\":2}", "{\"mxpipe\":\"1\"}",
                             "{\"mxpipe\":1,\"form\":\"octal\"}", "{\"mxpipe\":1,\"form\":7}",
                             "{\"mxpipe\":1", "\xff\xfe{}"}) {
        const auto hello = parse_hello(line);
        ASSERT_FALSE(hello) << line;
        EXPECT_FALSE(hello.error().message.empty()) << line;
    }
    for (const char* line :
         {"", "ok", "{}", "{\"status\":\"fine\"}", "{\"status\":0}",
          "{\"status\":\"ok\",\"bytes\":3}", "{\"status\":\"ok\",\"bytes\":[-1]}",
          "{\"status\":\"ok\",\"bytes\":[1e99]}", "{\"status\":\"ok\",\"form\":null}"}) {
        const auto answer = parse_answer(line);
        ASSERT_FALSE(answer) << line;
        EXPECT_FALSE(answer.error().message.empty()) << line;
    }
}

TEST(Messages, DeepNestingIsNoCrash) {
    EXPECT_FALSE(parse_answer(std::string(line_size_max, '[')));
}

TEST(Messages, HexIsReadInFullOrNotAtAll) {
    std::array<std::byte, 2> two{};
    ASSERT_TRUE(read_hex("7fA0", two));
    EXPECT_EQ(two, (std::array{std::byte{0x7f}, std::byte{0xa0}}));
    for (const char* line : {"", "7f", "7fa", "7fa00", "7f a", "7fg0", "0x7f", "7fa0\r"})
        EXPECT_FALSE(read_hex(line, two)) << line;
    EXPECT_TRUE(read_hex("", {}));
}

}  // namespace
}  // namespace mx::pipe
