// Delayed scaling on integers: the scale for the next tensor from a history of amax.
// Proved by reference/proof/prove_real_scale_block.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/real_scale.hpp"
#include "reference/spec/delayed_scaling.hpp"

namespace mx::fast {

// The amax that decides, as a binary32 code. [0] is the newest; a NaN is passed over, and so is
// what is below zero.
MX_HOST_DEVICE constexpr Code deciding_amax(const DelayedScaling& rules,
                                            const std::uint32_t* history, int length) {
    constexpr ElementFormat f32 = formats::f32;
    const bool newest_is_zero = f32.is_zero(Code{history[0]});
    const bool stays = newest_is_zero && rules.on_zero == ZeroAmaxHistory::stays;
    if (rules.algorithm == AmaxAlgorithm::most_recent || stays) return Code{history[0]};
    std::uint32_t amax = 0;
    for (int i = 0; i < length; ++i) {
        const Code code{history[i]};
        if (f32.is_nan(code) || f32.is_negative(code)) continue;
        if (code.bits > amax) amax = code.bits;
    }
    return Code{amax};
}

// Writes the history with room for the next amax at [0], in place, and returns the next scale.
MX_HOST_DEVICE constexpr Code next_history(const DelayedScaling& rules,
                                           const ElementFormat& element, std::uint32_t* history,
                                           int length, Code scale) {
    constexpr ElementFormat f32 = formats::f32;
    const Code amax = deciding_amax(rules, history, length);
    const std::uint32_t newest = history[0];
    if (!f32.is_zero(Code{newest}) || rules.on_zero == ZeroAmaxHistory::rolls) {
        for (int i = 1; i < length; ++i) history[i] = i + 1 < length ? history[i + 1] : newest;
        history[0] = 0;
    }
    const bool decides = amax.bits != 0 && amax.bits < f32.code_infinity();
    Unpacked range = largest_of(element);
    range.exponent -= rules.margin;
    const Unpacked next = decides ? quotient(range, unpack(f32, amax)) : unpack(f32, scale);
    if (next.kind == Kind::nan) return scale;
    return round(f32, Rounding::nearest_even, Overflow::overflow, within_f32(next));
}

}  // namespace mx::fast
