// Universal's MX blocks and its e8m0: mxblock::quantize and e8m0's constructor.
#include <universal/number/microfloat/microfloat.hpp>
#include <universal/number/mxfloat/mxfloat.hpp>

#include "device/peers/native.hpp"

using namespace mx::peers;

template <typename Block>
static Answer quantized(const float* lanes) {
    Block block;
    block.quantize(lanes, 32);
    Answer answer{block.scale().bits(), {}};
    for (std::size_t i = 0; i < 32; ++i) answer.elements[i] = block.element(i).bits();
    return answer;
}

static std::uint32_t e8m0(float value) {
    return sw::universal::e8m0(value).bits();
}

constexpr Cast casts[] = {{"e8m0", "", "", "universal-e8m0", e8m0}};
constexpr Quantize quantizers[] = {
    {"mxfp8-e4m3", "e4m3", "universal", quantized<sw::universal::mxfp8>},
    {"mxfp8-e5m2", "e5m2", "universal", quantized<sw::universal::mxfp8e5m2>},
    {"mxfp6-e3m2", "e3m2", "universal", quantized<sw::universal::mxfp6>},
    {"mxfp6-e2m3", "e2m3", "universal", quantized<sw::universal::mxfp6e2m3>},
    {"mxfp4-e2m1", "e2m1", "universal", quantized<sw::universal::mxfp4>},
};
constexpr Library library{"Universal", "Stillwater Supercomputing", casts, {}, quantizers};
MX_PEER(library)
