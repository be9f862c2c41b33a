// Rules that are nearly those of a theme: the other dialects, the same dialect with one decision
// made otherwise, and slips that a kernel makes. An input on which they part from the right rules
// would give such a device away, and is worth keeping.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/search/decisions.hpp"

namespace mx::fuzz {

// Done to each input before the dialect sees it, or to the amax alone.
enum class Slip : std::uint8_t { none, amax_through_bf16, values_through_bf16, values_cut_to_bf16 };

struct Variant {
    std::string name;  // "dialect nv", "scale_ratio 3"
    Quantizer dialect;
    Slip slip = Slip::none;
};

// Those of which some block may part them from the right rules; none for dequantize.
std::vector<Variant> variants_of(const Rules& rules);

// Does the variant give other bits for this block?
bool parts(const Rules& rules, const Variant& variant, std::span<const std::uint32_t> lanes);

}  // namespace mx::fuzz
