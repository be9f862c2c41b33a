// The scales of ROCm aiter's csrc/include/mx_quant_utils.h; its elements are an instruction.
#include <bit>
#include <cstdint>
#define __device__
#define __forceinline__ inline
#include <mx_quant_utils.h>

#include "device/peers/native.hpp"

using namespace mx::peers;
using aiter::MxDtype;
using aiter::MxScaleRoundMode;

template <MxScaleRoundMode mode, MxDtype type>
static std::uint32_t byte(float amax) {
    return std::bit_cast<std::uint32_t>(aiter::fp_f32_to_e8m0_scale<mode, type>(amax)) >> 23 & 0xFF;
}

constexpr auto fp8 = MxDtype::FP8_E4M3;
constexpr auto fp4 = MxDtype::FP4_E2M1;
constexpr Scale scales[] = {
    {"mxfp8-e4m3", "aiter-roundup", byte<MxScaleRoundMode::RoundUp, fp8>},
    {"mxfp8-e4m3", "aiter-rounddown", byte<MxScaleRoundMode::RoundDown, fp8>},
    {"mxfp8-e4m3", "aiter-even", byte<MxScaleRoundMode::Even, fp8>},
    {"mxfp8-e4m3", "aiter-ceil", byte<MxScaleRoundMode::Ceil, fp8>},
    {"mxfp4-e2m1", "aiter-roundup", byte<MxScaleRoundMode::RoundUp, fp4>},
    {"mxfp4-e2m1", "aiter-rounddown", byte<MxScaleRoundMode::RoundDown, fp4>},
    {"mxfp4-e2m1", "aiter-even", byte<MxScaleRoundMode::Even, fp4>},
    {"mxfp4-e2m1", "aiter-ceil", byte<MxScaleRoundMode::Ceil, fp4>},
};
constexpr Library library{"aiter's header on the host", "AMD", {}, scales, {}};
MX_PEER(library)
