// The codes and the scales of a call in blocks, checked, as planes of bytes. Used by request.cpp
// and real_scale_request.cpp. Must not compute.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "device/cpu/layouts.hpp"
#include "device/cpu/types.hpp"
#include "device/kit/blocks.hpp"
#include "device/kit/call.hpp"

namespace mx::cpu {

// Codes and scales, which either side of a block operation has.
struct Encoded {
    Plane codes;
    Plane scales;
    std::vector<Staged> staged;
};

struct EncodedTensors {
    kit::Tensor codes;
    std::optional<kit::Tensor> scales;  // nothing when inline
};

struct EncodedTypes {
    ElementType element;
    std::string_view scale;
};

inline bool is_inline(const kit::Tensor& codes) {
    return codes.layout() == "inline";
}

// The planes of the tensors themselves where they are strided, else of dense copies.
Encoded encoded_of(const kit::Call& call, const EncodedTensors& tensors, const EncodedTypes& types,
                   const kit::Blocks& blocks);

}  // namespace mx::cpu
