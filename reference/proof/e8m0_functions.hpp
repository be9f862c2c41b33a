// Which rows of the dialect table are one and the same function, so that none is proved twice. A
// row stands for its functions once everything that they do not read is taken from it; a new field
// therefore counts until it is named here. Used by prove_scale.cpp and prove_block.cpp.
#pragma once

#include "reference/spec/quantizers.hpp"

namespace mx::proof {

// A row without what only describes it.
constexpr Quantizer without_description(Quantizer dialect) {
    dialect.name = dialect.title = dialect.source = dialect.waits = {};
    dialect.formats = 0;
    dialect.inputs = 0;
    dialect.open = 0;
    return dialect;
}

// What encode_scale reads of a row.
constexpr Quantizer scale_rules(Quantizer dialect) {
    const Quantizer& any = e8m0_quantizers[0];
    dialect = without_description(dialect);
    dialect.nan_in_block = any.nan_in_block;
    if (dialect.infinity_in_block != InfinityInBlock::counts_as_2to128)
        dialect.infinity_in_block = any.infinity_in_block;
    dialect.inverse = any.inverse;
    dialect.quotient = any.quotient;
    dialect.element_rounding = any.element_rounding;
    dialect.element_overflow = any.element_overflow;
    if (dialect.subnormals == Subnormals::outputs_flushed)
        dialect.subnormals = Subnormals::honoured;
    dialect.nan_code = any.nan_code;
    dialect.sign_of_zero = any.sign_of_zero;
    dialect.nan_value = any.nan_value;
    return dialect;
}

// What quantize_element reads of a row, and how the row reads its inputs.
constexpr Quantizer element_rules(Quantizer dialect) {
    const Quantizer& any = e8m0_quantizers[0];
    dialect = without_description(dialect);
    dialect.amax_rounding = any.amax_rounding;
    dialect.amax_min = any.amax_min;
    dialect.scale_ratio = any.scale_ratio;
    dialect.ratio_min = any.ratio_min;
    dialect.scale_cast = any.scale_cast;
    dialect.zero_block = any.zero_block;
    dialect.nan_in_block = any.nan_in_block;
    dialect.infinity_in_block = any.infinity_in_block;
    dialect.nan_value = any.nan_value;
    return dialect;
}

// encode_scale reads no more of an element format.
constexpr bool same_for_scales(const ElementFormat& a, const ElementFormat& b) {
    return a.exponent_max() == b.exponent_max() && a.mantissa_bits == b.mantissa_bits &&
           a.quantum_exponent_min() == b.quantum_exponent_min() &&
           a.code_max_finite() == b.code_max_finite();
}

// True where no row before `row` that quantizes to this format has the same rules.
template <typename Rules>
constexpr bool is_first_with(const Rules& rules, std::size_t row, const BlockFormat& format) {
    if (!e8m0_quantizers[row].quantizes(format)) return false;
    for (std::size_t before = 0; before < row; ++before)
        if (e8m0_quantizers[before].quantizes(format) &&
            rules(e8m0_quantizers[before]) == rules(e8m0_quantizers[row]))
            return false;
    return true;
}

}  // namespace mx::proof
