// Delayed scaling: the scale for a tensor from the amax values of those before it.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace mx {

enum class AmaxAlgorithm { max, most_recent };

// What a zero as the newest amax does to the history.
enum class ZeroAmaxHistory {
    rolls,  // the history moves on as ever
    stays,  // nothing moves, and the scale stays as it is
};

struct DelayedScaling {
    AmaxAlgorithm algorithm = AmaxAlgorithm::max;
    int margin = 0;  // the scale is 2^margin smaller
    ZeroAmaxHistory on_zero = ZeroAmaxHistory::stays;
};

inline constexpr std::array<std::pair<std::string_view, AmaxAlgorithm>, 2> amax_algorithms{{
    {"max", AmaxAlgorithm::max},
    {"most_recent", AmaxAlgorithm::most_recent},
}};

// 2^-margin is a normal binary32 number, and so is the product with the largest element.
inline constexpr int margin_limit = 100;

}  // namespace mx
