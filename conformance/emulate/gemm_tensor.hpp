// A GEMM of two quantized tensors, D = alpha * A * B^T + beta * C: exact and rounded once, or as a
// modelled machine accumulates it. Used by mxcheck gemm; opens no file and starts no thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "conformance/emulate/gemm_factor.hpp"
#include "reference/fast/gemm_output.hpp"
#include "reference/spec/gemm_model.hpp"

namespace mx::emulate {

struct GemmRules {
    const GemmModel* model = nullptr;   // nullptr: exact
    ElementFormat type = formats::f32;  // of D
    Overflow overflow = Overflow::overflow;
    Code alpha = {0x3F800000};  // of binary32, as beta
    Code beta = {0};
};

// The types that D may have; values are rounded to them once.
inline constexpr std::array<std::string_view, 5> gemm_types{"f32", "bf16", "f16", "e4m3", "e5m2"};

// C under the path of its file.
struct GemmAddend {
    std::string path;
    data::HostTensor tensor;
};

struct GemmProblem {
    GemmFactor a;
    GemmFactor b;
    std::optional<GemmAddend> c;
    GemmRules rules;
    std::vector<std::int64_t> shape;  // of D: batches, rows of A, rows of B
    std::uint64_t bytes;              // of D

    std::int64_t outputs() const { return product(shape); }
};

// B has the batches of A, or none and serves all of them. C has the shape of D, and is f32, bf16 or
// f16; only a beta of 0 goes without. As error: shapes that do not go together, and factors or
// numbers that the model does not take.
Expected<GemmProblem> gemm_problem(GemmFactor a, GemmFactor b, std::optional<GemmAddend> c,
                                   const GemmRules& rules);

// A binary32 scale of many rows is another mode of cuBLASLt than one of a single row, and adds up
// otherwise.
bool takes_both(const GemmModel& model, const GemmFactor& a, const GemmFactor& b);

// The rows whose product is an output of D.
struct GemmRows {
    ScaledRow a;
    ScaledRow b;
};
GemmRows rows_of(const GemmProblem& problem, std::int64_t output);

// Everything that multiplies the dot product of an output, and C.
fast::OutputFactors factors_of(const GemmProblem& problem, std::int64_t output);

struct OutputRange {
    std::int64_t first;
    std::int64_t end;
};

// A piece of work of some ten milliseconds: whole rows where those are summed together.
std::int64_t outputs_at_once(const GemmProblem& problem);

// Outputs of D, counted along its rows, into the bytes of the whole of D. Ranges that do not
// overlap may be written at the same time.
void gemm_outputs(const GemmProblem& problem, OutputRange range, std::span<std::byte> d);

// The same outputs before they are rounded, into the values of the whole of D: at most 62 digits,
// of which the last also stands for all that follow.
void gemm_values(const GemmProblem& problem, OutputRange range, std::span<fast::Unpacked> d);

struct SpecialCounts {
    std::uint64_t nan = 0;
    std::uint64_t infinity = 0;
};
SpecialCounts count_specials(const ElementFormat& type, std::span<const std::byte> values);

}  // namespace mx::emulate
