// A product of two matrices, D = alpha * A * B^T + beta * C. Used by plugin.cpp. README.md says
// which operation rounds what.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "device/cpu/blocks.hpp"
#include "device/cpu/real_scale.hpp"
#include "device/cpu/values.hpp"

namespace mx::cpu {

enum class FactorScaling {
    none,
    tensor,  // one binary32
    row,     // one binary32 a row
    e8m0,    // a byte for each block along k: MX
    ue4m3,   // the same: NVFP4
};

// A factor in rows along k. Elements are of one of the two types.
struct Factor {
    std::optional<ElementType> element;
    ValueType value = ValueType::f32;
    Plane codes = {};
    FactorScaling scaling = FactorScaling::none;
    std::ptrdiff_t block = 32;
    Plane scales = {};
    // Where the scales of each group begin, if those of a grouped product lie in tiles; else a
    // row's scales are in the row of its codes.
    std::vector<std::ptrdiff_t> scale_offsets = {};
};

// How products are summed: one after another, or in parts of K of which each begins at 0.
struct Summation {
    std::string_view name;
    std::ptrdiff_t part;  // 0: all of K
};
inline constexpr Summation summations[] = {{"fma-chain", 0}, {"fma-parts", 256}};

struct GemmJob {
    // Where each batch, or group of a grouped product, begins in the rows of A and D, and where the
    // last one ends.
    std::vector<std::ptrdiff_t> offsets = {0};
    std::ptrdiff_t columns = 0, depth = 0;  // of one batch

    std::ptrdiff_t batches() const { return std::ssize(offsets) - 1; }
    std::ptrdiff_t first_row(std::ptrdiff_t batch) const {
        return offsets[static_cast<std::size_t>(batch)];
    }
    std::ptrdiff_t rows(std::ptrdiff_t batch) const {
        return first_row(batch + 1) - first_row(batch);
    }

    Factor a, b;
    float alpha = 1, beta = 0;
    std::optional<Values> c;
    std::optional<Values> bias;
    bool has_relu = false;
    std::optional<ElementType> d_element;  // FP8; else d.type
    std::optional<Plane> scale_d;          // one binary32, for FP8 and NVFP4
    Values d;
    // D in blocks with scales; `values` is filled in by gemm.
    std::optional<BlockJob> d_blocks;
    std::optional<RealScaleJob> d_nvfp4;
    Summation summation = summations[0];
};

void gemm(const GemmJob& job);

}  // namespace mx::cpu
