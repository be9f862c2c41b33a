// quantize_strip of quantize_kernels.hpp, compiled once per instruction set: one line per vector
// lane, so amax needs no folding and scales come out as vectors.
// Must not know tails or dialect names.
#include "device/cpu/quantize_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/quantize_columns.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "device/cpu/amax_lanes-inl.hpp"
#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
namespace {
#if MX_CPU_HAS_LANES

constexpr std::size_t tile_lines = 4 * lanes;

// A strip cut to the lines of one tile.
template <typename Source>
struct Tile {
    const std::uint8_t* values;
    std::ptrdiff_t value_stride;  // bytes from lane to lane
    std::uint8_t* codes;
    std::ptrdiff_t code_stride;
    std::uint8_t* scales;
    std::size_t lane_count;

    const std::uint8_t* values_at(std::size_t lane) const {
        return values + static_cast<std::ptrdiff_t>(lane) * value_stride;
    }
    std::uint8_t* codes_at(std::size_t lane) const {
        return codes + static_cast<std::ptrdiff_t>(lane) * code_stride;
    }
};

template <typename Source>
HWY_INLINE void load_four(const std::uint8_t* at, BitsV (&bits)[4]) {
    for (std::size_t i = 0; i < 4; ++i) bits[i] = Source::load(at + i * lanes * Source::width);
}

template <typename Source, typename Choice>
HWY_INLINE void tile_amax(const Tile<Source>& tile, BitsV (&amax)[4]) {
    for (std::size_t i = 0; i < 4; ++i) amax[i] = hn::Zero(Bits());
    for (std::size_t lane = 0; lane < tile.lane_count; ++lane) {
        const std::uint8_t* at = tile.values_at(lane);
        hwy::Prefetch(at + tile_lines * Source::width);  // the next tile
        BitsV bits[4];
        load_four<Source>(at, bits);
        for (std::size_t i = 0; i < 4; ++i) amax[i] = hn::Max(amax[i], Choice::of(bits[i]));
    }
}

template <typename Source, typename SignForm, typename Kind>
HWY_INLINE void convert_tile(const Tile<Source>& tile, const ElementLanes& from,
                             const BlockStep (&steps)[4]) {
    const ElementLanes element = from;  // stores of bytes cannot be thought to change the copy
    for (std::size_t lane = 0; lane < tile.lane_count; ++lane) {
        BitsV bits[4];
        load_four<Source>(tile.values_at(lane), bits);
        hn::StoreU(packed_codes<SignForm>(Kind(), element, bits, steps), Bytes(),
                   tile.codes_at(lane));
    }
}

template <typename Source, typename SignForm>
HWY_INLINE void quantize_tile(const Tile<Source>& tile, const ElementLanes& element,
                              const ScaleRule& rule) {
    BitsV amax[4];
    tile_amax<Source, AllLanes>(tile, amax);
    const BitsV largest = hn::Max(hn::Max(amax[0], amax[1]), hn::Max(amax[2], amax[3]));
    const BitsV smallest = hn::Min(hn::Min(amax[0], amax[1]), hn::Min(amax[2], amax[3]));
    const bool finite = hn::AllTrue(Bits(), is_finite(rule, largest));
    if (!finite && rule.nan_policy == NanPolicy::own_lane) {
        tile_amax<Source, LanesButNan>(tile, amax);
    }
    BlockStep steps[4];
    for (std::size_t i = 0; i < 4; ++i) {
        const BitsV codes = scale_codes(rule, amax[i]);
        store_lane_bytes(codes, tile.scales + i * lanes);
        steps[i] = block_step(codes);
    }
    if (!finite) return convert_tile<Source, SignForm, Wild>(tile, element, steps);
    if (hn::AllTrue(Bits(), is_tame(rule, smallest))) {
        return convert_tile<Source, SignForm, Tame>(tile, element, steps);
    }
    convert_tile<Source, SignForm, Low>(tile, element, steps);
}

template <typename Source, typename SignForm>
void quantize_tiles(const Strip& strip, const ElementLanes& element) {
    constexpr auto width = static_cast<std::ptrdiff_t>(Source::width);
    for (std::size_t line = 0; line + tile_lines <= strip.lines; line += tile_lines) {
        const Tile<Source> tile{strip.values.data + line * Source::width,
                                strip.values.lane_stride * width,
                                strip.codes.data + line,
                                strip.codes.lane_stride,
                                strip.scales + line,
                                strip.lanes};
        quantize_tile<Source, SignForm>(tile, element, strip.recipe.scale);
    }
}

template <typename Source>
void quantize_source(const Strip& strip) {
    Conversion how;
    how.nan_code = strip.recipe.nan_code;
    const ElementLanes element = lanes_of(strip.recipe.element_type, how);
    if (element.signs == Signs::sign_bit) return quantize_tiles<Source, SignBit>(strip, element);
    quantize_tiles<Source, TwosComplement>(strip, element);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

std::size_t quantize_strip_lanes(const Strip& strip) {
#if MX_CPU_HAS_LANES
    switch (strip.recipe.value_type) {
        case ValueType::f32:
            quantize_source<F32Source>(strip);
            break;
        case ValueType::bf16:
            quantize_source<Bf16Source>(strip);
            break;
        case ValueType::f16:
            quantize_source<F16Source>(strip);
            break;
    }
    return strip.lines / tile_lines * tile_lines;
#else
    (void)strip;
    return 0;
#endif
}

}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::cpu {

HWY_EXPORT(quantize_strip_lanes);

std::size_t quantize_strip(const Strip& strip) {
    return HWY_DYNAMIC_DISPATCH(quantize_strip_lanes)(strip);
}

}  // namespace mx::cpu
#endif
