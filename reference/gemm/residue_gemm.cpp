// See residue_gemm.hpp. All of a square of outputs is summed for one modulus after the other.
#include "reference/gemm/residue_gemm.hpp"

#include <algorithm>
#include <bit>

#include "reference/gemm/moduli.hpp"

namespace mx::gemm {
namespace {

// So many that a modulus of A stays in the second cache with a panel of B.
constexpr std::size_t panels_at_once = 12;
constexpr std::size_t rows_at_once = panels_at_once * residue_rows;

std::size_t panels_of(std::size_t rows) {
    return (std::min(rows, rows_at_once) + residue_rows - 1) / residue_rows;
}

// What fills much of the second cache is made of large pages: of small ones, that lie where they
// happen to, too many may want the same places of it.
AlignedBytes bytes_for_panels(std::size_t size) {
    constexpr std::size_t much = std::size_t{1} << 18, large_page = std::size_t{1} << 21;
    return aligned_bytes(size < much ? size : std::max(size, large_page));
}

// The rows of A and of B whose products are summed at once.
struct Square {
    std::size_t row;
    std::size_t column;
    std::size_t panels_a;
    std::size_t panels_b;

    std::size_t outputs() const { return panels_a * panels_b * residue_outputs; }
};

struct FactorPair {
    ResidueFactor& a;
    ResidueFactor& b;
};

class SquareSums {
public:
    SquareSums(const ResidueLoops& loops, const FactorPair& factors, const Moduli& wanted,
               std::int64_t depth);

    Square square_at(const Place& first) const {
        return {first.row, first.column, panels_of(a_.rows() - first.row),
                panels_of(b_.rows() - first.column)};
    }
    void clear(const Square& square);
    void add(const Square& square, const ResidueStretch& stretch);
    // Of the square's panels, in the order that they lie in, one of A by one of B.
    void join(const Square& square, std::size_t index, std::int64_t* digits) const;

private:
    void add_modulus(const Square& square, int index, int steps);
    std::uint16_t* residues(const Square& square, int index) const {
        return reinterpret_cast<std::uint16_t*>(residues_.get()) +
               static_cast<std::size_t>(index) * square.outputs();
    }

    const ResidueLoops& loops_;
    ResidueFactor& a_;
    ResidueFactor& b_;
    const Moduli& wanted_;
    AlignedBytes panels_;    // of A, and one of B
    AlignedBytes residues_;  // modulus by modulus, panel by panel of B, of A within each
};

SquareSums::SquareSums(const ResidueLoops& loops, const FactorPair& factors, const Moduli& wanted,
                       std::int64_t depth)
    : loops_(loops),
      a_(factors.a),
      b_(factors.b),
      wanted_(wanted),
      panels_(bytes_for_panels(
          (panels_of(a_.rows()) + 1) *
          static_cast<std::size_t>(stretch_at(0, depth).steps() * residue_step_bytes))),
      residues_(aligned_bytes(square_at({0, 0}).outputs() * sizeof(std::uint16_t) *
                              static_cast<std::size_t>(wanted.count()))) {}

void SquareSums::clear(const Square& square) {
    std::fill_n(residues(square, 0), square.outputs() * static_cast<std::size_t>(wanted_.count()),
                std::uint16_t{0});
}

void SquareSums::add(const Square& square, const ResidueStretch& stretch) {
    a_.arrange(square.row, square.panels_a, stretch);
    b_.arrange(square.column, square.panels_b, stretch);
    for (int i = 0; i < wanted_.count(); ++i) add_modulus(square, i, stretch.steps());
}

// All of A stays in the second cache while the panels of B pass by.
void SquareSums::add_modulus(const Square& square, int index, int steps) {
    const int modulus = moduli[static_cast<std::size_t>(index)];
    a_.make_tables(loops_, {modulus, wanted_.inverse(index)});
    b_.make_tables(loops_, {modulus, 1});
    auto* const a = reinterpret_cast<std::int8_t*>(panels_.get());
    const auto panel_bytes = static_cast<std::size_t>(steps * residue_step_bytes);
    std::int8_t* const b = a + square.panels_a * panel_bytes;
    for (std::size_t i = 0; i < square.panels_a; ++i) a_.cut(loops_, i, a + i * panel_bytes);
    std::uint16_t* held = residues(square, index);
    for (std::size_t i = 0; i < square.panels_b; ++i) {
        b_.cut(loops_, i, b);
        loops_.make_b_tiles(b, 2 * steps, modulus);
        loops_.run({a, static_cast<int>(square.panels_a), b, steps, modulus, held});
        held += square.panels_a * residue_outputs;
    }
}

void SquareSums::join(const Square& square, std::size_t index, std::int64_t* digits) const {
    loops_.join({residues(square, 0) + index * residue_outputs,
                 static_cast<std::ptrdiff_t>(square.outputs()), wanted_.weights(), wanted_.count(),
                 wanted_.levels(), wanted_.product().data(), digits});
}

}  // namespace

ResidueGemm::ResidueGemm(const ResidueLoops& loops, const Factors& factors)
    : loops_(loops),
      factors_(factors),
      a_(factors.a, factors.depth),
      b_(factors.b, factors.depth),
      // A sum of `depth` products is below 2^(digits of both) * depth.
      sum_bits_(a_.digits() + b_.digits() +
                static_cast<int>(std::bit_width(static_cast<std::uint64_t>(factors.depth - 1)))) {}

void ResidueGemm::cut_below(std::span<const int> floors_a, std::span<const int> floors_b,
                            int bits) {
    a_.cut_below(floors_a);
    b_.cut_below(floors_b);
    sum_bits_ = bits;
}

bool ResidueGemm::fits(int moduli) const {
    return sum_bits_ <= capacities[static_cast<std::size_t>(std::min(moduli, moduli_max))] - 2;
}

int ResidueGemm::moduli() const {
    return moduli_for(sum_bits_);
}

void ResidueGemm::run(const Receive& receive) {
    const Moduli wanted(sum_bits_);
    SquareSums sums(loops_, {a_, b_}, wanted, factors_.depth);
    for (std::size_t row = 0; row < a_.rows(); row += rows_at_once)
        for (std::size_t column = 0; column < b_.rows(); column += rows_at_once) {
            const Square square = sums.square_at({row, column});
            sums.clear(square);
            for (std::int64_t k = 0; k < factors_.depth; k += residue_depth_max)
                sums.add(square, stretch_at(k, factors_.depth));
            alignas(64) std::int64_t digits[residue_levels_max * residue_outputs];
            for (std::size_t i = 0; i < square.panels_a * square.panels_b; ++i) {
                sums.join(square, i, digits);
                hand_over({row + i % square.panels_a * residue_rows,
                           column + i / square.panels_a * residue_rows},
                          {digits, wanted.levels()}, receive);
            }
        }
}

void ResidueGemm::hand_over(const Place& first, const Digits& digits,
                            const Receive& receive) const {
    const std::size_t row_end = std::min(first.row + residue_rows, a_.rows());
    const std::size_t column_end = std::min(first.column + residue_rows, b_.rows());
    ExactSum sum;
    sum.window.count = digits.levels;
    for (Place place = first; place.row < row_end; ++place.row) {
        const Specials& left = a_.specials(place.row);
        for (place.column = first.column; place.column < column_end; ++place.column) {
            const Specials& right = b_.specials(place.column);
            if (left.any() || right.any()) {
                receive(place, special_sum(factors_, place, {left, right}));
                continue;
            }
            sum.window.exponent = a_.exponent(place.row) + b_.exponent(place.column);
            const int output = residue_output({static_cast<int>(place.row - first.row),
                                               static_cast<int>(place.column - first.column)});
            for (int level = 0; level < digits.levels; ++level)
                sum.window.digits[level] = digits.of[level * residue_outputs + output];
            receive(place, sum);
        }
    }
}

}  // namespace mx::gemm
