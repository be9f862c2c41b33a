// NumPy's .npy, versions 1.0 to 3.0 in, 1.0 out. Used by tensor_file.cpp, the tests and the
// fuzzers; knows nothing of paths or of safetensors.
#pragma once

#include <span>
#include <string_view>

#include "conformance/data/byte_source.hpp"
#include "conformance/data/host_tensor.hpp"

namespace mx::data {

// The first bytes of every .npy.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

Expected<TensorFile> parse_npy(const ByteSource& source, const ReadOptions& options = {});
// From memory; `name` is what messages call it.
Expected<TensorFile> parse_npy(std::span<const std::byte> file, std::string_view name);

Expected<EncodedFile> encode_npy(const TensorFile& file);

}  // namespace mx::data
