// Between the bytes of a tensor and one code an element: four-bit elements share a byte, the even
// one in its low half. Used by recipe_tensor.cpp.
#pragma once

#include <cstdint>

#include "conformance/data/host_tensor.hpp"

namespace mx::emulate {

struct ShapedCodes {
    std::vector<std::int64_t> shape;
    std::vector<Code> codes;
};

// The tensor's type must be that of an element format.
std::vector<Code> codes_in(const data::HostTensor& tensor);

// As error: codes of four bits that do not fill whole bytes.
Expected<data::HostTensor> tensor_of(const std::string& name, const ElementFormat& format,
                                     const std::vector<std::int64_t>& shape,
                                     const std::vector<Code>& codes);

// As error: no such tensor, or one of another type.
Expected<ShapedCodes> find_codes(const data::TensorFile& file, const std::string& name,
                                 const ElementFormat& format);

}  // namespace mx::emulate
