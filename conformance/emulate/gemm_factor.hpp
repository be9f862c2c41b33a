// A file as a factor of a GEMM: rows of codes along K with the scales of their blocks, whatever
// quantized it, or plain values. Used by gemm_tensor; opens no file.
#pragma once

#include <cstdint>

#include "conformance/emulate/quantized_facts.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "reference/gemm/problem.hpp"

namespace mx::emulate {

struct GemmFactor {
    std::string path;    // what sentences call it
    std::string format;  // of blocks, or a recipe's
    ElementFormat element;
    gemm::Scaling scaling = gemm::Scaling::blocks;
    ElementFormat scale;
    std::int64_t block = 1;       // how many elements share a scale along K
    std::int64_t block_rows = 1;  // how many rows do
    TensorFactor tensor;
    // binary32, one for each row of all batches; none: all are 1. They are the scales of a factor
    // that has no others, as cuBLASLt's OUTER_VEC_32F.
    std::vector<std::byte> row_numbers;
    LaneTransform transform = LaneTransform::none;
    std::vector<std::int64_t> shape;  // batches, rows, K
    Codes codes;                      // scales in words of their format

    std::int64_t rows() const { return shape[shape.size() - 2]; }
    std::int64_t depth() const { return shape.back(); }
    // Looks into this one.
    gemm::Factor view() const;
};

// As error: a file that mxcheck quantize did not make and that holds not just one tensor of f32,
// f16, bf16, e4m3 or e5m2, or one whose blocks do not lie along K. The sentence opens with the
// path.
Expected<GemmFactor> gemm_factor(const std::string& path, data::TensorFile file);

// Gives each row a binary32 number that multiplies it. As error:
// a file of anything else than one f32 tensor with as many numbers as the factor has rows, or a
// factor that has a number for the whole tensor. The sentence opens with the path of the numbers.
Status scale_rows(GemmFactor& factor, const std::string& path, const data::TensorFile& file);

}  // namespace mx::emulate
