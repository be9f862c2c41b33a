// Where a scale lies in layout "128x4", as cuBLAS documents it. Used by the tests of this device;
// the device converts nothing.
#pragma once

#include <cstdint>

#include "device/cublaslt/tensors.hpp"

namespace mx::cublaslt::test {

struct ScalePlace {
    std::int64_t outer;
    std::int64_t inner;
};

// The byte of one of a grid of scales with so many blocks a row.
inline std::int64_t swizzled(ScalePlace at, std::int64_t blocks) {
    const std::int64_t tile = at.outer / 128 * (rounded_up(blocks, 4) / 4) + at.inner / 4;
    return tile * 512 + at.outer % 32 * 16 + at.outer % 128 / 32 * 4 + at.inner % 4;
}

}  // namespace mx::cublaslt::test
