// Neighbouring significands of one sign, exponent and width, rounded at the speed of the CPU's
// widest vectors. Used by prove_round.cpp for the 2^32 codes of f32; must not know runs or threads.
#pragma once

#include <cstdint>

#include "reference/fast/round.hpp"

namespace mx::proof {

// fast::round is round_to(format, target_of(...), significand), so what is swept here is the very
// function that the harness calls; only its target is made once for the stretch.
struct Stretch {
    ElementFormat format;
    fast::Target saturating;
    fast::Target overflowing;  // the same but for code_beyond
    std::uint64_t significand_first = 0;
    std::uint32_t count = 0;
};

struct BothCodes {
    std::uint32_t saturating = 0;
    std::uint32_t overflowing = 0;
};

// True if every significand of the stretch is rounded to these codes.
bool all_round_to(const Stretch& stretch, BothCodes expected);

}  // namespace mx::proof
