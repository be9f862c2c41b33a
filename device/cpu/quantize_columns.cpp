// The vector kernel behind quantize_columns.hpp, compiled once per instruction set: one line per
// vector lane, so amax needs no folding and scales come out as vectors.
// Must not know tails or dialect names.
#include "device/cpu/quantize_columns.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/quantize_columns.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

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

template <typename Source, typename Grid, typename Kind>
HWY_INLINE void convert_tile(const Tile<Source>& tile, const BlockStep (&steps)[4]) {
    constexpr Ceiling ceiling = ceiling_of<Grid>(OverflowMode::saturate);
    for (std::size_t lane = 0; lane < tile.lane_count; ++lane) {
        BitsV bits[4];
        load_four<Source>(tile.values_at(lane), bits);
        hn::StoreU(packed_codes<Grid>(Kind(), bits, steps, ceiling), Bytes(),
                   tile.codes_at(lane));
    }
}

template <typename Source, typename Grid>
HWY_INLINE void quantize_tile(const Tile<Source>& tile, const ScaleRule& rule) {
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
        steps[i] = block_step<Grid>(codes);
    }
    if (!finite) return convert_tile<Source, Grid, Wild>(tile, steps);
    if (hn::AllTrue(Bits(), is_tame(rule, smallest))) {
        return convert_tile<Source, Grid, Tame>(tile, steps);
    }
    convert_tile<Source, Grid, Low>(tile, steps);
}

template <typename Source, typename Grid>
void quantize_tiles(const ColumnStrip& strip) {
    constexpr auto width = static_cast<std::ptrdiff_t>(Source::width);
    for (std::size_t line = 0; line + tile_lines <= strip.lines; line += tile_lines) {
        const Tile<Source> tile{strip.values.data + line * Source::width,
                                strip.values.lane_stride * width,
                                strip.codes.data + line,
                                strip.codes.lane_stride,
                                strip.scales + line,
                                strip.lanes};
        quantize_tile<Source, Grid>(tile, strip.rule);
    }
}

template <typename Source>
void quantize_source(const ColumnStrip& strip) {
    if (strip.element_type == ElementType::e4m3) return quantize_tiles<Source, E4m3Codes>(strip);
    return quantize_tiles<Source, E5m2Codes>(strip);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

std::size_t quantize_column_lanes(const ColumnStrip& strip) {
#if MX_CPU_HAS_LANES
    switch (strip.value_type) {
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

HWY_EXPORT(quantize_column_lanes);

std::size_t quantize_column_strip(const ColumnStrip& strip) {
    return HWY_DYNAMIC_DISPATCH(quantize_column_lanes)(strip);
}

}  // namespace mx::cpu
#endif
