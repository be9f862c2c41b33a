// Sizes of the layouts by hand, and tensors that cannot have the layout they name.
#include "device/host/layout.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace mx {
namespace {

TensorSpec in_layout(std::string_view type, Shape shape, std::string_view layout) {
    return {std::string(type), shape.rows, shape.columns, 0, 0, std::string(layout)};
}

std::size_t bytes(std::string_view type, Shape shape, std::string_view layout) {
    return byte_extent(in_layout(type, shape, layout)).value();
}

std::string fault(const TensorSpec& spec) {
    const Expected<std::size_t> extent = byte_extent(spec);
    return extent.ok() ? "none" : extent.error().message;
}

TEST(Layout, SizesByHand) {
    EXPECT_EQ(bytes("e8m0", {129, 5}, "128x4"), 256u * 8);
    EXPECT_EQ(bytes("e8m0", {5, 129}, "128x4-col"), 8u * 256);
    EXPECT_EQ(bytes("e8m0", {9, 5}, "8x4"), 16u * 8);
    EXPECT_EQ(bytes("e8m0", {9, 5}, "8x4-col"), 12u * 8);
    EXPECT_EQ(bytes("e8m0", {33, 9}, "32x8"), 64u * 16);
    EXPECT_EQ(bytes("e8m0", {9, 33}, "32x8-col"), 16u * 64);
    EXPECT_EQ(bytes("e8m0", {32, 32}, "te-padded"), 128u * 32);
    EXPECT_EQ(bytes("e8m0", {1, 1024}, "te-padded-col"), 4u * 1024);
    EXPECT_EQ(bytes("e2m1", {3, 5}, "packed-low"), 9u);
    EXPECT_EQ(bytes("e2m1", {3, 4}, "packed-high"), 6u);
    EXPECT_EQ(bytes("e3m2", {2, 5}, "packed-6"), 8u);
    EXPECT_EQ(byte_extent({"e2m1", 3, 33, 34, 17, "inline"}).value(), 102u);
    EXPECT_EQ(bytes("e8m0", {0, 5}, "128x4"), 0u);
    EXPECT_EQ(bytes("e2m1", {5, 0}, "inline"), 0u);
}

TEST(Layout, ATensorThatCannotHaveItIsASentence) {
    EXPECT_EQ(fault(in_layout("e8m0", {1, 1}, "4x128")), "tensor layout \"4x128\" is unknown");
    EXPECT_EQ(fault(in_layout("e4m3", {1, 2}, "packed-low")),
              "tensor e4m3 1 x 2 in layout packed-low holds codes of 8 bits, layout packed-low is "
              "for 4");
    EXPECT_EQ(fault(in_layout("f32", {1, 2}, "inline")),
              "tensor f32 1 x 2 in layout inline holds codes of 32 bits, layout inline is for up "
              "to 8");
    EXPECT_EQ(fault({"e8m0", 1, 1, 1, 1, "128x4"}),
              "tensor e8m0 1 x 1 in layout 128x4 has strides, layout 128x4 has none");
    EXPECT_EQ(fault(in_layout("e8m0", {-1, 1}, "128x4")),
              "tensor e8m0 -1 x 1 in layout 128x4 has a negative size or stride");
    for (const TensorSpec& spec :
         {TensorSpec{"e2m1", 1, 33, 33, 17, "inline"}, TensorSpec{"e2m1", 1, 33, 0, 17, "inline"},
          TensorSpec{"e2m1", 1, 33, 34, 0, "inline"}}) {
        EXPECT_EQ(fault(spec),
                  "tensor e2m1 1 x 33 in layout inline has rows that are no whole "
                  "number of inline blocks");
    }
}

TEST(Layout, NoSizeOverflows) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    for (const Shape shape : {Shape{huge, 1}, Shape{1, huge}, Shape{huge / 256, huge / 256}}) {
        for (const char* layout : {"128x4", "32x8-col", "te-padded"}) {
            EXPECT_NE(fault(in_layout("e8m0", shape, layout)).find("larger than the address space"),
                      std::string::npos);
        }
    }
    EXPECT_NE(fault(in_layout("e2m1", {1, huge / 2}, "packed-low")).find("larger than"),
              std::string::npos);
    EXPECT_NE(fault({"e2m1", huge, 32, 17, 17, "inline"}).find("larger than"), std::string::npos);
}

TEST(Layout, StorageIsOneRowOfBytes) {
    EXPECT_EQ(storage_of(in_layout("e8m0", {9, 5}, "8x4")), dense("u8", 1, 128));
    EXPECT_EQ(storage_of(dense("f32", 3, 5)), dense("f32", 3, 5));
}

}  // namespace
}  // namespace mx
