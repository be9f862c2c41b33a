// The safetensors container: eight bytes of length, a JSON header, the bytes of all tensors without
// gap. Used by tensor_file.cpp, the tests and the fuzzers; knows nothing of paths or of .npy.
#pragma once

#include <span>
#include <string_view>

#include "conformance/data/byte_source.hpp"
#include "conformance/data/host_tensor.hpp"

namespace mx::data {

// Tensors come in the order of their bytes in the file, metadata in the order of the header.
Expected<TensorFile> parse_safetensors(const ByteSource& source);
// From memory; `name` is what messages call it.
Expected<TensorFile> parse_safetensors(std::span<const std::byte> file, std::string_view name);

// Wider types go first, so that every tensor is aligned to its type; otherwise in the given order.
Expected<EncodedFile> encode_safetensors(const TensorFile& file);

}  // namespace mx::data
