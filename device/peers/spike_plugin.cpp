// The conversions of Spike, the simulator of RISC-V: its SoftFloat's f32_to_e4m3 and its kin, with
// which it executes vfncvt.f.f.q and vfncvtbf16.f.f.w and their saturating forms.
extern "C" {
#include <softfloat.h>
}
#include "device/peers/native.hpp"

using namespace mx::peers;

template <float8_t (*convert)(float32_t, bool), int mode, bool saturates>
static std::uint32_t of_f32(std::uint32_t value, std::uint32_t) {
    softfloat_roundingMode = mode;
    return convert(float32_t{value}, saturates).v;
}

template <float8_t (*convert)(bfloat16_t, bool), int mode, bool saturates>
static std::uint32_t of_bf16(std::uint32_t value, std::uint32_t) {
    softfloat_roundingMode = mode;
    return convert(bfloat16_t{static_cast<std::uint16_t>(value)}, saturates).v;
}

constexpr std::string_view row = "riscv-fp8";

template <int mode, bool saturates>
constexpr std::array<CodeCast, 4> casts_of(std::string_view rounding) {
    constexpr std::string_view overflow = saturates ? "saturate" : "overflow";
    return {{{"e4m3", "f32", rounding, overflow, row, of_f32<f32_to_e4m3, mode, saturates>},
             {"e5m2", "f32", rounding, overflow, row, of_f32<f32_to_e5m2, mode, saturates>},
             {"e4m3", "bf16", rounding, overflow, row, of_bf16<bf16_to_e4m3, mode, saturates>},
             {"e5m2", "bf16", rounding, overflow, row, of_bf16<bf16_to_e5m2, mode, saturates>}}};
}

template <int mode>
constexpr std::array<CodeCast, 8> both_of(std::string_view rounding) {
    std::array<CodeCast, 8> both{};
    const auto saturating = casts_of<mode, true>(rounding);
    const auto overflowing = casts_of<mode, false>(rounding);
    for (std::size_t i = 0; i < both.size(); ++i)
        both[i] = i % 2 == 0 ? saturating[i / 2] : overflowing[i / 2];
    return both;
}

constexpr auto casts = [] {
    constexpr std::array groups{both_of<softfloat_round_near_even>("nearest_even"),
                                both_of<softfloat_round_near_maxMag>("nearest_away"),
                                both_of<softfloat_round_minMag>("toward_zero"),
                                both_of<softfloat_round_max>("toward_positive"),
                                both_of<softfloat_round_min>("toward_negative")};
    std::array<CodeCast, 40> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = groups[i / 8][i % 8];
    return all;
}();
constexpr Library library{"Spike's SoftFloat", "RISC-V International", {}, {}, {}, casts};
MX_PEER(library)
