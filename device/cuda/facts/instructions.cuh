// Single PTX instructions as functions from pattern to pattern. Written as PTX, so that no flag of
// the compiler has a say. In an unnamed namespace for the reason that measure.cuh gives.
#pragma once

#include <cstdint>

namespace mx::cuda::facts {
namespace {

#define MX_OF_ONE(Name, instruction)                                                  \
    struct Name {                                                                     \
        __device__ std::uint32_t operator()(std::uint32_t input) const {              \
            float result;                                                             \
            asm(instruction " %0, %1;" : "=f"(result) : "f"(__uint_as_float(input))); \
            return __float_as_uint(result);                                           \
        }                                                                             \
    };

// The second operand stays the same over the domain.
#define MX_OF_TWO(Name, instruction)                                           \
    struct Name {                                                              \
        std::uint32_t second;                                                  \
        __device__ std::uint32_t operator()(std::uint32_t first) const {       \
            return of(first, second);                                          \
        }                                                                      \
        static __device__ std::uint32_t of(std::uint32_t a, std::uint32_t b) { \
            float result;                                                      \
            asm(instruction " %0, %1, %2;"                                     \
                : "=f"(result)                                                 \
                : "f"(__uint_as_float(a)), "f"(__uint_as_float(b)));           \
            return __float_as_uint(result);                                    \
        }                                                                      \
    };

// Two values of 16 bits in a word.
#define MX_OF_PAIRS(Name, instruction)                                         \
    struct Name {                                                              \
        static __device__ std::uint32_t of(std::uint32_t a, std::uint32_t b) { \
            std::uint32_t result;                                              \
            asm(instruction " %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));   \
            return result;                                                     \
        }                                                                      \
    };

MX_OF_ONE(ReciprocalApproximated, "rcp.approx.ftz.f32")
MX_OF_ONE(ReciprocalRounded, "rcp.rn.f32")
MX_OF_ONE(LogApproximated, "lg2.approx.f32")

MX_OF_TWO(QuotientFull, "div.full.f32")
MX_OF_TWO(QuotientApproximated, "div.approx.f32")
MX_OF_TWO(QuotientRounded, "div.rn.f32")
MX_OF_TWO(Product, "mul.rn.f32")
MX_OF_TWO(ProductFlushed, "mul.rn.ftz.f32")

MX_OF_TWO(Max, "max.f32")
MX_OF_TWO(MaxNan, "max.NaN.f32")
MX_OF_TWO(MaxXorsign, "max.xorsign.abs.f32")
MX_OF_TWO(MaxNanXorsign, "max.NaN.xorsign.abs.f32")

MX_OF_PAIRS(MaxF16, "max.f16x2")
MX_OF_PAIRS(MaxNanF16, "max.NaN.f16x2")
MX_OF_PAIRS(MaxXorsignF16, "max.xorsign.abs.f16x2")
MX_OF_PAIRS(MaxNanXorsignF16, "max.NaN.xorsign.abs.f16x2")
MX_OF_PAIRS(MaxBf16, "max.bf16x2")
MX_OF_PAIRS(MaxNanBf16, "max.NaN.bf16x2")
MX_OF_PAIRS(MaxXorsignBf16, "max.xorsign.abs.bf16x2")
MX_OF_PAIRS(MaxNanXorsignBf16, "max.NaN.xorsign.abs.bf16x2")

#undef MX_OF_ONE
#undef MX_OF_TWO
#undef MX_OF_PAIRS

// Two elements from one value, each a byte.
enum class Target { e4m3, e5m2 };
template <Target target>
__device__ std::uint32_t element_pair(float value) {
    std::uint16_t pair;
    if constexpr (target == Target::e4m3)
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(pair) : "f"(value));
    else
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(pair) : "f"(value));
    return pair;
}

template <Target target>
struct ElementPair {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return element_pair<target>(__uint_as_float(input));
    }
};

}  // namespace
}  // namespace mx::cuda::facts
