// See gemm.hpp. Walks the batches, and chooses between the vector kernel and the sums of numbers
// that binary32 does not hold.
#include "device/cpu/gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/gemm_decode.hpp"
#include "device/cpu/gemm_epilogue.hpp"
#include "device/cpu/gemm_kernels.hpp"
#include "device/cpu/quantize.hpp"

namespace mx::cpu {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

std::ptrdiff_t padded(std::ptrdiff_t count, std::ptrdiff_t tile) {
    return (count + tile - 1) / tile * tile;
}
std::size_t size_of(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

// A scaled element can be as large as 2^136.
bool is_beyond_f32(const Doubles& row) {
    constexpr double largest = std::numeric_limits<float>::max();
    return std::ranges::any_of(row,
                               [](double x) { return std::isfinite(x) && std::fabs(x) > largest; });
}

// One batch of a factor.
struct Side {
    const Factor& factor;
    std::ptrdiff_t first_row, rows, first_scale;

    FactorDecoder::Row row(std::ptrdiff_t index) const {
        return {first_row + index, first_scale + index};
    }
};

Side side_of(const Factor& factor, std::ptrdiff_t batch, std::ptrdiff_t first,
             std::ptrdiff_t rows) {
    const std::vector<std::ptrdiff_t>& scales = factor.scale_offsets;
    return {factor, first, rows, scales.empty() ? first : scales[static_cast<std::size_t>(batch)]};
}
Side side_a(const GemmJob& job, std::ptrdiff_t batch) {
    return side_of(job.a, batch, job.first_row(batch), job.rows(batch));
}
Side side_b(const GemmJob& job, std::ptrdiff_t batch) {
    return side_of(job.b, batch, batch * job.columns, job.columns);
}

// In tiles: A's rows follow one another, of B eight rows lie side by side. What pads a tile is 0.
enum class Order { rows, panels };

// False, and nothing of use, where a number is beyond binary32.
bool decode_floats(const Side& side, std::ptrdiff_t depth, Order order, Floats& out) {
    static_assert(tile_rows == tile_columns);
    const FactorDecoder decoder(side.factor);
    Doubles row(static_cast<std::size_t>(depth));
    out.assign(size_of(padded(side.rows, tile_rows), depth), 0.0f);
    const std::ptrdiff_t step = order == Order::rows ? 1 : tile_columns;
    for (std::ptrdiff_t r = 0; r < side.rows; ++r) {
        decoder.decode(side.row(r), depth, row.data());
        if (is_beyond_f32(row)) return false;
        const std::ptrdiff_t first =
            order == Order::rows ? r * depth : r / tile_columns * tile_columns * depth + r % 8;
        for (std::ptrdiff_t k = 0; k < depth; ++k)
            out[static_cast<std::size_t>(first + k * step)] =
                static_cast<float>(row[static_cast<std::size_t>(k)]);
    }
    return true;
}

using TileSums = std::array<float, tile_rows * tile_columns>;

TileSums sums_of_tile(Tile tile, const Summation& summation) {
    TileSums sums{}, part{};
    tile.sums = sums.data();
    if (summation.part == 0) {
        sum_tile(tile);
        return sums;
    }
    tile.sums = part.data();
    const std::ptrdiff_t depth = tile.depth;
    for (std::ptrdiff_t first = 0; first < depth; first += summation.part) {
        tile.depth = std::min(summation.part, depth - first);
        sum_tile(tile);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
        tile.a += summation.part;
        tile.b += summation.part * tile_columns;
    }
    return sums;
}

void finish_tile(const GemmJob& job, const Place& corner, const TileSums& sums) {
    for (std::ptrdiff_t i = 0; i < tile_rows * tile_columns; ++i) {
        const Place place{corner.batch, corner.row + i / tile_columns,
                          corner.column + i % tile_columns};
        if (place.row < job.rows(place.batch) && place.column < job.columns)
            finish(job, place, sums[static_cast<std::size_t>(i)]);
    }
}

// a * b + c, rounded once. The product has at most 16 bits and is exact. Where double has to round
// the sum, one term is 2^29 times the other, and if that is the product, binary32 holds it or it is
// far beyond: either way nothing comes near a tie of binary32, and rounding again does no harm.
float fused(double a, double b, float c) {
    return static_cast<float>(a * b + static_cast<double>(c));
}

float sum_of_far_numbers(const Doubles& a, const double* b, const Summation& summation) {
    float sum = 0, part = 0;
    const auto length = static_cast<std::size_t>(summation.part);
    for (std::size_t k = 0; k < a.size(); ++k) {
        part = fused(a[k], b[k], part);
        if (length == 0 || ((k + 1) % length != 0 && k + 1 != a.size())) continue;
        sum += part;
        part = 0;
    }
    return length == 0 ? part : sum;
}

void multiply_far_numbers(const GemmJob& job, std::ptrdiff_t batch) {
    const FactorDecoder decode_a(job.a), decode_b(job.b);
    Doubles a(static_cast<std::size_t>(job.depth)), b(size_of(job.columns, job.depth));
    for (std::ptrdiff_t column = 0; column < job.columns; ++column)
        decode_b.decode(side_b(job, batch).row(column), job.depth, b.data() + column * job.depth);
    for (std::ptrdiff_t row = 0; row < job.rows(batch); ++row) {
        decode_a.decode(side_a(job, batch).row(row), job.depth, a.data());
        for (std::ptrdiff_t column = 0; column < job.columns; ++column)
            finish(job, {batch, row, column},
                   sum_of_far_numbers(a, b.data() + column * job.depth, job.summation));
    }
}

void multiply_batch(const GemmJob& job, std::ptrdiff_t batch) {
    Floats a, b;
    if (!decode_floats(side_a(job, batch), job.depth, Order::rows, a) ||
        !decode_floats(side_b(job, batch), job.depth, Order::panels, b))
        return multiply_far_numbers(job, batch);
    for (std::ptrdiff_t column = 0; column < job.columns; column += tile_columns)
        for (std::ptrdiff_t row = 0; row < job.rows(batch); row += tile_rows) {
            const Tile tile{a.data() + row * job.depth, job.depth, b.data() + column * job.depth,
                            job.depth, nullptr};
            finish_tile(job, {batch, row, column}, sums_of_tile(tile, job.summation));
        }
}

void multiply(const GemmJob& job) {
    for (std::ptrdiff_t batch = 0; batch < job.batches(); ++batch) multiply_batch(job, batch);
}

}  // namespace

// Blocks are made of binary32 numbers, once all of them are there.
void gemm(const GemmJob& job) {
    if (!job.d_blocks && !job.d_nvfp4) return multiply(job);
    GemmJob numbers = job;
    const std::ptrdiff_t lines = job.offsets.back();
    std::vector<std::uint8_t> bytes(size_of(lines, job.columns) * sizeof(float));
    const Plane values{bytes.data(), job.columns, 1};
    numbers.d = {ValueType::f32, values};
    numbers.d_element.reset();
    multiply(numbers);
    if (numbers.d_blocks) {
        numbers.d_blocks->values = values;
        quantize(*numbers.d_blocks);
    } else {
        numbers.d_nvfp4->values.plane = values;
        quantize_real_scales(*numbers.d_nvfp4);
    }
}

}  // namespace mx::cpu
