// The table of element formats and of the block formats made from them. A new format is a new row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "reference/spec/element_format.hpp"
#include "reference/spec/named.hpp"

namespace mx {

inline constexpr std::array element_formats{
    ElementFormat{"e4m3", 1, 4, 3, 7, ZeroExponent::subnormal, Specials::nan_only,
                  "OCP OFP8 v1.0 section 5.1 table 1; OCP MX v1.0 section 5.3.1"},
    ElementFormat{"e5m2", 1, 5, 2, 15, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "OCP OFP8 v1.0 section 5.1 table 1; OCP MX v1.0 section 5.3.1"},
    ElementFormat{"e3m2", 1, 3, 2, 3, ZeroExponent::subnormal, Specials::none,
                  "OCP MX v1.0 section 5.3.2"},
    ElementFormat{"e2m3", 1, 2, 3, 1, ZeroExponent::subnormal, Specials::none,
                  "OCP MX v1.0 section 5.3.2"},
    ElementFormat{"e2m1", 1, 2, 1, 1, ZeroExponent::subnormal, Specials::none,
                  "OCP MX v1.0 section 5.3.3"},
    // Two's complement with an implicit 2^-6. The standard lets an implementation leave 0x80
    // unused; both readings are rows.
    ElementFormat{"int8", 1, 0, 7, 0, ZeroExponent::subnormal, Specials::none,
                  "OCP MX v1.0 section 5.3.4, 0x80 is -2", Negatives::twos_complement},
    ElementFormat{"int8-symmetric", 1, 0, 7, 0, ZeroExponent::subnormal, Specials::none,
                  "OCP MX v1.0 section 5.3.4, 0x80 left unused",
                  Negatives::twos_complement_symmetric},
    ElementFormat{"e8m0", 0, 8, 0, 127, ZeroExponent::normal, Specials::nan_only,
                  "OCP MX v1.0 section 5.4.1"},
    ElementFormat{"f32", 1, 8, 23, 127, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "IEEE 754-2019 binary32"},
    ElementFormat{"bf16", 1, 8, 7, 127, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "bfloat16: the upper half of binary32"},
    ElementFormat{"f16", 1, 5, 10, 15, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "IEEE 754-2019 binary16"},
    // In memory a word of binary32, of which tensor cores read the upper 19 bits.
    ElementFormat{"tf32", 1, 8, 10, 127, ZeroExponent::subnormal, Specials::infinity_and_nan,
                  "PTX ISA 8.6, alternate floating point data formats: tf32"},
    // FP8 of AMD's CDNA3 and of Graphcore.
    ElementFormat{"e4m3fnuz", 1, 4, 3, 8, ZeroExponent::subnormal, Specials::nan_for_negative_zero,
                  "arXiv:2206.02915 section 3; ONNX, technical details on float 8"},
    ElementFormat{"e5m2fnuz", 1, 5, 2, 16, ZeroExponent::subnormal, Specials::nan_for_negative_zero,
                  "arXiv:2206.02915 section 3; ONNX, technical details on float 8"},
    // Scales of NVIDIA and AMD beside UE4M3 and E8M0: finite values up to 0xFE, one NaN.
    ElementFormat{
        "ue5m3", 0, 5, 3, 15, ZeroExponent::subnormal, Specials::nan_only,
        "PTX ISA 9.4, alternate floating point data formats: ue5m3; llvm/llvm-project#210720; "
        "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/fp4_common/ue5m3_ops.py"},
};

// Returns nullptr when no row has that name.
constexpr const ElementFormat* find_element_format(std::string_view name) {
    return find_named(element_formats, name);
}

namespace formats {
inline constexpr ElementFormat e4m3 = *find_element_format("e4m3");
inline constexpr ElementFormat e5m2 = *find_element_format("e5m2");
inline constexpr ElementFormat e3m2 = *find_element_format("e3m2");
inline constexpr ElementFormat e2m3 = *find_element_format("e2m3");
inline constexpr ElementFormat e2m1 = *find_element_format("e2m1");
inline constexpr ElementFormat int8 = *find_element_format("int8");
inline constexpr ElementFormat int8_symmetric = *find_element_format("int8-symmetric");
inline constexpr ElementFormat e8m0 = *find_element_format("e8m0");
inline constexpr ElementFormat f32 = *find_element_format("f32");
inline constexpr ElementFormat bf16 = *find_element_format("bf16");
inline constexpr ElementFormat f16 = *find_element_format("f16");
inline constexpr ElementFormat tf32 = *find_element_format("tf32");
inline constexpr ElementFormat e4m3fnuz = *find_element_format("e4m3fnuz");
inline constexpr ElementFormat e5m2fnuz = *find_element_format("e5m2fnuz");
inline constexpr ElementFormat ue5m3 = *find_element_format("ue5m3");
}  // namespace formats

// The types a quantizer reads and a dequantizer writes.
inline constexpr std::array<std::string_view, 3> input_types{"f32", "bf16", "f16"};

// The elements, the type that holds a block's scale, and how many rows and columns share one. A
// block of 0 x 0 is the whole tensor.
struct BlockFormat {
    std::string_view name;
    ElementFormat element_format;
    ElementFormat scale_format;
    int block_rows;
    int block_columns;
    std::string_view source;

    MX_FOLDED constexpr const ElementFormat& element() const { return element_format; }
    MX_FOLDED constexpr const ElementFormat& scale() const { return scale_format; }
    MX_FOLDED constexpr bool is_whole_tensor() const { return block_rows == 0; }
    MX_FOLDED constexpr bool has_e8m0_scales() const {
        return scale_format.zero_exponent == ZeroExponent::normal;
    }
};

inline constexpr std::array block_formats{
    BlockFormat{"mxfp8-e4m3", formats::e4m3, formats::e8m0, 1, 32,
                "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxfp8-e5m2", formats::e5m2, formats::e8m0, 1, 32,
                "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxfp6-e3m2", formats::e3m2, formats::e8m0, 1, 32,
                "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxfp6-e2m3", formats::e2m3, formats::e8m0, 1, 32,
                "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxfp4-e2m1", formats::e2m1, formats::e8m0, 1, 32,
                "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxint8", formats::int8, formats::e8m0, 1, 32, "OCP MX v1.0 section 5.2 table 1"},
    BlockFormat{"mxint8-symmetric", formats::int8_symmetric, formats::e8m0, 1, 32,
                "OCP MX v1.0 section 5.2 table 1, 5.3.4"},
    BlockFormat{"nvfp4", formats::e2m1, formats::e4m3, 1, 16,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4"},
    BlockFormat{"nvfp4-16x16", formats::e2m1, formats::e4m3, 16, 16,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4"},
    BlockFormat{"fp8-e4m3-1x128", formats::e4m3, formats::f32, 1, 128,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    BlockFormat{"fp8-e4m3-128x128", formats::e4m3, formats::f32, 128, 128,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    BlockFormat{"fp8-e5m2-1x128", formats::e5m2, formats::f32, 1, 128,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    BlockFormat{"fp8-e5m2-128x128", formats::e5m2, formats::f32, 128, 128,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    BlockFormat{"fp8-e4m3-tensor", formats::e4m3, formats::f32, 0, 0,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe"},
    BlockFormat{"fp8-e5m2-tensor", formats::e5m2, formats::f32, 0, 0,
                "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe"},
    // Blocks of 16 to 64 with a real-valued scale, as a description of "MXFP8" has them that is not
    // the standard's.
    BlockFormat{"fp8-e4m3-1x16", formats::e4m3, formats::f32, 1, 16, "nexus, MXFP8 page"},
    BlockFormat{"fp8-e4m3-1x32", formats::e4m3, formats::f32, 1, 32, "nexus, MXFP8 page"},
    BlockFormat{"fp8-e4m3-1x64", formats::e4m3, formats::f32, 1, 64, "nexus, MXFP8 page"},
    BlockFormat{"fp8-e5m2-1x16", formats::e5m2, formats::f32, 1, 16, "nexus, MXFP8 page"},
    BlockFormat{"fp8-e5m2-1x32", formats::e5m2, formats::f32, 1, 32, "nexus, MXFP8 page"},
    BlockFormat{"fp8-e5m2-1x64", formats::e5m2, formats::f32, 1, 64, "nexus, MXFP8 page"},
    // NVFP4's blocks with a wider scale: "AMD-FP4".
    BlockFormat{"fp4-ue5m3-1x16", formats::e2m1, formats::ue5m3, 1, 16,
                "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/amdfp4"},
    BlockFormat{"fp4-ue5m3-16x16", formats::e2m1, formats::ue5m3, 16, 16,
                "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/amdfp4"},
};

// Returns nullptr when no row has that name.
constexpr const BlockFormat* find_block_format(std::string_view name) {
    return find_named(block_formats, name);
}

// The two parts of the table: a shared power of two, as OCP MX has it, and a scale with a mantissa.
inline constexpr std::size_t mx_format_count = [] {
    std::size_t count = 0;
    while (count < block_formats.size() && block_formats[count].has_e8m0_scales()) ++count;
    return count;
}();
inline constexpr std::span<const BlockFormat, mx_format_count> mx_block_formats =
    std::span(block_formats).first<mx_format_count>();
inline constexpr std::span<const BlockFormat, block_formats.size() - mx_format_count>
    real_scale_formats = std::span(block_formats).last<block_formats.size() - mx_format_count>();

// A set of rows of block_formats, one bit each.
using FormatSet = std::uint32_t;

constexpr FormatSet formats_named(std::initializer_list<std::string_view> names) {
    FormatSet set = 0;
    for (std::size_t i = 0; i < block_formats.size(); ++i)
        for (const std::string_view name : names)
            if (block_formats[i].name == name) set |= FormatSet{1} << i;
    return set;
}

constexpr bool contains(FormatSet set, const BlockFormat& format) {
    return (set & formats_named({format.name})) != 0;
}

// A set of rows of input_types, one bit each.
using InputSet = std::uint32_t;

inline constexpr InputSet input_f32 = 1, input_bf16 = 2, input_f16 = 4;

constexpr bool contains_input(InputSet set, std::string_view type) {
    for (std::size_t i = 0; i < input_types.size(); ++i)
        if (input_types[i] == type) return (set >> i & 1) != 0;
    return false;
}

// The derived facts, held against the numbers printed in the specifications.
static_assert(formats::e4m3.exponent_max() == 8 && formats::e4m3.code_max_finite() == 0x7E);
static_assert(formats::e4m3.quantum_exponent_min() == -9);
static_assert(formats::e5m2.exponent_max() == 15 && formats::e5m2.code_max_finite() == 0x7B);
static_assert(formats::e5m2.quantum_exponent_min() == -16);
static_assert(formats::e3m2.exponent_max() == 4 && formats::e3m2.quantum_exponent_min() == -4);
static_assert(formats::e2m3.exponent_max() == 2 && formats::e2m3.quantum_exponent_min() == -3);
static_assert(formats::e2m1.exponent_max() == 2 && formats::e2m1.quantum_exponent_min() == -1);
static_assert(formats::int8.exponent_max() == 0 && formats::int8.quantum_exponent_min() == -6);
static_assert(formats::int8.code_max_finite() == 0x7F &&
              formats::int8.magnitude(Code{0x80}) == 128);
static_assert(formats::e8m0.exponent_min() == -127 && formats::e8m0.exponent_max() == 127);
static_assert(formats::e8m0.code_max_finite() == 0xFE && formats::e8m0.code_nan() == 0xFF);
static_assert(formats::f32.quantum_exponent_min() == -149 && formats::f32.exponent_max() == 127);
static_assert(formats::f16.quantum_exponent_min() == -24 && formats::f16.exponent_max() == 15);
static_assert(formats::e4m3fnuz.exponent_max() == 7 && formats::e4m3fnuz.code_max_finite() == 0x7F);
static_assert(formats::e4m3fnuz.quantum_exponent_min() == -10 &&
              formats::e4m3fnuz.code_nan() == 0x80);
static_assert(formats::e5m2fnuz.exponent_max() == 15 &&
              formats::e5m2fnuz.quantum_exponent_min() == -17);
static_assert(formats::ue5m3.exponent_max() == 16 && formats::ue5m3.code_max_finite() == 0xFE);
static_assert(formats::ue5m3.quantum_exponent_min() == -17 && formats::ue5m3.code_nan() == 0xFF);

}  // namespace mx
