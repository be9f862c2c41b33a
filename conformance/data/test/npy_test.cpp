// Tests of the .npy reader and writer: files typed by hand, and every way a header can lie.
#include "conformance/data/npy.hpp"

#include <gtest/gtest.h>

#include "conformance/data/test/file_bytes.hpp"

namespace mx::data {
namespace {

using test::expect_error;
using test::npy_text;
using test::to_bytes;

using Shape = std::vector<std::int64_t>;

Expected<TensorFile> parse(std::string_view text, const std::string& type_override = "") {
    const auto bytes = to_bytes(text);
    return parse_npy(MemorySource(bytes, "x.npy"), {type_override});
}

HostTensor parsed(std::string_view text, const std::string& type_override = "") {
    const auto file = parse(text, type_override);
    if (!file) {
        ADD_FAILURE() << file.error().message;
        return {};
    }
    EXPECT_EQ(file.value().tensors.size(), 1u);
    return file.value().tensors.at(0);
}

void expect_refused(std::string_view text, std::string_view part,
                    const std::string& type_override = "") {
    SCOPED_TRACE(text.substr(0, 200));
    expect_error(parse(text, type_override), "x.npy", part);
}

// A one-dimensional file of two float32, with something of its header replaced.
std::string with_header(std::string_view header) {
    return npy_text(header, "abcdefgh");
}

constexpr std::string_view good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

TEST(Npy, ReadsEveryVersion) {
    for (const char major : {'\1', '\2', '\3'})
        EXPECT_EQ(parsed(npy_text(good, "abcdefgh", major)),
                  (HostTensor{"x", "f32", {2}, to_bytes("abcdefgh")}));
}

TEST(Npy, ReadsScalarsEmptyTensorsAndOtherSpellings) {
    EXPECT_EQ(parsed(npy_text("{'descr': '<f2', 'fortran_order': True, 'shape': ()}", "ab")),
              (HostTensor{"x", "f16", {}, to_bytes("ab")}));
    EXPECT_EQ(parsed(npy_text("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 0)}", "")),
              (HostTensor{"x", "u8", {3, 0}, {}}));
    EXPECT_EQ(parsed(npy_text("{\"shape\":(2L,1,),\n\"fortran_order\":False,'descr':'<i1'}", "ab")),
              (HostTensor{"x", "i8", {2, 1}, to_bytes("ab")}));
}

TEST(Npy, SwapsBigEndian) {
    EXPECT_EQ(
        parsed(npy_text("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "dcbahgfe"))
            .bytes,
        to_bytes("abcdefgh"));
}

TEST(Npy, TurnsFortranOrderIntoCOrder) {
    // Element (i, j) of 2 x 3 is written as the digit 3i + j; the first index runs fastest.
    EXPECT_EQ(parsed(npy_text("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "031425"))
                  .bytes,
              to_bytes("012345"));
    // Element (i, j, k) of 2 x 2 x 2 is written as the letters of 4i + 2j + k.
    EXPECT_EQ(parsed(npy_text("{'descr': '<f2', 'fortran_order': True, 'shape': (2, 2, 2)}",
                              "AaEeCcGgBbFfDdHh"))
                  .bytes,
              to_bytes("AaBbCcDdEeFfGgHh"));
}

TEST(Npy, UntypedBytesNeedATypeFromTheUser) {
    const auto two = [](std::string_view descr, std::string_view payload) {
        return npy_text(
            "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (2,)}",
            payload);
    };
    for (const char* descr : {"<V2", "|V2", "<u2"})
        EXPECT_EQ(parsed(two(descr, "abcd"), "bf16"),
                  (HostTensor{"x", "bf16", {2}, to_bytes("abcd")}));
    for (const char* descr : {"<V1", "|V1", "|u1", "<f1"})
        EXPECT_EQ(parsed(two(descr, "ab"), "e5m2"), (HostTensor{"x", "e5m2", {2}, to_bytes("ab")}));
    EXPECT_EQ(parsed(two("<u2", "abcd")).type, "u16");
    EXPECT_EQ(parsed(two("<f2", "abcd"), "f16").type, "f16");
    EXPECT_EQ(parsed(two(">u2", "abcd"), "bf16").bytes, to_bytes("badc"));
    expect_refused(two("<V2", "abcd"), "does not say what its bytes mean");
    expect_refused(two("<f1", "ab"), "does not say what its bytes mean");
    expect_refused(two("<V2", "abcd"), "cannot be read as 'f32'", "f32");
    expect_refused(two("<f2", "abcd"), "cannot be read as 'bf16'", "bf16");
    expect_refused(two("<V2", "abcd"), "unknown type 'bfloat'", "bfloat");
}

TEST(Npy, RefusesWhatIsNoNpy) {
    expect_refused("", "the file has 0");
    expect_refused("\x93NUMP", "the file has 5");
    expect_refused("\x93NUMPx and a file of something else", "is no .npy");
    expect_refused(npy_text(good, "abcdefgh", '\4'), "version 4.0");
    std::string minor = npy_text(good, "abcdefgh");
    minor[7] = '\1';
    expect_refused(minor, "version 1.1");
}

TEST(Npy, RefusesAHeaderLengthThatLies) {
    expect_refused(npy_text(good, "").substr(0, 9), "the header's length would be bytes 8 to 10");
    expect_refused(npy_text(good, "").substr(0, 30), "the header would be bytes 10 to 68");
    std::string huge = npy_text(good, "abcdefgh", '\2');
    huge.replace(8, 4, "\xFF\xFF\xFF\xFF");
    expect_refused(huge, "4294967295 bytes");
}

TEST(Npy, RefusesABrokenHeaderAndSaysWhere) {
    expect_refused(with_header(""), "opening brace at byte 10, but there is the end");
    expect_refused(with_header("['descr']"), "opening brace at byte 10, but there is '['");
    expect_refused(with_header("{'descr': '<f4', 'fortran_order': False}"), "lacks 'shape'");
    expect_refused(with_header("{'descr': '<f4', 'shape': (2,)}"), "lacks 'fortran_order'");
    expect_refused(with_header("{'fortran_order': False, 'shape': (2,)}"), "lacks 'descr'");
    expect_refused(with_header("{'descr': '<f4', 'descr': '<f4'}"), "repeated key 'descr'");
    expect_refused(with_header("{'kind': '<f4'}"), "unknown or repeated key 'kind'");
    expect_refused(with_header("{'descr': '<f4"), "string at byte 20 has no end");
    expect_refused(with_header("{'descr' '<f4'"), "a colon at byte 19");
    expect_refused(with_header("{'descr': '<f4' 'shape'"), "a comma or the closing brace");
    expect_refused(with_header("{'fortran_order': 0}"), "True or False at byte 28");
    expect_refused(with_header(std::string(good) + "x"), "nothing but blanks");
    expect_refused(with_header("{'descr': [('a', '<f4')], 'shape'"), "structured type");
    expect_refused(with_header("{'descr': '<f4', \x1b[31m}"), "'\\x1b'");
}

TEST(Npy, RefusesAShapeThatLies) {
    const auto shaped = [](std::string_view shape) {
        return with_header(
            "{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + "}");
    };
    EXPECT_EQ(parsed(shaped("(1, 2)")).shape, (Shape{1, 2}));
    expect_refused(shaped("(3,)"), "needs 12 bytes, but from byte 65 on there are 8");
    expect_refused(shaped("(1,)"), "needs 4 bytes");
    expect_refused(shaped("(2)"), "a number, not a tuple");
    expect_refused(shaped("2"), "a tuple at byte 60");
    expect_refused(shaped("(1 2)"), "a comma");
    expect_refused(shaped("(,)"), "a dimension");
    expect_refused(shaped("(2,,)"), "a dimension");
    expect_refused(shaped("(02,)"), "leading zero");
    expect_refused(shaped("(-2,)"), "negative dimension at byte 61");
    expect_refused(shaped("(2.0,)"), "but there is '.'");
    expect_refused(shaped("(9223372036854775808,)"), "2^63 or more");
    expect_refused(shaped("(9223372036854775807,)"), "larger than any memory");
    expect_refused(shaped("(4294967296, 4294967296)"), "larger than any memory");
    expect_refused(shaped("(0, 4294967296, 4294967296)"), "larger than any memory");
    std::string many = "(";
    for (int i = 0; i < 65; ++i) many += "1,";
    expect_refused(shaped(many + ")"), "has 65 dimensions");
}

TEST(Npy, RefusesTypesItDoesNotKnow) {
    for (const char* descr : {"<c8", "|O", "<U3", "", "f4", "|f4", "=f4", "<f16", "<M8[ns]"})
        expect_refused(with_header("{'descr': '" + std::string(descr) +
                                   "', 'fortran_order': False, 'shape': (2,)}"),
                       "which mxcheck does not read");
}

TEST(Npy, WritesWhatNumPyWrites) {
    const TensorFile file{{{"x", "f32", {2}, to_bytes("abcdefgh")}}, {}};
    const auto encoded = encode_npy(file);
    ASSERT_TRUE(encoded.ok());
    std::string header(good);
    header.insert(header.size() - 1, 128 - 10 - header.size(), ' ');
    EXPECT_EQ(encoded.value().header, npy_text(header, ""));
    ASSERT_EQ(encoded.value().payload.size(), 1u);
    EXPECT_EQ(encoded.value().payload[0].data(), file.tensors[0].bytes.data());
}

TEST(Npy, RefusesToWriteWhatItCannotHold) {
    const HostTensor sound{"x", "u8", {2}, to_bytes("ab")};
    const auto refusal = [](const TensorFile& file) {
        const auto encoded = encode_npy(file);
        return encoded ? std::string("written") : encoded.error().message;
    };
    EXPECT_EQ(refusal({{sound}, {}}), "written");
    EXPECT_NE(refusal({{}, {}}).find("exactly one tensor, but there are 0"), std::string::npos);
    EXPECT_NE(refusal({{sound, sound}, {}}).find("there are 2"), std::string::npos);
    EXPECT_NE(refusal({{sound}, {{"a", "b"}}}).find("metadata"), std::string::npos);
    EXPECT_NE(refusal({{{"x", "bf16", {1}, to_bytes("ab")}}, {}}).find("no name in .npy"),
              std::string::npos);
    EXPECT_NE(refusal({{{"x", "u8", {3}, to_bytes("ab")}}, {}}).find("3 bytes, but it holds 2"),
              std::string::npos);
    EXPECT_NE(refusal({{{"x", "real", {2}, to_bytes("ab")}}, {}}).find("unknown type 'real'"),
              std::string::npos);
}

}  // namespace
}  // namespace mx::data
