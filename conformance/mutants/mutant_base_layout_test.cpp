// The unmutated base and where it puts things: block sizes, tiles and the layouts of
// device/abi/mx_device.h, on places worked out by hand.
#include <algorithm>
#include <string>
#include <utility>

#include "conformance/mutants/mutant_base.hpp"

namespace mx::mutants {
namespace {

TEST_F(Base, TakesBlocksOfOtherSizes) {
    std::vector<float> values(64, 1.0f);
    values[40] = 256;
    const Probe row = quantize_row("row", ocp, bits_of(values));
    EXPECT_EQ(outputs_of(base_, in_blocks_of(row, 16)).second, (Codes{119, 119, 127, 119}));
    EXPECT_EQ(outputs_of(base_, in_blocks_of(row, 32)).second, (Codes{119, 127}));
    EXPECT_EQ(outputs_of(base_, in_blocks_of(row, 64)).second, Codes{127});
}

// 17 x 18 in tiles of 16: two each way, the last of them 1 x 2.
TEST_F(Base, TakesTiles) {
    std::vector<float> values(17 * 18, 1.0f);
    values[15 * 18 + 15] = 256;
    values[17] = 2;
    values[16 * 18] = 4;
    values[16 * 18 + 17] = 8;
    const Probe tiles = shaped(quantize_row("tiles", ocp, bits_of(values)), {17, 18}, "tile");
    const Outputs outputs = outputs_of(base_, in_blocks_of(tiles, 16));
    EXPECT_EQ(outputs.second, (Codes{127, 120, 121, 122}));
    EXPECT_EQ(outputs.first[0], 0x38u);
    EXPECT_EQ(outputs.first[17], 0x78u);
    EXPECT_EQ(outputs.first[16 * 18 + 16], 0x60u);  // 1 / 2^-5
    const Probe back =
        shaped(dequantize_row("tiles", ocp, outputs.first, outputs.second), {17, 18}, "tile");
    EXPECT_EQ(outputs_of(base_, in_blocks_of(back, 16)).first, bits_of(values));
}

// 1, 2, 3 are the codes 2, 4, 5 under the scale of an amax of 6. Rows begin with a whole byte.
TEST_F(Base, PacksNibbles) {
    const Codes values = bits_of({1, 2, 6, 3, 1, 6});
    const Probe rows = shaped(quantize_row("nibbles", fp4, values), {2, 3});
    EXPECT_EQ(outputs_of(base_, stored(rows, "packed-low")).first, (Codes{0x42, 0x07, 0x25, 0x07}));
    EXPECT_EQ(outputs_of(base_, stored(rows, "packed-high")).first,
              (Codes{0x24, 0x70, 0x52, 0x70}));
    Probe back =
        shaped(dequantize_row("nibbles", fp4, {0x42, 0xF7, 0x25, 0xF7}, {127, 127}), {2, 3});
    EXPECT_EQ(outputs_of(base_, stored(back, "packed-low")).first, values);
}

// 1, 2, 28, -28, 1 are 0x0C, 0x10, 0x1F, 0x3F, 0x0C: 001100 | 00 0100 | 1111 01 | 111111 | 001100.
TEST_F(Base, PacksSixBits) {
    const Codes values = bits_of({1, 2, 28, -28, 1}), bytes{0x0C, 0xF4, 0xFD, 0x0C};
    EXPECT_EQ(outputs_of(base_, stored(quantize_row("six", fp6, values), "packed-6")).first, bytes);
    const Probe back = shaped(dequantize_row("six", fp6, bytes, {127}), {1, 5});
    EXPECT_EQ(outputs_of(base_, stored(back, "packed-6")).first, values);
}

// Two blocks of sixteen lanes, eight bytes each, and the scale behind each; the second has one
// lane.
TEST_F(Base, PutsScalesBehindTheirBlocks) {
    std::vector<float> values(17, 0.0f);
    values[0] = 6;
    values[1] = 1;
    values[16] = 12;
    const Probe row = in_blocks_of(quantize_row("inline", fp4, bits_of(values)), 16);
    Codes bytes(18, 0);
    bytes[0] = 0x27;
    bytes[8] = 127;
    bytes[9] = 0x07;
    bytes[17] = 128;
    EXPECT_EQ(outputs_of(base_, stored(row, "inline")).first, bytes);
    const Probe back = shaped(dequantize_row("inline", fp4, bytes, {}), {1, 17});
    EXPECT_EQ(outputs_of(base_, in_blocks_of(stored(back, "inline"), 16)).first, bits_of(values));
}

// A scale that is not 0, where it stands in the grid and at which byte it lies. Along axis col the
// grid is the transposed one.
struct Placed {
    std::int64_t outer, inner;
    std::size_t byte;
};

// Blocks whose largest values are 2^1, 2^2, ... at the places of the list; all others are zeros.
void expect_places(const Planted& base, const char* layout, const std::vector<Placed>& places) {
    constexpr std::int64_t outer = 130, lanes = 9 * 32;
    for (const char* axis : {"row", "col"}) {
        const bool by_row = std::string_view(axis) == "row";
        std::vector<float> values(outer * lanes, 0.0f);
        float value = 1;
        for (const Placed& place : places) {
            const std::int64_t x = place.outer, y = place.inner * 32;
            values[static_cast<std::size_t>(by_row ? x * lanes + y : y * outer + x)] = value *= 2;
        }
        const std::string name = std::string(layout) + (by_row ? "" : "-col");
        const Extent extent = by_row ? Extent{outer, lanes} : Extent{lanes, outer};
        const Probe probe = stored(shaped(quantize_row("grid", ocp, bits_of(values)), extent, axis),
                                   "strided", name.c_str());
        const Codes scales = outputs_of(base, probe).second;
        std::uint32_t scale = 127 - 8;
        for (const Placed& place : places) EXPECT_EQ(scales.at(place.byte), ++scale) << name;
        if (std::string_view(layout) == "32x8") continue;  // pads may be anything
        EXPECT_EQ(std::count(scales.begin(), scales.end(), 0u),
                  static_cast<std::ptrdiff_t>(scales.size() - places.size()))
            << name;
    }
}

// A grid of 130 x 9. Padded to 256 x 12, 136 x 12 and 160 x 16.
TEST_F(Base, SwizzlesScales) {
    expect_places(base_, "128x4",
                  {{0, 0, 0},
                   {0, 1, 1},
                   {1, 0, 16},
                   {32, 0, 4},
                   {127, 3, 511},
                   {0, 4, 512},
                   {128, 0, 1536},
                   {129, 8, 2576}});
    expect_places(
        base_, "8x4",
        {{0, 0, 0}, {0, 1, 1}, {1, 0, 4}, {7, 3, 31}, {0, 4, 32}, {8, 0, 96}, {129, 8, 1604}});
    expect_places(base_, "32x8",
                  {{0, 0, 0},
                   {1, 0, 4},
                   {16, 0, 1},
                   {0, 1, 64},
                   {0, 4, 2},
                   {31, 7, 255},
                   {0, 8, 256},
                   {32, 0, 512},
                   {129, 8, 2308}});
}

TEST_F(Base, PadsScalesRowByRow) {
    const auto place = [](const char* axis, std::size_t bytes_of_a_row) {
        std::vector<float> values(40 * 40, 1.0f);
        values[33 * 40 + 34] = 256;
        const bool by_row = std::string_view(axis) == "row";
        const Probe probe = stored(shaped(quantize_row("te", ocp, bits_of(values)), {40, 40}, axis),
                                   "strided", by_row ? "te-padded" : "te-padded-col");
        return std::pair(probe, by_row ? 33 * bytes_of_a_row + 1 : bytes_of_a_row + 34);
    };
    for (const auto& [probe, byte] : {place("row", 4), place("col", 128)}) {
        const Codes scales = outputs_of(base_, probe).second;
        ASSERT_EQ(scales.size(), 512u);
        EXPECT_EQ(scales[byte], 127u);
        EXPECT_EQ(scales[0], 119u);
    }
}

}  // namespace
}  // namespace mx::mutants
