// What the proofs of gemm/ multiply, and how they compare its sums with those of fast/dot.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "reference/fast/dot.hpp"
#include "reference/gemm/exact_gemm.hpp"
#include "reference/proof/proof.hpp"

namespace mx::proof {

// Rows of one factor: bytes of codes and of scales, row after row.
struct Factor {
    ElementFormat element;
    std::int64_t depth;
    ElementFormat scale = formats::e8m0;
    std::int64_t block = 32;
    std::vector<std::uint8_t> codes = {};
    std::vector<std::uint8_t> scales = {};
    std::int64_t stride = 1;  // of codes, which then lie between others

    std::int64_t blocks() const { return block == 0 ? 0 : (depth + block - 1) / block; }
    std::vector<ScaledRow> rows() const {
        const auto row_bytes = static_cast<std::size_t>(depth * stride);
        std::vector<ScaledRow> rows(codes.size() / row_bytes);
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = {element,
                       {codes.data() + i * row_bytes, 1, stride},
                       scale,
                       {scales.data() + i * static_cast<std::size_t>(blocks())},
                       block};
        return rows;
    }
};

// The same codes, between bytes that are none of its own.
Factor strided(const Factor& factor, std::int64_t stride);

// Appends a row; `code` and `scale` say what stands at a place.
template <typename CodeAt, typename ScaleAt>
void add_row(Factor& factor, const CodeAt& code, const ScaleAt& scale) {
    for (std::int64_t k = 0; k < factor.depth; ++k)
        factor.codes.push_back(static_cast<std::uint8_t>(code(k)));
    for (std::int64_t i = 0; i < factor.blocks(); ++i)
        factor.scales.push_back(static_cast<std::uint8_t>(scale(i)));
}

struct Problem {
    Factor a, b;
};

inline constexpr std::array<std::string_view, 6> elements{"e4m3", "e5m2", "e3m2",
                                                          "e2m3", "e2m1", "int8"};

// A row of codes from a multiplier: no two rows alike, nothing left to chance.
std::uint32_t mixed(std::uint64_t seed, std::int64_t k);

// A code of the format that is a number.
std::uint32_t finite_code(const ElementFormat& format, std::uint32_t word);

struct Shape {
    std::int64_t rows;
    std::int64_t depth;
    int spread;  // of scales
    std::int64_t block = 32;
};

// Codes and scales that `seed` alone decides.
Factor mixed_factor(const ElementFormat& format, const Shape& shape, std::uint64_t seed);

// The element whose products fill their span: all of one sign, in turn of either, and one that all
// others cancel but for a quantum.
Factor largest_factor(const ElementFormat& format, std::int64_t depth);

// A NaN, an infinity and a scale that is NaN, each in a row of its own.
Factor with_specials(Factor factor);

// A number at the first place of a block, which may have a scale of its own.
struct Lone {
    std::int64_t block;
    std::uint32_t code;
    int scale;
};

// The row has a number here and there.
void add_lone(Factor& factor, const std::vector<Lone>& numbers);

// Of a sum in binary32, rounded to nearest and, in the upper half, downward.
std::uint64_t both_codes(const fast::Unpacked& value);

// Values of outputs in whatever way they were found, against fast/dot.hpp.
class ValueCheck {
public:
    explicit ValueCheck(const Problem& problem);

    const gemm::Factors& factors() const { return factors_; }
    std::uint64_t expected(const gemm::Place& place) const { return expected_[output_at(place)]; }
    bool is_finite(const gemm::Place& place) const { return is_finite_[output_at(place)]; }
    void compare(const gemm::Place& place, const fast::Unpacked& value);
    // What `run` hands over, and that it hands over each output once.
    void compare_all(const std::function<void(const gemm::ReceiveValue&)>& run);
    void fail() { ++report_.mismatches; }
    const Report& report() const { return report_; }

private:
    std::size_t output_at(const gemm::Place& place) const {
        return place.row * b_.size() + place.column;
    }

    std::vector<ScaledRow> a_, b_;
    gemm::Factors factors_;
    std::vector<std::uint64_t> expected_;
    std::vector<bool> is_finite_;
    Report report_;
};

// So many problems, by every kernel that takes them.
Report compare_all(std::size_t count, int threads,
                   const std::function<Problem(std::size_t)>& problem_of);

std::vector<Proof> gemm_residue_proofs();
std::vector<Proof> gemm_settled_proofs();
std::vector<Proof> gemm_rounded_proofs();
Proof gemm_window_proof();
Proof gemm_bound_proof();

}  // namespace mx::proof
