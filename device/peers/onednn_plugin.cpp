// oneDNN's conversions: src/common/float8.cpp of its tree, compiled beside this file. Around them
// the loop of ref_matmul.cpp for dynamic MX scales is repeated step by step: the rest of the
// library is not compiled.
#include <cmath>

#include <common/bfloat16.hpp>
#include <common/float8.hpp>
#include <common/nstl.hpp>

#include "device/peers/native.hpp"

using namespace mx::peers;

// The processor's own conversion is not asked: false leaves it to the portable code.
bool dnnl::impl::try_cvt_float_to_bfloat16(bfloat16_t*, const float*) {
    return false;
}

template <typename Type>
static std::uint32_t code(float value) {
    return Type(value).raw_bits_;
}

template <typename Type>
static float rounded(float value) {
    return static_cast<float>(Type(value));
}

template <typename Element>
static Answer quantized(const float* lanes) {
    using Scale = dnnl::impl::float8_e8m0_t;
    const float largest = dnnl::impl::nstl::numeric_limits<Element>::max();
    float amax = 0;
    for (int i = 0; i < 32; ++i) amax = std::max(amax, std::fabs(lanes[i]));
    const float scale = rounded<Scale>(rounded<Scale>(amax) / rounded<Scale>(largest));
    Answer answer{Scale(scale).raw_bits_, {}};
    const float inverse = 1.f / scale;
    for (int i = 0; i < 32; ++i) {
        const float product = lanes[i] * inverse;
        const float within =
            dnnl::impl::nstl::min(dnnl::impl::nstl::max(product, -largest), largest);
        answer.elements[i] = Element(within).raw_bits_;
    }
    return answer;
}

constexpr Quantize quantizers[] = {
    {"mxfp8-e4m3", "e4m3", "onednn", quantized<dnnl::impl::float8_e4m3_t>},
    {"mxfp8-e5m2", "e5m2", "onednn", quantized<dnnl::impl::float8_e5m2_t>},
};
constexpr Cast casts[] = {
    {"e8m0", "", "", "onednn", code<dnnl::impl::float8_e8m0_t>},
};
constexpr Library library{"oneDNN's conversions", "UXL Foundation", casts, {}, quantizers};
MX_PEER(library)
