// See slice_gemm.hpp. Sums of a square of outputs are kept while all of K passes by.
#include "reference/gemm/slice_gemm.hpp"

#include <algorithm>

#include "reference/gemm/slice_factor.hpp"

namespace mx::gemm {
namespace {

constexpr std::size_t panels_at_once = 16;
constexpr std::size_t rows_at_once = panels_at_once * slice_rows;

// So many levels that the highest has less than 2^51 of its units at all times.
int level_count(const SliceFactor& a, const SliceFactor& b, std::int64_t depth) {
    const int digits =
        (a.slices() + b.slices()) * slice_bits + fast::bit_width(static_cast<std::uint64_t>(depth));
    constexpr int highest = 50;
    return digits <= highest ? 1 : 1 + (digits - highest + level_bits - 1) / level_bits;
}

SliceStretch stretch_at(std::int64_t first, std::int64_t depth) {
    return {first, static_cast<int>(std::min<std::int64_t>(slice_depth_max, depth - first))};
}

// Panels of one factor, up to so many, for a stretch of K.
class Panels {
public:
    Panels(const SliceFactor& factor, std::size_t most, std::int64_t depth)
        : most_(std::min(most, (factor.rows() + slice_rows - 1) / slice_rows)),
          bytes_(aligned_bytes(most_ * factor.panel_bytes(stretch_at(0, depth).steps()))) {}

    void cut(const SliceLoops& loops, const SliceFactor& factor, std::size_t first,
             const SliceStretch& stretch) {
        size_ = factor.panel_bytes(stretch.steps());
        const std::size_t end = std::min(first + most_ * slice_rows, factor.rows());
        for (count_ = 0; first < end; first += slice_rows, ++count_)
            factor.cut(loops, first, stretch, panel(count_));
    }
    std::int8_t* panel(std::size_t index) const {
        return reinterpret_cast<std::int8_t*>(bytes_.get() + index * size_);
    }
    std::size_t most() const { return most_; }
    std::size_t count() const { return count_; }
    int tiles() const { return static_cast<int>(count_ * size_ / slice_tile_bytes); }

private:
    std::size_t most_;
    AlignedBytes bytes_;
    std::size_t size_ = 0;  // of one
    std::size_t count_ = 0;
};

class SliceGemm {
public:
    SliceGemm(const SliceLoops& loops, const Factors& factors, const Receive& receive)
        : loops_(loops),
          factors_(factors),
          receive_(receive),
          a_(factors.a, factors.depth),
          b_(factors.b, factors.depth),
          levels_(level_count(a_, b_, factors.depth)) {}

    void run();

private:
    void multiply(const Place& first, Panels& a, Panels& b, std::int64_t* digits) const;
    std::size_t panels_of_b(std::size_t first) const;
    void hand_over(const Place& first, const std::int64_t* digits) const;

    const SliceLoops& loops_;
    const Factors& factors_;
    const Receive& receive_;
    SliceFactor a_, b_;
    int levels_;
};

void SliceGemm::run() {
    a_.make_tables();
    b_.make_tables();
    Panels a(a_, panels_at_once, factors_.depth), b(b_, 1, factors_.depth);
    const auto square = static_cast<std::size_t>(levels_ * slice_outputs);
    const std::size_t numbers = a.most() * panels_of_b(0) * square;
    const AlignedBytes bytes = aligned_bytes(numbers * sizeof(std::int64_t));
    auto* digits = reinterpret_cast<std::int64_t*>(bytes.get());
    for (std::size_t row = 0; row < a_.rows(); row += rows_at_once)
        for (std::size_t column = 0; column < b_.rows(); column += rows_at_once) {
            std::fill_n(digits, numbers, 0);
            multiply({row, column}, a, b, digits);
            const std::int64_t* held = digits;
            for (std::size_t i = 0; i < panels_of_b(column); ++i)
                for (std::size_t j = 0; j < a.count(); ++j, held += square)
                    hand_over({row + j * slice_rows, column + i * slice_rows}, held);
        }
}

std::size_t SliceGemm::panels_of_b(std::size_t first) const {
    return (std::min(b_.rows() - first, rows_at_once) + slice_rows - 1) / slice_rows;
}

// A panel of B stays in the second cache while those of A pass by.
void SliceGemm::multiply(const Place& first, Panels& a, Panels& b, std::int64_t* digits) const {
    for (std::int64_t k = 0; k < factors_.depth; k += slice_depth_max) {
        const SliceStretch stretch = stretch_at(k, factors_.depth);
        a.cut(loops_, a_, first.row, stretch);
        std::int64_t* held = digits;
        for (std::size_t i = 0; i < panels_of_b(first.column); ++i) {
            b.cut(loops_, b_, first.column + i * slice_rows, stretch);
            loops_.transpose_tiles(b.panel(0), b.tiles());
            for (std::size_t j = 0; j < a.count(); ++j, held += levels_ * slice_outputs)
                loops_.run({a.panel(j), b.panel(0), a_.slices(), b_.slices(), stretch.steps(), held,
                            levels_});
        }
    }
}

void SliceGemm::hand_over(const Place& first, const std::int64_t* digits) const {
    const std::size_t row_end = std::min(first.row + slice_rows, a_.rows());
    const std::size_t column_end = std::min(first.column + slice_rows, b_.rows());
    ExactSum sum;
    sum.window.count = levels_;
    for (Place place = first; place.row < row_end; ++place.row) {
        const Specials& left = a_.specials(place.row);
        for (place.column = first.column; place.column < column_end; ++place.column) {
            const Specials& right = b_.specials(place.column);
            if (left.any() || right.any()) {
                receive_(place, special_sum(factors_, place, {left, right}));
                continue;
            }
            sum.window.exponent = a_.exponent(place.row) + b_.exponent(place.column);
            const int output = slice_output({static_cast<int>(place.row - first.row),
                                             static_cast<int>(place.column - first.column)});
            for (int level = 0; level < levels_; ++level)
                sum.window.digits[level] = digits[level * slice_outputs + output];
            receive_(place, sum);
        }
    }
}

}  // namespace

bool fits_slices(const Factors& factors) {
    return SliceFactor(factors.a, factors.depth).slices() <= slices_max &&
           SliceFactor(factors.b, factors.depth).slices() <= slices_max;
}

void for_each_sum_of_slices(const SliceLoops& loops, const Factors& factors,
                            const Receive& receive) {
    SliceGemm(loops, factors, receive).run();
}

}  // namespace mx::gemm
