// quantize_run of quantize_kernels.hpp, compiled once per instruction set. Works in chunks that
// stay in the first-level cache: amax of every block, all scales at once, then the elements.
// Must not know strides, tails or dialect names.
#include "device/cpu/quantize_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/quantize_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "device/cpu/amax_lanes-inl.hpp"
#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
namespace {
#if MX_CPU_HAS_LANES

constexpr std::size_t chunk_blocks = 32;
// Hardware prefetchers stop at pages. The conversion, which reads what amax has just brought to the
// cache, asks for what amax will read this far ahead: so the memory is busy in both loops.
constexpr std::size_t prefetch_bytes = std::size_t{16} << 10;
constexpr std::size_t line_bytes = 64;

// Some blocks of a run, with all that the kernels need to know.
struct Chunk {
    ElementLanes element;
    ScaleRule rule;
    Stores stores;
    const std::uint8_t* values;
    std::uint8_t* codes;
    std::uint8_t* scales;
    std::size_t blocks;

    template <typename Source>
    Chunk part(std::size_t first, std::size_t count) const {
        Chunk chunk = *this;
        chunk.values += first * block_values * Source::width;
        chunk.codes += first * block_values;
        chunk.scales += first;
        chunk.blocks = count;
        return chunk;
    }
};

// What is known of blocks that follow one another.
struct Blocks {
    const std::int32_t* amax;  // NaN counts as the largest
    const std::int32_t* scales;

    Blocks from(std::size_t first) const { return {amax + first, scales + first}; }
};

// The amax of each block without its NaN, where one was found.
template <typename Source>
HWY_INLINE void leave_out_nan(const Chunk& chunk, const std::int32_t* amax, std::int32_t* out) {
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

template <typename Source, typename SignForm, typename Kind>
HWY_INLINE void convert_group(const Chunk& group, const ElementLanes& element,
                              const std::int32_t* scales) {
    BlockStep of_block[group_blocks];
    for (std::size_t i = 0; i < group_blocks; ++i) {
        of_block[i] = block_step(hn::Set(Bits(), scales[i]));
    }
    for (std::size_t first = 0; first < group_blocks * block_values; first += 4 * lanes) {
        BitsV bits[4];
        BlockStep steps[4];
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t lane = first + i * lanes;
            const std::uint8_t* at = group.values + lane * Source::width;
            if (lane * Source::width % line_bytes == 0) prefetch_far(at + prefetch_bytes);
            bits[i] = Source::load(at);
            steps[i] = of_block[lane / block_values];
        }
        store_vector(packed_codes<SignForm>(Kind(), element, bits, steps), group.codes + first,
                     group.stores);
    }
}

// The kind that suits all blocks of a group.
template <typename Source, typename SignForm>
HWY_INLINE void convert_any(const Chunk& group, const ElementLanes& element, const Blocks& blocks) {
    std::uint32_t smallest = f32_infinity;
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < group_blocks; ++i) {
        smallest = HWY_MIN(smallest, static_cast<std::uint32_t>(blocks.amax[i]));
        largest = HWY_MAX(largest, static_cast<std::uint32_t>(blocks.amax[i]));
    }
    if (largest >= group.rule.overflow_from) {
        convert_group<Source, SignForm, Wild>(group, element, blocks.scales);
    } else if (largest < subnormal_below) {
        convert_group<Source, SignForm, Subnormal>(group, element, blocks.scales);
    } else if (smallest < tame_from) {
        convert_group<Source, SignForm, Low>(group, element, blocks.scales);
    } else {
        convert_group<Source, SignForm, Tame>(group, element, blocks.scales);
    }
}

// The element's facts are copied, so that stores of bytes cannot be thought to change them.
template <typename Source, typename SignForm>
HWY_INLINE void convert_tame(const Chunk& chunk, const Blocks& blocks) {
    const ElementLanes element = chunk.element;
    for (std::size_t i = 0; i < chunk_blocks; i += group_blocks) {
        convert_group<Source, SignForm, Tame>(chunk.part<Source>(i, group_blocks), element,
                                              blocks.scales + i);
    }
}

// Blocks of any kind and number.
template <typename Source, typename SignForm>
HWY_NOINLINE void convert_mixed(const Chunk& chunk, const Blocks& blocks) {
    constexpr std::size_t block_bytes = block_values * Source::width;
    const ElementLanes element = chunk.element;
    std::size_t i = 0;
    for (; i + group_blocks <= chunk.blocks; i += group_blocks) {
        convert_any<Source, SignForm>(chunk.part<Source>(i, group_blocks), element, blocks.from(i));
    }
    if (i == chunk.blocks) return;
    // A last block alone where a vector of bytes holds two.
    std::uint8_t values[group_blocks * block_bytes] = {};
    std::uint8_t codes[group_blocks * block_values];
    hwy::CopyBytes<block_bytes>(chunk.values + i * block_bytes, values);
    Chunk last = chunk;
    last.values = values;
    last.codes = codes;
    last.stores = Stores::cached;
    convert_any<Source, SignForm>(last, element, blocks.from(i));
    hwy::CopyBytes<block_values>(codes, chunk.codes + i * block_values);
}

// Writes the scale bytes, and keeps them as lanes for the conversion.
HWY_INLINE void chunk_scales(const Chunk& chunk, const std::int32_t* amax, std::int32_t* scales) {
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

template <typename Source, typename SignForm>
HWY_INLINE void quantize_chunk(const Chunk& chunk, const std::int32_t* amax) {
    alignas(64) std::int32_t scales[chunk_blocks];
    const Blocks blocks{amax, scales};
    if (all_tame(chunk.rule, amax)) {
        chunk_scales(chunk, amax, scales);
        if (chunk.blocks == chunk_blocks) return convert_tame<Source, SignForm>(chunk, blocks);
    } else if (chunk.rule.nan_policy == NanPolicy::own_lane) {
        alignas(64) std::int32_t without_nan[chunk_blocks];
        leave_out_nan<Source>(chunk, amax, without_nan);
        chunk_scales(chunk, without_nan, scales);
    } else {
        chunk_scales(chunk, amax, scales);
    }
    convert_mixed<Source, SignForm>(chunk, blocks);
}

// The amax of a chunk is taken while the chunk before it is still to be converted: the small stores
// of amax have long left the store buffer when wide loads read them, and the two loops overlap.
template <typename Source, typename SignForm>
void quantize_all(const Chunk& run) {
    alignas(64) std::int32_t amax[2][chunk_blocks];
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
        hn::Store(set(tame_from), Bits(), amax[0] + i);  // for the places of a short chunk
        hn::Store(set(tame_from), Bits(), amax[1] + i);
    }
    Chunk chunk = run.part<Source>(0, HWY_MIN(chunk_blocks, run.blocks));
    row_amax<Source>(chunk.values, chunk.blocks, amax[0]);
    for (std::size_t first = 0; first < run.blocks; first += chunk_blocks) {
        const std::size_t turn = first / chunk_blocks % 2;
        const Chunk current = chunk;
        const std::size_t next = first + chunk_blocks;
        if (next < run.blocks) {
            chunk = run.part<Source>(next, HWY_MIN(chunk_blocks, run.blocks - next));
            row_amax<Source>(chunk.values, chunk.blocks, amax[1 - turn]);
        }
        quantize_chunk<Source, SignForm>(current, amax[turn]);
    }
    if (run.stores == Stores::streaming) hwy::FlushStream();
}

template <typename Source>
void quantize_source(const Chunk& run) {
    if (run.element.signs == Signs::sign_bit) return quantize_all<Source, SignBit>(run);
    return quantize_all<Source, TwosComplement>(run);
}

// Streaming stores must be aligned.
Stores stores_for(const Run& run) {
    const bool large = run.blocks * block_values >= streaming_bytes;
    const bool aligned = reinterpret_cast<std::uintptr_t>(run.codes) % 64 == 0;
    return large && aligned ? Stores::streaming : Stores::cached;
}

std::size_t quantize_run_of(ValueType type, const Chunk& run) {
    switch (type) {
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
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

#if MX_CPU_HAS_LANES
std::size_t quantize_run_lanes(const Run& run) {
    Conversion how;
    how.nan_code = run.recipe.nan_code;
    return quantize_run_of(run.recipe.value_type,
                           {lanes_of(run.recipe.element_type, how), run.recipe.scale,
                            stores_for(run), run.values, run.codes, run.scales, run.blocks});
}
#else
std::size_t quantize_run_lanes(const Run&) {
    return 0;
}
#endif

}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::cpu {

HWY_EXPORT(quantize_run_lanes);

std::size_t quantize_run(const Run& run) {
    return HWY_DYNAMIC_DISPATCH(quantize_run_lanes)(run);
}

}  // namespace mx::cpu
#endif
