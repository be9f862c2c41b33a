// peer_scalar.hpp. Plain on purpose; nothing of the device's tricks.
#include "bench/peer_scalar.hpp"

#include <bit>
#include <cmath>

namespace mx::bench {
namespace {

std::uint8_t e4m3_of(float value) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits & 0x80000000u;
    bits ^= sign;
    std::uint8_t code = 0;
    if (bits >= 0x43E80000u) {  // 464 and above
        code = bits > 0x7F800000u ? 0x7F : 0x7E;
    } else if (bits < 0x3C800000u) {  // below 2^-6: the addition rounds to multiples of 2^-9
        const float sum = std::bit_cast<float>(bits) + 16384.0f;
        code = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(sum) - 0x46800000u);
    } else {
        const std::uint32_t odd = (bits >> 20) & 1;
        bits += 0x7FFFFu + odd - (120u << 23);
        code = static_cast<std::uint8_t>(bits >> 20);
    }
    return static_cast<std::uint8_t>(code | (sign >> 24));
}

}  // namespace

void quantize_scalar(const PeerJob& job) {
    for (std::size_t block = 0; block < job.blocks; ++block) {
        const float* values = job.values + block * 32;
        float amax = 0;
        for (int i = 0; i < 32; ++i) amax = std::fmax(amax, std::fabs(values[i]));
        const int field = static_cast<int>(std::bit_cast<std::uint32_t>(amax) >> 23);
        const int scale = field > 8 ? field - 8 : 0;
        const auto inverse_field = static_cast<std::uint32_t>(254 - scale);
        const float inverse = std::bit_cast<float>(inverse_field << 23);
        job.scales[block] = static_cast<std::uint8_t>(scale);
        for (int i = 0; i < 32; ++i) {
            job.codes[block * 32 + static_cast<std::size_t>(i)] = e4m3_of(values[i] * inverse);
        }
    }
}

}  // namespace mx::bench
