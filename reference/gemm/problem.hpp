// A GEMM as the one oracle is asked about it: D = alpha * A * B^T + beta * C, what comes after the
// sum, and what makes the bits of D right. Built by conformance/run of a case and by
// conformance/emulate of tensor files; views only, so what they look into must live on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/spec/gemm.hpp"
#include "reference/spec/gemm_epilogue.hpp"
#include "reference/spec/gemm_model.hpp"
#include "reference/spec/gemm_output.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::gemm {

// What shares a scale. Scales of whole rows and tensors are binary32, and are no matter of the
// accumulator.
enum class Scaling { none, tensor, row, blocks };

constexpr bool is_whole(Scaling scaling) {
    return scaling == Scaling::tensor || scaling == Scaling::row;
}

struct Factor {
    ElementFormat element;
    CodeView codes;          // row after row
    std::int64_t depth = 0;  // K
    std::int64_t rows = 0;   // of a batch
    Scaling scaling = Scaling::none;
    ElementFormat scale = formats::f32;
    CodeView scales = {};         // row after row
    std::int64_t block = 0;       // elements along K that share one, where blocks do
    std::int64_t block_rows = 1;  // rows of a batch that share one, where blocks do
    TensorFactor number = {};     // multiplies the whole factor beside its scales
    CodeView row_numbers = {};    // or binary32 numbers its rows; without bytes none do

    // Rows count on through the batches. A scale of a whole row or tensor is one of a block as long
    // as the row.
    ScaledRow row(std::int64_t index) const;
    Code whole_scale(std::int64_t index) const;  // 1 where blocks have scales, or nothing has
    TensorFactor number_of(std::int64_t index) const;
    bool has_numbers() const;
};

// What the blocks of D are, and who makes them.
struct OutputBlocks {
    const Quantizer* quantizer = nullptr;
    const BlockFormat* format = nullptr;
    ElementFormat scale;  // as D has them: NVFP4's without a sign

    std::int64_t size() const { return format->block_columns; }
};

struct OutputPlace {
    std::int64_t row = 0;  // of D, with all batches
    std::int64_t column = 0;
};

// What one output is made of: views into the factors. Rows come with all their scales; those of
// whole rows and tensors stand in `operands` as well, where models want them.
struct Output {
    ScaledRow a, b;
    std::int64_t depth = 0;
    EpilogueOperands operands;
    TensorFactor number_a = {}, number_b = {};
};

// Rows of D, counted through all batches.
struct RowRange {
    std::int64_t first = 0, end = 0;
    std::int64_t count() const { return end - first; }
};

struct ProblemView {
    Factor a, b;
    std::int64_t m = 0, n = 0, depth = 0, batches = 1;
    bool shares_b = false;  // one B for all batches
    // Of a grouped product, which is one batch: where each group begins in the m rows of A, and
    // where the last one ends. B has n rows for each of them.
    std::vector<std::int64_t> offsets = {};
    Code alpha{0x3F800000}, beta{};              // binary32
    CodeView c = {}, bias = {}, scale_out = {};  // without bytes: none
    GemmEpilogue epilogue;
    const GemmModel* model = nullptr;  // nullptr: the exact sum
    bool is_bounded = false;           // a bound is wanted, and not the bits of the model
    std::int64_t part = 0;             // of K, where it is split; models only
    std::int64_t parts = 0;            // that K is split into; 0: nobody says
    int fraction_bits = 0;  // that every accumulator keeps which multiplies such elements
    // Where D lies in blocks. What the epilogue gives is then what blocks are made of, and
    // output_blocks.hpp says what becomes of it.
    std::optional<OutputBlocks> blocks;
    ElementFormat element;  // of D

    bool is_exact() const { return model == nullptr || is_bounded; }
    bool adds_c() const { return beta.bits << 1 != 0; }
    std::int64_t outputs() const { return batches * m * n; }
    OutputPlace place(std::int64_t output) const { return {output / n, output % n}; }
    std::int64_t index(const OutputPlace& place) const { return place.row * n + place.column; }

    bool is_grouped() const { return !offsets.empty(); }
    // The rows of D that have one B; a batch counts as a group of m rows.
    std::int64_t group_count() const;
    std::int64_t group_of(std::int64_t row) const;
    RowRange rows_of_group(std::int64_t group) const;

    std::int64_t row_of_b(const OutputPlace& place) const;
    Output output(const OutputPlace& place) const;
    // With the B of another group.
    Output output(const OutputPlace& place, std::int64_t group) const;
    EpilogueOperands operands(const OutputPlace& place) const;
};

// Whether the model's row says how such factors are multiplied. A number of the whole tensor beside
// the scales of blocks belongs to alpha (spec/gemm_output.hpp); of numbers of rows beside them no
// row says anything. A factor without scales has the scale 1 where the other's is one of a row or
// tensor.
bool takes(const GemmModel& model, const Factor& factor);
bool takes(const GemmModel& model, const Factor& a, const Factor& b);

// The rows of a group, as each output has one of both.
struct GroupRows {
    std::vector<ScaledRow> a, b;
};
GroupRows rows_of_group(const ProblemView& problem, std::int64_t group);

}  // namespace mx::gemm
