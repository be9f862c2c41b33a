// A call that was captured by the Python package (conformance/python/mxcheck/_capture.py), as a
// file of tensors: what the function was given, what it gave, and one key of the metadata that says
// of which call. Used by whoever reads such a file; `session/capture.hpp` has the words of the
// call.
#pragma once

#include <string_view>

#include "conformance/data/quantized_file.hpp"

namespace mx::data {

inline constexpr std::string_view captured_key = "mxcheck_call";
// The values that a quantizer was given.
inline constexpr std::string_view captured_values = "x";

inline bool is_captured_call(const TensorFile& file) {
    for (const auto& [key, value] : file.metadata)
        if (key == captured_key) return true;
    return false;
}

}  // namespace mx::data
