// The table of element formats and of the block formats made from them. A new format is a new row.
#pragma once

#include <array>

#include "reference/spec/element_format.hpp"

namespace mx {

inline constexpr std::array element_formats{
    ElementFormat{"e4m3", 1, 4, 3, 7, ZeroExponent::subnormal, Specials::nan_only,
                  "OCP OFP8 v1.0 section 5.1 table 1; OCP MX v1.0 section 5.3.1"},
    ElementFormat{"e5m2", 1, 5, 2, 15, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "OCP OFP8 v1.0 section 5.1 table 1; OCP MX v1.0 section 5.3.1"},
    ElementFormat{"e8m0", 0, 8, 0, 127, ZeroExponent::normal, Specials::nan_only,
                  "OCP MX v1.0 section 5.4.1"},
    ElementFormat{"f32", 1, 8, 23, 127, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "IEEE 754-2019 binary32"},
    ElementFormat{"bf16", 1, 8, 7, 127, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "bfloat16: the upper half of binary32"},
    ElementFormat{"f16", 1, 5, 10, 15, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "IEEE 754-2019 binary16"},
};

// Returns nullptr when no row has that name.
constexpr const ElementFormat* find_element_format(std::string_view name) {
    for (const ElementFormat& format : element_formats)
        if (format.name == name) return &format;
    return nullptr;
}

namespace formats {
inline constexpr const ElementFormat& e4m3 = *find_element_format("e4m3");
inline constexpr const ElementFormat& e5m2 = *find_element_format("e5m2");
inline constexpr const ElementFormat& e8m0 = *find_element_format("e8m0");
inline constexpr const ElementFormat& f32 = *find_element_format("f32");
inline constexpr const ElementFormat& bf16 = *find_element_format("bf16");
inline constexpr const ElementFormat& f16 = *find_element_format("f16");
}  // namespace formats

// The types a quantizer reads and a dequantizer writes.
inline constexpr std::array<std::string_view, 3> input_types{"f32", "bf16", "f16"};

// `block_size` elements that share one scale.
struct BlockFormat {
    std::string_view name;
    ElementFormat element_format;
    ElementFormat scale_format;
    int block_size;
    std::string_view source;

    MX_FOLDED constexpr const ElementFormat& element() const { return element_format; }
    MX_FOLDED constexpr const ElementFormat& scale() const { return scale_format; }
};

inline constexpr std::array block_formats{
    BlockFormat{"mxfp8-e4m3", formats::e4m3, formats::e8m0, 32, "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxfp8-e5m2", formats::e5m2, formats::e8m0, 32, "OCP MX v1.0 section 5.2 table 1"},
};

constexpr const BlockFormat* find_block_format(std::string_view name) {
    for (const BlockFormat& format : block_formats)
        if (format.name == name) return &format;
    return nullptr;
}

// The derived facts, held against the numbers printed in the specifications.
static_assert(formats::e4m3.exponent_max() == 8 && formats::e4m3.code_max_finite() == 0x7E);
static_assert(formats::e4m3.quantum_exponent_min() == -9);
static_assert(formats::e5m2.exponent_max() == 15 && formats::e5m2.code_max_finite() == 0x7B);
static_assert(formats::e5m2.quantum_exponent_min() == -16);
static_assert(formats::e8m0.exponent_min() == -127 && formats::e8m0.exponent_max() == 127);
static_assert(formats::e8m0.code_max_finite() == 0xFE && formats::e8m0.code_nan() == 0xFF);
static_assert(formats::f32.quantum_exponent_min() == -149 && formats::f32.exponent_max() == 127);
static_assert(formats::f16.quantum_exponent_min() == -24 && formats::f16.exponent_max() == 15);

}  // namespace mx
