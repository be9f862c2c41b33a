// The conversions of Bochs, an emulator of x86 processors: what it executes VCVTPH2BF8, VCVTPH2HF8
// and their saturating and biased forms with. Its build's types are made here, for it makes none
// without being configured.
#include <cstdint>

using Bit8u = std::uint8_t;
using Bit8s = std::int8_t;
using Bit16u = std::uint16_t;
using float16 = std::uint16_t;
#define BX_CPP_INLINE static inline
#include <softfloat3e/include/internals.h>

#include <avx/bf8.h>
#include <avx/hf8.h>

#include "device/peers/native.hpp"

using namespace mx::peers;

template <auto convert, bool saturates>
static std::uint32_t code(std::uint32_t value, std::uint32_t) {
    return convert(static_cast<float16>(value), saturates);
}

template <auto convert, bool saturates>
static std::uint32_t biased(std::uint32_t value, std::uint32_t bias) {
    return convert(static_cast<float16>(value), static_cast<Bit8u>(bias), saturates);
}

constexpr auto bf8 = convert_ne_fp16_to_bf8;
constexpr auto hf8 = convert_ne_fp16_to_hf8;
constexpr auto bf8_biased = convert_truncate_fp16_to_bf8_bias;
constexpr auto hf8_biased = convert_truncate_fp16_to_hf8_bias;

constexpr std::string_view row = "avx10-fp8";
constexpr CodeCast casts[] = {
    {"e5m2", "f16", "nearest_even", "saturate", row, code<bf8, true>},
    {"e5m2", "f16", "nearest_even", "overflow", row, code<bf8, false>},
    {"e4m3", "f16", "nearest_even", "saturate", row, code<hf8, true>},
    {"e4m3", "f16", "nearest_even", "overflow", row, code<hf8, false>},
    {"e5m2", "f16", "stochastic8", "saturate", row, biased<bf8_biased, true>},
    {"e5m2", "f16", "stochastic8", "overflow", row, biased<bf8_biased, false>},
    {"e4m3", "f16", "stochastic8", "saturate", row, biased<hf8_biased, true>},
    {"e4m3", "f16", "stochastic8", "overflow", row, biased<hf8_biased, false>},
};
constexpr Library library{"Bochs", "The Bochs Project", {}, {}, {}, casts};
MX_PEER(library)
