// The kernel of gemm_kernels.hpp, compiled once per instruction set.
// Must not know formats, scales or names.
#include "device/cpu/gemm_kernels.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/gemm_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
namespace {

#if HWY_NATIVE_FMA && HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<float, tile_columns>;
using Vector = hn::Vec<Lanes>;

// Eight chains of as many columns as a vector has; a vector waits for its own sum alone, so that
// eight keep the unit busy.
HWY_INLINE void sum_columns(const Tile& tile, std::ptrdiff_t column) {
    const Lanes d;
    Vector sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    Vector sum4 = sum0, sum5 = sum0, sum6 = sum0, sum7 = sum0;
    const float* a = tile.a;
    const std::ptrdiff_t row = tile.a_stride;
    for (std::ptrdiff_t k = 0; k < tile.depth; ++k) {
        const Vector b = hn::LoadU(d, tile.b + k * tile_columns + column);
        sum0 = hn::MulAdd(hn::Set(d, a[k]), b, sum0);
        sum1 = hn::MulAdd(hn::Set(d, a[k + row]), b, sum1);
        sum2 = hn::MulAdd(hn::Set(d, a[k + 2 * row]), b, sum2);
        sum3 = hn::MulAdd(hn::Set(d, a[k + 3 * row]), b, sum3);
        sum4 = hn::MulAdd(hn::Set(d, a[k + 4 * row]), b, sum4);
        sum5 = hn::MulAdd(hn::Set(d, a[k + 5 * row]), b, sum5);
        sum6 = hn::MulAdd(hn::Set(d, a[k + 6 * row]), b, sum6);
        sum7 = hn::MulAdd(hn::Set(d, a[k + 7 * row]), b, sum7);
    }
    float* at = tile.sums + column;
    hn::StoreU(sum0, d, at);
    hn::StoreU(sum1, d, at + tile_columns);
    hn::StoreU(sum2, d, at + 2 * tile_columns);
    hn::StoreU(sum3, d, at + 3 * tile_columns);
    hn::StoreU(sum4, d, at + 4 * tile_columns);
    hn::StoreU(sum5, d, at + 5 * tile_columns);
    hn::StoreU(sum6, d, at + 6 * tile_columns);
    hn::StoreU(sum7, d, at + 7 * tile_columns);
}

void sum_all(const Tile& tile) {
    constexpr auto lanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(Lanes()));
    for (std::ptrdiff_t column = 0; column < tile_columns; column += lanes)
        sum_columns(tile, column);
}

#else

void sum_all(const Tile& tile) {
    for (std::ptrdiff_t place = 0; place < tile_rows * tile_columns; ++place) {
        const float* a = tile.a + place / tile_columns * tile.a_stride;
        const float* b = tile.b + place % tile_columns;
        float sum = 0;
        for (std::ptrdiff_t k = 0; k < tile.depth; ++k)
            sum = std::fma(a[k], b[k * tile_columns], sum);
        tile.sums[place] = sum;
    }
}

#endif

}  // namespace

void SumTile(const Tile& tile) {
    sum_all(tile);
}

}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::cpu {

HWY_EXPORT(SumTile);

void sum_tile(const Tile& tile) {
    HWY_DYNAMIC_DISPATCH(SumTile)(tile);
}

}  // namespace mx::cpu
#endif
