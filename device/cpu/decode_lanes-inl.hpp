// Many elements to values at once: included once per instruction set by dequantize_kernels.cpp.
// Must not know tensors, names or the scalar arithmetic it is tested against.

#if defined(MX_DEVICE_CPU_DECODE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef MX_DEVICE_CPU_DECODE_LANES_INL_HPP
#undef MX_DEVICE_CPU_DECODE_LANES_INL_HPP
#else
#define MX_DEVICE_CPU_DECODE_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
#if MX_CPU_HAS_LANES

HWY_INLINE BitsV load_codes(const std::uint8_t* at) {
    const hn::Rebind<std::uint8_t, Bits> narrow;
    return hn::PromoteTo(Bits(), hn::LoadU(narrow, at));
}

// The element formats as decoding sees them: Inf and NaN magnitudes start at special_from.
// As binary16 they are the same bits moved up by half_places, and 2^half_exponent too small;
// has_half_nan says whether Inf and NaN come out right too.
struct E4m3Elements {
    static constexpr int mantissa_bits = 3;
    static constexpr std::uint32_t field_min = 121;
    static constexpr std::uint32_t special_from = 0x7F;
    static constexpr int half_places = 7;
    static constexpr std::uint32_t half_exponent = 8;
    static constexpr bool has_half_nan = false;
};
struct E5m2Elements {
    static constexpr int mantissa_bits = 2;
    static constexpr std::uint32_t field_min = 113;
    static constexpr std::uint32_t special_from = 0x7C;
    static constexpr int half_places = 8;
    static constexpr std::uint32_t half_exponent = 0;
    static constexpr bool has_half_nan = true;
};

HWY_INLINE BitsV multiply_floats(BitsV a, BitsV b) {
    return hn::BitCast(Bits(), hn::Mul(hn::BitCast(Floats(), a), hn::BitCast(Floats(), b)));
}

// Magnitude codes to binary32, exactly. The code moves up to where binary32 has its mantissa and
// exponent. A subnormal code has no hidden bit: it is read in the lowest normal binade, one of its
// units too high, and the hidden bit taken off again by a subtraction of normal numbers.
template <typename Elements>
HWY_INLINE BitsV element_values(BitsV code) {
    constexpr int places = 23 - Elements::mantissa_bits;
    const BitsV moved = hn::ShiftLeft<places>(code);
    const BitsV normal = hn::Add(moved, set((Elements::field_min - 1) << 23));
    const BitsV hidden = set(Elements::field_min << 23);
    const auto lowest = hn::BitCast(Floats(), hn::Add(moved, hidden));
    const BitsV subnormal =
        hn::BitCast(Bits(), hn::Sub(lowest, hn::BitCast(Floats(), hidden)));
    const BitsMask is_subnormal = hn::Lt(code, set(1u << Elements::mantissa_bits));
    const BitsV finite = hn::IfThenElse(is_subnormal, subnormal, normal);
    const BitsMask special = hn::Gt(code, set(Elements::special_from - 1));
    return hn::IfThenElse(special, hn::Or(finite, set(f32_infinity)), finite);
}

// Middling: value and product are normal numbers for every element, so that a multiplication is
// exact and meets no subnormal. Extreme: the exponent is moved by integers.
struct Middling {};
struct Extreme {};
inline constexpr std::uint32_t middling_from = 127 - 105;
inline constexpr std::uint32_t middling_to = 127 + 105;

HWY_INLINE BitsMask is_middling(BitsV scale_code) {
    return hn::And(hn::Gt(scale_code, set(middling_from - 1)),
                   hn::Lt(scale_code, set(middling_to + 1)));
}

HWY_INLINE BitsV scaled_values(Middling, BitsV values, BitsV scale_code) {
    return multiply_floats(values, hn::ShiftLeft<23>(scale_code));
}

// An exponent field above 254 is Inf. One below 1 is a subnormal: the mantissa with its hidden bit
// moves down, and loses only zeros because elements have at most four significant bits.
HWY_INLINE BitsV scaled_values(Extreme, BitsV values, BitsV scale_code) {
    const BitsV exponent = hn::Sub(scale_code, set(127));
    const BitsV moved = hn::Add(values, hn::ShiftLeft<23>(exponent));
    const BitsV field = hn::Add(hn::ShiftRight<23>(values), exponent);
    const BitsV significand = hn::Or(hn::And(values, set(0x7FFFFFu)), set(0x800000u));
    const BitsV down = hn::Min(hn::Max(hn::Sub(set(1), field), hn::Zero(Bits())), set(31));
    const BitsV subnormal = hn::Shr(significand, down);
    const BitsV small = hn::IfThenElse(hn::Lt(field, set(1)), subnormal, moved);
    const BitsV in_range = hn::IfThenElse(hn::Gt(field, set(254)), set(f32_infinity), small);
    const BitsV nonzero =
        hn::IfThenZeroElse(hn::Eq(values, hn::Zero(Bits())), in_range);
    const BitsMask special = hn::Gt(values, set(f32_infinity - 1));
    const BitsV known = hn::IfThenElse(special, values, nonzero);
    return hn::IfThenElse(hn::Eq(scale_code, set(scale_nan)), set(f32_nan), known);
}

// How values are written; codes carry the sign in bit 7.
struct F32Output {
    static constexpr std::size_t width = 4;
    static HWY_INLINE void store(BitsV magnitudes, BitsV codes, std::uint8_t* at) {
        const BitsV sign = hn::ShiftLeft<24>(hn::And(codes, set(0x80u)));
        hn::StoreU(hn::BitCast(Bytes(), hn::Or(magnitudes, sign)), Bytes(), at);
    }
    static HWY_INLINE void store_plain(BitsV values, std::uint8_t* at, Stores stores) {
        const BytesV bytes = hn::BitCast(Bytes(), values);
        if (stores == Stores::streaming) {
            hn::Stream(bytes, Bytes(), at);
        } else {
            hn::StoreU(bytes, Bytes(), at);
        }
    }
};

// The low halves of lanes whose upper halves are zero.
HWY_INLINE void store_halves(BitsV halves, std::uint8_t* at) {
    const hn::Rebind<std::uint16_t, Bits> narrow;
    const hn::Repartition<std::uint8_t, decltype(narrow)> bytes;
    hn::StoreU(hn::BitCast(bytes, hn::DemoteTo(narrow, halves)), bytes, at);
}
HWY_INLINE BitsV half_sign(BitsV codes) { return hn::ShiftLeft<8>(hn::And(codes, set(0x80u))); }

struct Bf16Output {
    static constexpr std::size_t width = 2;
    // The upper half, to nearest even; a NaN has only zeros in its lower half and stays.
    static HWY_INLINE void store(BitsV magnitudes, BitsV codes, std::uint8_t* at) {
        const BitsV odd = hn::And(hn::ShiftRight<16>(magnitudes), set(1));
        const BitsV rounded = hn::Add(magnitudes, hn::Add(odd, set(0x7FFFu)));
        store_halves(hn::Or(hn::ShiftRight<16>(rounded), half_sign(codes)), at);
    }
    // A normal value with an element's few significant bits has only zeros in its lower half.
    static HWY_INLINE void store_plain(BitsV values, std::uint8_t* at, Stores) {
        store_halves(hn::And(hn::ShiftRight<16>(values), set(0xFFFFu)), at);
    }
};

struct F16Output {
    static constexpr std::size_t width = 2;
    static HWY_INLINE void store(BitsV magnitudes, BitsV codes, std::uint8_t* at) {
        const BitsV lowered = set(F16Codes::lowered << 23);
        const BitsV ceiling = set(0x47800000u);  // 65536, whose code is that of Inf
        const BitsV floor = set((F16Codes::lowered + 1) << 23);
        const BitsV bounded = hn::Min(hn::Max(magnitudes, floor), ceiling);
        const BitsV code =
            hn::And(round_to_code<F16Codes>(hn::Sub(bounded, lowered)), set(0x7FFFu));
        const BitsMask nan = hn::Gt(magnitudes, set(f32_infinity));
        store_halves(hn::Or(hn::IfThenElse(nan, set(0x7E00u), code), half_sign(codes)), at);
    }
    static HWY_INLINE void store_plain(BitsV values, std::uint8_t* at, Stores) {
        store(magnitude(values), hn::And(hn::ShiftRight<24>(values), set(0x80u)), at);
    }
};

// Values with sign, for a middling scale and elements of which no special one needs care.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// These processors widen binary16 in one instruction, subnormals included. A sign-extended code
// moved up leaves copies of the sign between sign and exponent: the mask takes them off.
template <typename Elements>
HWY_INLINE BitsV plain_values(const std::uint8_t* at, BitsV scale_code) {
    const hn::Rebind<std::int8_t, Bits> bytes;
    const hn::Rebind<std::int16_t, Bits> shorts;
    const hn::Rebind<hwy::float16_t, Bits> halves;
    const hn::Rebind<std::uint8_t, Bits> codes;
    const auto wide = hn::PromoteTo(shorts, hn::BitCast(bytes, hn::LoadU(codes, at)));
    constexpr auto kept = static_cast<std::int16_t>(0x8000 | 0x7F << Elements::half_places);
    const auto moved =
        hn::And(hn::ShiftLeft<Elements::half_places>(wide), hn::Set(shorts, kept));
    const auto values = hn::PromoteTo(Floats(), hn::BitCast(halves, moved));
    const BitsV factor = hn::ShiftLeft<23>(hn::Add(scale_code, set(Elements::half_exponent)));
    return multiply_floats(hn::BitCast(Bits(), values), factor);
}
#else
template <typename Elements>
HWY_INLINE BitsV plain_values(const std::uint8_t* at, BitsV scale_code) {
    const BitsV codes = load_codes(at);
    const BitsV values = element_values<Elements>(hn::And(codes, set(0x7Fu)));
    const BitsV sign = hn::ShiftLeft<24>(hn::And(codes, set(0x80u)));
    return hn::Or(scaled_values(Middling(), values, scale_code), sign);
}
#endif

// True when a block's elements may go through plain_values.
template <typename Elements>
HWY_INLINE bool is_plain(const std::uint8_t* codes) {
    if constexpr (Elements::has_half_nan) return true;
    const hn::CappedTag<std::uint8_t, block_size> d;
    auto found = hn::Zero(d);
    for (std::size_t i = 0; i < block_size; i += hn::MaxLanes(d)) {
        const auto unsigned_codes = hn::Or(hn::LoadU(d, codes + i), hn::Set(d, 0x80));
        found = hn::Max(found, unsigned_codes);
    }
    return hn::AllFalse(d, hn::Eq(found, hn::Set(d, 0xFF)));
}

template <typename Elements, typename Output, typename Kind>
HWY_INLINE void decode_vector(const std::uint8_t* codes_at, BitsV scale_code, std::uint8_t* at) {
    const BitsV codes = load_codes(codes_at);
    const BitsV values = element_values<Elements>(hn::And(codes, set(0x7Fu)));
    Output::store(scaled_values(Kind(), values, scale_code), codes, at);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled once per target
