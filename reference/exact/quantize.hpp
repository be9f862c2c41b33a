// One block by any row of the quantizer table, on exact values: a scale that is a power of two goes
// the way of block.hpp, one with a mantissa that of real_scale.hpp.
#pragma once

#include <span>

#include "reference/exact/real_scale.hpp"

namespace mx::exact {

// The lanes are already transformed. `random` has a value for each lane, or none. Under E8M0 the
// tensor has no number, and what the question says of it is not read.
Block quantize(const BlockQuestion& question, std::span<const Value> lanes,
               std::span<const RandomBits> random = {});

// An element on the way back, in `output`. Beside a scale with a mantissa it is a binary32 value
// before; `kept` is kept_number, and is not read where the tensor has none.
struct DequantizeQuestion {
    const Quantizer& quantizer;
    const BlockFormat& format;
    const ElementFormat& output;
    const Value& kept;
};
Code dequantize(const DequantizeQuestion& question, StoredElement stored);

}  // namespace mx::exact
