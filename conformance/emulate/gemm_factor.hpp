// A quantized file as a factor of a GEMM: rows of codes along K with the scales of their blocks,
// whatever quantized it. Used by gemm_tensor; opens no file.
#pragma once

#include <cstdint>

#include "conformance/emulate/quantized_facts.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/gemm_output.hpp"

namespace mx::emulate {

struct GemmFactor {
    std::string path;    // what sentences call it
    std::string format;  // of blocks, or a recipe's
    ElementFormat element;
    ElementFormat scale;
    std::int64_t block = 1;       // how many elements share a scale along K
    std::int64_t block_rows = 1;  // how many rows do; 0: all of all batches
    TensorFactor tensor;
    std::vector<Code> row_numbers;  // binary32, one for each row of all batches; none: all are 1
    LaneTransform transform = LaneTransform::none;
    std::vector<std::int64_t> shape;  // batches, rows, K
    Codes codes;                      // scales in words of their format

    std::int64_t rows() const { return shape[shape.size() - 2]; }
    std::int64_t depth() const { return shape.back(); }
    // `tensor`, or the row's number.
    TensorFactor number_of(std::int64_t index) const;
    // Points into the codes. `index` counts on through the batches.
    ScaledRow row(std::int64_t index) const;
};

// As error: a file that mxcheck quantize did not make, or one whose blocks do not lie along K. The
// sentence opens with the path.
Expected<GemmFactor> gemm_factor(const std::string& path, data::TensorFile file);

// Gives each row a binary32 number that multiplies it, as cuBLASLt's OUTER_VEC_32F does. As error:
// a file of anything else than one f32 tensor with as many numbers as the factor has rows, or a
// factor that has a number for the whole tensor. The sentence opens with the path of the numbers.
Status scale_rows(GemmFactor& factor, const std::string& path, const data::TensorFile& file);

}  // namespace mx::emulate
