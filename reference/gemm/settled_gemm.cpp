// See settled_gemm.hpp.
//
// A row's numbers are cut off toward 0 at 2^(norm - bits), where 2^norm is above the sum of its
// magnitudes. With a' and b' for what is left of a and b, and da and db for what is cut off, both
// below a unit of their row,
//
//   sum of a b  -  sum of a' b'  =  sum of da b + a' db
//
// is below (unit of a) (norm of b) + (norm of a) (unit of b): 2^(bits + 1) units of both together.
#include "reference/gemm/settled_gemm.hpp"

#include <algorithm>
#include <climits>

#include "reference/gemm/moduli.hpp"
#include "reference/gemm/open_outputs.hpp"
#include "reference/gemm/settled_value.hpp"

namespace mx::gemm {
namespace {

constexpr int bits_max = 120;  // so that settled_value holds what is above the doubt

constexpr int doubt_of(int bits) {
    return bits + 1;
}

std::vector<int> floors_of(const BlockTops& tops, std::size_t rows, int bits) {
    std::vector<int> floors(rows);
    for (std::size_t row = 0; row < rows; ++row) floors[row] = tops.norm(row) - bits;
    return floors;
}

// Outputs here and there, always the same.
Place sample_place(const Factors& factors, std::uint64_t index) {
    const auto at = [index](std::uint64_t multiplier, std::size_t count) {
        return static_cast<std::size_t>((index + 1) * multiplier >> 32) % count;
    };
    return {at(0x9E3779B97F4A7C15, factors.a.size()), at(0xBF58476D1CE4E5B9, factors.b.size())};
}

bool has_specials(const ResidueGemm& residues, const Place& place) {
    return residues.a().specials(place.row).any() || residues.b().specials(place.column).any();
}

}  // namespace

bool may_be_settled(const Factors& factors) {
    return has_leading_blocks(factors) && factors.a.size() >= residue_rows &&
           factors.b.size() >= residue_rows;
}

SettledGemm::SettledGemm(ResidueGemm residues, const Factors& factors)
    : residues_(std::move(residues)),
      factors_(factors),
      a_(factors.a, factors.depth),
      b_(factors.b, factors.depth) {}

// So many that the doubt is settled but for one output in eight with such a sum.
int SettledGemm::bits_needed(const Place& place) const {
    if (has_specials(residues_, place)) return 0;
    const auto value = LeadingBlocks(factors_, {a_, b_}).value(place);
    if (!value) return INT_MAX;
    if (value->significand == 0) return 0;
    constexpr int open_rarely = 5;
    const int width = value->exponent + fast::bit_width(value->significand);
    return a_.norm(place.row) + b_.norm(place.column) - width + settled_bits + open_rarely;
}

int SettledGemm::bits_wanted(int moduli_beside) const {
    constexpr std::uint64_t samples = 256;
    std::vector<int> needed;
    for (std::uint64_t i = 0; i < samples; ++i)
        needed.push_back(bits_needed(sample_place(factors_, i)));
    double least = moduli_beside;
    int wanted = 0;
    for (int count = 1; count <= moduli_max; ++count) {
        const int bits = (capacities[static_cast<std::size_t>(count)] - 2) / 2;
        if (bits > bits_max) break;
        const auto open = std::count_if(needed.begin(), needed.end(),
                                        [bits](int of_one) { return of_one > bits; });
        const double cost =
            count + residues_.costs().open_output * static_cast<double>(open) / samples;
        if (cost >= least) continue;
        least = cost;
        wanted = bits;
    }
    return wanted;
}

void SettledGemm::run(int bits, const Kernel& beside, const ReceiveValue& receive) {
    MX_ASSERT_COMPARE(bits, <=, bits_max);
    residues_.cut_below(floors_of(a_, factors_.a.size(), bits),
                        floors_of(b_, factors_.b.size(), bits), 2 * bits);
    std::vector<Place> open;
    residues_.run([&](const Place& place, const ExactSum& sum) {
        if (sum.kind != fast::Kind::finite) return receive(place, value_of(sum));
        const auto value = settled_value(sum.window, doubt_of(bits));
        if (value) return receive(place, *value);
        open.push_back(place);
    });
    settle_by_blocks(factors_, {a_, b_}, open, receive);
    settle_in_full(factors_, beside, open, receive);
}

}  // namespace mx::gemm
