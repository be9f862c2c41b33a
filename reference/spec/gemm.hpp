// The operands of a GEMM as both oracles read them: for each output one row of A and one of B, both
// along k, with the scales of their blocks. OCP MX v1.0 sections 6.1 Dot and 6.2 DotGeneral.
#pragma once

#include <cstdint>

#include "reference/spec/formats.hpp"

namespace mx {

// The scales of NVFP4: E4M3 without a sign. The top bit of the byte means nothing.
inline constexpr ElementFormat ue4m3{"ue4m3",
                                     0,
                                     4,
                                     3,
                                     7,
                                     ZeroExponent::subnormal,
                                     Specials::nan_only,
                                     "PTX ISA 8.6, alternate floating point data formats: ue4m3"};

// The scales of a block format as tensors hold them: E4M3 scales have no sign.
MX_FOLDED constexpr const ElementFormat& scale_in_tensors(const BlockFormat& format) {
    return format.scale_format == formats::e4m3 ? ue4m3 : format.scale_format;
}

// Codes in memory, each in a little-endian word of 1, 2 or 4 bytes; `stride` counts words, `shift`
// the bits below a code in its word.
struct CodeView {
    const std::uint8_t* bytes = nullptr;
    int width = 1;
    std::int64_t stride = 1;
    int shift = 0;

    MX_FOLDED constexpr Code at(std::int64_t index) const {
        const std::uint8_t* word = bytes + index * stride * width;
        std::uint32_t bits = 0;
        for (int i = width; i-- > 0;) bits = bits << 8 | word[i];
        return Code{bits >> shift};
    }
};

// One row of A, or one column of B, along k. Its scales are E8M0, UE4M3 or binary32.
struct ScaledRow {
    ElementFormat element;
    CodeView codes;
    ElementFormat scale = formats::e8m0;
    CodeView scales = {};
    std::int64_t block = 0;  // elements that share a scale; 0 where there are no scales

    MX_FOLDED constexpr Code scale_at(std::int64_t k) const { return scales.at(k / block); }
    // The row that begins with element k, which must begin a block.
    MX_FOLDED constexpr ScaledRow from(std::int64_t k) const {
        ScaledRow rest = *this;
        rest.codes.bytes += k * codes.stride * codes.width;
        if (block != 0) rest.scales.bytes += k / block * scales.stride * scales.width;
        return rest;
    }
};

}  // namespace mx
