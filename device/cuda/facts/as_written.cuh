// Expressions as kernels write them in C++, which mean what the compiler's flags make of them. Each
// file that includes this lists the same facts under its own flags. In an unnamed namespace, so
// that neither gets the other's code.
#pragma once

#include <cuda_fp8.h>

#include <bit>
#include <cstdint>

#include "device/cuda/facts/exact.cuh"
#include "device/cuda/facts/instructions.cuh"
#include "device/cuda/facts/measure.cuh"

namespace mx::cuda::facts {
namespace {

// The inverse of a scale byte.
struct InverseByDivision {
    __device__ std::uint32_t operator()(std::uint32_t byte) const {
        return __float_as_uint(1.0f / __uint_as_float(scale_of(byte)));
    }
};
struct InverseByExp2 {
    __device__ std::uint32_t operator()(std::uint32_t byte) const {
        return __float_as_uint(exp2f(127.0f - static_cast<float>(byte)));
    }
};
struct InverseGuarded {
    __device__ std::uint32_t operator()(std::uint32_t byte) const {
        const std::uint32_t scale = scale_of(byte);
        return __uint_as_float(scale) != 0.0f ? ReciprocalApproximated{}(scale) : 0;
    }
};

template <Target target>
struct ElementAsWritten {
    float inverse;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return element_pair<target>(__uint_as_float(input) * inverse);
    }
};
template <Target target>
struct ElementOfProduct {
    Product product;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return ElementPair<target>{}(product(input));
    }
};

template <typename Ratio>
struct ConvertedRatio {
    Ratio ratio;
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        return __nv_cvt_float_to_e8m0(__uint_as_float(ratio(amax)), __NV_SATFINITE,
                                      cudaRoundPosInf);
    }
};
struct TimesInverseOf448 {
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        return __float_as_uint(__uint_as_float(amax) * (1.0f / 448.0f));
    }
};

struct ByteOverSix {
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        return (__float_as_uint(__uint_as_float(amax) / 6.0f) + 0x007FFFFFu) >> 23;
    }
};
struct ByteOverSixRounded {
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        return (QuotientRounded{0x40C00000}(amax) + 0x007FFFFFu) >> 23;
    }
};

struct MagnitudeAboveZero {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return __float_as_uint(fmaxf(0.0f, fabsf(__uint_as_float(input))));
    }
};

// -Inf, which a flushed subnormal has, is no whole number.
__device__ inline std::uint32_t whole(float value) {
    return value < -200.0f ? 0x80000000u : static_cast<std::uint32_t>(static_cast<int>(value));
}
struct FloorAsWritten {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return whole(floorf(log2f(__uint_as_float(input))));
    }
};
struct CeilAsWritten {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return whole(ceilf(log2f(__uint_as_float(input))));
    }
};

// Where the flags make a difference.
struct Flags {
    std::string name;
    InverseOfByte by_division, by_exp2, guarded;
    std::string ends_by_division, ends_by_exp2, ends_guarded;  // the same in words
    std::string guarded_rows;
    Exceptions e4m3_at_0, e4m3_at_254, e5m2_at_0, e5m2_at_254;
    Exceptions times_inverse, over_six, magnitude, floor, ceil;
};

template <Target target>
void add_elements(Facts& facts, const std::string& id, std::uint32_t byte,
                  const Exceptions& exceptions) {
    const std::uint32_t inverse = byte == 0     ? 0x7F000000
                                  : byte == 254 ? 0x00400000
                                                : (254 - byte) << 23;
    facts.push_back(
        fact({id + "." + std::to_string(byte),
              "the element of x * 2^(127 - b) is that of the product, b = " + std::to_string(byte),
              "", all_patterns, exceptions},
             ElementAsWritten<target>{std::bit_cast<float>(inverse)},
             ElementOfProduct<target>{{inverse}}));
}

Facts facts_as_written(const Flags& flags) {
    const std::string in = flags.name + ".";
    const Domain bytes{{0, 255}};
    Facts facts;
    facts.push_back(fact({in + "inverse.division",
                          "1.0f / 2^(b - 127) is 2^(127 - b)" + flags.ends_by_division, "", bytes},
                         InverseByDivision{}, flags.by_division));
    facts.push_back(fact(
        {in + "inverse.exp2f", "exp2f(127 - b) is 2^(127 - b)" + flags.ends_by_exp2, "", bytes},
        InverseByExp2{}, flags.by_exp2));
    facts.push_back(fact(
        {in + "inverse.guarded",
         "s != 0 ? rcp.approx.ftz(s) : 0 of s = 2^(b - 127) is 2^(127 - b)" + flags.ends_guarded,
         flags.guarded_rows, bytes},
        InverseGuarded{}, flags.guarded));
    add_elements<Target::e4m3>(facts, in + "element.e4m3", 0, flags.e4m3_at_0);
    add_elements<Target::e4m3>(facts, in + "element.e4m3", 11, {});
    add_elements<Target::e4m3>(facts, in + "element.e4m3", 253, {});
    add_elements<Target::e4m3>(facts, in + "element.e4m3", 254, flags.e4m3_at_254);
    add_elements<Target::e5m2>(facts, in + "element.e5m2", 0, flags.e5m2_at_0);
    add_elements<Target::e5m2>(facts, in + "element.e5m2", 18, {});
    add_elements<Target::e5m2>(facts, in + "element.e5m2", 253, {});
    add_elements<Target::e5m2>(facts, in + "element.e5m2", 254, flags.e5m2_at_254);
    facts.push_back(
        fact({in + "scale.product", "the byte of a * (1.0f / 448.0f) is that of the product",
              flags.guarded_rows, finite_magnitudes, flags.times_inverse},
             ConvertedRatio<TimesInverseOf448>{}, ConvertedRatio<Product>{{0x3B124925}}));
    facts.push_back(fact(
        {in + "scale.quotient", "the byte of a / 6.0f, rounded up in the bits, is that of div.rn",
         "", finite_magnitudes, flags.over_six},
        ByteOverSix{}, ByteOverSixRounded{}));
    facts.push_back(fact({in + "amax", "fmaxf(0, fabsf(x)) is x, x > 0 subnormal", "",
                          positive_subnormals, flags.magnitude},
                         MagnitudeAboveZero{}, Same{}));
    facts.push_back(fact({in + "log2f.floor", "floor(log2f(x)) is floor(log2 x), x > 0 finite", "",
                          positive_finite, flags.floor},
                         FloorAsWritten{}, FloorLog{}));
    facts.push_back(fact({in + "log2f.ceil", "ceil(log2f(x)) is ceil(log2 x), x > 0 finite", "",
                          positive_finite, flags.ceil},
                         CeilAsWritten{}, CeilLog{}));
    return facts;
}

}  // namespace
}  // namespace mx::cuda::facts
