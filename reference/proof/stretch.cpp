// See stretch.hpp.
#include "reference/proof/stretch.hpp"

#include "reference/proof/vectors.hpp"

namespace mx::proof {
namespace {

// Ors what differs rather than counting it, in one statement: so compilers make a vector loop of
// it.
MX_WIDEST_VECTORS std::uint32_t differences(const Stretch& stretch, BothCodes expected) {
    const Stretch s = stretch;
    // One difference only between the two targets, so that the compiler rounds once for both.
    fast::Target overflowing = s.saturating;
    overflowing.code_beyond = s.overflowing.code_beyond;
    std::uint32_t different = 0;
    for (std::uint32_t i = 0; i < s.count; ++i) {
        const std::uint64_t significand = s.significand_first + i;
        const std::uint32_t saturated = fast::round_to(s.format, s.saturating, significand).bits;
        const std::uint32_t overflowed = fast::round_to(s.format, overflowing, significand).bits;
        different |= (saturated ^ expected.saturating) | (overflowed ^ expected.overflowing);
    }
    return different;
}

}  // namespace

bool all_round_to(const Stretch& stretch, BothCodes expected) {
    fast::Target same = stretch.saturating;
    same.code_beyond = stretch.overflowing.code_beyond;
    MX_ASSERT(same == stretch.overflowing);
    return differences(stretch, expected) == 0;
}

}  // namespace mx::proof
