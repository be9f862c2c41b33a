// Tensors in and out of files, whole. Used by the commands that take or make a
// user's tensors; knows nothing of what is done with them.
#pragma once

#include <string>
#include <vector>

#include "conformance/data/host_tensor.hpp"
#include "reference/base/status.hpp"

namespace mx::data {

// Any file that list_tensors knows. Every failure is one sentence that opens with the path. The
// tensor of a .npy is named after the file ("x" for dir/x.npy).
Expected<TensorFile> read_tensor_file(const std::string& path, const ReadOptions& options = {});

// Do quantizers read this type? The error names a way out for those that people have.
Status check_value_type(const std::string& type);

// "'a', 'b', ..."
std::string names_text(const std::vector<HostTensor>& tensors);

// By extension, .npy (exactly one tensor, no metadata) or .safetensors. The file appears whole or
// not at all: it is written beside the path, flushed to the disk and then renamed.
Status write_tensor_file(const std::string& path, const TensorFile& file);

}  // namespace mx::data
