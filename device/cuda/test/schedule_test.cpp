// What the functions of kernels.hpp refuse before they start anything; needs no GPU.
#include <gtest/gtest.h>

#include "device/cuda/kernels.hpp"
#include "device/cuda/rules.hpp"

namespace mx::cuda {
namespace {

TEST(CudaSchedule, RefusesScalesThatDoNotBeginAtTheOrigin) {
    const DialectRule rule = *find_dialect_rule("nv", Element::e4m3);
    BlockJob job{{ValueType::f32, Element::e4m3, rule.scale, rule.nan_code},
                 {0, 32},  // nothing to start, should the refusal be missing
                 {1, 32},
                 {nullptr, 32, 1},
                 {nullptr, 32, 1},
                 {nullptr, ScaleOrder::tiles_128x4, 0, 0, 1, 0, 0}};
    const BothJob good{job, job.codes, job.scales};
    EXPECT_EQ(quantize(job, nullptr), cudaSuccess);
    EXPECT_EQ(dequantize(job, nullptr), cudaSuccess);
    EXPECT_EQ(quantize_both(good, nullptr), cudaSuccess);
    for (std::int64_t ScalePlane::*first : {&ScalePlane::first_line, &ScalePlane::first_block}) {
        BlockJob off = job;
        off.scales.*first = 128;
        EXPECT_EQ(quantize(off, nullptr), cudaErrorInvalidValue);
        EXPECT_EQ(dequantize(off, nullptr), cudaErrorInvalidValue);
        BothJob rows_off = good, columns_off = good;
        rows_off.rows.scales.*first = 128;
        columns_off.column_scales.*first = 128;
        EXPECT_EQ(quantize_both(rows_off, nullptr), cudaErrorInvalidValue);
        EXPECT_EQ(quantize_both(columns_off, nullptr), cudaErrorInvalidValue);
    }
}

}  // namespace
}  // namespace mx::cuda
