// Layouts against numbers typed by hand, and the documented difference between requantising a
// tensor along its columns and transposing its row-wise codes.
#include <gtest/gtest.h>

#include "reference/exact/layout.hpp"
#include "reference/fast/block.hpp"
#include "reference/fast/pack.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

std::int64_t offset(std::string_view name, GridShape shape, GridPlace place) {
    return fast::scale_offset(*find_scale_layout(name), shape, place);
}

std::int64_t bytes(std::string_view name, GridShape shape) {
    return fast::scale_bytes(*find_scale_layout(name), shape);
}

TEST(ScaleLayout, PaddedSizesOfThePublishedShapes) {
    EXPECT_EQ(bytes("128x4", {1, 1}), 512);
    EXPECT_EQ(bytes("128x4", {129, 5}), 256 * 8);
    EXPECT_EQ(bytes("128x4-col", {5, 129}), 8 * 256);
    EXPECT_EQ(bytes("8x4", {9, 5}), 16 * 8);
    EXPECT_EQ(bytes("32x8", {33, 9}), 64 * 16);
    EXPECT_EQ(bytes("128x4", {0, 4}), 0);
    EXPECT_EQ(bytes("128x4", {4, 0}), 0);
    // TransformerEngine: a 32 x 1024 tensor has [128, 32] row scales and [4, 1024] column scales.
    EXPECT_EQ(bytes("te-padded", {32, 32}), 128 * 32);
    EXPECT_EQ(bytes("te-padded-col", {1, 1024}), 4 * 1024);
    EXPECT_EQ(bytes("te-padded-col", {8, 512}), 8 * 512);
}

// One tile is 32 lines of 16 bytes; row 32 of the grid stands beside row 0, not below it.
TEST(ScaleLayout, PlacesWithin128x4) {
    const GridShape shape{256, 8};
    EXPECT_EQ(offset("128x4", shape, {0, 3}), 3);
    EXPECT_EQ(offset("128x4", shape, {32, 0}), 4);
    EXPECT_EQ(offset("128x4", shape, {127, 3}), 511);
    EXPECT_EQ(offset("128x4", shape, {1, 0}), 16);
    EXPECT_EQ(offset("128x4", shape, {0, 4}), 512);
    EXPECT_EQ(offset("128x4", shape, {128, 0}), 1024);
    EXPECT_EQ(offset("128x4-col", {8, 256}, {0, 32}), 4);
    EXPECT_EQ(offset("128x4-col", {8, 256}, {4, 0}), 512);
    EXPECT_EQ(offset("128x4-col", {8, 256}, {0, 128}), 1024);
}

TEST(ScaleLayout, PlacesWithinTheOthers) {
    EXPECT_EQ(offset("8x4", {16, 8}, {1, 0}), 4);
    EXPECT_EQ(offset("8x4", {16, 8}, {0, 4}), 32);
    EXPECT_EQ(offset("8x4", {16, 8}, {8, 0}), 64);
    EXPECT_EQ(offset("32x8", {64, 16}, {16, 0}), 1);
    EXPECT_EQ(offset("32x8", {64, 16}, {0, 4}), 2);
    EXPECT_EQ(offset("32x8", {64, 16}, {1, 0}), 4);
    EXPECT_EQ(offset("32x8", {64, 16}, {0, 1}), 64);
    EXPECT_EQ(offset("32x8", {64, 16}, {0, 8}), 256);
    EXPECT_EQ(offset("32x8", {64, 16}, {32, 0}), 512);
    EXPECT_EQ(offset("te-padded", {33, 5}, {1, 0}), 8);
    EXPECT_EQ(offset("te-padded-col", {5, 33}, {1, 0}), 128);
}

TEST(ScaleLayout, TheWalkSaysWhichBytesArePads) {
    const auto walked = exact::walk(*find_scale_layout("8x4"), {2, 3});
    ASSERT_EQ(walked.size(), 32u);
    EXPECT_EQ(walked[0], (GridPlace{0, 0}));
    EXPECT_EQ(walked[2], (GridPlace{0, 2}));
    EXPECT_EQ(walked[3], std::nullopt);
    EXPECT_EQ(walked[4], (GridPlace{1, 0}));
    for (std::size_t byte = 7; byte < 32; ++byte) EXPECT_EQ(walked[byte], std::nullopt) << byte;
}

TEST(ScaleLayout, EveryAxisOfEveryNameHasARow) {
    for (const ScaleLayout& layout : scale_layouts) {
        EXPECT_EQ(find_scale_layout(layout.name), &layout);
        EXPECT_EQ(scale_layout_for(layout.storage, layout.axis), &layout);
        for (const BlockAxis axis : {BlockAxis::row, BlockAxis::col})
            EXPECT_NE(scale_layout_for(layout.storage, axis), nullptr);
        EXPECT_EQ(scale_layout_for(layout.storage, BlockAxis::tile), nullptr);
    }
    EXPECT_EQ(scale_layout_for(ScaleStorage::linear, BlockAxis::row), nullptr);
}

using Bytes = std::vector<std::uint8_t>;

TEST(Packing, NibblesInBothOrders) {
    const CodeStream low{4, PairOrder::even_first}, high{4, PairOrder::odd_first};
    const std::vector<Code> codes{Code{0x1}, Code{0x2}, Code{0xF}};
    EXPECT_EQ(exact::pack(low, codes), (Bytes{0x21, 0x0F}));
    EXPECT_EQ(exact::pack(high, codes), (Bytes{0x12, 0xF0}));
    EXPECT_EQ(exact::unpack(low, {0x21, 0x0F}, 3), codes);
    EXPECT_EQ(exact::unpack(high, {0x12, 0xF0}, 3), codes);
}

TEST(Packing, FourCodesOfSixBitsInThreeBytes) {
    const CodeStream six{6, PairOrder::even_first};
    const std::vector<Code> codes{Code{0x01}, Code{0x02}, Code{0x03}, Code{0x3F}};
    EXPECT_EQ(exact::pack(six, codes), (Bytes{0x81, 0x30, 0xFC}));
    EXPECT_EQ(exact::unpack(six, {0x81, 0x30, 0xFC}, 4), codes);
    EXPECT_EQ(fast::stream_bytes(six, 5), 4);
    EXPECT_EQ(fast::read_code(six, Bytes{0x81, 0x30, 0xFC}.data(), 3).bits, 0x3Fu);
}

TEST(Packing, TheScaleFollowsThePackedCodesOfItsBlock) {
    const exact::InlineRow row{{4, PairOrder::even_first},
                               4,
                               {Code{1}, Code{2}, Code{3}, Code{4}, Code{5}},
                               {Code{0x7F}, Code{0x80}}};
    EXPECT_EQ(exact::pack_inline(row), (Bytes{0x21, 0x43, 0x7F, 0x05, 0x00, 0x80}));
    EXPECT_EQ(fast::inline_row_bytes({row.stream, 32}, 33), 34);
}

// A columnwise operand is quantized from the high-precision tensor along its columns. Transposing
// the row-wise codes gives other bits: here one column holds 1 and 1.0625 x 2^-9. Alone in its
// column each value is kept; in its row beside 448, the small one is flushed to a coarser code.
TEST(Columnwise, IsRequantisedAndNeverTransposed) {
    const Quantizer& ocp = *find_quantizer("ocp");
    const BlockFormat& format = *find_block_format("mxfp8-e4m3");
    const std::uint32_t small = 0x3A880000;  // 1.0625 x 2^-10
    const std::uint32_t large = 0x43E00000;  // 448
    const auto code_of = [&](std::uint32_t neighbour) {
        const std::array<std::uint32_t, 2> lanes{small, neighbour};
        std::array<std::uint8_t, 2> codes{};
        const Code scale =
            fast::quantize_block(ocp, format, formats::f32, lanes.data(), 2, codes.data());
        return std::pair(codes[0], scale.bits);
    };
    const auto along_row = code_of(large);
    const auto along_column = code_of(small);
    EXPECT_EQ(along_row, std::pair(std::uint8_t{0x01}, 127u));
    EXPECT_EQ(along_column, std::pair(std::uint8_t{0x78}, 109u));
}

}  // namespace
}  // namespace mx
