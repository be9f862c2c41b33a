// Tests of the safetensors reader and writer: files typed by hand, and every way a header can lie.
#include "conformance/data/safetensors.hpp"

#include <gtest/gtest.h>

#include "conformance/data/test/file_bytes.hpp"

namespace mx::data {
namespace {

using test::expect_error;
using test::safetensors_text;
using test::to_bytes;

Expected<TensorFile> parsed_safetensors(std::string_view text) {
    return parse_safetensors(to_bytes(text), "x.safetensors");
}

void expect_safetensors_refused(std::string_view text, std::string_view part) {
    SCOPED_TRACE(text.substr(0, 200));
    expect_error(parsed_safetensors(text), "x.safetensors", part);
}

// A file of eight bytes behind this header.
void expect_header_refused(std::string_view json, std::string_view part) {
    expect_safetensors_refused(safetensors_text(json, "abcdefgh"), part);
}

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return R"({"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) +
           R"(,"data_offsets":)" + std::string(offsets) + "}";
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
    const auto file = parsed_safetensors(safetensors_text(
        R"({"__metadata__":{"who":"me","a":""},"scales":)" + entry("F8_E8M0", "[2,1]", "[6,8]") +
            R"(,"values":)" + entry("BF16", "[ 3 ]", "[0,6]") + "}   ",
        "abcdefgh"));
    ASSERT_TRUE(file.ok()) << file.error().message;
    const TensorFile expected{
        {{"values", "bf16", {3}, to_bytes("abcdef")}, {"scales", "e8m0", {2, 1}, to_bytes("gh")}},
        {{"who", "me"}, {"a", ""}}};
    EXPECT_EQ(file.value(), expected);
}

TEST(Safetensors, KnowsEveryType) {
    for (const TensorType& type : tensor_types) {
        const std::string bytes(static_cast<std::size_t>(type.bits) / 2, 'x');
        const auto file = parsed_safetensors(safetensors_text(
            R"({"t":)" +
                entry(type.safetensors_name, "[4]", "[0," + std::to_string(bytes.size()) + "]") +
                "}",
            bytes));
        ASSERT_TRUE(file.ok()) << file.error().message;
        EXPECT_EQ(file.value().tensors.at(0),
                  (HostTensor{"t", std::string(type.id), {4}, to_bytes(bytes)}));
    }
}

TEST(Safetensors, ReadsEmptyFilesAndTensorsAndScalars) {
    EXPECT_TRUE(parsed_safetensors(safetensors_text("{}", "")).ok());
    const auto file =
        parsed_safetensors(safetensors_text(R"({"empty":)" + entry("F32", "[0,7]", "[0,0]") +
                                                R"(,"one":)" + entry("F32", "[]", "[0,4]") + "}",
                                            "abcd"));
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file.value().tensors.at(0), (HostTensor{"empty", "f32", {0, 7}, {}}));
    EXPECT_EQ(file.value().tensors.at(1), (HostTensor{"one", "f32", {}, to_bytes("abcd")}));
}

TEST(Safetensors, RefusesAHeaderLengthThatLies) {
    expect_safetensors_refused("", "the header's length would be bytes 0 to 8, but the file has 0");
    expect_safetensors_refused("1234567", "the file has 7");
    expect_safetensors_refused(test::little_endian_text(3, 8) + "{}",
                               "bytes 8 to 11, but the file has 10");
    expect_safetensors_refused(std::string(8, '\xFF') + "{}",
                               "18446744073709551615 bytes; the limit");
    expect_safetensors_refused(test::little_endian_text(0, 8), "no JSON object begins at byte 8");
    expect_header_refused(" {}", "no JSON object begins at byte 8");
    expect_header_refused("\xEF\xBB\xBF{}", "no JSON object begins at byte 8");
}

TEST(Safetensors, RefusesBrokenJsonAndSaysWhere) {
    expect_header_refused("{", "before byte 9: is no valid JSON");
    expect_header_refused("{\"a\xFF\":1}", "ill-formed UTF-8");
    expect_header_refused("{} x", "is no valid JSON");
    expect_header_refused("{\"a\":1e99999}", "is no valid JSON");
    expect_header_refused("{\"\n", "is no valid JSON");
    expect_header_refused("{\"a\":" + std::string(100000, '['), "the entry 'a' has an array");
    std::string nested = R"({"a":{"dtype":)";
    for (int i = 0; i < 10000; ++i) nested += "{\"a\":";
    expect_header_refused(nested, "has an object where none belongs");
}

TEST(Safetensors, RefusesAHeaderOfAnotherForm) {
    expect_header_refused(R"({"a":null})", "has null");
    expect_header_refused(R"({"a":7})", "has a number");
    expect_header_refused(R"({"a":"F32"})", "has a string");
    expect_header_refused(R"({"a":{}})", "has no 'dtype'");
    expect_header_refused(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", "has no 'shape'");
    expect_header_refused(R"({"a":{"dtype":"F32","shape":[2]}})", "has no 'data_offsets'");
    expect_header_refused(R"({"a":{"dtype":4}})", "field 'dtype' of 'a' has a number");
    expect_header_refused(R"({"a":{"dtype":[]}})", "has an array");
    expect_header_refused(R"({"a":{"shape":"2"}})", "has a string");
    expect_header_refused(R"({"a":{"shape":[[2]]}})", "has an array");
    expect_header_refused(R"({"a":{"shape":["2"]}})", "has a string");
    expect_header_refused(R"({"a":{"shape":[true]}})", "has true or false");
    expect_header_refused(R"({"a":{"extra":1}})", "unknown field 'extra'");
    expect_header_refused(R"({"__metadata__":{"k":1}})", "field 'k' of '__metadata__' has a num");
    expect_header_refused(R"({"__metadata__":{"k":{}}})", "has an object");
}

TEST(Safetensors, RefusesRepeatedKeys) {
    const std::string half = entry("F32", "[1]", "[0,4]");
    expect_header_refused(R"({"a":)" + half + R"(,"a":)" + half + "}", "key 'a' comes twice");
    expect_header_refused(R"({"a":{"dtype":"F32","dtype":"F32"}})", "key 'dtype' comes twice");
    expect_header_refused(R"({"__metadata__":{"k":"1","k":"2"}})", "key 'k' comes twice");
}

TEST(Safetensors, RefusesNumbersThatAreNone) {
    expect_header_refused(R"({"a":{"shape":[-2]}})", "negative number -2");
    expect_header_refused(R"({"a":{"shape":[2.5]}})", "'2.5', which is no whole number");
    expect_header_refused(R"({"a":{"shape":[9223372036854775808]}})", "2^63 or more");
    expect_header_refused(R"({"a":{"shape":[99999999999999999999]}})", "no whole number");
    expect_header_refused(R"({"a":{"data_offsets":[1]}})", "1 numbers instead of two");
    expect_header_refused(R"({"a":{"data_offsets":[1,2,3]}})", "more than 2 numbers");
    std::string many = R"({"a":{"shape":[1)";
    for (int i = 0; i < 64; ++i) many += ",1";
    expect_header_refused(many + "]}}", "more than 64 numbers");
}

TEST(Safetensors, RefusesOffsetsAndShapesThatLie) {
    const auto one = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
        return R"({"a":)" + entry(dtype, shape, offsets) + "}";
    };
    EXPECT_TRUE(parsed_safetensors(safetensors_text(one("F32", "[2]", "[0,8]"), "abcdefgh")).ok());
    expect_header_refused(one("F33", "[2]", "[0,8]"), "unknown dtype 'F33'; known: F32, ");
    expect_header_refused(one("F32", "[2]", "[8,0]"), "run backwards");
    expect_header_refused(one("F32", "[3]", "[0,12]"), "the file has only 8 bytes");
    expect_header_refused(one("F32", "[3]", "[0,8]"), "(3,) of F32 needs 12");
    expect_header_refused(one("F32", "[1]", "[0,4]"), "has 4 bytes from byte ");
    expect_header_refused(one("F32", "[1]", "[4,8]"), "leave a gap after 0");
    expect_header_refused(one("F32", "[4294967296,4294967296]", "[0,8]"), "larger than any memory");
    expect_header_refused(one("F32", "[4294967296,4294967296,0]", "[0,0]"), "larger than any mem");
    expect_header_refused(one("F4", "[3]", "[0,1]"), "12 bits, which fill no whole bytes");
    const auto two = [](std::string_view first, std::string_view second) {
        return R"({"a":)" + entry("F32", "[1]", first) + R"(,"b":)" + entry("F32", "[1]", second) +
               "}";
    };
    EXPECT_TRUE(parsed_safetensors(safetensors_text(two("[4,8]", "[0,4]"), "abcdefgh")).ok());
    expect_header_refused(two("[0,4]", "[0,4]"),
                          "tensor 'b' (header entry at byte 66) has "
                          "data_offsets [0, 4], which overlap");
    expect_header_refused(two("[0,4]", "[2,6]"), "overlap another tensor that ends at 4");
    expect_safetensors_refused(safetensors_text(two("[0,4]", "[5,9]"), "abcdefghi"), "gap after 4");
}

TEST(Safetensors, WritesAlignedAndReadsBack) {
    const TensorFile file{{{"codes", "e4m3", {1, 3}, to_bytes("abc")},
                           {"wide \"\xC3\xA9\"", "f32", {1}, to_bytes("defg")},
                           {"scales", "e8m0", {1}, to_bytes("h")}},
                          {{"z", "1"}, {"a", "\n"}}};
    const auto encoded = encode_safetensors(file);
    ASSERT_TRUE(encoded.ok()) << encoded.error().message;
    EXPECT_EQ(encoded.value().header.size() % 8, 0u);
    std::string text = encoded.value().header;
    for (const auto part : encoded.value().payload)
        text.append(reinterpret_cast<const char*>(part.data()), part.size());
    const auto back = parsed_safetensors(text);
    ASSERT_TRUE(back.ok()) << back.error().message;
    const TensorFile expected{{file.tensors[1], file.tensors[0], file.tensors[2]}, file.metadata};
    EXPECT_EQ(back.value(), expected);
}

TEST(Safetensors, RefusesToWriteWhatItCannotHold) {
    const auto refusal = [](const TensorFile& file) {
        const auto encoded = encode_safetensors(file);
        return encoded ? std::string("written") : encoded.error().message;
    };
    const HostTensor sound{"a", "u8", {1}, to_bytes("x")};
    EXPECT_EQ(refusal({{sound}, {}}), "written");
    EXPECT_NE(refusal({{sound, sound}, {}}).find("'a' is reserved or taken"), std::string::npos);
    EXPECT_NE(refusal({{{"__metadata__", "u8", {1}, to_bytes("x")}}, {}}).find("reserved"),
              std::string::npos);
    EXPECT_NE(refusal({{}, {{"k", "1"}, {"k", "2"}}}).find("'k' comes twice"), std::string::npos);
    EXPECT_NE(refusal({{{"\xFF", "u8", {1}, to_bytes("x")}}, {}}).find("UTF-8"), std::string::npos);
    EXPECT_NE(refusal({{{"a", "u8", {2}, to_bytes("x")}}, {}}).find("holds 1"), std::string::npos);
    EXPECT_NE(refusal({{{"a", "u8", {-1}, to_bytes("x")}}, {}}).find("negative"),
              std::string::npos);
}

}  // namespace
}  // namespace mx::data
