// What quantize, requantize and dequantize share: a tensor file in, one out, and the names between
// them. Used by those commands only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cli/arguments.hpp"
#include "conformance/data/tensor_file.hpp"
#include "conformance/emulate/requantize.hpp"

namespace mx::cli {

struct TensorArguments {
    std::string input;
    std::string out;
    emulate::BlockNames names;  // "": not given
};

// What only some dialects ask for.
struct EncodeArguments {
    std::uint64_t seed = 0;
    std::string history;  // "": none
};

// --seed and --amax-history, and what they say.
std::vector<Option> encode_options(EncodeArguments& arguments);
Expected<emulate::QuantizeOptions> read_encode_options(const EncodeArguments& arguments);

// --format, --dialect, --axis, --block, --scales and --packing. `role` says what they do where they
// do not choose: "if not as in the file", ...
std::vector<Option> name_options(emulate::BlockNames& names, const std::string& role);

// "--out is the input file itself": it would be gone once the output is renamed over it.
Status check_paths(const TensorArguments& arguments);

// As error: --out that cannot hold two tensors.
Status check_quantized_out(const TensorArguments& arguments);

// The error with the path in front.
Error in_file(const std::string& path, const Error& error);

// "x.safetensors: 64 elements in 2 blocks; saturated: 0, ..." on stdout.
void print_counts(const std::string& path, const emulate::QuantizeCounts& counts);

}  // namespace mx::cli
