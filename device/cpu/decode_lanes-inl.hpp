// Many elements to values at once: included once per instruction set by dequantize_kernels.cpp.
// Must not know tensors, names or the scalar arithmetic it is tested against.

#if defined(MX_DEVICE_CPU_DECODE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef MX_DEVICE_CPU_DECODE_LANES_INL_HPP
#undef MX_DEVICE_CPU_DECODE_LANES_INL_HPP
#else
#define MX_DEVICE_CPU_DECODE_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "device/cpu/blocks.hpp"
#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
#if MX_CPU_HAS_LANES

HWY_INLINE BitsV load_codes(const std::uint8_t* at) {
    const hn::Rebind<std::uint8_t, Bits> narrow;
    return hn::PromoteTo(Bits(), hn::LoadU(narrow, at));
}

HWY_INLINE BitsV multiply_floats(BitsV a, BitsV b) {
    return hn::BitCast(Bits(), hn::Mul(hn::BitCast(Floats(), a), hn::BitCast(Floats(), b)));
}

// An element format as decoding sees it. As binary16 a code is the same bits moved up by
// half_places, and 2^half_exponent too small; half_specials says whether Inf and NaN come out right
// too.
struct DecodeLanes {
    int places;            // 23 - mantissa bits
    std::uint32_t hidden;  // the exponent field of the smallest normal value, in place
    std::uint32_t special_from;
    int sign_place;
    int half_places;
    std::uint32_t half_exponent;
};
constexpr DecodeLanes decode_lanes_of(const Element& element) {
    const Grid& grid = element.grid;
    return {23 - grid.mantissa_bits, static_cast<std::uint32_t>(grid.exponent_min + 127) << 23,
            element.special_from,    element.sign_place,
            10 - grid.mantissa_bits, static_cast<std::uint32_t>(grid.exponent_min + 14)};
}

// What an element is before it is scaled: a magnitude in binary32, exactly, and its sign alone.
struct SignedValues {
    BitsV magnitudes;
    BitsV signs;  // in the top bit
};

// A code moves up to where binary32 has its mantissa and exponent. A subnormal code has no hidden
// bit: it is read in the lowest normal binade, one of its units too high, and the hidden bit taken
// off again by a subtraction of normal numbers.
struct FloatElements {
    static HWY_INLINE SignedValues values(const DecodeLanes& element, BitsV codes) {
        const BitsV sign = hn::And(codes, set(1u << element.sign_place));
        const BitsV code = hn::And(codes, set((1u << element.sign_place) - 1));
        const BitsV moved = hn::ShiftLeftSame(code, element.places);
        const BitsV hidden = set(element.hidden);
        const BitsV normal = hn::Add(moved, set(element.hidden - (1u << 23)));
        const auto lowest = hn::BitCast(Floats(), hn::Add(moved, hidden));
        const BitsV subnormal = hn::BitCast(Bits(), hn::Sub(lowest, hn::BitCast(Floats(), hidden)));
        const BitsMask is_subnormal = hn::Lt(moved, set(1u << 23));
        const BitsV finite = hn::IfThenElse(is_subnormal, subnormal, normal);
        const BitsMask special = hn::Gt(code, set(element.special_from - 1));
        return {hn::IfThenElse(special, hn::Or(finite, set(f32_infinity)), finite),
                hn::ShiftLeftSame(sign, 31 - element.sign_place)};
    }
};

// Two's complement in units of 2^-6.
struct IntegerElements {
    static HWY_INLINE SignedValues values(const DecodeLanes&, BitsV codes) {
        const BitsV moved = hn::ShiftLeft<24>(codes);
        const BitsV units = hn::Abs(hn::ShiftRight<24>(moved));
        const BitsV counted = hn::BitCast(Bits(), hn::ConvertTo(Floats(), units));
        const BitsMask nonzero = hn::Gt(units, hn::Zero(Bits()));
        return {hn::IfThenElseZero(nonzero, hn::Sub(counted, set(6u << 23))),
                hn::And(moved, set(0x80000000u))};
    }
};

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
// moves down, and loses only zeros because elements have at most eight significant bits.
HWY_INLINE BitsV scaled_values(Extreme, BitsV values, BitsV scale_code) {
    const BitsV exponent = hn::Sub(scale_code, set(127));
    const BitsV moved = hn::Add(values, hn::ShiftLeft<23>(exponent));
    const BitsV field = hn::Add(hn::ShiftRight<23>(values), exponent);
    const BitsV significand = hn::Or(hn::And(values, set(0x7FFFFFu)), set(0x800000u));
    const BitsV down = hn::Min(hn::Max(hn::Sub(set(1), field), hn::Zero(Bits())), set(31));
    const BitsV subnormal = hn::Shr(significand, down);
    const BitsV small = hn::IfThenElse(hn::Lt(field, set(1)), subnormal, moved);
    const BitsV in_range = hn::IfThenElse(hn::Gt(field, set(254)), set(f32_infinity), small);
    const BitsV nonzero = hn::IfThenZeroElse(hn::Eq(values, hn::Zero(Bits())), in_range);
    const BitsMask special = hn::Gt(values, set(f32_infinity - 1));
    const BitsV known = hn::IfThenElse(special, values, nonzero);
    return hn::IfThenElse(hn::Eq(scale_code, set(scale_nan)), set(f32_nan), known);
}

// How values are written.
struct F32Output {
    static constexpr std::size_t width = 4;
    static HWY_INLINE void store(const SignedValues& values, std::uint8_t* at) {
        const BitsV bits = hn::Or(values.magnitudes, values.signs);
        hn::StoreU(hn::BitCast(Bytes(), bits), Bytes(), at);
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
// The upper half, without the copies of the sign that a shift leaves above it.
HWY_INLINE BitsV upper_half(BitsV bits) {
    return hn::And(hn::ShiftRight<16>(bits), set(0xFFFFu));
}

struct Bf16Output {
    static constexpr std::size_t width = 2;
    // The upper half, to nearest even; a NaN has only zeros in its lower half and stays.
    static HWY_INLINE void store(const SignedValues& values, std::uint8_t* at) {
        const BitsV odd = hn::And(hn::ShiftRight<16>(values.magnitudes), set(1));
        const BitsV rounded = hn::Add(values.magnitudes, hn::Add(odd, set(0x7FFFu)));
        store_halves(upper_half(hn::Or(rounded, values.signs)), at);
    }
    // A normal value with an element's few significant bits has only zeros in its lower half.
    static HWY_INLINE void store_plain(BitsV values, std::uint8_t* at, Stores) {
        store_halves(upper_half(values), at);
    }
};

struct F16Output {
    static constexpr std::size_t width = 2;
    static HWY_INLINE void store(const SignedValues& values, std::uint8_t* at) {
        constexpr GridLanes grid = lanes_of(grid_of(ValueType::f16));
        const BitsV ceiling = set(0x47800000u);  // 65536, whose code is that of Inf
        const BitsV normal = hn::Max(values.magnitudes, set(1u << 23));
        const BitsV code = hn::Sub(round_to_code(grid, hn::Min(normal, ceiling)), set(grid.bias));
        const BitsMask nan = hn::Gt(values.magnitudes, set(f32_infinity));
        const BitsV known = hn::IfThenElse(nan, set(0x7E00u), hn::And(code, set(0x7FFFu)));
        store_halves(hn::Or(known, upper_half(values.signs)), at);
    }
    static HWY_INLINE void store_plain(BitsV values, std::uint8_t* at, Stores) {
        store({magnitude(values), hn::And(values, set(0x80000000u))}, at);
    }
};

HWY_INLINE BitsV signed_bits(const SignedValues& values) {
    return hn::Or(values.magnitudes, values.signs);
}

// Values with sign, for a middling scale and elements of which no special one needs care.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// These processors widen binary16 in one instruction, subnormals included.
HWY_INLINE BitsV plain_values(FloatElements, const DecodeLanes& element, const std::uint8_t* at,
                              BitsV scale_code) {
    const hn::Rebind<std::uint16_t, Bits> shorts;
    const hn::Rebind<hwy::float16_t, Bits> halves;
    const hn::Rebind<std::uint8_t, Bits> bytes;
    const auto codes = hn::PromoteTo(shorts, hn::LoadU(bytes, at));
    const auto sign_bit = static_cast<std::uint16_t>(1u << element.sign_place);
    const auto sign = hn::And(codes, hn::Set(shorts, sign_bit));
    const auto code = hn::And(codes, hn::Set(shorts, static_cast<std::uint16_t>(sign_bit - 1)));
    const auto moved = hn::Or(hn::ShiftLeftSame(code, element.half_places),
                              hn::ShiftLeftSame(sign, 15 - element.sign_place));
    const auto values = hn::PromoteTo(Floats(), hn::BitCast(halves, moved));
    const BitsV factor = hn::ShiftLeft<23>(hn::Add(scale_code, set(element.half_exponent)));
    return multiply_floats(hn::BitCast(Bits(), values), factor);
}
#else
HWY_INLINE BitsV plain_values(FloatElements, const DecodeLanes& element, const std::uint8_t* at,
                              BitsV scale_code) {
    SignedValues values = FloatElements::values(element, load_codes(at));
    values.magnitudes = scaled_values(Middling(), values.magnitudes, scale_code);
    return signed_bits(values);
}
#endif
HWY_INLINE BitsV plain_values(IntegerElements, const DecodeLanes&, const std::uint8_t* at,
                              BitsV scale_code) {
    const hn::Rebind<std::uint8_t, Bits> bytes;
    const hn::Rebind<std::int8_t, Bits> signed_bytes;
    const BitsV units = hn::PromoteTo(Bits(), hn::BitCast(signed_bytes, hn::LoadU(bytes, at)));
    const BitsV counted = hn::BitCast(Bits(), hn::ConvertTo(Floats(), units));
    return multiply_floats(counted, hn::ShiftLeft<23>(hn::Sub(scale_code, set(6))));
}

// True when a block's elements may go through plain_values: only the NaN of E4M3 may not.
HWY_INLINE bool is_plain(const DecodeLanes& element, const std::uint8_t* codes) {
    if (element.special_from != 0x7F) return true;
    const hn::CappedTag<std::uint8_t, row_block> d;
    auto found = hn::Zero(d);
    for (std::size_t i = 0; i < row_block; i += hn::MaxLanes(d)) {
        const auto unsigned_codes = hn::Or(hn::LoadU(d, codes + i), hn::Set(d, 0x80));
        found = hn::Max(found, unsigned_codes);
    }
    return hn::AllFalse(d, hn::Eq(found, hn::Set(d, 0xFF)));
}

template <typename Elements, typename Output, typename Kind>
HWY_INLINE void decode_vector(const DecodeLanes& element, const std::uint8_t* codes_at,
                              BitsV scale_code, std::uint8_t* at) {
    SignedValues values = Elements::values(element, load_codes(codes_at));
    values.magnitudes = scaled_values(Kind(), values.magnitudes, scale_code);
    Output::store(values, at);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled once per target
