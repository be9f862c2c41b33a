// The quantizer everybody writes first: one value at a time, a multiplication, two branches. A peer
// to be faster than, in the manner of framework code for one element. Used by bench/.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mx::bench {

// MXFP8 E4M3, scale by floor(log2 amax), finite inputs.
struct PeerJob {
    const float* values;
    std::uint8_t* codes;
    std::uint8_t* scales;
    std::size_t blocks;
};

void quantize_scalar(const PeerJob& job);

}  // namespace mx::bench
