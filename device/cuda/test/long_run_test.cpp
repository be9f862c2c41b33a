// What takes a whole GPU: more than 2^31 elements, and a thousand repeats under load.
#include <string>

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
    // In the order of the kernels, unlike what the constructor of Bytes does.
    void fill(const Bytes& bytes, std::uint8_t byte) {
        ASSERT_EQ(
            cudaMemsetAsync(bytes.data(), byte, static_cast<std::size_t>(bytes.size()), stream_),
            cudaSuccess);
    }
    unsigned long long differences(const Bytes& left, const Bytes& right) {
        const Bytes count(8);
        fill(count, 0);
        finish(count_differences(left.data(), right.data(), left.size(),
                                 reinterpret_cast<unsigned long long*>(count.data()), stream_));
        unsigned long long found = 1;
        EXPECT_EQ(cudaMemcpy(&found, count.data(), 8, cudaMemcpyDeviceToHost), cudaSuccess);
        return found;
    }
};

// Codes and scales of one direction.
struct Results {
    Bytes codes;
    Bytes scales;
};

// The fast kernels against any.cu. Both count in 64 bits, and they go over the tensor in other
// orders: an offset cut to 32 bits would have to be cut in both, and hit the same bytes.
class MoreThanTwoToThe31 : public LongRun {
protected:
    static constexpr std::int64_t columns = 65536, rows = 32800;  // 2^31 and a block of rows
    static constexpr std::int64_t gap = 16;

    enum class Axis {
        row,
        column,
        column_transposed
    };  // the last with each column's codes together
    // Without a gap all rows are one long line to the kernels; with one, row times stride passes
    // 2^31.
    struct Layout {
        Axis axis;
        std::int64_t stride;
    };
    static constexpr Layout one_long_line{Axis::row, columns};
    static constexpr Layout by_row{Axis::row, columns + gap};
    static constexpr Layout by_column{Axis::column, columns + gap};
    static constexpr Layout transposed{Axis::column_transposed, columns + gap};
    static constexpr std::int64_t elements = rows * (columns + gap);
    static constexpr std::int64_t blocks = rows * columns / 32;

    void SetUp() override {
        LongRun::SetUp();
        if (stream_ == nullptr) return;
        std::size_t free_bytes = 0, total = 0;
        ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
        if (free_bytes < std::size_t{10} * elements) GTEST_SKIP() << "needs 22 GB of GPU memory";
    }

    static Plane plane(const Layout& layout, const Bytes& data) {
        if (layout.axis == Axis::row) return {data.data(), layout.stride, 1};
        return {data.data(), 1, layout.stride};
    }
    static Plane code_plane(const Layout& layout, const Bytes& data) {
        if (layout.axis == Axis::column_transposed) return {data.data(), rows, 1};
        return plane(layout, data);
    }
    static ScalePlane scale_plane(const Layout& layout, const Bytes& data) {
        const bool is_row = layout.axis == Axis::row;
        return {data.data(),
                ScaleOrder::strided,
                is_row ? columns / 32 : 1,
                is_row ? 1 : columns,
                0,
                0,
                0};
    }
    static BlockJob job(const Layout& layout, const Bytes& values, const Results& results) {
        const bool is_row = layout.axis == Axis::row;
        BlockJob job =
            job_of(ValueType::bf16, is_row ? Extent{rows, columns} : Extent{columns, rows});
        job.values = plane(layout, values);
        job.codes = code_plane(layout, results.codes);
        job.scales = scale_plane(layout, results.scales);
        return job;
    }
    void poison_both(const Results& left, const Results& right) {
        for (const Bytes* bytes : {&left.codes, &left.scales, &right.codes, &right.scales})
            fill(*bytes, poison);
    }
    void expect_equal(const Results& left, const Results& right) {
        EXPECT_EQ(differences(left.codes, right.codes), 0u);
        EXPECT_EQ(differences(left.scales, right.scales), 0u);
    }
};

TEST_F(MoreThanTwoToThe31, ElementsAreQuantized) {
    const Bytes values(elements * 2);
    const Results fast{Bytes(elements), Bytes(blocks)}, slow{Bytes(elements), Bytes(blocks)};
    finish(fill_normal(values.data(), elements, {ValueType::bf16, 5}, stream_));
    for (const Layout& layout : {one_long_line, by_row, by_column, transposed}) {
        SCOPED_TRACE("axis " + std::to_string(static_cast<int>(layout.axis)));
        SCOPED_TRACE("stride " + std::to_string(layout.stride));
        poison_both(fast, slow);
        finish(quantize(job(layout, values, fast), stream_));
        finish(quantize_any(job(layout, values, slow), stream_));
        expect_equal(fast, slow);
    }
}

TEST_F(MoreThanTwoToThe31, ElementsAreQuantizedBothWaysAtOnce) {
    const Bytes values(elements * 2);
    const Results by_rows{Bytes(elements), Bytes(blocks)},
        by_columns{Bytes(elements), Bytes(blocks)}, slow{Bytes(elements), Bytes(blocks)};
    finish(fill_normal(values.data(), elements, {ValueType::bf16, 6}, stream_));
    const BothJob both{job(by_row, values, by_rows), plane(by_row, by_columns.codes),
                       scale_plane(by_column, by_columns.scales)};
    finish(quantize_both(both, stream_));
    finish(quantize_any(job(by_row, values, slow), stream_));
    expect_equal(by_rows, slow);
    fill(slow.codes, poison);
    fill(slow.scales, poison);
    finish(quantize_any(job(by_column, values, slow), stream_));
    expect_equal(by_columns, slow);
}

TEST_F(MoreThanTwoToThe31, ElementsAreDequantized) {
    const Results from{Bytes(elements), Bytes(blocks)};
    const Bytes fast(elements * 2), slow(elements * 2);
    finish(fill_bits(from.codes.data(), from.codes.size(), 7, stream_));
    finish(fill_bits(from.scales.data(), from.scales.size(), 8, stream_));
    for (const Layout& layout : {one_long_line, by_row}) {
        SCOPED_TRACE("stride " + std::to_string(layout.stride));
        fill(fast, poison);
        fill(slow, poison);
        finish(dequantize(job(layout, fast, from), stream_));
        finish(dequantize_any(job(layout, slow, from), stream_));
        EXPECT_EQ(differences(fast, slow), 0u);
    }
}

// The other stream keeps the memory busy with copies, so that warps meet in another order each
// time. A repeat writes over another poison than the first run did: what is left out differs.
TEST_F(LongRun, AThousandRepeatsUnderLoadAreOne) {
    constexpr std::int64_t side = 4096, count = side * side;
    constexpr int repeats = 1000;
    constexpr std::uint8_t other_poison = 0x5A;
    static_assert(other_poison != poison);
    const Bytes values(count * 2), noise(count * 2), noise_to(count * 2);
    finish(fill_normal(values.data(), count, {ValueType::bf16, 6}, stream_));
    constexpr std::int64_t blocks = count / 32;
    constexpr int outputs = 4;  // both at once, one long line, transposed
    const Results first{Bytes(count * outputs), Bytes(blocks * outputs)};
    const Results again{Bytes(count * outputs), Bytes(blocks * outputs)};
    const auto quantize_all = [&](const Results& to) {
        std::uint8_t *codes = to.codes.data(), *scales = to.scales.data();
        BothJob both{job_of(ValueType::bf16, {side, side}), {codes + count, side, 1}, {}};
        both.rows.values = {values.data(), side, 1};
        both.rows.codes = {codes, side, 1};
        both.rows.scales = {scales, ScaleOrder::tiles_128x4, 0, 0, side / 128, 0, 0};
        both.column_scales = both.rows.scales;
        both.column_scales.data += blocks;
        BlockJob line = both.rows;
        line.codes.data += 2 * count;
        line.scales = {scales + 2 * blocks, ScaleOrder::strided, side / 32, 1, 0, 0, 0};
        BlockJob transposed = line;
        transposed.values = {values.data(), 1, side};
        transposed.codes.data += count;
        transposed.scales.data += blocks;
        finish(quantize_both(both, stream_));
        finish(quantize(line, stream_));
        finish(quantize(transposed, stream_));
    };
    quantize_all(first);
    cudaStream_t other = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    unsigned long long found = 0;
    for (int i = 0; i < repeats && found == 0 && !HasFailure(); ++i) {
        for (const Bytes* bytes : {&again.codes, &again.scales}) fill(*bytes, other_poison);
        ASSERT_EQ(
            cudaMemcpyAsync(noise_to.data(), noise.data(), static_cast<std::size_t>(noise.size()),
                            cudaMemcpyDeviceToDevice, other),
            cudaSuccess);
        quantize_all(again);
        found = differences(again.codes, first.codes) + differences(again.scales, first.scales);
    }
    EXPECT_EQ(found, 0u);
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    cudaStreamDestroy(other);
}

}  // namespace
}  // namespace mx::cuda::test
