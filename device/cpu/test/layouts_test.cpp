// Layouts: bytes typed by hand, then every layout against the strided tensor that it stands for.
#include <gtest/gtest.h>

#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

// Room for a tensor in a layout, poisoned, and its view.
struct LaidOut {
    std::string type;
    std::string layout;
    std::int64_t rows, columns;
    std::int64_t row_stride = 0, column_stride = 0;
    std::vector<unsigned char> bytes;

    LaidOut(std::string of_type, std::string in_layout, std::int64_t row_count,
            std::int64_t column_count)
        : type(std::move(of_type)),
          layout(std::move(in_layout)),
          rows(row_count),
          columns(column_count),
          bytes(1 << 16, 0xA5) {}
    mx_tensor view() {
        return {sizeof(mx_tensor), bytes.data(), type.c_str(), "host", layout.c_str(), rows,
                columns,           row_stride,   column_stride};
    }
    std::vector<unsigned> first(std::size_t count) const {
        return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
    }
};
using Bytes = std::vector<unsigned>;

// Integers are E2M1 and E2M3 values where they are small; the scale is 1 because 4 is the largest.
Tensor small_values(std::int64_t rows, std::int64_t columns) {
    Tensor values("f32", rows, columns);
    std::uint32_t next = 0;
    values.fill([&] { return bits_of(static_cast<float>(++next % 5)); });
    return values;
}

TEST(Layouts, PackedNibbles) {
    Tensor values = small_values(2, 5);  // 1 2 3 4 0 in each row: codes 2 4 5 6 0
    const auto operation = operation_of("quantize", "mxfp4-e2m1", "ocp", "row");
    for (const auto& [layout, bytes] :
         {std::pair{"packed-low", Bytes{0x42, 0x65, 0x00, 0x42, 0x65, 0x00, 0xA5}},
          {"packed-high", Bytes{0x24, 0x56, 0x00, 0x24, 0x56, 0x00, 0xA5}}}) {
        LaidOut codes("e2m1", layout, 2, 5);
        Tensor scales("e8m0", 2, 1);
        ASSERT_EQ(run(operation, {values.view()}, {codes.view(), scales.view()}).status, MX_OK);
        EXPECT_EQ(codes.first(7), bytes) << layout;
    }
}

TEST(Layouts, PackedSixes) {
    Tensor values = small_values(1, 5);  // codes 08 10 14 18 00 of E2M3
    LaidOut codes("e2m3", "packed-6", 1, 5);
    Tensor scales("e8m0", 1, 1);
    ASSERT_EQ(run(operation_of("quantize", "mxfp6-e2m3", "ocp", "row"), {values.view()},
                  {codes.view(), scales.view()})
                  .status,
              MX_OK);
    // 011000 010100 010000 001000, from the right: bytes 00001000 01000100 01100001, then 0.
    EXPECT_EQ(codes.first(5), (Bytes{0x08, 0x44, 0x61, 0x00, 0xA5}));
}

TEST(Layouts, InlineScales) {
    Tensor values = small_values(2, 5);
    mx_operation operation = operation_of("quantize", "mxfp4-e2m1", "ocp", "row");
    operation.block_size = 4;
    LaidOut codes("e2m1", "inline", 2, 5);
    codes.column_stride = 3;
    codes.row_stride = 7;  // a byte between the rows
    ASSERT_EQ(run(operation, {values.view()}, {codes.view()}).status, MX_OK);
    EXPECT_EQ(codes.first(15),
              (Bytes{0x42, 0x65, 127, 0, 0, 0, 0xA5, 0x42, 0x65, 127, 0, 0, 0, 0xA5, 0xA5}));
    operation.name = "dequantize";
    Tensor back("f32", 2, 5);
    ASSERT_EQ(run(operation, {codes.view()}, {back.view()}).status, MX_OK);
    EXPECT_EQ(back.bytes, values.bytes);
}

struct Place {
    const char* layout;
    std::int64_t rows, columns;  // of the grid of scales
    std::int64_t row, column;
    std::size_t offset;
};

// Offsets worked out by hand from the formulas of mx_device.h.
TEST(Layouts, PlacesOfScales) {
    for (const Place& place :
         {Place{"128x4", 130, 6, 33, 2, 22}, Place{"128x4", 130, 6, 129, 5, 1553},
          Place{"8x4", 9, 5, 8, 4, 96}, Place{"8x4", 9, 5, 3, 1, 13},
          Place{"32x8", 33, 9, 17, 6, 135}, Place{"32x8", 33, 9, 32, 8, 768},
          Place{"te-padded", 5, 6, 3, 5, 29}, Place{"128x4-col", 6, 130, 5, 129, 1553},
          Place{"8x4-col", 5, 9, 4, 8, 96}, Place{"32x8-col", 9, 33, 6, 17, 135},
          Place{"te-padded-col", 5, 6, 3, 5, 389}}) {
        const bool column = std::string_view(place.layout).ends_with("-col");
        Tensor values("f32", column ? place.rows * 2 : place.rows,
                      column ? place.columns : place.columns * 2);
        values.fill([] { return bits_of(2.0f); });
        values.set_bits(column ? place.row * 2 : place.row,
                        column ? place.column : place.column * 2, bits_of(8.0f));
        mx_operation operation =
            operation_of("quantize", "mxfp4-e2m1", "ocp", column ? "col" : "row");
        operation.block_size = 2;
        Tensor codes("e2m1", values.rows, values.columns);
        LaidOut scales("e8m0", place.layout, place.rows, place.columns);
        ASSERT_EQ(run(operation, {values.view()}, {codes.view(), scales.view()}).status, MX_OK);
        std::int64_t ones = 0;
        for (std::size_t i = 0; i < scales.bytes.size(); ++i) {
            if (scales.bytes[i] == 128) {
                EXPECT_EQ(i, place.offset) << place.layout;
            }
            ones += scales.bytes[i] == 126 ? 1 : 0;
        }
        EXPECT_EQ(scales.bytes[place.offset], 128) << place.layout;
        EXPECT_EQ(ones, place.rows * place.columns - 1) << place.layout;
    }
}

TEST(Layouts, PadsAreZeroWhereTheLayoutSaysSo) {
    Tensor values = small_values(3, 5);
    Tensor codes("e4m3", 3, 5);
    for (const auto& [layout, bytes, pad] : {std::tuple{"128x4", std::size_t{512}, 0u},
                                             {"8x4", std::size_t{32}, 0u},
                                             {"32x8", std::size_t{256}, 0xA5u},
                                             {"te-padded", std::size_t{512}, 0xA5u}}) {
        LaidOut scales("e8m0", layout, 3, 1);
        ASSERT_EQ(run(operation_of("quantize", "mxfp8-e4m3", "ocp", "row"), {values.view()},
                      {codes.view(), scales.view()})
                      .status,
                  MX_OK);
        std::size_t pads = 0;
        for (std::size_t i = 0; i < bytes; ++i) pads += scales.bytes[i] == pad ? 1 : 0;
        EXPECT_EQ(pads, bytes - 3) << layout;
        EXPECT_EQ(scales.bytes[bytes], 0xA5) << layout;
    }
}

// What is quantized into layouts comes back as what is quantized into strided tensors.
TEST(Layouts, DequantizeReadsWhatQuantizeWrote) {
    Tensor values("f32", 70, 75);
    values.fill([next = random_bits(5)] { return (next() & 0x83FFFFFFu) + 0x3C000000u; });
    struct Case {
        const char* format;
        const char* codes;
        const char* scales;
        const char* axis;
    };
    for (const Case& each : {Case{"mxfp4-e2m1", "packed-low", "128x4", "row"},
                             Case{"mxfp4-e2m1", "packed-high", "8x4-col", "col"},
                             Case{"mxfp6-e3m2", "packed-6", "32x8", "row"},
                             Case{"mxfp6-e2m3", "packed-6", "strided", "tile"},
                             Case{"mxint8", "strided", "te-padded-col", "col"}}) {
        mx_operation operation = operation_of("quantize", each.format, "ocp", each.axis);
        Quantized strided = quantize(values, operation);
        LaidOut codes(strided.codes.type, each.codes, 70, 75);
        LaidOut scales("e8m0", each.scales, strided.scales.rows, strided.scales.columns);
        mx_tensor code_view = codes.view();
        mx_tensor scale_view = scales.view();
        if (std::string_view(each.codes) == "strided") code_view = strided.codes.view();
        if (std::string_view(each.scales) == "strided") scale_view = strided.scales.view();
        ASSERT_EQ(run(operation, {values.view()}, {code_view, scale_view}).status, MX_OK);
        operation.name = "dequantize";
        Tensor expected = dequantize(strided.codes, strided.scales, operation, "f32");
        Tensor actual("f32", 70, 75);
        ASSERT_EQ(run(operation, {code_view, scale_view}, {actual.view()}).status, MX_OK);
        EXPECT_EQ(actual.bytes, expected.bytes) << each.format << each.codes << each.scales;
    }
}

TEST(Layouts, RefusesWhatDoesNotFit) {
    Tensor values = small_values(2, 5);
    Tensor e4m3("e4m3", 2, 5), e2m1("e2m1", 2, 5), scales("e8m0", 2, 1);
    const auto expect = [&](const mx_operation& operation, mx_tensor codes, mx_tensor scale_view,
                            mx_status status, const char* word) {
        const Outcome outcome = run(operation, {values.view()}, {codes, scale_view});
        EXPECT_EQ(outcome.status, status) << outcome.reason;
        EXPECT_NE(outcome.reason.find(word), std::string::npos) << outcome.reason;
    };
    const mx_operation fp8 = operation_of("quantize", "mxfp8-e4m3", "ocp", "row");
    const mx_operation fp4 = operation_of("quantize", "mxfp4-e2m1", "ocp", "row");
    LaidOut packed("e4m3", "packed-low", 2, 5), low("e2m1", "packed-low", 2, 5);
    expect(fp8, packed.view(), scales.view(), MX_INVALID, "packed-low");
    low.row_stride = 3;
    expect(fp4, low.view(), scales.view(), MX_INVALID, "strides");
    LaidOut columns("e8m0", "128x4-col", 2, 1), tiles("e8m0", "128x4", 1, 1);
    expect(fp4, e2m1.view(), columns.view(), MX_INVALID, "128x4-col");
    expect(fp4, columns.view(), scales.view(), MX_INVALID, "2 x 5 belongs");
    mx_operation tile = fp4;
    tile.axis = "tile";
    expect(tile, e2m1.view(), tiles.view(), MX_NOT_SUPPORTED, "tile");
    tile.block_size = -1;
    expect(tile, e2m1.view(), scales.view(), MX_INVALID, "-1");
    LaidOut swizzled("f32", "128x4", 2, 5);
    EXPECT_EQ(run(fp4, {swizzled.view()}, {e2m1.view(), scales.view()}).status, MX_NOT_SUPPORTED);
    LaidOut beside("e2m1", "inline", 2, 5);
    beside.row_stride = 17;
    beside.column_stride = 16;  // of 17 bytes
    EXPECT_EQ(run(fp4, {values.view()}, {beside.view()}).status, MX_INVALID);
}

}  // namespace
}  // namespace mx::cpu::test
