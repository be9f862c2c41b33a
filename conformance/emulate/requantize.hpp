// A quantized tensor quantized anew under other names, and what that changed.
#pragma once

#include <cstdint>

#include "conformance/emulate/quantize_tensor.hpp"

namespace mx::emulate {

// What became of a tensor that was quantized a second time.
struct Changes {
    bool is_same_grid = false;  // of blocks: only then scales have counterparts
    bool has_codes = false;     // element by element; not told where a scale has a mantissa
    std::uint64_t scales = 0, scales_changed = 0;
    std::uint64_t elements = 0, elements_changed = 0;  // as numbers, without their scale
    std::uint64_t values_changed = 0;                  // element times scale
    std::uint64_t not_finite = 0;                      // places that the ratio leaves out
    double signal = 0;                                 // sum of the squares of the old values
    double noise = 0;                                  // the same of new less old
};

struct Requantized {
    QuantizedTensor tensor;
    Changes changes;
};

// To f32, exactly, and quantized anew under `names`. As error: a value beyond f32, and all that
// dequantize_tensor and quantize_tensor have.
//
// Memory: both values as f32 and the codes of both; 2.6 times the f32 tensor.
Expected<Requantized> requantize_tensor(const data::TensorFile& file, const QuantizedFacts& facts,
                                        const BlockNames& names, const QuantizeOptions& options);

}  // namespace mx::emulate
