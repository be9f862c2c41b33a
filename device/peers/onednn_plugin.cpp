// oneDNN's conversions: src/common/float8.cpp of its tree, compiled beside this file.
#include <common/bfloat16.hpp>
#include <common/float8.hpp>

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

constexpr Cast casts[] = {
    {"e8m0", "", "", "onednn", code<dnnl::impl::float8_e8m0_t>},
};
constexpr Library library{"oneDNN's conversions", "UXL Foundation", casts, {}, {}};
MX_PEER(library)
