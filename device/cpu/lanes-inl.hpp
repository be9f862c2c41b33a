// The arithmetic of many values at once: included once per instruction set by the kernel files,
// under Highway's foreach_target. Used by quantize_rows, quantize_columns, convert and dequantize
// kernels. Must not know tensors, names or the scalar arithmetic it is tested against.
//
// Integers re-bias exponents here. A float multiply would be shorter, but on several processors it
// drops to a tenth of its speed when values or products are subnormal. The float operation left, in
// round_to_code, never meets a subnormal number, so the flush modes do not matter either.

#if defined(MX_DEVICE_CPU_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef MX_DEVICE_CPU_LANES_INL_HPP
#undef MX_DEVICE_CPU_LANES_INL_HPP
#else
#define MX_DEVICE_CPU_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include "device/cpu/types.hpp"

// With one lane there is nothing to fold or pack: the drivers then use the scalar arithmetic.
#undef MX_CPU_HAS_LANES
#if HWY_TARGET == HWY_SCALAR
#define MX_CPU_HAS_LANES 0
#else
#define MX_CPU_HAS_LANES 1
#endif

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
#if MX_CPU_HAS_LANES
namespace hn = hwy::HWY_NAMESPACE;

// binary32 bit patterns travel as signed lanes: signed comparisons exist on every instruction set,
// and a magnitude (sign taken off) orders the same either way.
using Bits = hn::CappedTag<std::int32_t, 16>;
using BitsV = hn::Vec<Bits>;
using BitsMask = hn::Mask<Bits>;
using Floats = hn::Rebind<float, Bits>;
using Bytes = hn::Repartition<std::uint8_t, Bits>;
using BytesV = hn::Vec<Bytes>;
inline constexpr std::size_t lanes = hn::MaxLanes(Bits());

HWY_INLINE BitsV set(std::uint32_t bits) {
    return hn::Set(Bits(), static_cast<std::int32_t>(bits));
}
HWY_INLINE BitsV magnitude(BitsV bits) { return hn::And(bits, set(f32_magnitude_mask)); }

// How a value type lies in memory, and its widening to binary32.
struct F32Source {
    static constexpr std::size_t width = 4;
    static HWY_INLINE BitsV load(const std::uint8_t* at) {
        return hn::BitCast(Bits(), hn::LoadU(Bytes(), at));
    }
};

template <typename Narrow>
HWY_INLINE BitsV load_narrow(const std::uint8_t* at) {
    const hn::Rebind<Narrow, Bits> narrow;
    const hn::Repartition<std::uint8_t, decltype(narrow)> bytes;
    return hn::PromoteTo(Bits(), hn::BitCast(narrow, hn::LoadU(bytes, at)));
}

struct Bf16Source {
    static constexpr std::size_t width = 2;
    static HWY_INLINE BitsV load(const std::uint8_t* at) {
        return hn::ShiftLeft<16>(load_narrow<std::uint16_t>(at));
    }
};

struct F16Source {
    static constexpr std::size_t width = 2;
    // Normal: mantissa moves up 13 places, the bias grows by 112. Inf and NaN: by another 112, up
    // to the all-ones field. Subnormal: the integer mantissa, converted exactly, times 2^-24.
    static HWY_INLINE BitsV load(const std::uint8_t* at) {
        const BitsV half = load_narrow<std::uint16_t>(at);
        const BitsV absolute = hn::And(half, set(0x7FFFu));
        const BitsV rebias = set(112u << 23);
        const BitsV normal = hn::Add(hn::ShiftLeft<13>(absolute), rebias);
        const BitsV special =
            hn::IfThenElseZero(hn::Gt(absolute, set(0x7BFFu)), rebias);
        const BitsV counted = hn::BitCast(Bits(), hn::ConvertTo(Floats(), absolute));
        const BitsV subnormal = hn::IfThenElseZero(hn::Gt(absolute, hn::Zero(Bits())),
                                                   hn::Sub(counted, set(24u << 23)));
        const BitsV wide = hn::IfThenElse(hn::Lt(absolute, set(0x400u)), subnormal,
                                          hn::Add(normal, special));
        return hn::Or(wide, hn::ShiftLeft<16>(hn::And(half, set(0x8000u))));
    }
};

// A grid of codes: mantissa bits, the binary32 exponent field of its smallest normal value, and the
// bits of a code. Values come to it multiplied by 2^-lowered, which makes the constant in
// round_to_code a multiple of the code's range: it vanishes.
template <int MantissaBits, std::uint32_t FieldMin, int CodeBits>
struct CodeGrid {
    static constexpr int mantissa_bits = MantissaBits;
    static constexpr int places = 23 - MantissaBits;
    static constexpr std::uint32_t lowered =
        (FieldMin + places) % (1u << (CodeBits - MantissaBits));
    static constexpr std::uint32_t field_min = FieldMin - lowered;
};
using E4m3Codes = CodeGrid<3, 121, 8>;
using E5m2Codes = CodeGrid<2, 113, 8>;
using F16Codes = CodeGrid<10, 113, 16>;

// Codes of non-negative finite normal values, to nearest, ties to even. The code comes to stand in
// the low bits of each lane, rubbish above it.
//
//     value    0 eeeeeeee    mmm.............   binade e, or the lowest one if value is below it
//     magic    0 eeeeeeee+p  00............00   2^(e + p), p = 23 - mantissa bits
//     sum      0 eeeeeeee+p  00..........nnnn   n = value in units of the grid in binade e
//
// One unit in the last place of magic is the distance of codes in value's binade, so the addition
// itself rounds to the grid. n is even on a tie that rounds to even. The code is
// n + ((e + p - smallest (e + p)) << mantissa bits): sum >> p holds the exponent at the right
// place, and what should be subtracted is zero in the code's bits. In the lowest binade the same
// holds for subnormal codes, and a carry out of n runs into the exponent of the code.
template <typename Grid>
HWY_INLINE BitsV round_to_sum(BitsV value) {
    const BitsV binade =
        hn::Max(hn::And(value, set(f32_infinity)), set(Grid::field_min << 23));
    const auto up = hn::Set(Floats(), static_cast<float>(1u << Grid::places));
    const auto sum =
        hn::MulAdd(hn::BitCast(Floats(), binade), up, hn::BitCast(Floats(), value));
    return hn::BitCast(Bits(), sum);
}
template <typename Grid>
HWY_INLINE BitsV round_to_code(BitsV value) {
    const BitsV sum = round_to_sum<Grid>(value);
    return hn::Add(sum, hn::ShiftRight<Grid::places>(sum));
}

// The same with an 8-bit code in bits 8 to 15 of each lane. x86 multiplies the two 16-bit halves of
// a sum, nnnn and the exponent << 7, by 2^8 and 2^(M + 1) and adds them, in one instruction.
template <typename Grid>
HWY_INLINE BitsV round_to_second_byte(BitsV value) {
#if HWY_ARCH_X86
    const hn::Repartition<std::int16_t, Bits> halves;
    const BitsV weights = set((2u << Grid::mantissa_bits) << 16 | 256u);
    BitsV none = hn::Zero(Bits());
    return hn::ReorderWidenMulAccumulate(
        Bits(), hn::BitCast(halves, round_to_sum<Grid>(value)), hn::BitCast(halves, weights),
        hn::Zero(Bits()), none);
#else
    return hn::ShiftLeft<8>(round_to_code<Grid>(value));
#endif
}

// What all lanes of a block have in common.
struct BlockStep {
    BitsV shift;      // scale exponent and what the grid lowers, where the exponent field is
    BitsV floor;      // shift + the smallest normal value: what is below rounds to zero anyway
    BitsV nan_above;  // magnitudes above become NaN: all of them in a poisoned block
};

template <typename Grid>
HWY_INLINE BlockStep block_step(BitsV scale_code) {
    BlockStep step;
    step.shift = hn::ShiftLeft<23>(hn::Sub(scale_code, set(127 - Grid::lowered)));
    step.floor = hn::Add(step.shift, set(1u << 23));
    const BitsMask poisoned = hn::Eq(scale_code, set(scale_nan));
    step.nan_above = hn::IfThenElse(poisoned, set(0xFFFFFFFFu), set(f32_infinity));
    return step;
}

// Kinds of blocks, by the largest magnitude in them, NaN included. Tame: the scale is finite and
// amax far from the bottom of binary32, so that subnormals and zeros need no normalising: they are
// below half the smallest element. Subnormal: nothing normal in it, a block of zeros for one. Low:
// the scale is finite. Wild: anything.
struct Tame {};
struct Subnormal {};
struct Low {};
struct Wild {};
inline constexpr std::uint32_t subnormal_below = 1u << 23;
inline constexpr std::uint32_t tame_from = 40u << 23;

// Subnormals get the exponent field they would have below zero; zero gets a lower one still.
HWY_INLINE BitsV normalised_subnormal(BitsV absolute) {
    const BitsV counted = hn::BitCast(Bits(), hn::ConvertTo(Floats(), absolute));
    return hn::Sub(counted, set(149u << 23));
}
HWY_INLINE BitsV normalised(BitsV absolute) {
    const BitsMask subnormal = hn::Lt(absolute, set(subnormal_below));
    return hn::IfThenElse(subnormal, normalised_subnormal(absolute), absolute);
}

// Codes in the second byte of each lane, without sign; perhaps one above the largest finite.
template <typename Grid>
HWY_INLINE BitsV magnitude_codes(BitsV normal, const BlockStep& step) {
    return round_to_second_byte<Grid>(hn::Sub(hn::Max(normal, step.floor), step.shift));
}
template <typename Grid>
HWY_INLINE BitsV magnitude_codes(Tame, BitsV bits, const BlockStep& step) {
    return magnitude_codes<Grid>(magnitude(bits), step);
}
template <typename Grid>
HWY_INLINE BitsV magnitude_codes(Subnormal, BitsV bits, const BlockStep& step) {
    return magnitude_codes<Grid>(normalised_subnormal(magnitude(bits)), step);
}
template <typename Grid>
HWY_INLINE BitsV magnitude_codes(Low, BitsV bits, const BlockStep& step) {
    return magnitude_codes<Grid>(normalised(magnitude(bits)), step);
}

// The largest code a conversion gives, and the value that Inf and all beyond is taken for: the one
// above the largest finite. Its code is that of Inf, in E4M3 of NaN.
struct Ceiling {
    std::uint32_t value;
    std::uint32_t code;
};
template <typename Grid>
constexpr Ceiling ceiling_of(OverflowMode mode) {
    constexpr bool small = Grid::mantissa_bits == 3;
    const std::uint32_t code = small ? 0x7Fu : 0x7Cu;
    return {(small ? 0x43F00000u : 0x47800000u) - (Grid::lowered << 23),  // 480, 65536
            mode == OverflowMode::saturate ? code - 1 : code};
}

// Finished codes, sign and NaN included, in the low byte of clean lanes.
template <typename Grid>
HWY_INLINE BitsV element_codes(BitsV bits, const BlockStep& step, Ceiling ceiling) {
    const BitsV absolute = magnitude(bits);
    const BitsV raised = hn::Max(normalised(absolute), step.floor);
    const BitsV finite = hn::Min(hn::Sub(raised, step.shift), set(ceiling.value));
    const BitsMask infinite = hn::Eq(absolute, set(f32_infinity));
    const BitsV scaled = hn::IfThenElse(infinite, set(ceiling.value), finite);
    const BitsV rounded = hn::And(round_to_code<Grid>(scaled), set(0xFFu));
    const BitsV code = hn::Min(rounded, set(ceiling.code));
    const BitsV signed_code = hn::OrAnd(code, hn::ShiftRight<24>(bits), set(0x80u));
    return hn::IfThenElse(hn::Gt(absolute, step.nan_above), set(element_nan), signed_code);
}

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

HWY_INLINE BitsMask is_finite(const ScaleRule& rule, BitsV amax) {
    return hn::Lt(amax, set(rule.overflow_from));
}
HWY_INLINE BitsMask is_tame(const ScaleRule& rule, BitsV amax) {
    return hn::And(hn::Gt(amax, set(tame_from - 1)), is_finite(rule, amax));
}

// Scale bytes, as lanes, from amax bits.
HWY_INLINE BitsV scale_codes(const ScaleRule& rule, BitsV amax) {
    const BitsV tie = hn::VecFromMask(Bits(), hn::Eq(amax, set(rule.ratio_tie)));  // -1 or 0
    const BitsV field = hn::ShiftRight<23>(hn::Add(hn::Add(amax, set(rule.round_up)), tie));
    const BitsV in_range = hn::Max(hn::Sub(field, set(rule.exponent_offset)), hn::Zero(Bits()));
    const BitsMask over = hn::Gt(amax, set(rule.overflow_from - 1));
    const BitsV code = hn::IfThenElse(over, set(rule.overflow_code), in_range);
    return hn::IfThenElse(hn::Gt(amax, set(f32_infinity)), set(scale_nan), code);
}

// Byte j of each 32 bits of the result is a byte of vector j: the low, the second or the high one.
HWY_INLINE BytesV gather_bytes(BitsV byte0, BitsV byte1, BitsV byte2, BitsV byte3) {
    const Bytes bytes;
    const hn::Repartition<std::uint16_t, Bits> pairs;
    const BytesV low = hn::OddEven(hn::BitCast(bytes, byte1), hn::BitCast(bytes, byte0));
    const BytesV high = hn::OddEven(hn::BitCast(bytes, byte3), hn::BitCast(bytes, byte2));
    const auto both = hn::OddEven(hn::BitCast(pairs, high), hn::BitCast(pairs, low));
    return hn::BitCast(bytes, both);
}
HWY_INLINE BytesV gather_low_bytes(const BitsV (&v)[4]) {
    return gather_bytes(v[0], hn::ShiftLeft<8>(v[1]), hn::ShiftLeft<16>(v[2]),
                        hn::ShiftLeft<24>(v[3]));
}
HWY_INLINE BytesV gather_second_bytes(const BitsV (&v)[4]) {
    return gather_bytes(hn::ShiftRight<8>(v[0]), v[1], hn::ShiftLeft<8>(v[2]),
                        hn::ShiftLeft<16>(v[3]));
}
HWY_INLINE BytesV gather_high_bytes(const BitsV (&v)[4]) {
    return gather_bytes(hn::ShiftRight<24>(v[0]), hn::ShiftRight<16>(v[1]),
                        hn::ShiftRight<8>(v[2]), v[3]);
}

// After the bytes of each 128 bits are transposed, 32-bit group v of 128-bit part p belongs to
// place p of source vector v.
struct PackOrder {
    alignas(64) std::int32_t at[lanes] = {};
    constexpr PackOrder() {
        constexpr auto parts = static_cast<std::int32_t>(lanes / 4);
        for (std::int32_t i = 0; i < 4 * parts; ++i) at[i] = i % parts * 4 + i / parts;
    }
};
inline constexpr PackOrder pack_order{};

// Gathered bytes in the order of the lanes they came from, vector after vector.
HWY_INLINE BytesV in_order(BytesV gathered) {
    const Bytes bytes;
    alignas(16) static constexpr std::uint8_t transpose[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                               2, 6, 10, 14, 3, 7, 11, 15};
    const BytesV grouped = hn::TableLookupBytes(gathered, hn::LoadDup128(bytes, transpose));
    return hn::BitCast(bytes, hn::TableLookupLanes(hn::BitCast(Bits(), grouped),
                                                   hn::SetTableIndices(Bits(), pack_order.at)));
}

// The codes of four vectors of finite values, with clamp and sign added to 4 * lanes bytes at once.
template <typename Grid, typename Kind>
HWY_INLINE BytesV packed_codes(Kind kind, const BitsV (&bits)[4], const BlockStep (&steps)[4],
                               Ceiling ceiling) {
    BitsV codes[4];
    for (std::size_t i = 0; i < 4; ++i) {
        codes[i] = magnitude_codes<Grid>(kind, bits[i], steps[i]);
    }
    const auto largest = hn::Set(Bytes(), static_cast<std::uint8_t>(ceiling.code));
    const BytesV clamped = hn::Min(gather_second_bytes(codes), largest);
    return in_order(hn::OrAnd(clamped, gather_high_bytes(bits), hn::Set(Bytes(), 0x80)));
}
template <typename Grid>
HWY_INLINE BytesV packed_codes(Wild, const BitsV (&bits)[4], const BlockStep (&steps)[4],
                               Ceiling ceiling) {
    BitsV codes[4];
    for (std::size_t i = 0; i < 4; ++i) {
        codes[i] = element_codes<Grid>(bits[i], steps[i], ceiling);
    }
    return in_order(gather_low_bytes(codes));
}

// The scale bytes of one vector of lanes.
HWY_INLINE void store_lane_bytes(BitsV codes, std::uint8_t* at) {
    const hn::Rebind<std::uint8_t, Bits> narrow;
    hn::StoreU(hn::DemoteTo(narrow, codes), narrow, at);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled once per target
