// See rounded_gemm.hpp.
//
// With u = 2^-53 and all products exact, a sum of n products that is rounded after each but the
// first is off by at most (n - 1) u (1 + u)^n times the sum of their magnitudes. Here a stretch of
// n is summed from 0 and added to those before it, m in all: n - 1 + m - 1 roundings. By
// Cauchy-Schwarz the magnitudes of the products of a slab come to no more than the product of the
// norms of its numbers; these products are summed to the bound.
#include "reference/gemm/rounded_gemm.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "reference/gemm/open_outputs.hpp"
#include "reference/gemm/settled_value.hpp"

namespace mx::gemm {
namespace {

constexpr std::int64_t square_side = 384;    // a multiple of the sides of all tiles
constexpr int stretch_depth = 128;           // of products that are summed from 0
constexpr std::int64_t depth_max = 1 << 20;  // for all norms are held at once
constexpr int tile_numbers_max = 8 * 24;

std::int64_t tiles_of(std::size_t rows, int width) {
    const auto per_tile = static_cast<std::size_t>(width);
    return static_cast<std::int64_t>((rows + per_tile - 1) / per_tile);
}

int slabs_at_once(const Slabs& slabs) {
    return static_cast<int>(std::min<std::int64_t>(
        slabs.count, std::max(1, stretch_depth / static_cast<int>(slabs.length))));
}

// Of a sum, in units of 2^-53 of its bound: two more, for the ends of the doubt are rounded, too.
// What the norms are more than they must be pays for (1 + u)^n, and for what is rounded here and in
// the sum of the bounds.
double roundings_of(const Slabs& slabs) {
    const int at_once = slabs_at_once(slabs);
    const std::int64_t stretches = (slabs.count + at_once - 1) / at_once;
    return static_cast<double>(at_once * slabs.length + stretches);
}

}  // namespace

// Outputs that are summed at once, by tiles.
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
    MX_ASSERT_COMPARE(kernel.rows * kernel.columns, <=, tile_numbers_max);
    MX_ASSERT_COMPARE(factors.depth, <=, depth_max);
    const auto side = [](const RoundedFactor& factor) {
        const std::int64_t rows = tiles_of(factor.rows(), factor.width()) * factor.width();
        return std::min(rows, square_side);
    };
    const std::int64_t depth = slabs_at_once(slabs_) * a_.length();
    const std::int64_t sizes[] = {side(a_) * depth, kernel.columns * depth, side(a_) * slabs_.count,
                                  side(b_) * slabs_.count, side(a_) * side(b_)};
    double** const parts[] = {&numbers_a_, &numbers_b_, &norms_a_, &norms_b_, &sums_};
    bytes_ = aligned_bytes(static_cast<std::size_t>(std::accumulate(
                               std::begin(sizes), std::end(sizes), std::int64_t{0})) *
                           sizeof(double));
    auto* next = reinterpret_cast<double*>(bytes_.get());
    for (std::size_t i = 0; i < std::size(sizes); next += sizes[i++]) *parts[i] = next;
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
            sum(square);
            for (std::size_t i = 0; i < square.b.tiles; ++i)
                for (std::size_t j = 0; j < square.a.tiles; ++j)
                    hand_over(square, {j, i}, receive, open);
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

// A tile of B is packed when its turn comes: it stays in the first cache, and those of A in the
// second. Norms lie as numbers do, but a tile has them for all slabs.
void RoundedGemm::sum(const Square& square) const {
    std::fill_n(sums_, first_of_tiles(square, square.b.tiles), 0.0);
    const int at_once = slabs_at_once(slabs_);
    const auto pack = [&](const RoundedFactor& factor, const TileStretch& tiles,
                          const SlabStretch& slabs, const RoundedFactor::Packed& to) {
        factor.pack(*kernel_.rounded, tiles, slabs,
                    {to.numbers, to.norms + slabs.first * factor.width(), norms_step(factor)});
    };
    for (std::int64_t first = 0; first < slabs_.count; first += at_once) {
        const SlabStretch slabs{
            first, static_cast<int>(std::min<std::int64_t>(at_once, slabs_.count - first))};
        pack(a_, square.a, slabs, {numbers_a_, norms_a_, 0});
        for (std::size_t i = 0; i < square.b.tiles; ++i) {
            const std::size_t row = square.b.first + i * static_cast<std::size_t>(b_.width());
            pack(b_, {row, 1}, slabs, {numbers_b_, norms_b_ + i * norms_step(b_), 0});
            multiply({numbers_a_, square.a.tiles, numbers_b_, slabs.count * a_.length()},
                     sums_ + first_of_tiles(square, i));
        }
    }
}

std::size_t RoundedGemm::norms_step(const RoundedFactor& factor) const {
    return static_cast<std::size_t>(slabs_.count * factor.width());
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

// A sum is exact where all that it may become on its way has no more than 53 bits.
void RoundedGemm::hand_over(const Square& square, const Place& tile, const ReceiveValue& receive,
                            std::vector<Place>& open) const {
    const auto rows = static_cast<std::size_t>(kernel_.rows);
    const auto columns = static_cast<std::size_t>(kernel_.columns);
    alignas(64) double bounds_of_tile[tile_numbers_max] = {};
    multiply({norms_a_ + tile.row * norms_step(a_), 1, norms_b_ + tile.column * norms_step(b_),
              static_cast<int>(slabs_.count)},
             bounds_of_tile);
    const double* bounds = bounds_of_tile;
    const double* sums = sums_ + first_of_tiles(square, tile.column) + tile.row * rows * columns;
    const Place first{square.a.first + tile.row * rows, square.b.first + tile.column * columns};
    const std::size_t row_end = std::min(first.row + rows, a_.rows());
    const std::size_t column_end = std::min(first.column + columns, b_.rows());
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
            const auto value = settled_value(sum, bound * roundings_ * 0x1p-53);
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
