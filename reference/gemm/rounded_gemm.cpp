// See rounded_gemm.hpp.
//
// With u = 2^-53 and all products exact, a sum of n products that is rounded after each but the
// first is off by at most (n - 1) u (1 + u)^n times the sum of their magnitudes. Here a stretch of
// n is summed from 0 and added to those before it, m in all: n - 1 + m - 1 roundings. By
// Cauchy-Schwarz the magnitudes of the products of a slab come to no more than the product of the
// norms of its numbers; these products are summed to the bound.
#include "reference/gemm/rounded_gemm.hpp"

#include <algorithm>
#include <cmath>

#include "reference/gemm/open_outputs.hpp"
#include "reference/gemm/settled_value.hpp"

namespace mx::gemm {
namespace {

constexpr std::int64_t square_side = 384;        // a multiple of the sides of all tiles
constexpr int stretch_depth = 128;               // of products that are summed from 0
constexpr std::int64_t depth_max = 1 << 24;      // so that roundings come to little
constexpr std::int64_t segment_stretches = 256;  // of norms that are held at once

std::int64_t tiles_of(std::size_t rows, int width) {
    const auto per_tile = static_cast<std::size_t>(width);
    return static_cast<std::int64_t>((rows + per_tile - 1) / per_tile);
}

int slabs_at_once(const Slabs& slabs) {
    return static_cast<int>(std::min<std::int64_t>(
        slabs.count, std::max(1, stretch_depth / static_cast<int>(slabs.length))));
}

double* doubles(const AlignedBytes& bytes) {
    return reinterpret_cast<double*>(bytes.get());
}

// Two roundings more: those of the ends of the doubt. What the norms are more than they must be
// pays for (1 + u)^n, and for what is rounded here and in the sum of the bounds.
double roundings_of(const Slabs& slabs) {
    const int at_once = slabs_at_once(slabs);
    const std::int64_t stretches = (slabs.count + at_once - 1) / at_once;
    return 0x1p-53 * static_cast<double>(at_once * slabs.length + stretches);
}

}  // namespace

struct RoundedGemm::Square {
    TileStretch a, b;
};

RoundedGemm::RoundedGemm(const Kernel& kernel, const Factors& factors)
    : kernel_(kernel),
      factors_(factors),
      slabs_(slabs_of(factors)),
      a_(factors.a, factors.depth, slabs_, kernel.rows),
      b_(factors.b, factors.depth, slabs_, kernel.columns),
      roundings_(roundings_of(slabs_)) {
    const auto side = [](const RoundedFactor& factor) {
        const std::int64_t rows = tiles_of(factor.rows(), factor.width()) * factor.width();
        return std::min(rows, square_side);
    };
    const auto room = [](std::int64_t numbers) {
        return aligned_bytes(static_cast<std::size_t>(numbers) * sizeof(double));
    };
    const std::int64_t depth = slabs_at_once(slabs_) * a_.length();
    const std::int64_t norms = std::min(slabs_.count, segment_slabs());
    numbers_a_ = room(side(a_) * depth);
    numbers_b_ = room(kernel.columns * depth);
    norms_a_ = room(side(a_) * norms);
    norms_b_ = room(side(b_) * norms);
    sums_ = room(side(a_) * side(b_));
    bounds_ = room(side(a_) * side(b_));
}

std::int64_t RoundedGemm::segment_slabs() const {
    return segment_stretches * slabs_at_once(slabs_);
}

std::vector<Place> RoundedGemm::settle(const ReceiveValue& receive) {
    std::vector<Place> open;
    const auto stretch = [](const RoundedFactor& factor, std::size_t first) {
        const auto tiles =
            static_cast<std::size_t>(tiles_of(factor.rows() - first, factor.width()));
        return TileStretch{first,
                           std::min(tiles, static_cast<std::size_t>(square_side / factor.width()))};
    };
    for (std::size_t row = 0; row < a_.rows(); row += square_side)
        for (std::size_t column = 0; column < b_.rows(); column += square_side) {
            const Square square{stretch(a_, row), stretch(b_, column)};
            const auto outputs = static_cast<std::size_t>(kernel_.rows * kernel_.columns) *
                                 square.a.tiles * square.b.tiles;
            std::fill_n(doubles(sums_), outputs, 0.0);
            std::fill_n(doubles(bounds_), outputs, 0.0);
            for (std::int64_t slab = 0; slab < slabs_.count; slab += segment_slabs())
                sum(square,
                    {slab, static_cast<int>(std::min(segment_slabs(), slabs_.count - slab))});
            hand_over(square, receive, open);
        }
    return open;
}

// Tiles of A, one after the other, and one of B.
struct RoundedGemm::Packed {
    const double* a;
    std::size_t tiles;
    const double* b;
    int count;  // of a row's numbers
};

// Norms lie as numbers do, and a tile has them for all slabs of the segment. A tile of B is packed
// when its turn comes: it stays in the first cache, and those of A in the second.
void RoundedGemm::sum(const Square& square, const SlabStretch& segment) const {
    const int at_once = slabs_at_once(slabs_);
    double *const a = doubles(numbers_a_), *const b = doubles(numbers_b_);
    const auto step_of = [&](const RoundedFactor& factor) {
        return static_cast<std::size_t>(segment.count * factor.width());
    };
    for (int first = 0; first < segment.count; first += at_once) {
        const SlabStretch slabs{segment.first + first, std::min(at_once, segment.count - first)};
        const auto pack = [&](const RoundedFactor& factor, const TileStretch& tiles, double* to,
                              double* norms) {
            factor.pack(*kernel_.rounded, tiles, slabs,
                        {to, norms + first * factor.width(), step_of(factor)});
        };
        pack(a_, square.a, a, doubles(norms_a_));
        for (std::size_t i = 0; i < square.b.tiles; ++i) {
            const std::size_t row = square.b.first + i * static_cast<std::size_t>(b_.width());
            pack(b_, {row, 1}, b, doubles(norms_b_) + i * step_of(b_));
            multiply({a, square.a.tiles, b, slabs.count * a_.length()},
                     doubles(sums_) + first_of_tiles(square, i));
        }
    }
    for (std::size_t i = 0; i < square.b.tiles; ++i)
        multiply(
            {doubles(norms_a_), square.a.tiles, doubles(norms_b_) + i * step_of(b_), segment.count},
            doubles(bounds_) + first_of_tiles(square, i));
}

std::size_t RoundedGemm::first_of_tiles(const Square& square, std::size_t tile_of_b) const {
    return tile_of_b * square.a.tiles * static_cast<std::size_t>(kernel_.rows * kernel_.columns);
}

void RoundedGemm::multiply(const Packed& packed, double* sums) const {
    const double* a = packed.a;
    for (std::size_t i = 0; i < packed.tiles; ++i) {
        kernel_.rounded->run({a, packed.b, packed.count, sums});
        a += packed.count * kernel_.rows;
        sums += kernel_.rows * kernel_.columns;
    }
}

void RoundedGemm::hand_over(const Square& square, const ReceiveValue& receive,
                            std::vector<Place>& open) const {
    const auto rows = static_cast<std::size_t>(kernel_.rows);
    const auto columns = static_cast<std::size_t>(kernel_.columns);
    std::size_t output = 0;
    for (std::size_t i = 0; i < square.b.tiles; ++i)
        for (std::size_t j = 0; j < square.a.tiles; ++j, output += rows * columns)
            hand_over_tile({square.a.first + j * rows, square.b.first + i * columns}, output,
                           receive, open);
}

// A sum is exact where all that it may become on its way has no more than 53 bits.
void RoundedGemm::hand_over_tile(const Place& first, std::size_t output,
                                 const ReceiveValue& receive, std::vector<Place>& open) const {
    const auto rows = static_cast<std::size_t>(kernel_.rows);
    const auto columns = static_cast<std::size_t>(kernel_.columns);
    const std::size_t row_end = std::min(first.row + rows, a_.rows());
    const std::size_t column_end = std::min(first.column + columns, b_.rows());
    const double *sums = doubles(sums_) + output, *bounds = doubles(bounds_) + output;
    for (Place place = first; place.row < row_end; ++place.row, sums += columns, bounds += columns)
        for (place.column = first.column; place.column < column_end; ++place.column) {
            const Specials &left = a_.specials(place.row), &right = b_.specials(place.column);
            if (left.any() || right.any()) {
                receive(place, value_of(special_sum(factors_, place, {left, right})));
                continue;
            }
            const double sum = sums[place.column - first.column];
            const double bound = bounds[place.column - first.column];
            if (bound <= a_.exact_below(place.row) * b_.exact_below(place.column)) {
                receive(place, exact_value(sum));
                continue;
            }
            const auto value = settled_value(sum, bound * roundings_);
            if (value)
                receive(place, *value);
            else
                open.push_back(place);
        }
}

namespace {

// Rows here and there, in their order.
std::vector<ScaledRow> sample_of(std::span<const ScaledRow> rows, std::size_t count) {
    std::vector<ScaledRow> sample;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t first = rows.size() * i / count, end = rows.size() * (i + 1) / count;
        sample.push_back(rows[first + i * 7 % (end - first)]);
    }
    return sample;
}

}  // namespace

// Where the sample would be much of the work, all of it is tried.
bool RoundedGemm::settles_most(const Kernel& kernel, const Factors& factors) {
    constexpr std::size_t rows = 16, columns = 24, worth_it = 8, open_most = rows * columns / 16;
    if (factors.depth > depth_max) return false;
    if (factors.a.size() * factors.b.size() < worth_it * rows * columns) return true;
    const std::vector<ScaledRow> a = sample_of(factors.a, std::min(rows, factors.a.size()));
    const std::vector<ScaledRow> b = sample_of(factors.b, std::min(columns, factors.b.size()));
    const Factors sample{a, b, factors.depth};
    const auto ignore = [](const Place&, const fast::Unpacked&) {};
    return RoundedGemm(kernel, sample).settle(ignore).size() <= open_most;
}

void RoundedGemm::run(const Kernel& after, const ReceiveValue& receive) {
    settle_open(factors_, after, settle(receive), receive);
}

}  // namespace mx::gemm
