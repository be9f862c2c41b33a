// Tensors to quantized files and back, whatever the names stand for: a block format of the standard
// or a recipe. Used by the commands; the one place that knows of both.
#pragma once

#include <cstdint>

#include "conformance/emulate/recipe_tensor.hpp"

namespace mx::emulate {

struct EncodeOptions {
    RecipeOptions recipe = {};
    std::string program_version;
};

// The names are completed ones. The file has all metadata.
Expected<QuantizedTensor> encode_tensor(data::HostTensor tensor, const BlockNames& names,
                                        const EncodeOptions& options);

// `facts` are read_facts of the file.
Expected<data::TensorFile> decode_tensor(data::TensorFile file, const QuantizedFacts& facts,
                                         const std::string& type);

// What became of a tensor that was quantized a second time.
struct Changes {
    bool is_same_grid = false;  // of blocks: only then scales have counterparts
    bool has_codes = false;     // element by element; not told where a recipe is at work
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
// decode_tensor and encode_tensor have.
//
// Memory: both values as f32 and the codes of both; 2.6 times the f32 tensor.
Expected<Requantized> requantize_tensor(const data::TensorFile& file, const QuantizedFacts& facts,
                                        const BlockNames& names, const EncodeOptions& options);

}  // namespace mx::emulate
