// What takes a whole GPU: more than 2^31 elements, and a thousand repeats under load.
#include <algorithm>

#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/rules.hpp"
#include "device/cuda/test/gpu_fixture.hpp"

namespace mx::cuda::test {
namespace {

BlockJob job_of(ValueType type, Extent extent) {
    const DialectRule rule = *find_dialect_rule("nv", Element::e4m3);
    return {{type, Element::e4m3, rule.scale, rule.nan_code}, extent, {1, 32}, {}, {}, {}};
}

class LongRun : public Gpu {
protected:
    unsigned long long differences(const Bytes& left, const Bytes& right) {
        const Bytes count(8);
        EXPECT_EQ(cudaMemsetAsync(count.data(), 0, 8, stream_), cudaSuccess);
        finish(count_differences(left.data(), right.data(), left.size(),
                                 reinterpret_cast<unsigned long long*>(count.data()), stream_));
        unsigned long long found = 1;
        EXPECT_EQ(cudaMemcpy(&found, count.data(), 8, cudaMemcpyDeviceToHost), cudaSuccess);
        return found;
    }
};

// Of each direction, the fast kernels against the slow ones, which count in 64 bits as well but
// another way.
TEST_F(LongRun, MoreThanTwoToThe31Elements) {
    constexpr std::int64_t columns = 65536, rows = 32800;  // 2^31 and a block of rows
    constexpr std::int64_t count = rows * columns;
    std::size_t free_bytes = 0, total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
    if (free_bytes < std::size_t{6} * count) GTEST_SKIP() << "needs 13 GB of GPU memory";
    const Bytes values(count * 2), fast(count), slow(count), fast_scales(count / 32),
        slow_scales(count / 32);
    finish(fill_normal(values.data(), count, {ValueType::bf16, 5}, stream_));
    BlockJob job = job_of(ValueType::bf16, {rows, columns});
    for (const bool by_row : {true, false}) {
        if (!by_row) std::swap(job.extent.lines, job.extent.lanes);
        const auto with = [&](const Bytes& codes, const Bytes& scales) {
            BlockJob chosen = job;
            const auto plane = [&](std::uint8_t* data) {
                return by_row ? Plane{data, columns, 1} : Plane{data, 1, columns};
            };
            chosen.values = plane(values.data());
            chosen.codes = plane(codes.data());
            chosen.scales = {scales.data(),
                             ScaleOrder::strided,
                             by_row ? columns / 32 : 1,
                             by_row ? 1 : columns,
                             0,
                             0,
                             0};
            return chosen;
        };
        SCOPED_TRACE(by_row ? "by row" : "by column");
        finish(quantize(with(fast, fast_scales), stream_));
        finish(quantize_any(with(slow, slow_scales), stream_));
        EXPECT_EQ(differences(fast, slow), 0u);
        EXPECT_EQ(differences(fast_scales, slow_scales), 0u);
    }
}

// The other stream keeps the memory busy with copies, so that warps meet in another order each
// time.
TEST_F(LongRun, AThousandRepeatsUnderLoadAreOne) {
    constexpr std::int64_t side = 4096, count = side * side;
    constexpr int repeats = 1000;
    const Bytes values(count * 2), noise(count * 2), noise_to(count * 2);
    finish(fill_normal(values.data(), count, {ValueType::bf16, 6}, stream_));
    const Bytes first_rows(count), first_columns(count), rows(count), columns(count);
    const Bytes first_scales(count / 32 * 2), scales(count / 32 * 2);
    const auto both = [&](const Bytes& row_codes, const Bytes& column_codes, const Bytes& out) {
        BothJob job{job_of(ValueType::bf16, {side, side}), {column_codes.data(), side, 1}, {}};
        job.rows.values = {values.data(), side, 1};
        job.rows.codes = {row_codes.data(), side, 1};
        job.rows.scales = {out.data(), ScaleOrder::tiles_128x4, 0, 0, side / 128, 0, 0};
        job.column_scales = job.rows.scales;
        job.column_scales.data += count / 32;
        return job;
    };
    finish(quantize_both(both(first_rows, first_columns, first_scales), stream_));
    cudaStream_t other = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    unsigned long long found = 0;
    for (int i = 0; i < repeats && found == 0; ++i) {
        ASSERT_EQ(
            cudaMemcpyAsync(noise_to.data(), noise.data(), static_cast<std::size_t>(noise.size()),
                            cudaMemcpyDeviceToDevice, other),
            cudaSuccess);
        finish(quantize_both(both(rows, columns, scales), stream_));
        found = differences(rows, first_rows) + differences(columns, first_columns) +
                differences(scales, first_scales);
    }
    EXPECT_EQ(found, 0u);
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    cudaStreamDestroy(other);
}

}  // namespace
}  // namespace mx::cuda::test
