// Blocks and their way back, on exact values: OCP MX v1.0 sections 5.1 and 6.3, with every freedom
// they leave filled in by the quantizer.
#pragma once

#include <span>
#include <vector>

#include "reference/exact/scale.hpp"

namespace mx::exact {

// The largest magnitude of the block as the quantizer sees it; NaN where a NaN poisons the block.
Value amax_of(const Quantizer& quantizer, std::span<const Value> lanes);

// The element for one value under a given scale: value / 2^(scale - 127), rounded once; the
// quantizer may take byte 0 for something else.
Value scaled(const Quantizer& quantizer, const BlockFormat& format, Code scale, const Value& value);
Code quantize_element(const Quantizer& quantizer, const BlockFormat& format, Code scale,
                      const Value& value, RandomBits random = {});

struct Block {
    Code scale;
    std::vector<Code> elements;
};
// `random` has a value for each lane, or none.
Block quantize_block(const Quantizer& quantizer, const BlockFormat& format,
                     std::span<const Value> lanes, std::span<const RandomBits> random = {});

// scale * element as an exact value; NaN if either is.
Value dequantize_exact(const BlockFormat& format, Code scale, Code element);
// ... rounded to nearest even in `output`; beyond its range Inf.
Code dequantize(const BlockFormat& format, const ElementFormat& output, Code scale, Code element);

}  // namespace mx::exact
