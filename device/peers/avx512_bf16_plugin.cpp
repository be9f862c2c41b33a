// The dot products of this processor's own VDPBF16PS, an instruction of AVX512_BF16.
#include <immintrin.h>

#include <array>

#include "device/peers/products.hpp"

namespace {

using namespace mx::peers;

// One pair along K each time; where K is odd, the last one has zeros beside it.
__attribute__((target("avx512bf16,avx512vl"))) std::uint32_t pairs(const Codes& a, const Codes& b) {
    __m128 sum = _mm_setzero_ps();
    for (std::size_t k = 0; k < a.size(); k += 2) {
        const auto pair = [k](const Codes& codes) {
            const std::uint32_t second = k + 1 < codes.size() ? codes[k + 1] : 0;
            return _mm_cvtsi32_si128(static_cast<int>(second << 16 | codes[k]));
        };
        sum = _mm_dpbf16_ps(sum, reinterpret_cast<__m128bh>(pair(a)),
                            reinterpret_cast<__m128bh>(pair(b)));
    }
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(sum)));
}

const char* missing() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512vl") != 0
               ? nullptr
               : "this processor has no AVX512_BF16";
}

constexpr std::array<DotProduct, 1> dots{{{"bf16", "bf16", "f32", "", pairs}}};
constexpr Products products{"VDPBF16PS of a processor", "", "AVX512_BF16", dots, missing};

}  // namespace

MX_PEER_PRODUCTS(products)
