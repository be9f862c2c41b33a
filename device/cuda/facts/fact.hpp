// A measured fact: two expressions over patterns of 32 bits, and for how many patterns they are
// claimed to differ. Used by the lists of facts and by main.cpp; knows no expression.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mx::cuda::facts {

// first, first + step, ... : `count` patterns.
struct Range {
    std::uint32_t first = 0;
    std::uint64_t count = 1;
    std::uint32_t step = 1;
};
using Domain = std::vector<Range>;

inline const Domain all_patterns{{0, std::uint64_t{1} << 32}};
// Of binary32, as the largest magnitude of a block may be.
inline const Domain finite_magnitudes{{0, 0x7F800000}};
inline const Domain positive_finite{{1, 0x7F7FFFFF}};
inline const Domain positive_subnormals{{1, 0x007FFFFF}};
inline const Domain nans{{0x7F800001, 0x007FFFFF}, {0xFF800001, 0x007FFFFF}};

// How many inputs, and the first in the domain's order where the claim names it.
struct Exceptions {
    std::uint64_t count = 0;
    std::optional<std::uint32_t> first = {};
};

struct Claim {
    std::string id;
    std::string sentence;    // left is right
    std::string determines;  // rows of the dialect table, "" if none
    Domain domain;
    Exceptions exceptions = {};
};

// The patterns are those of the first difference, 0 where there is none.
struct Measured {
    std::uint64_t differences = 0;
    std::uint32_t input = 0;
    std::uint32_t left = 0;
    std::uint32_t right = 0;
};

struct Fact {
    Claim claim;
    std::function<Measured()> measure;  // throws std::runtime_error when the GPU fails
};
using Facts = std::vector<Fact>;

// The lists, one a source file.
Facts facts_about_the_instrument();
Facts facts_about_reciprocals();
Facts facts_about_maxima();
Facts facts_about_logarithms();
Facts facts_about_conversions();
Facts facts_about_default_flags();
Facts facts_about_fast_math();

}  // namespace mx::cuda::facts
