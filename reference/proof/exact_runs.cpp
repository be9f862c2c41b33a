// See exact_runs.hpp.
#include "reference/proof/exact_runs.hpp"

#include "reference/exact/round.hpp"
#include "reference/exact/scale.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {

std::vector<exact::Run> exact_roundings(const Conversion& c) {
    const auto ask = [&c](std::uint32_t bits) {
        const exact::Value value = exact::decode(c.input, Code{bits});
        return both(exact::round(c.format, c.rounding, Overflow::saturate, value, c.random),
                    exact::round(c.format, c.rounding, Overflow::overflow, value, c.random));
    };
    return takes_sign(c.format) ? runs_of_codes(c.input, ask) : runs_of_codes(c.input, 0, ask);
}

std::vector<exact::Run> exact_scales(const Quantizer& dialect, const BlockFormat& format,
                                     const ElementFormat& input) {
    return runs_of_codes(input, 0, [&](std::uint32_t bits) {
        const exact::Value amax = exact::read_input(dialect.subnormals, input, Code{bits});
        return exact::encode_scale(dialect, format, amax).bits;
    });
}

std::vector<exact::Run> exact_casts(const ScaleCast& cast, const ElementFormat& input) {
    return runs_of_codes(input, [&](std::uint32_t bits) {
        return exact::cast_to_scale(cast, exact::decode(input, Code{bits})).bits;
    });
}

}  // namespace mx::proof
