// See exact_runs.hpp.
#include "reference/proof/exact_runs.hpp"

#include "reference/exact/round.hpp"
#include "reference/exact/scale.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// Types of 16 bits are small enough to show that the oracle is monotone.
Asked how_asked(const ElementFormat& input) {
    return input.code_bits() <= 16 ? Asked::everywhere : Asked::at_borders;
}

}  // namespace

std::vector<exact::Run> exact_roundings(const Conversion& c) {
    const auto ask = [&c](std::uint32_t bits) {
        const exact::Value value = exact::decode(c.input, Code{bits});
        return both(exact::round(c.format, c.rounding, Overflow::saturate, value, c.random),
                    exact::round(c.format, c.rounding, Overflow::overflow, value, c.random));
    };
    // Stochastic rounding has too many given bits for that.
    const Asked asked = c.rounding == Rounding::stochastic ? Asked::at_borders : how_asked(c.input);
    return takes_sign(c.format) ? runs_of_codes(c.input, ask, asked)
                                : runs_of_codes(c.input, 0, ask, asked);
}

std::vector<exact::Run> exact_scales(const Quantizer& dialect, const BlockFormat& format,
                                     const ElementFormat& input) {
    const auto ask = [&](std::uint32_t bits) {
        const exact::Value amax = exact::read_input(dialect.subnormals, input, Code{bits});
        return exact::encode_scale(dialect, format, amax).bits;
    };
    // A logarithm takes long; the cast that takes it is asked for every code by exact_casts.
    return runs_of_codes(input, 0, ask,
                         takes_log2f(dialect) ? Asked::at_borders : how_asked(input));
}

std::vector<exact::Run> exact_casts(const ScaleCast& cast, const ElementFormat& input) {
    const auto ask = [&](std::uint32_t bits) {
        return exact::cast_to_scale(cast, exact::decode(input, Code{bits})).bits;
    };
    return runs_of_codes(input, ask, how_asked(input));
}

}  // namespace mx::proof
