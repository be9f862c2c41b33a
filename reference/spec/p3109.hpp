// The finite formats of IEEE P3109, which are given by parameters. Rows as any other to both
// oracles, which decode them and round to them; no operation of mxcheck takes them yet.
#pragma once

#include "reference/spec/assert.hpp"
#include "reference/spec/element_format.hpp"

namespace mx {

// K, P and signedness of IEEE P3109; the domain is finite. Extended formats have infinities beside
// the one NaN, for which Specials has no word.
struct P3109 {
    int width;
    int precision;  // the implicit bit counts
    bool is_signed;
};

// NaN is the code of -0 where there is a sign, else the largest code. With a precision of 1 every
// binade is one code long: exact rounds ties to the even code, fast does not, so ask exact alone.
constexpr ElementFormat finite_p3109(P3109 format) {
    const int sign_bits = format.is_signed ? 1 : 0;
    const int exponent_bits = format.width - format.precision + 1 - sign_bits;
    MX_ASSERT(format.width >= 2);
    MX_ASSERT(format.precision >= 1);
    MX_ASSERT(exponent_bits >= 1);
    return {"p3109",
            sign_bits,
            exponent_bits,
            format.precision - 1,
            1 << (exponent_bits - 1),
            ZeroExponent::subnormal,
            format.is_signed ? Specials::nan_for_negative_zero : Specials::nan_only,
            "IEEE P3109 interim report 3.2.1, finite formats"};
}

}  // namespace mx
