// The batched dot products of Spike, the simulator of RISC-V: what vfqbdot of Zvfqbdot8f and
// vfwbdot of Zvfwbdot16bf call, on vector registers of 128 and of 256 bits.
extern "C" {
#include <softfloat.h>
}
#include <cstdint>

// As Spike's decoder has it.
static float32_t f32(std::uint32_t code) {
    return {code};
}
#include <riscv/zvbdot.h>

#include <algorithm>
#include <array>

#include "device/peers/products.hpp"

namespace {

using namespace mx::peers;

// One register of each factor after the other; zeros fill the last.
template <auto dot, typename Code, std::size_t in_register>
std::uint32_t registers(const Codes& a, const Codes& b) {
    float32_t sum{0};
    for (std::size_t first = 0; first < a.size(); first += in_register) {
        std::vector<Code> left(in_register), right(in_register);
        const std::size_t count = std::min(in_register, a.size() - first);
        for (std::size_t i = 0; i < count; ++i) {
            left[i] = static_cast<Code>(a[first + i]);
            right[i] = static_cast<Code>(b[first + i]);
        }
        sum = dot(left, right, sum);
    }
    return sum.v;
}

template <typename A, typename B, std::size_t bits>
constexpr auto of_bytes = registers<zvfqbdot8f_dot_acc<A, B>, std::uint8_t, bits / 8>;

constexpr std::array<DotProduct, 10> dots{{
    {"e4m3", "e4m3", "f32", "vlen128", of_bytes<ofp8_e4m3, ofp8_e4m3, 128>},
    {"e4m3", "e5m2", "f32", "vlen128", of_bytes<ofp8_e4m3, ofp8_e5m2, 128>},
    {"e5m2", "e4m3", "f32", "vlen128", of_bytes<ofp8_e5m2, ofp8_e4m3, 128>},
    {"e5m2", "e5m2", "f32", "vlen128", of_bytes<ofp8_e5m2, ofp8_e5m2, 128>},
    {"e4m3", "e4m3", "f32", "vlen256", of_bytes<ofp8_e4m3, ofp8_e4m3, 256>},
    {"e4m3", "e5m2", "f32", "vlen256", of_bytes<ofp8_e4m3, ofp8_e5m2, 256>},
    {"e5m2", "e4m3", "f32", "vlen256", of_bytes<ofp8_e5m2, ofp8_e4m3, 256>},
    {"e5m2", "e5m2", "f32", "vlen256", of_bytes<ofp8_e5m2, ofp8_e5m2, 256>},
    {"bf16", "bf16", "f32", "vlen128", registers<zvfwbdot16bf_dot_acc, std::uint16_t, 8>},
    {"bf16", "bf16", "f32", "vlen256", registers<zvfwbdot16bf_dot_acc, std::uint16_t, 16>},
}};
constexpr Products products{"Spike", "RISC-V International", MX_PEER_SOURCE, dots};

}  // namespace

MX_PEER_PRODUCTS(products)
