// Whole blocks: quantize one block of input codes, dequantize one element.
// Proved by reference/proof/prove_block.cpp.
#pragma once

#include "reference/fast/scale.hpp"

namespace mx::fast {

// The magnitude code of the block's amax, in the input's own format. Magnitude codes of finite
// values, Inf and NaN stand in that order, so a maximum of codes lets a NaN win where it should.
MX_FOLDED constexpr Code amax_of(const Dialect& dialect, const ElementFormat& input,
                                 const std::uint32_t* lanes, int count) {
    const bool skips_nan = dialect.nan_in_block == NanInBlock::own_lane_only;
    std::uint32_t amax = 0;
    for (int lane = 0; lane < count; ++lane) {
        const std::uint32_t magnitude = lanes[lane] & input.code_magnitude_mask();
        if (skips_nan && input.is_nan(Code{magnitude})) continue;
        if (magnitude > amax) amax = magnitude;
    }
    return Code{amax};
}

// The element for one value under a given scale: value / 2^(scale - 127), rounded once.
MX_FOLDED constexpr Code quantize_element(const Dialect& dialect, const BlockFormat& format,
                                          Code scale, Unpacked value) {
    const Unpacked factor = unpack(format.scale(), scale);
    if (factor.kind == Kind::nan) value = {Kind::nan, false, 0, 0};
    value.exponent -= factor.exponent;
    return round_element(dialect, format.element(), value);
}

// Quantizes `count` lanes of `input` codes; writes one element code a lane and returns the scale.
MX_FOLDED constexpr Code quantize_block(const Dialect& dialect, const BlockFormat& format,
                                        const ElementFormat& input, const std::uint32_t* lanes,
                                        int count, std::uint8_t* elements) {
    const Code amax = amax_of(dialect, input, lanes, count);
    const Code scale = encode_scale(dialect, format, unpack(input, amax));
    for (int lane = 0; lane < count; ++lane) {
        const Unpacked value = unpack(input, Code{lanes[lane]});
        elements[lane] =
            static_cast<std::uint8_t>(quantize_element(dialect, format, scale, value).bits);
    }
    return scale;
}

// scale * element in `output`, nearest even; beyond its range Inf.
MX_FOLDED constexpr Code dequantize(const BlockFormat& format, const ElementFormat& output,
                                    Code scale, Code element) {
    const Unpacked factor = unpack(format.scale(), scale);
    Unpacked value = unpack(format.element(), element);
    if (factor.kind == Kind::nan) value = {Kind::nan, false, 0, 0};
    value.exponent += factor.exponent;
    return round(output, Rounding::nearest_even, Overflow::overflow, value);
}

}  // namespace mx::fast
