// What the exact oracle answers to every code of an input type, as runs of equal answers. Used by
// the proofs and by the sweeps on a GPU, whose digests agree because these runs are the same.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/exact/preimage.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::proof {

struct Conversion {
    ElementFormat input;
    ElementFormat format;
    Rounding rounding;
    RandomBits random = {};
};

// A format without sign is given no negative values.
constexpr bool takes_sign(const ElementFormat& format) {
    return format.sign_bits == 1;
}

// The codes of both overflow rules side by side: one sweep proves both.
constexpr std::uint64_t both(Code saturating, Code overflowing) {
    return saturating.bits | std::uint64_t{overflowing.bits} << 32;
}

// Results are `both` codes.
std::vector<exact::Run> exact_roundings(const Conversion& conversion);

// Scale bytes of amaxes, which have no sign; and of any value that is cast.
std::vector<exact::Run> exact_scales(const Quantizer& dialect, const BlockFormat& format,
                                     const ElementFormat& input);
std::vector<exact::Run> exact_casts(const ScaleCast& cast, const ElementFormat& input);

}  // namespace mx::proof
