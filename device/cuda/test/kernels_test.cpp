// The fast kernels against the kernels that take every case: shapes with tails, gaps between rows,
// pointers off their alignment, both scale orders. Both sides share the rules, scale.cuh,
// values.cuh and place_of; what is wrong there shows where mxcheck compares the device with the
// oracle.
#include "device/cuda/kernels.hpp"

#include <string>

#include "device/cuda/launch.hpp"
#include "device/cuda/rules.hpp"
#include "device/cuda/test/gpu_fixture.hpp"

namespace mx::cuda::test {
namespace {

enum class Data { bits, normal };
// Blocks down columns also with each column's codes side by side, without its scales and with them.
enum class Axis { row, column, column_codes_turned, column_turned };

struct Problem {
    ValueType type;
    Element element;
    const char* dialect;
    std::int64_t rows, columns;
    std::int64_t gap;    // elements between rows
    std::int64_t shift;  // bytes off the alignment
    ScaleOrder order;
    Data data;

    std::int64_t stride() const { return columns + gap; }
    std::string text() const {
        return std::string(name_of(element)) + " " + dialect + " type " +
               std::to_string(static_cast<int>(type)) + " " + std::to_string(rows) + " x " +
               std::to_string(columns) + " gap " + std::to_string(gap) + " shift " +
               std::to_string(shift) + " order " + std::to_string(static_cast<int>(order));
    }
};

std::int64_t in_tiles(std::int64_t count, std::int64_t tile) {
    return (count + tile - 1) / tile * tile;
}

// The tensors of one problem, quantized along one axis or filled for dequantizing.
struct Tensors {
    Problem problem;
    Axis axis;
    Bytes codes;
    Bytes scales;

    Tensors(const Problem& asked, Axis along)
        : problem(asked),
          axis(along),
          codes(code_lines() * (code_lanes() + asked.gap), asked.shift),
          scales(in_tiles(lines(), 128) * in_tiles(blocks(), 4), asked.shift) {}

    std::int64_t lines() const { return axis == Axis::row ? problem.rows : problem.columns; }
    std::int64_t lanes() const { return axis == Axis::row ? problem.columns : problem.rows; }
    std::int64_t blocks() const { return (lanes() + 31) / 32; }

    // As they lie in memory.
    bool codes_follow_rows() const { return axis == Axis::row || axis == Axis::column; }
    std::int64_t code_lines() const { return codes_follow_rows() ? problem.rows : lines(); }
    std::int64_t code_lanes() const { return codes_follow_rows() ? problem.columns : lanes(); }

    Plane plane(std::uint8_t* data) const {
        if (axis == Axis::row) return {data, problem.stride(), 1};
        return {data, 1, problem.stride()};
    }
    Plane code_plane() const {
        if (codes_follow_rows()) return plane(codes.data());
        return {codes.data(), code_lanes() + problem.gap, 1};
    }
    ScalePlane scale_plane() const {
        const bool by_line = axis == Axis::row || axis == Axis::column_turned;
        return {scales.data(),
                problem.order,
                by_line ? blocks() : 1,
                by_line ? 1 : lines(),
                in_tiles(blocks(), 4) / 4,
                0,
                0};
    }
    BlockJob job(std::uint8_t* values) const {
        const DialectRule rule = *find_dialect_rule(problem.dialect, problem.element);
        return {{problem.type, problem.element, rule.scale, rule.nan_code},
                {lines(), lanes()},
                {1, 32},
                plane(values),
                code_plane(),
                scale_plane()};
    }
};

void expect_equal(const Tensors& left, const Tensors& right) {
    SCOPED_TRACE(left.problem.text() + " axis " + std::to_string(static_cast<int>(left.axis)));
    EXPECT_TRUE(left.codes.read() == right.codes.read());
    EXPECT_TRUE(left.scales.read() == right.scales.read());
    EXPECT_TRUE(left.codes.margins_are_whole());
    EXPECT_TRUE(left.scales.margins_are_whole());
}

// Tiles of the scales get their pads from zero_pads, in both.
cudaError_t quantize_slowly(const BlockJob& job, cudaStream_t stream) {
    const cudaError_t error =
        job.scales.order == ScaleOrder::strided
            ? cudaSuccess
            : zero_pads(job.scales, {job.extent.lines, (job.extent.lanes + 31) / 32}, stream);
    return error == cudaSuccess ? quantize_any(job, stream) : error;
}

class KernelsTest : public Gpu {
protected:
    Bytes values_of(const Problem& problem) {
        const std::int64_t count = problem.rows * problem.stride();
        const std::int64_t width = width_of(problem.type);
        return Bytes(count * width, problem.shift * width);
    }
    void fill(const Bytes& values, const Problem& problem) {
        const std::int64_t count = values.size() / width_of(problem.type);
        if (problem.data == Data::bits)
            finish(fill_bits(values.data(), values.size(), 7, stream_));
        else
            finish(fill_normal(values.data(), count, {problem.type, 7}, stream_));
    }

    void check_quantize(const Problem& problem, Axis axis) {
        const Bytes values = values_of(problem);
        fill(values, problem);
        const Tensors fast(problem, axis), slow(problem, axis);
        finish(quantize(fast.job(values.data()), stream_));
        finish(quantize_slowly(slow.job(values.data()), stream_));
        expect_equal(fast, slow);
    }

    void check_both(const Problem& problem) {
        const Bytes values = values_of(problem);
        fill(values, problem);
        const Tensors rows(problem, Axis::row), columns(problem, Axis::column);
        const BothJob both{rows.job(values.data()),
                           {columns.codes.data(), problem.stride(), 1},
                           columns.scale_plane()};
        finish(quantize_both(both, stream_));
        const Tensors slow_rows(problem, Axis::row), slow_columns(problem, Axis::column);
        finish(quantize_slowly(slow_rows.job(values.data()), stream_));
        finish(quantize_slowly(slow_columns.job(values.data()), stream_));
        expect_equal(rows, slow_rows);
        expect_equal(columns, slow_columns);
    }

    void check_dequantize(const Problem& problem, Axis axis) {
        SCOPED_TRACE(problem.text());
        const Tensors tensors(problem, axis);
        finish(fill_bits(tensors.codes.data(), tensors.codes.size(), 3, stream_));
        finish(fill_bits(tensors.scales.data(), tensors.scales.size(), 4, stream_));
        const Bytes fast = values_of(problem), slow = values_of(problem);
        finish(dequantize(tensors.job(fast.data()), stream_));
        finish(dequantize_any(tensors.job(slow.data()), stream_));
        EXPECT_TRUE(fast.read() == slow.read());
        EXPECT_TRUE(fast.margins_are_whole());
    }

    // Shapes around the sizes of warps, tiles and blocks.
    template <typename Check>
    void for_each_shape(ValueType type, Check check) {
        const std::int64_t sizes[] = {1, 31, 32, 33, 96, 128, 130, 544, 1024, 1056, 2049, 4640};
        for (const std::int64_t rows : {1, 5, 32, 33, 64, 161})
            for (const std::int64_t columns : sizes)
                for (const ScaleOrder order : {ScaleOrder::strided, ScaleOrder::tiles_128x4})
                    check(
                        Problem{type, Element::e4m3, "nv", rows, columns, 0, 0, order, Data::bits});
        const std::int64_t gaps[] = {1, 8, 32};
        for (const std::int64_t gap : gaps)
            for (const std::int64_t shift : {0, 1, 4, 16})
                check(Problem{type, Element::e5m2, "ocp", 65, 288, gap, shift, ScaleOrder::strided,
                              Data::normal});
    }
};

constexpr ValueType value_types[] = {ValueType::f32, ValueType::bf16, ValueType::f16};

TEST_F(KernelsTest, RowsOfEveryShape) {
    for (const ValueType type : value_types)
        for_each_shape(type, [&](const Problem& problem) { check_quantize(problem, Axis::row); });
}
TEST_F(KernelsTest, ColumnsOfEveryShape) {
    for (const ValueType type : value_types)
        for_each_shape(type,
                       [&](const Problem& problem) { check_quantize(problem, Axis::column); });
}
TEST_F(KernelsTest, TransposedOfEveryShape) {
    for (const ValueType type : value_types)
        for (const Axis axis : {Axis::column_codes_turned, Axis::column_turned})
            for_each_shape(type, [&](const Problem& problem) { check_quantize(problem, axis); });
}
TEST_F(KernelsTest, TransposedAroundItsTiles) {
    for (const ValueType type : value_types)
        for (const Axis axis : {Axis::column_codes_turned, Axis::column_turned})
            // With a gap that takes codes and values to aligned strides.
            for (const std::int64_t rows : {33, 63, 97, 129, 191, 257, 289, 545})
                for (const std::int64_t columns : {1, 31, 65, 97, 129, 257, 513})
                    for (const ScaleOrder order : {ScaleOrder::strided, ScaleOrder::tiles_128x4})
                        check_quantize({type, Element::e4m3, "nv", rows, columns,
                                        15 - (rows - 1) % 16, 0, order, Data::bits},
                                       axis);
}
TEST_F(KernelsTest, TransposedOfMoreColumnsThanAGridTakes) {
    const std::int64_t columns = grid_y_max * 64 + 66;  // in tiles of 64
    check_quantize(
        {ValueType::f32, Element::e4m3, "nv", 32, columns, 0, 0, ScaleOrder::strided, Data::bits},
        Axis::column_turned);
}
TEST_F(KernelsTest, BothOfEveryShape) {
    for (const ValueType type : value_types)
        for_each_shape(type, [&](const Problem& problem) { check_both(problem); });
}
TEST_F(KernelsTest, DequantizesEveryShape) {
    for (const ValueType type : value_types)
        for (const Axis axis : {Axis::row, Axis::column})
            for_each_shape(type, [&](const Problem& problem) { check_dequantize(problem, axis); });
}

TEST_F(KernelsTest, EveryDialectAndFormat) {
    for (const char* dialect :
         {"ocp", "nv", "torchao-floor", "torchao-ceil", "torchao-even", "torchao-rceil"})
        for (const Element element : {Element::e4m3, Element::e5m2})
            for (const ValueType type : value_types)
                for (const Data data : {Data::bits, Data::normal}) {
                    const Problem problem{
                        type, element, dialect, 160, 1120, 0, 0, ScaleOrder::strided, data};
                    check_quantize(problem, Axis::row);
                    check_quantize(problem, Axis::column);
                    check_quantize(problem, Axis::column_turned);
                    check_both(problem);
                }
}

}  // namespace
}  // namespace mx::cuda::test
