// The vector kernel behind quantize_rows.hpp, compiled once per instruction set. Works in chunks
// that stay in the first-level cache: amax of every block, all scales at once, then the elements.
// Must not know strides, tails or dialect names.
#include "device/cpu/quantize_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/quantize_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
namespace {
#if MX_CPU_HAS_LANES

constexpr std::size_t chunk_blocks = 16;
constexpr std::size_t block_values = static_cast<std::size_t>(block_size);
// Hardware prefetchers stop at pages. The conversion, which reads what amax has just brought to the
// cache, asks for what amax will read this far ahead: so the memory is busy in both loops.
constexpr std::size_t prefetch_bytes = 5120;
constexpr std::size_t line_bytes = 64;

template <typename Source, typename Choice>
HWY_INLINE BitsV block_maxima(const std::uint8_t* at) {
    BitsV maxima = Choice::of(Source::load(at));
    for (std::size_t i = lanes; i < block_values; i += lanes) {
        maxima = hn::Max(maxima, Choice::of(Source::load(at + i * Source::width)));
    }
    return maxima;
}

// What is known of blocks that follow one another.
struct Blocks {
    const std::int32_t* amax;  // NaN counts as the largest
    const std::int32_t* scales;
    std::uint32_t finite_below;  // amax at or above it makes the block wild

    Blocks from(std::size_t first) const { return {amax + first, scales + first, finite_below}; }
};

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

template <typename Source>
HWY_INLINE void chunk_amax(const std::uint8_t* values, std::size_t blocks, std::int32_t* amax) {
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

// The amax of each block without its NaN, where one was found.
template <typename Source>
HWY_INLINE void leave_out_nan(const RowRun& chunk, const std::int32_t* amax, std::int32_t* out) {
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
        hn::Store(hn::Load(Bits(), amax + i), Bits(), out + i);
    }
    for (std::size_t i = 0; i < chunk.blocks; ++i) {
        if (amax[i] <= static_cast<std::int32_t>(f32_infinity)) continue;
        const std::uint8_t* at = chunk.values + i * block_values * Source::width;
        const BitsV maxima = block_maxima<Source, LanesButNan>(at);
        out[i] = hn::GetLane(hn::MaxOfLanes(Bits(), maxima));
    }
}

HWY_INLINE bool all_tame(const ScaleRule& rule, const std::int32_t* amax) {
    BitsMask tame = hn::Eq(hn::Zero(Bits()), hn::Zero(Bits()));
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
        tame = hn::And(tame, is_tame(rule, hn::Load(Bits(), amax + i)));
    }
    return hn::AllTrue(Bits(), tame);
}

HWY_INLINE void store_vector(BytesV bytes, std::uint8_t* at, Stores stores) {
    if (stores == Stores::streaming) {
        hn::Stream(bytes, Bytes(), at);
    } else {
        hn::StoreU(bytes, Bytes(), at);
    }
}

// As many blocks as make at least one vector of bytes.
constexpr std::size_t group_blocks = lanes * 4 > block_values ? lanes * 4 / block_values : 1;

template <typename Source, typename Grid, typename Kind>
HWY_INLINE void convert_group(const std::uint8_t* values, std::uint8_t* codes,
                              const std::int32_t* scales, Stores stores) {
    BlockStep of_block[group_blocks];
    for (std::size_t i = 0; i < group_blocks; ++i) {
        of_block[i] = block_step<Grid>(hn::Set(Bits(), scales[i]));
    }
    for (std::size_t first = 0; first < group_blocks * block_values; first += 4 * lanes) {
        BitsV bits[4];
        BlockStep steps[4];
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t lane = first + i * lanes;
            const std::uint8_t* at = values + lane * Source::width;
            if (lane * Source::width % line_bytes == 0) hwy::Prefetch(at + prefetch_bytes);
            bits[i] = Source::load(at);
            steps[i] = of_block[lane / block_values];
        }
        constexpr Ceiling ceiling = ceiling_of<Grid>(OverflowMode::saturate);
        store_vector(packed_codes<Grid>(Kind(), bits, steps, ceiling), codes + first, stores);
    }
}

// The kind that suits all blocks of a group.
template <typename Source, typename Grid>
HWY_INLINE void convert_any(const std::uint8_t* values, std::uint8_t* codes, const Blocks& blocks,
                            Stores stores) {
    std::uint32_t smallest = f32_infinity;
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < group_blocks; ++i) {
        smallest = HWY_MIN(smallest, static_cast<std::uint32_t>(blocks.amax[i]));
        largest = HWY_MAX(largest, static_cast<std::uint32_t>(blocks.amax[i]));
    }
    if (largest >= blocks.finite_below) {
        convert_group<Source, Grid, Wild>(values, codes, blocks.scales, stores);
    } else if (largest < subnormal_below) {
        convert_group<Source, Grid, Subnormal>(values, codes, blocks.scales, stores);
    } else if (smallest < tame_from) {
        convert_group<Source, Grid, Low>(values, codes, blocks.scales, stores);
    } else {
        convert_group<Source, Grid, Tame>(values, codes, blocks.scales, stores);
    }
}

template <typename Source, typename Grid>
HWY_INLINE void convert_tame(const RowRun& chunk, const Blocks& blocks) {
    for (std::size_t i = 0; i < chunk_blocks; i += group_blocks) {
        const std::uint8_t* values = chunk.values + i * block_values * Source::width;
        convert_group<Source, Grid, Tame>(values, chunk.codes + i * block_values, blocks.scales + i,
                                          chunk.stores);
    }
}

// Blocks of any kind and number.
template <typename Source, typename Grid>
HWY_NOINLINE void convert_mixed(const RowRun& chunk, const Blocks& blocks) {
    constexpr std::size_t block_bytes = block_values * Source::width;
    std::size_t i = 0;
    for (; i + group_blocks <= chunk.blocks; i += group_blocks) {
        convert_any<Source, Grid>(chunk.values + i * block_bytes, chunk.codes + i * block_values,
                                  blocks.from(i), chunk.stores);
    }
    if (i == chunk.blocks) return;
    // A last block alone where a vector of bytes holds two.
    std::uint8_t values[group_blocks * block_bytes] = {};
    std::uint8_t codes[group_blocks * block_values];
    hwy::CopyBytes<block_bytes>(chunk.values + i * block_bytes, values);
    convert_any<Source, Grid>(values, codes, blocks.from(i), Stores::cached);
    hwy::CopyBytes<block_values>(codes, chunk.codes + i * block_values);
}

// Writes the scale bytes, and keeps them as lanes for the conversion.
HWY_INLINE void chunk_scales(const RowRun& chunk, const std::int32_t* amax, std::int32_t* scales) {
    std::uint8_t bytes[chunk_blocks];
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
        const BitsV codes = scale_codes(chunk.rule, hn::Load(Bits(), amax + i));
        hn::Store(codes, Bits(), scales + i);
        store_lane_bytes(codes, bytes + i);
    }
    if (chunk.blocks == chunk_blocks) {
        hwy::CopyBytes<chunk_blocks>(bytes, chunk.scales);
    } else {
        for (std::size_t i = 0; i < chunk.blocks; ++i) chunk.scales[i] = bytes[i];
    }
}

template <typename Source>
HWY_INLINE RowRun chunk_of(const RowRun& run, std::size_t first) {
    RowRun chunk = run;
    chunk.values += first * block_values * Source::width;
    chunk.codes += first * block_values;
    chunk.scales += first;
    chunk.blocks = HWY_MIN(chunk_blocks, run.blocks - first);
    return chunk;
}

template <typename Source, typename Grid>
HWY_INLINE void quantize_chunk(const RowRun& chunk, const std::int32_t* amax) {
    alignas(64) std::int32_t scales[chunk_blocks];
    const Blocks blocks{amax, scales, chunk.rule.overflow_from};
    if (all_tame(chunk.rule, amax)) {
        chunk_scales(chunk, amax, scales);
        if (chunk.blocks == chunk_blocks) return convert_tame<Source, Grid>(chunk, blocks);
    } else if (chunk.rule.nan_policy == NanPolicy::own_lane) {
        alignas(64) std::int32_t without_nan[chunk_blocks];
        leave_out_nan<Source>(chunk, amax, without_nan);
        chunk_scales(chunk, without_nan, scales);
    } else {
        chunk_scales(chunk, amax, scales);
    }
    convert_mixed<Source, Grid>(chunk, blocks);
}

// The amax of a chunk is taken while the chunk before it is still to be converted: the small stores
// of amax have long left the store buffer when wide loads read them, and the two loops overlap.
template <typename Source, typename Grid>
void quantize_run(const RowRun& run) {
    alignas(64) std::int32_t amax[2][chunk_blocks];
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
        hn::Store(set(tame_from), Bits(), amax[0] + i);  // for the places of a short chunk
        hn::Store(set(tame_from), Bits(), amax[1] + i);
    }
    RowRun chunk = chunk_of<Source>(run, 0);
    chunk_amax<Source>(chunk.values, chunk.blocks, amax[0]);
    for (std::size_t first = 0; first < run.blocks; first += chunk_blocks) {
        const std::size_t turn = first / chunk_blocks % 2;
        const RowRun current = chunk;
        if (first + chunk_blocks < run.blocks) {
            chunk = chunk_of<Source>(run, first + chunk_blocks);
            chunk_amax<Source>(chunk.values, chunk.blocks, amax[1 - turn]);
        }
        quantize_chunk<Source, Grid>(current, amax[turn]);
    }
    if (run.stores == Stores::streaming) hwy::FlushStream();
}

template <typename Source>
void quantize_source(const RowRun& run) {
    if (run.element_type == ElementType::e4m3) return quantize_run<Source, E4m3Codes>(run);
    return quantize_run<Source, E5m2Codes>(run);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

std::size_t quantize_row_lanes(const RowRun& run) {
#if MX_CPU_HAS_LANES
    switch (run.value_type) {
        case ValueType::f32:
            quantize_source<F32Source>(run);
            break;
        case ValueType::bf16:
            quantize_source<Bf16Source>(run);
            break;
        case ValueType::f16:
            quantize_source<F16Source>(run);
            break;
    }
    return run.blocks;
#else
    (void)run;
    return 0;
#endif
}

}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::cpu {

HWY_EXPORT(quantize_row_lanes);

std::size_t quantize_row_run(const RowRun& run) {
    return HWY_DYNAMIC_DISPATCH(quantize_row_lanes)(run);
}

}  // namespace mx::cpu
#endif
