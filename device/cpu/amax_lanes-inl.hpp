// The largest magnitudes of many values: included once per instruction set by the kernels of
// quantize. Must not know rules or elements.

#if defined(MX_DEVICE_CPU_AMAX_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef MX_DEVICE_CPU_AMAX_LANES_INL_HPP
#undef MX_DEVICE_CPU_AMAX_LANES_INL_HPP
#else
#define MX_DEVICE_CPU_AMAX_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "device/cpu/blocks.hpp"
#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
#if MX_CPU_HAS_LANES

inline constexpr std::size_t block_values = static_cast<std::size_t>(row_block);

// Which lanes an amax is taken from.
struct AllLanes {
    static HWY_INLINE BitsV of(BitsV bits) { return magnitude(bits); }
};
struct LanesButNan {
    static HWY_INLINE BitsV of(BitsV bits) {
        const BitsV absolute = magnitude(bits);
        return hn::IfThenZeroElse(hn::Gt(absolute, set(f32_infinity)), absolute);
    }
};

template <typename Source, typename Choice>
HWY_INLINE BitsV block_maxima(const std::uint8_t* at) {
    BitsV maxima = Choice::of(Source::load(at));
    for (std::size_t i = lanes; i < block_values; i += lanes) {
        maxima = hn::Max(maxima, Choice::of(Source::load(at + i * Source::width)));
    }
    return maxima;
}

template <typename D, typename V>
HWY_INLINE void store_folded(D d, V maxima, std::int32_t* amax) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        hn::StoreU(maxima, d, amax);
    } else {
        const hn::Half<D> half;
        const auto folded = hn::Max(hn::LowerHalf(half, maxima), hn::UpperHalf(half, maxima));
        store_folded(half, folded, amax);
    }
}

// The largest lane of each of four vectors. Interleaving twice, as in a transpose, leaves block j's
// lanes at place j of each 128 bits; halving the vector then brings the parts together.
HWY_INLINE void fold_four(const BitsV (&m)[4], std::int32_t* amax) {
    const Bits d;
    const hn::Repartition<std::int64_t, Bits> wide;
    const BitsV low =
        hn::Max(hn::InterleaveLower(d, m[0], m[1]), hn::InterleaveUpper(d, m[0], m[1]));
    const BitsV high =
        hn::Max(hn::InterleaveLower(d, m[2], m[3]), hn::InterleaveUpper(d, m[2], m[3]));
    const auto low_pairs = hn::BitCast(wide, low);
    const auto high_pairs = hn::BitCast(wide, high);
    const BitsV first = hn::BitCast(d, hn::InterleaveLower(wide, low_pairs, high_pairs));
    const BitsV second = hn::BitCast(d, hn::InterleaveUpper(wide, low_pairs, high_pairs));
    store_folded(d, hn::Max(first, second), amax);
}

// The amax of each of a number of row blocks; up to three more are written.
template <typename Source>
HWY_INLINE void row_amax(const std::uint8_t* values, std::size_t blocks, std::int32_t* amax) {
    constexpr std::size_t block_bytes = block_values * Source::width;
    for (std::size_t first = 0; first < blocks; first += 4) {
        BitsV maxima[4];
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t block = HWY_MIN(first + i, blocks - 1);
            maxima[i] = block_maxima<Source, AllLanes>(values + block * block_bytes);
        }
        fold_four(maxima, amax + first);
    }
}

#endif  // MX_CPU_HAS_LANES
}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled once per target
