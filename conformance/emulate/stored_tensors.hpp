// How codes lie in a quantized file: which tensors there are, of which type and shape, and their
// bytes, packed and swizzled as the names say. Used by quantize_tensor and dequantize_tensor; knows
// no values. Where a code lies is the business of conformance/run/tensor_layout.
#pragma once

#include <cstdint>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/data/quantized_file.hpp"
#include "conformance/emulate/block_layout.hpp"

namespace mx::emulate {

using data::BlockNames;

// Of all slices, one after another; a code in the fewest whole bytes, row by row.
struct Codes {
    std::vector<std::byte> elements;
    std::vector<std::byte> scales;
    std::vector<std::byte> tensor_number;  // binary32, of a dialect that has one
};

// A tensor without its bytes. Elements have their native type and the tensor's own shape where
// their packing is that type's; otherwise they are bytes, and the last dimension counts the bytes
// of a row. Swizzled scales have the padded shape of each slice's grid; inline ones no tensor.
struct StoredTensor {
    std::string name;
    std::string type;
    std::vector<std::int64_t> shape;
};

// All of these take names that check_names has passed.
std::vector<StoredTensor> stored_tensors(const BlockNames& names, const BlockLayout& layout);

// What names say, looked up: of a tensor without a shape yet, and of f32. As error: a name that no
// table has.
Expected<Problem> problem_of(const BlockNames& names, OperationKind operation);
// How its blocks lie. For names that check_names has passed.
BlockShape block_shape(const BlockNames& names);
// The same of one slice.
Problem problem_of_slice(const BlockNames& names, const BlockLayout& layout,
                         OperationKind operation);

// Part `index` of `count` equal ones, as a tensor of `shape`. A whole is moved, a part is copied.
struct Slice {
    std::int64_t index = 0;
    std::int64_t count = 1;
};
CodeTensor take_slice(std::vector<std::byte>& bytes, const PartShape& shape, Slice slice);

// Moves the bytes where there is but one part.
void append(std::vector<std::byte>& bytes, std::vector<std::byte> more);

// The tensors with their bytes. Bytes and bits that hold no code are 0.
std::vector<data::HostTensor> store(Codes codes, const BlockNames& names,
                                    const BlockLayout& layout);

// The inverse, which takes the bytes out of the file. As error: a tensor that is missing, has
// another type or shape, or belongs to nothing; a byte that is no code.
Expected<Codes> load(data::TensorFile& file, const BlockNames& names, const BlockLayout& layout);

}  // namespace mx::emulate
