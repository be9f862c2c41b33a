// Shapes: extents by hand, and every way a shape can be impossible.
#include "device/host/operation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace mx {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

TEST(Operation, WidthsOfTypes) {
    EXPECT_EQ(element_width("f32"), 4u);
    EXPECT_EQ(element_width("bf16"), 2u);
    EXPECT_EQ(element_width("f16"), 2u);
    EXPECT_EQ(element_width("e4m3"), 1u);
    EXPECT_EQ(element_width("e5m2"), 1u);
    EXPECT_EQ(element_width("e8m0"), 1u);
    EXPECT_EQ(element_width("e2m3"), 1u);
    EXPECT_EQ(element_width("e2m1"), 1u);
    EXPECT_EQ(code_bits("e3m2"), 6);
    EXPECT_EQ(code_bits("e2m1"), 4);
    EXPECT_EQ(element_width("f64"), 0u);
    EXPECT_EQ(element_width(""), 0u);
}

TEST(Operation, ExtentEndsWithTheFarthestElement) {
    EXPECT_EQ(byte_extent(dense("f32", 3, 5)).value(), 60u);
    EXPECT_EQ(byte_extent({"f32", 3, 5, 8, 1}).value(), (2u * 8 + 4 + 1) * 4);
    EXPECT_EQ(byte_extent({"bf16", 3, 5, 1, 3}).value(), 30u);
    EXPECT_EQ(byte_extent({"f32", 3, 5, 0, 0}).value(), 4u);
    EXPECT_EQ(byte_extent(dense("f32", 0, 5)).value(), 0u);
    EXPECT_EQ(byte_extent(dense("f32", huge, 0)).value(), 0u);
}

TEST(Operation, ImpossibleShapesAreSentences) {
    EXPECT_EQ(byte_extent(dense("f64", 3, 5)).error().message, "tensor type \"f64\" is unknown");
    EXPECT_EQ(byte_extent(dense("f32", -1, 5)).error().message,
              "tensor f32 -1 x 5, strides 5 and 1 has a negative size or stride");
    for (const TensorSpec& spec :
         {dense("e4m3", huge, huge), dense("f32", huge / 2, 1), TensorSpec{"e4m3", 3, 3, huge, 1},
          TensorSpec{"e4m3", huge, huge, 0, 0}}) {
        const Expected<std::size_t> extent = byte_extent(spec);
        ASSERT_FALSE(extent.ok()) << to_text(spec);
        EXPECT_NE(extent.error().message.find("larger than the address space"), std::string::npos);
    }
}

TEST(Operation, DenseMeansRowMajorWithoutGaps) {
    EXPECT_TRUE(is_dense(dense("f32", 3, 5)));
    EXPECT_TRUE(is_dense({"f32", 1, 5, 99, 1}));
    EXPECT_TRUE(is_dense({"f32", 3, 1, 1, 99}));
    EXPECT_FALSE(is_dense({"f32", 3, 5, 6, 1}));
    EXPECT_FALSE(is_dense({"f32", 3, 5, 1, 3}));
}

TEST(Operation, OutputsNeedElementsOfTheirOwn) {
    EXPECT_TRUE(has_separate_elements(dense("f32", 3, 5)));
    EXPECT_TRUE(has_separate_elements({"f32", 3, 5, 1, 3}));
    EXPECT_TRUE(has_separate_elements({"f32", 3, 5, 7, 1}));
    EXPECT_TRUE(has_separate_elements({"f32", 1, 5, 0, 1}));
    EXPECT_TRUE(has_separate_elements({"f32", 0, 5, 0, 0}));
    EXPECT_FALSE(has_separate_elements({"f32", 3, 5, 4, 1}));
    EXPECT_FALSE(has_separate_elements({"f32", 3, 5, 0, 1}));
    EXPECT_FALSE(has_separate_elements({"f32", 3, 5, 5, 0}));
}

}  // namespace
}  // namespace mx
