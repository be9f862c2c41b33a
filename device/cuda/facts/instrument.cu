// Facts that show that the counting sees what it should: without them zero exceptions would also be
// what a program finds that compares nothing.
#include "device/cuda/facts/exact.cuh"
#include "device/cuda/facts/measure.cuh"

namespace mx::cuda::facts {
namespace {

struct Inverted {
    __device__ std::uint32_t operator()(std::uint32_t input) const { return ~input; }
};

struct SameButOne {
    std::uint32_t other;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return input == other ? ~input : input;
    }
};

}  // namespace

Facts facts_about_the_instrument() {
    Facts facts;
    constexpr std::uint32_t needle = 0x89ABCDEF;
    facts.push_back(fact(
        {"instrument.all", "x is its complement", "", all_patterns, {std::uint64_t{1} << 32, 0}},
        Same{}, Inverted{}));
    facts.push_back(fact(
        {"instrument.one", "x is x, but for one planted pattern", "", all_patterns, {1, needle}},
        Same{}, SameButOne{needle}));
    return facts;
}

}  // namespace mx::cuda::facts
