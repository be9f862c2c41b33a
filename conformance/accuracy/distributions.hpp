// Named data to measure accuracy on: each value a pure function of the name, the seed and its
// place, but for the last bit of the C library's logarithm. Used by mxcheck accuracy.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mx::accuracy {

// A sample in units of its typical size, from three uniform numbers in (0, 1).
using Uniforms = std::array<double, 3>;

struct Distribution {
    std::string_view name;
    std::string_view text;
    double (*value)(const Uniforms& uniforms);
};
std::span<const Distribution> distributions();

// Returns nullptr when none has that name.
const Distribution* find_distribution(std::string_view name);

struct Draw {
    std::int64_t count = 0;
    std::uint64_t seed = 0;
};
std::vector<float> draw(const Distribution& distribution, const Draw& wanted);

}  // namespace mx::accuracy
