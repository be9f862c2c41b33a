// Scales, blocks and their way back, on exact values: OCP MX v1.0 sections 5.1 and 6.3, with every
// freedom they leave filled in by the dialect.
#pragma once

#include <span>
#include <vector>

#include "reference/exact/round.hpp"
#include "reference/spec/formats.hpp"

namespace mx::exact {

// A scale with the steps that led to it.
struct ScaleSteps {
    Value amax;
    Value argument;  // what is rounded to a power of two: amax / 2^emax, or amax / max in binary32
    Rounding rounding = Rounding::toward_zero;  // of the argument to a power of two
    bool overflowed = false;
    bool underflowed = false;  // the argument was positive but below 2^-127
    Code code;
};

// The largest magnitude of the block as the dialect sees it; NaN where a NaN poisons the block.
Value amax_of(const Dialect& dialect, std::span<const Value> lanes);

// `amax` is not negative. NaN gives the NaN scale in every dialect.
ScaleSteps scale_steps(const Dialect& dialect, const BlockFormat& format, const Value& amax);
Code encode_scale(const Dialect& dialect, const BlockFormat& format, const Value& amax);

// The element for one value under a given scale: value / 2^(scale - 127), rounded once.
Value scaled(const BlockFormat& format, Code scale, const Value& value);
Code quantize_element(const Dialect& dialect, const BlockFormat& format, Code scale,
                      const Value& value);

struct Block {
    Code scale;
    std::vector<Code> elements;
};
Block quantize_block(const Dialect& dialect, const BlockFormat& format,
                     std::span<const Value> lanes);

// scale * element as an exact value; NaN if either is.
Value dequantize_exact(const BlockFormat& format, Code scale, Code element);
// ... rounded to nearest even in `output`; beyond its range Inf.
Code dequantize(const BlockFormat& format, const ElementFormat& output, Code scale, Code element);

}  // namespace mx::exact
