// One block of OCP MX and one value of it, for each format and type with both folded into the code:
// the loops that are as fast as the oracle gets.
#pragma once

#include <cstdint>

#include "reference/fast/block.hpp"

namespace mx::library {

// fast::quantize_block of that format and type.
using BlockKernel = Code (*)(const Quantizer& quantizer, const std::uint32_t* lanes, int count,
                             std::uint8_t* elements, const RandomBits* random);
BlockKernel block_kernel(const BlockFormat& format, const ElementFormat& input);

// fast::dequantize of `count` elements under one scale.
using ValuesKernel = void (*)(Code scale, const std::uint8_t* elements, int count,
                              std::uint32_t* values);
ValuesKernel values_kernel(const BlockFormat& format, const ElementFormat& output);

}  // namespace mx::library
