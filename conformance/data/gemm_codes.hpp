// Codes for the tensors of GEMMs: each a pure function of the kind of data, the seed and its place,
// made where it is needed. Plain arithmetic, for the host and for kernels. Used by the data
// families of cases and by the sweeps on a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/formats.hpp"

namespace mx {

// What the codes of a factor are like. The families that only look harmless found most of what
// tells one accumulator from another.
enum class GemmData {
    uniform,      // every finite code; of 16 bits those of sixteen binades
    middle,       // values of eight binades
    positive,     // of two, without signs: sums that grow
    zeros,        // a third zeros
    small,        // subnormals and the lowest binades
    cancelling,   // what the next element takes away again
    dominant,     // one large among small ones
    zero_beside,  // zeros that meet the largest values, beside small products
    special,      // NaN, and Inf where there is one, among others
    zero_rows,    // every fourth row of A is zero: sums whose signs only scales can give
};

inline constexpr std::array<std::string_view, 10> gemm_data_names{
    "uniform",    "middle",   "positive",    "zeros",   "small",
    "cancelling", "dominant", "zero_beside", "special", "zero_rows"};

// Codes of random data, and over how many binades the scales of factors are spread.
struct GemmDraw {
    GemmData data = GemmData::uniform;
    std::uint64_t seed = 0;
    std::uint32_t scale_binades = 8;
};

struct GemmPlace {
    std::uint64_t seed;
    std::uint32_t tensor;  // GemmPart, so that each has bits of its own
    std::uint64_t row;
    std::uint64_t k;
};

// Bits of that place: the finaliser of MurmurHash3, twice.
MX_HOST_DEVICE constexpr std::uint64_t bits_of(const GemmPlace& place) {
    const auto mixed = [](std::uint64_t x) {
        x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
        x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
        return x ^ x >> 33;
    };
    return mixed(mixed(place.seed * 16 + place.tensor + 1) + place.row * 0x9E3779B97F4A7C15u +
                 place.k);
}

MX_HOST_DEVICE constexpr std::uint32_t code_of_one(const ElementFormat& format) {
    return static_cast<std::uint32_t>(format.exponent_bias) << format.mantissa_bits;
}

// A magnitude within `binades` of the one that begins at 1, or so many codes from zero.
MX_HOST_DEVICE constexpr std::uint32_t code_near_one(const ElementFormat& format,
                                                     std::uint64_t bits, std::uint32_t binades) {
    const std::uint32_t one = code_of_one(format);
    const std::uint32_t span = binades << format.mantissa_bits;
    return one - span / 2 + static_cast<std::uint32_t>(bits % span);
}

MX_HOST_DEVICE constexpr std::uint32_t special_code(const ElementFormat& format,
                                                    std::uint64_t bits) {
    return bits % 2 == 0 && format.has_infinity() ? format.code_infinity() : format.code_nan();
}

MX_HOST_DEVICE constexpr Code gemm_code(GemmData data, const ElementFormat& format,
                                        const GemmPlace& place) {
    const std::uint64_t bits = bits_of(place);
    const std::uint64_t choice = bits >> 40 & 0xFFFF;
    const std::uint32_t sign = bits >> 63 != 0 ? format.code_sign_mask() : 0;
    // FNUZ has NaN where -0 would be.
    const auto with_sign = [&](std::uint32_t magnitude) {
        const bool has_none = magnitude == 0 && format.specials == Specials::nan_for_negative_zero;
        return Code{magnitude | (has_none ? 0 : sign)};
    };
    const bool is_first = place.tensor == 0;  // A
    const auto any = [&] {
        if (format.code_bits() > 8) return code_near_one(format, bits, 16);
        return static_cast<std::uint32_t>(bits % (format.code_max_finite() + 1));
    };
    // Formats of few binades have them all in use.
    const auto near_one = [&](std::uint64_t random, std::uint32_t binades) {
        const std::uint32_t one = code_of_one(format), half = (binades << format.mantissa_bits) / 2;
        const bool fits = half <= one && one + half <= format.code_max_finite() + 1;
        if (fits) return code_near_one(format, random, binades);
        return static_cast<std::uint32_t>(random % (format.code_max_finite() + 1));
    };
    switch (data) {
        case GemmData::uniform:
            return with_sign(any());
        case GemmData::middle:
            return with_sign(near_one(bits, 8));
        case GemmData::positive:
            return Code{near_one(bits, 2)};
        case GemmData::zeros:
            return with_sign(choice % 3 == 0 ? 0 : any());
        case GemmData::small:
            return with_sign(static_cast<std::uint32_t>(bits % (3u << format.mantissa_bits)));
        case GemmData::cancelling: {
            // Pairs of equal values, of opposite signs in A alone; now and then one is another.
            const GemmPlace pair{place.seed, place.tensor, place.row, place.k / 2};
            const std::uint32_t code = near_one(bits_of(pair), 10);
            const std::uint32_t minus = is_first && place.k % 2 != 0 ? format.code_sign_mask() : 0;
            return Code{(choice % 16 == 0 ? code ^ 1 : code) | minus};
        }
        case GemmData::dominant:
            if (choice % 61 == 0) return Code{format.code_max_finite() | sign};
            return with_sign(static_cast<std::uint32_t>(bits % (4u << format.mantissa_bits)));
        case GemmData::zero_beside: {
            // At every third k one factor is zero and the other is the largest number.
            const bool is_zero = is_first == (place.k / 3 % 2 == 0);
            if (place.k % 3 == 0) return Code{is_zero ? 0 : format.code_max_finite()};
            if (format.code_bits() > 8)
                return Code{(code_near_one(format, bits, 4) - (10u << format.mantissa_bits)) |
                            sign};
            return with_sign(static_cast<std::uint32_t>(bits % (3u << format.mantissa_bits)));
        }
        case GemmData::special:
            if (choice % 4093 == 0 && format.has_nan())
                return Code{special_code(format, bits) | sign};
            return with_sign(any());
        case GemmData::zero_rows:
            return with_sign(is_first && place.row % 4 == 3 ? 0 : any());
    }
    return Code{0};
}

// Scales, C and bias: numbers of so many binades around 1 with all their mantissa bits, of both
// signs where `data` has signs, and with the odd subnormal, zero or special one.
MX_HOST_DEVICE constexpr Code gemm_number(GemmData data, const ElementFormat& format,
                                          const GemmPlace& place, std::uint32_t binades) {
    const std::uint64_t bits = bits_of(place);
    const std::uint64_t choice = bits >> 40 & 0xFFFF;
    const std::uint32_t sign =
        bits >> 63 != 0 && data != GemmData::positive ? format.code_sign_mask() : 0;
    if (data == GemmData::special && choice % 251 == 0)
        return Code{special_code(format, bits) | sign};
    if (choice % 127 == 0) return Code{sign};
    if (choice % 113 == 0)
        return Code{static_cast<std::uint32_t>(bits & format.code_mantissa_mask()) | sign};
    return Code{code_near_one(format, bits, binades) | sign};
}

}  // namespace mx
