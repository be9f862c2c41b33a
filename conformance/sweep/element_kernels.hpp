// Which sets of element rules have a kernel of their own: those of what device/cuda computes, each
// once for every format. Used by device_elements.cu, which makes one for each, and by its test.
#pragma once

#include "device/cuda/types.hpp"
#include "reference/proof/e8m0_functions.hpp"

namespace mx::sweep {

// A row of `e8m0_quantizers` and one of `mx_block_formats`.
struct ElementRow {
    std::size_t dialect;
    std::size_t format;
};

// Dialects whose elements the device computes differ in the code of a NaN alone. A number is scaled
// and rounded, and nothing else is done to it.
constexpr bool rounds_like_the_device(Quantizer dialect) {
    dialect.nan_code = e8m0_quantizers[0].nan_code;
    return proof::element_rules(dialect) == proof::element_rules(e8m0_quantizers[0]);
}
static_assert(e8m0_quantizers[0].inverse == Inverse::exact_power &&
              e8m0_quantizers[0].element_rounding == Rounding::nearest_even &&
              e8m0_quantizers[0].element_overflow == Overflow::saturate &&
              e8m0_quantizers[0].subnormals == Subnormals::honoured &&
              e8m0_quantizers[0].sign_of_zero == SignOfZero::kept);

constexpr bool has_kernel(ElementRow row) {
    return rounds_like_the_device(e8m0_quantizers[row.dialect]) &&
           proof::is_first_with(proof::element_rules, row.dialect, mx_block_formats[row.format]);
}

// The row whose kernel does for these rules; the format is npos where there is none.
inline constexpr std::size_t npos = e8m0_quantizers.size();
constexpr ElementRow kernel_row(const Quantizer& dialect, const BlockFormat& format) {
    for (std::size_t i = 0; i < mx_block_formats.size(); ++i)
        for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row)
            if (mx_block_formats[i].name == format.name && has_kernel({row, i}) &&
                proof::element_rules(e8m0_quantizers[row]) == proof::element_rules(dialect))
                return {row, i};
    return {npos, npos};
}

// The device's name for a format, by what its grid says.
constexpr cuda::Element device_element(const ElementFormat& format) {
    using cuda::Element;
    for (const Element element : {Element::e4m3, Element::e5m2, Element::e3m2, Element::e2m3,
                                  Element::e2m1, Element::int8}) {
        const cuda::Grid grid = cuda::grid_of(element);
        if (grid.mantissa_bits == format.mantissa_bits &&
            grid.code_max == format.code_max_finite() &&
            grid.code_max_negative == format.code_max_finite_negative())
            return element;
    }
    return Element::int8_symmetric;
}

}  // namespace mx::sweep
