// Element formats that no operation of mxcheck takes yet: unsigned scales of five exponent bits,
// and the finite formats of IEEE P3109, which are given by parameters. Rows as any other to both
// oracles, which decode them and round to them; to what has no sign only values that have none, for
// sources differ in what becomes of a negative one.
#pragma once

#include <array>
#include <string_view>

#include "reference/spec/assert.hpp"
#include "reference/spec/element_format.hpp"
#include "reference/spec/named.hpp"

namespace mx {

inline constexpr std::array further_formats{
    // NVIDIA's and AMD's scales beside UE4M3 and E8M0: finite values up to 0xFE, one NaN.
    ElementFormat{
        "ue5m3", 0, 5, 3, 15, ZeroExponent::subnormal, Specials::nan_only,
        "PTX ISA 9.4, alternate floating point data formats: ue5m3; llvm/llvm-project#210720; "
        "AMD-AGI/ALTO@5769da6:alto/kernels/fp4/fp4_common/ue5m3_ops.py"},
};

namespace formats {
inline constexpr ElementFormat ue5m3 = *find_named(further_formats, "ue5m3");
}  // namespace formats

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

static_assert(formats::ue5m3.exponent_max() == 16 && formats::ue5m3.code_max_finite() == 0xFE);
static_assert(formats::ue5m3.quantum_exponent_min() == -17 && formats::ue5m3.code_nan() == 0xFF);

}  // namespace mx
