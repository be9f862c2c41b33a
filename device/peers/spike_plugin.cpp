// The conversions of Spike, the simulator of RISC-V: its SoftFloat's f32_to_e4m3 and f32_to_e5m2.
extern "C" {
#include <softfloat.h>
}
#include "device/peers/native.hpp"

using namespace mx::peers;

template <float8_t (*convert)(float32_t, bool), int mode, bool saturates>
static std::uint32_t code(float value) {
    softfloat_roundingMode = mode;
    return convert(float32_t{std::bit_cast<std::uint32_t>(value)}, saturates).v;
}

template <int mode>
constexpr std::array<Cast, 4> casts_of(std::string_view rounding) {
    return {{{"e4m3", rounding, "saturate", "ocp", code<f32_to_e4m3, mode, true>},
             {"e4m3", rounding, "overflow", "ocp", code<f32_to_e4m3, mode, false>},
             {"e5m2", rounding, "saturate", "ocp", code<f32_to_e5m2, mode, true>},
             {"e5m2", rounding, "overflow", "ocp", code<f32_to_e5m2, mode, false>}}};
}

constexpr auto casts = [] {
    constexpr std::array groups{casts_of<softfloat_round_near_even>("nearest_even"),
                                casts_of<softfloat_round_near_maxMag>("nearest_away"),
                                casts_of<softfloat_round_minMag>("toward_zero"),
                                casts_of<softfloat_round_max>("toward_positive"),
                                casts_of<softfloat_round_min>("toward_negative")};
    std::array<Cast, 20> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = groups[i / 4][i % 4];
    return all;
}();
constexpr Library library{"Spike's SoftFloat", "RISC-V International", casts, {}, {}};
MX_PEER(library)
