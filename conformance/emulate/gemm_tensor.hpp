// A GEMM of two tensors of files, D = alpha * A * B^T + beta * C: what they are to the oracle of
// reference/gemm, and its answer as bytes. Used by mxcheck gemm; opens no file, starts no thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "conformance/emulate/gemm_factor.hpp"
#include "reference/gemm/oracle.hpp"

namespace mx::emulate {

struct GemmRules {
    const GemmModel* model = nullptr;   // nullptr: exact
    ElementFormat type = formats::f32;  // of D
    // Of D. Not given: to Inf or NaN where sums are exact; FP8 saturates under a model.
    std::optional<Overflow> overflow = {};
    Code alpha = {0x3F800000};  // of binary32, as beta
    Code beta = {0};
    Activation activation = Activation::none;
    std::int64_t parts = 1;              // along K, each summed alone; models only
    std::optional<Code> scale_out = {};  // binary32, multiplies D before it is rounded
};

// The types that D may have; values are rounded to them once.
inline constexpr std::array gemm_types{formats::f32, formats::bf16, formats::f16, formats::e4m3,
                                       formats::e5m2};

// C or the bias, under the path of its file.
struct GemmAddend {
    std::string path;
    data::HostTensor tensor;
    ElementFormat type = formats::f32;  // as tensor_gemm finds it in the file
};

// Unlike mx::GemmProblem it holds its tensors, and blocks of any size.
struct TensorGemm {
    GemmFactor a;
    GemmFactor b;
    std::optional<GemmAddend> c, bias;
    GemmRules rules;
    std::vector<std::int64_t> shape;  // of D: batches, rows of A, rows of B
    std::uint64_t bytes;              // of D

    std::int64_t outputs() const { return product(shape); }
    // Looks into this one.
    gemm::ProblemView view() const;
};

// B has the batches of A, or none and serves all of them. C has the shape of D, the bias a number
// for each column; both are f32, bf16 or f16. Only a beta of 0 goes without C. As error: shapes
// that do not go together, and factors or numbers that the model does not take.
struct GemmAddends {
    std::optional<GemmAddend> c = {}, bias = {};
};
Expected<TensorGemm> tensor_gemm(GemmFactor a, GemmFactor b, GemmAddends addends,
                                 const GemmRules& rules);

// Outputs of D, counted along its rows, into the bytes of the whole of D. Ranges that do not
// overlap may be written at the same time.
void gemm_outputs(const TensorGemm& problem, gemm::OutputRange range, std::span<std::byte> d);

// The same outputs before they are rounded, into the values of the whole of D, as
// gemm::for_each_number gives them.
void gemm_values(const TensorGemm& problem, gemm::OutputRange range, std::span<fast::Unpacked> d);

struct SpecialCounts {
    std::uint64_t nan = 0;
    std::uint64_t infinity = 0;
};
SpecialCounts count_specials(const ElementFormat& type, std::span<const std::byte> values);

}  // namespace mx::emulate
