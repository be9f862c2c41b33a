// One block by any row of the quantizer table, on integers: a scale that is a power of two goes the
// way of block.hpp, one with a mantissa that of real_scale.hpp.
// Proved by reference/proof/prove_block.cpp and reference/proof/prove_real_scale_block.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/block.hpp"
#include "reference/fast/real_scale.hpp"

namespace mx::fast {

// Quantizes `count` lanes, codes of the input that are already transformed; writes one element code
// a lane and returns the stored scale. `random` has a value for each lane, or is null.
MX_HOST_DEVICE constexpr Code quantize(const BlockQuestion& question, const std::uint32_t* lanes,
                                       int count, std::uint8_t* elements,
                                       const RandomBits* random = nullptr) {
    const Quantizer& quantizer = question.quantizer;
    if (quantizer.has_e8m0_scales())
        return quantize_block(quantizer, question.format, question.input, lanes, count, elements,
                              random);
    const auto lane_at = [&](int lane) {
        return read_input(quantizer.subnormals, question.input, Code{lanes[lane]});
    };
    const Unpacked amax = amax_of(quantizer, question.input, lanes, count);
    const BlockScale scale = chosen_scale(question, amax, count, lane_at);
    for (int lane = 0; lane < count; ++lane) {
        const RandomBits bits = random == nullptr ? RandomBits{} : random[lane];
        elements[lane] =
            static_cast<std::uint8_t>(quantize_lane(question, scale, lane_at(lane), bits).bits);
    }
    return scale.stored;
}

// An element on the way back, in `output`. Beside a scale with a mantissa it is a binary32 value
// before; `kept` is kept_number, and is not read where the tensor has none.
struct DequantizeQuestion {
    Quantizer quantizer;
    BlockFormat format;
    ElementFormat output;
    Unpacked kept;
};
MX_HOST_DEVICE constexpr Code dequantize(const DequantizeQuestion& question, StoredElement stored) {
    if (question.format.has_e8m0_scales())
        return dequantize(question.format, question.output, stored.scale, stored.element);
    return round(question.output, Rounding::nearest_even, Overflow::overflow,
                 dequantize_f32(question.quantizer, question.format, question.kept, stored));
}

}  // namespace mx::fast
