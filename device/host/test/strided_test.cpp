// The walk visits each element once and in order, whatever the strides.
#include "device/host/strided.hpp"

#include <gtest/gtest.h>

namespace mx {
namespace {

std::vector<std::byte> counting(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

TEST(Strided, GathersByTheFormulaOfTheAbi) {
    for (const TensorSpec& spec :
         {dense("bf16", 3, 5), TensorSpec{"bf16", 3, 5, 7, 1}, TensorSpec{"bf16", 3, 5, 1, 3},
          TensorSpec{"f32", 2, 3, 11, 3}, TensorSpec{"e4m3", 3, 1, 4, 1},
          TensorSpec{"f32", 3, 4, 0, 1}, TensorSpec{"f32", 1, 4, 9, 2}}) {
        const std::size_t width = element_width(spec.type);
        const std::vector<std::byte> tensor = counting(byte_extent(spec).value());
        std::vector<std::byte> scratch;
        const auto dense_bytes = dense_view(spec, tensor, scratch);
        ASSERT_EQ(dense_bytes.size(), element_count(spec) * width) << to_text(spec);
        std::size_t at = 0;
        for (std::int64_t row = 0; row < spec.rows; ++row) {
            for (std::int64_t column = 0; column < spec.columns; ++column) {
                const auto place =
                    static_cast<std::size_t>(row * spec.row_stride + column * spec.column_stride);
                for (std::size_t i = 0; i < width; ++i) {
                    EXPECT_EQ(dense_bytes[at++], tensor[place * width + i]) << to_text(spec);
                }
            }
        }
    }
}

TEST(Strided, ADenseTensorIsNotCopied) {
    const std::vector<std::byte> tensor = counting(60);
    std::vector<std::byte> scratch;
    EXPECT_EQ(dense_view(dense("f32", 3, 5), tensor, scratch).data(), tensor.data());
    int runs = 0;
    for_each_run(dense("f32", 3, 5), [&](ElementRun) { ++runs; });
    EXPECT_EQ(runs, 1);
    for_each_run(dense("f32", 0, 5), [&](ElementRun) { ++runs; });
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace mx
