// See gemm_exact_parts.hpp.
#include "conformance/data/gemm_exact_parts.hpp"

#include "conformance/data/gemm_codes.hpp"
#include "reference/fast/round.hpp"

namespace mx {

bool is_first(GemmPart part) {
    return part == GemmPart::a || part == GemmPart::scales_a;
}

std::uint64_t seed_of(const Case& c) {
    return c.seed + c.index * 0x9E3779B97F4A7C15u;
}

std::uint64_t bits_of(std::uint64_t seed, const FactorPlace& place) {
    return bits_of({seed, static_cast<std::uint32_t>(place.part),
                    static_cast<std::uint64_t>(place.row),
                    static_cast<std::uint64_t>(place.column)});
}

Code code_of(const ElementFormat& format, std::int64_t significand, int exponent) {
    const bool negative = significand < 0;
    const auto magnitude = static_cast<std::uint64_t>(negative ? -significand : significand);
    return fast::round(format, Rounding::nearest_even, Overflow::saturate,
                       {fast::Kind::finite, negative, exponent, magnitude});
}

}  // namespace mx
