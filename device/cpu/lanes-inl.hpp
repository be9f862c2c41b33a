// The arithmetic of many values at once: included once per instruction set by the kernel files,
// under Highway's foreach_target. Used by the kernels of quantize, convert and dequantize. One
// arithmetic serves all formats, whose facts are vectors and shift counts. Must not know tensors,
// names or the scalar arithmetic it is tested against.
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

#include <cstdint>

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

// Into the second-level cache, which has more requests under way than the first.
HWY_INLINE void prefetch_far(const std::uint8_t* at) {
    constexpr int to_read = 0, second_level = 2;
    __builtin_prefetch(at, to_read, second_level);
}

HWY_INLINE BitsV set(std::uint32_t bits) {
    return hn::Set(Bits(), static_cast<std::int32_t>(bits));
}
HWY_INLINE BitsV magnitude(BitsV bits) {
    return hn::And(bits, set(f32_magnitude_mask));
}

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
        const BitsV special = hn::IfThenElseZero(hn::Gt(absolute, set(0x7BFFu)), rebias);
        const BitsV counted = hn::BitCast(Bits(), hn::ConvertTo(Floats(), absolute));
        const BitsV subnormal = hn::IfThenElseZero(hn::Gt(absolute, hn::Zero(Bits())),
                                                   hn::Sub(counted, set(24u << 23)));
        const BitsV wide =
            hn::IfThenElse(hn::Lt(absolute, set(0x400u)), subnormal, hn::Add(normal, special));
        return hn::Or(wide, hn::ShiftLeft<16>(hn::And(half, set(0x8000u))));
    }
};

// A grid of codes as the vectors see it: integers to be spread over the lanes.
struct GridLanes {
    std::uint32_t binade_min;  // the exponent field of the smallest normal value, in place
    int places;                // 23 - mantissa bits
    std::uint32_t bias;        // what round_to_code leaves on top of a code
};
constexpr GridLanes lanes_of(const Grid& grid) {
    const int places = 23 - grid.mantissa_bits;
    const auto field = static_cast<std::uint32_t>(grid.exponent_min + 127);
    const std::uint32_t top = field + static_cast<std::uint32_t>(places);
    return {field << 23, places, top << grid.mantissa_bits};
}

// Codes of non-negative finite normal values, to nearest, ties to even. The code comes to stand in
// the low bits of each lane, plus grid.bias.
//
//     value    0 eeeeeeee    mmm.............   binade e, or the lowest one if value is below it
//     magic    0 eeeeeeee+p  00............00   2^(e + p), p = 23 - mantissa bits
//     sum      0 eeeeeeee+p  00..........nnnn   n = value in units of the grid in binade e
//
// One unit in the last place of magic is the distance of codes in value's binade, so the addition
// itself rounds to the grid. n is even on a tie that rounds to even. The code is
// n + ((e + p - smallest (e + p)) << mantissa bits): sum >> p holds the exponent at the right
// place, and what should be subtracted is the bias. In the lowest binade the same holds for
// subnormal codes, and a carry out of n runs into the exponent of the code.
HWY_INLINE BitsV round_to_sum(const GridLanes& grid, BitsV value) {
    const BitsV binade = hn::Max(hn::And(value, set(f32_infinity)), set(grid.binade_min));
    const auto up = hn::Set(Floats(), static_cast<float>(1u << grid.places));
    const auto sum = hn::MulAdd(hn::BitCast(Floats(), binade), up, hn::BitCast(Floats(), value));
    return hn::BitCast(Bits(), sum);
}
HWY_INLINE BitsV round_to_code(const GridLanes& grid, BitsV value) {
    const BitsV sum = round_to_sum(grid, value);
    return hn::Add(sum, hn::ShiftRightSame(sum, grid.places));
}

// The same with the low 8 bits in bits 8 to 15 of each lane. x86 multiplies the two 16-bit halves
// of a sum, nnnn and the exponent << 7, by 2^8 and 2^(M + 1) and adds them, in one instruction.
HWY_INLINE BitsV round_to_second_byte(const GridLanes& grid, BitsV value) {
#if HWY_ARCH_X86
    const hn::Repartition<std::int16_t, Bits> halves;
    const BitsV weights = set((2u << (23 - grid.places)) << 16 | 256u);
    BitsV none = hn::Zero(Bits());
    return hn::ReorderWidenMulAccumulate(Bits(), hn::BitCast(halves, round_to_sum(grid, value)),
                                         hn::BitCast(halves, weights), hn::Zero(Bits()), none);
#else
    return hn::ShiftLeft<8>(round_to_code(grid, value));
#endif
}

// An element format and a conversion to it.
struct ElementLanes {
    GridLanes grid;
    std::uint32_t past_value;      // of the code after the largest finite one: Inf is taken for it
    std::uint32_t past_code;       // the largest code a conversion gives
    std::uint32_t negative_extra;  // how much larger it is below zero
    int sign_place;
    std::uint32_t nan_code;
    Signs signs;
};
constexpr ElementLanes lanes_of(ElementType type, const Conversion& how) {
    const Element element = element_of(type);
    const Grid& grid = element.grid;
    const bool overflows = how.overflow == OverflowMode::overflow;
    const std::uint32_t past = grid.code_max + 1;
    ElementLanes e{lanes_of(grid),
                   0,
                   overflows ? grid.code_overflow : grid.code_max,
                   0,
                   element.sign_place,
                   how.nan_code,
                   element.signs};
    e.past_value = (past << e.grid.places) + e.grid.binade_min - (1u << 23);
    e.negative_extra = element.code_max_negative - grid.code_max;
    return e;
}

// What all lanes of a block have in common.
struct BlockStep {
    BitsV shift;      // the scale's exponent, where the exponent field is
    BitsV floor;      // shift + the smallest normal value: what is below rounds to zero anyway
    BitsV nan_above;  // magnitudes above become NaN: all of them in a poisoned block
};

HWY_INLINE BlockStep block_step(BitsV scale_code) {
    BlockStep step;
    step.shift = hn::ShiftLeft<23>(hn::Sub(scale_code, set(127)));
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
HWY_INLINE BitsV normal_magnitude(Tame, BitsV bits) {
    return magnitude(bits);
}
HWY_INLINE BitsV normal_magnitude(Subnormal, BitsV bits) {
    return normalised_subnormal(magnitude(bits));
}
HWY_INLINE BitsV normal_magnitude(Low, BitsV bits) {
    return normalised(magnitude(bits));
}

// Codes in the second byte of each lane, without sign, plus bias; perhaps one above the largest.
template <typename Kind>
HWY_INLINE BitsV magnitude_codes(Kind kind, const GridLanes& grid, BitsV bits,
                                 const BlockStep& step) {
    const BitsV raised = hn::Max(normal_magnitude(kind, bits), step.floor);
    return round_to_second_byte(grid, hn::Sub(raised, step.shift));
}

// Finished codes, sign and NaN included, in the low byte of lanes.
HWY_INLINE BitsV element_codes(const ElementLanes& element, BitsV bits, const BlockStep& step) {
    const BitsV absolute = magnitude(bits);
    const BitsV raised = hn::Max(normalised(absolute), step.floor);
    const BitsV finite = hn::Min(hn::Sub(raised, step.shift), set(element.past_value));
    const BitsMask infinite = hn::Eq(absolute, set(f32_infinity));
    const BitsV scaled = hn::IfThenElse(infinite, set(element.past_value), finite);
    const BitsV rounded = hn::Sub(round_to_code(element.grid, scaled), set(element.grid.bias));
    const BitsV negative = hn::ShiftRight<31>(bits);  // -1 or 0
    const BitsV extra = hn::And(negative, set(element.negative_extra));
    const BitsV code =
        hn::Min(hn::And(rounded, set(0xFFu)), hn::Add(set(element.past_code), extra));
    const BitsV with_bit = hn::OrAnd(code, negative, set(1u << element.sign_place));
    const BitsV complement = hn::Sub(hn::Xor(code, negative), negative);
    const BitsV signed_code = element.signs == Signs::twos_complement ? complement : with_bit;
    return hn::IfThenElse(hn::Gt(absolute, step.nan_above), set(element.nan_code), signed_code);
}

HWY_INLINE BitsMask is_finite(const ScaleRule& rule, BitsV amax) {
    return hn::Lt(amax, set(rule.overflow_from));
}
HWY_INLINE BitsMask is_tame(const ScaleRule& rule, BitsV amax) {
    return hn::And(hn::Gt(amax, set(tame_from - 1)), is_finite(rule, amax));
}

// Scale bytes, as lanes, from amax bits.
HWY_INLINE BitsV scale_codes(const ScaleRule& rule, BitsV amax) {
    const BitsV field = hn::ShiftRight<23>(hn::Add(amax, set(rule.round_up)));
    const BitsMask above_zero = hn::Gt(amax, set(rule.one_from - 1));
    const BitsV in_range =
        hn::IfThenElseZero(above_zero, hn::Sub(field, set(rule.exponent_offset)));
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
    return gather_bytes(hn::ShiftRight<24>(v[0]), hn::ShiftRight<16>(v[1]), hn::ShiftRight<8>(v[2]),
                        v[3]);
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

// How clamped magnitudes and signs become codes, 4 * lanes bytes at once. `signs` has the sign of
// each byte in its top bit, and anything below.
struct SignBit {
    static HWY_INLINE BytesV signed_codes(const ElementLanes& element, BytesV codes, BytesV signs) {
        const hn::Repartition<std::uint16_t, Bits> pairs;
        const auto top = hn::BitCast(pairs, hn::And(signs, hn::Set(Bytes(), 0x80)));
        const auto sign = hn::ShiftRightSame(top, 7 - element.sign_place);
        const auto largest = hn::Set(Bytes(), static_cast<std::uint8_t>(element.past_code));
        return hn::Or(hn::Min(codes, largest), hn::BitCast(Bytes(), sign));
    }
};
struct TwosComplement {
    static HWY_INLINE BytesV signed_codes(const ElementLanes& element, BytesV codes, BytesV signs) {
        const hn::Repartition<std::int8_t, Bits> signed_bytes;
        const auto negative = hn::BitCast(
            Bytes(), hn::BroadcastSignBit(hn::BitCast(signed_bytes, signs)));  // 0xFF or 0
        const auto extra = static_cast<std::uint8_t>(element.negative_extra);
        const auto largest = hn::Add(hn::Set(Bytes(), static_cast<std::uint8_t>(element.past_code)),
                                     hn::And(negative, hn::Set(Bytes(), extra)));
        return hn::Sub(hn::Xor(hn::Min(codes, largest), negative), negative);
    }
};

// The codes of four vectors of finite values, with bias, clamp and sign done to bytes.
template <typename SignForm, typename Kind>
HWY_INLINE BytesV packed_codes(Kind kind, const ElementLanes& element, const BitsV (&bits)[4],
                               const BlockStep (&steps)[4]) {
    BitsV codes[4];
    for (std::size_t i = 0; i < 4; ++i) {
        codes[i] = magnitude_codes(kind, element.grid, bits[i], steps[i]);
    }
    const auto bias = hn::Set(Bytes(), static_cast<std::uint8_t>(element.grid.bias));
    const BytesV magnitudes = hn::Sub(gather_second_bytes(codes), bias);
    return in_order(SignForm::signed_codes(element, magnitudes, gather_high_bytes(bits)));
}
template <typename SignForm>
HWY_INLINE BytesV packed_codes(Wild, const ElementLanes& element, const BitsV (&bits)[4],
                               const BlockStep (&steps)[4]) {
    BitsV codes[4];
    for (std::size_t i = 0; i < 4; ++i) codes[i] = element_codes(element, bits[i], steps[i]);
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
