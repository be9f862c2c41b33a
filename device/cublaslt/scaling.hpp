// The scale modes of cuBLASLt as a table: what the device ABI calls each, where its scales lie, and
// which GPUs have it. Used by the reader of requests. A mode is a row here and nothing else: what
// runs for one runs for all.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "device/abi/mx_device.h"

namespace mx::cublaslt {

// Compute capabilities that have something, 90 for 9.0.
struct Capabilities {
    int first;
    int last;

    bool has(int capability) const { return capability >= first && capability <= last; }
};
inline constexpr int latest = std::numeric_limits<int>::max();

// "10.0 or later", "9.0 alone".
std::string text_of(Capabilities capabilities);
// "9.0".
std::string capability_text(int capability);

// How a tensor of R x C scales lies in memory.
enum class ScaleOrder {
    outer_fastest,  // "strided": row stride 1, column stride R
    inner_fastest,  // "strided": column stride 1, row stride C rounded up to 4
    tiles,          // "128x4"
};

struct Extents {
    std::int64_t rows;
    std::int64_t columns;
};

struct Scaling {
    std::string_view name;
    cublasLtMatmulMatrixScale_t mode;
    std::string_view type;
    Extents block;  // elements that share a scale; `whole` where all of them do
    ScaleOrder order;
    Capabilities capabilities;
};
inline constexpr std::int64_t whole = 0;

const Scaling* find_scaling(std::string_view name);

// The shape of the scales of so many elements.
Extents grid_of(const Scaling& scaling, Extents elements);

// Why cuBLASLt would not find the scales where this tensor has them, or nothing.
std::optional<std::string> misplaced(const Scaling& scaling, const mx_tensor& scales);

// Why scales of `batches` problems, one after the other in the rows of one tensor, are not where
// cuBLASLt looks for them, or nothing. `one` is the shape of one problem's elements.
std::optional<std::string> misplaced_batches(const Scaling& scaling, Extents one);

}  // namespace mx::cublaslt
