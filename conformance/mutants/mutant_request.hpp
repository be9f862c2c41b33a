// What a call of the C ABI asks of a mutant, checked and with names turned into choices. No bug is
// planted here. Knows no arithmetic.
#pragma once

#include <cstdint>

#include "device/kit/blocks.hpp"
#include "device/kit/call.hpp"

namespace mx::mutants {

enum class Negatives { sign_bit, twos_complement, symmetric };

// Just enough of a number format to encode and decode it. An integer format is the lowest binade of
// a floating-point one, of which the rest does not exist.
struct Format {
    int bits;
    int mantissa_bits;
    int exponent_min;             // of the smallest normal value
    std::uint32_t code_max;       // the largest finite magnitude
    std::uint32_t code_overflow;  // Inf; else NaN; else the largest finite magnitude
    Negatives negatives = Negatives::sign_bit;

    friend constexpr bool operator==(const Format&, const Format&) = default;
    constexpr std::uint32_t magnitude_mask() const { return (1u << (bits - 1)) - 1; }
    constexpr bool has_infinity() const { return code_overflow != magnitude_mask(); }
    constexpr bool is_integer() const { return negatives != Negatives::sign_bit; }
};

inline constexpr Format e4m3{8, 3, -6, 0x7E, 0x7F};
inline constexpr Format e5m2{8, 2, -14, 0x7B, 0x7C};
inline constexpr Format e3m2{6, 2, -2, 0x1F, 0x1F};
inline constexpr Format e2m3{6, 3, 0, 0x1F, 0x1F};
inline constexpr Format e2m1{4, 1, 0, 0x7, 0x7};
inline constexpr Format int8{8, 7, 1, 0x7F, 0x7F, Negatives::twos_complement};
inline constexpr Format int8_symmetric{8, 7, 1, 0x7F, 0x7F, Negatives::symmetric};
inline constexpr Format f16{16, 10, -14, 0x7BFF, 0x7C00};
inline constexpr Format bf16{16, 7, -126, 0x7F7F, 0x7F80};
inline constexpr Format f32{32, 23, -126, 0x7F7FFFFF, 0x7F800000};

enum class Action { convert, cast_to_scale, encode_scale, quantize, dequantize };
enum class Dialect { ocp, nv };
using kit::Axis;
using kit::Cell;
enum class Overflow { saturate, overflow };
enum class Subnormals { honoured, inputs_flushed, outputs_flushed };
enum class Rounding {
    nearest_even,
    nearest_away,
    nearest_toward_zero,
    toward_zero,
    toward_positive,
    toward_negative,
    away_from_zero,
    to_odd,
    stochastic
};

// The random bits that decide one value, and how many values of a row share a word of them.
struct RandomWords {
    int digits = 0;
    int values_per_word = 1;
};

enum class Layout {
    strided,
    packed_low,
    packed_high,
    packed_6,
    inline_codes,
    inline_scales,  // the same buffer, the bytes behind the codes
    tiles_128x4,
    tiles_8x4,
    tiles_32x8,
    te_padded
};

inline constexpr kit::Named<Layout> code_layouts[] = {{"strided", Layout::strided},
                                                      {"packed-low", Layout::packed_low},
                                                      {"packed-high", Layout::packed_high},
                                                      {"packed-6", Layout::packed_6},
                                                      {"inline", Layout::inline_codes}};
inline constexpr kit::Named<Layout> row_scale_layouts[] = {{"strided", Layout::strided},
                                                           {"128x4", Layout::tiles_128x4},
                                                           {"8x4", Layout::tiles_8x4},
                                                           {"32x8", Layout::tiles_32x8},
                                                           {"te-padded", Layout::te_padded}};
inline constexpr kit::Named<Layout> col_scale_layouts[] = {{"strided", Layout::strided},
                                                           {"128x4-col", Layout::tiles_128x4},
                                                           {"8x4-col", Layout::tiles_8x4},
                                                           {"32x8-col", Layout::tiles_32x8},
                                                           {"te-padded-col", Layout::te_padded}};

// A matrix of codes in the host's memory. mutant_layout.hpp says where each of them lies.
struct Tensor {
    unsigned char* data = nullptr;
    int bits = 8;     // of one code
    Format format{};  // all zeros for e8m0 and random words, which are no formats of this kind
    Layout layout = Layout::strided;
    Axis axis = Axis::row;    // of the blocks that the scales belong to
    std::int64_t block = 32;  // their lanes
    std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    bool empty() const { return rows == 0 || columns == 0; }
};

// The tensor where the caller has it; what its codes are is for its reader to say.
inline Tensor placed(const kit::Tensor& asked, kit::Shape shape) {
    asked.expect_shape(shape);
    Tensor tensor;
    tensor.data = static_cast<unsigned char*>(asked.raw().data);
    tensor.rows = shape.rows;
    tensor.columns = shape.columns;
    tensor.row_stride = asked.raw().row_stride;
    tensor.column_stride = asked.raw().column_stride;
    return tensor;
}

inline constexpr kit::Named<Format> value_formats[] = {{"f32", f32}, {"bf16", bf16}, {"f16", f16}};

// Numbers of a type that is no element's.
inline Tensor values_of(const kit::Tensor& asked, kit::Shape shape) {
    asked.expect_strided();
    Tensor tensor = placed(asked, shape);
    tensor.format = asked.type_in(value_formats);
    tensor.bits = tensor.format.bits;
    return tensor;
}

struct Request {
    Action action{};
    Format element{};
    Dialect dialect = Dialect::ocp;
    Axis axis = Axis::row;
    std::int64_t block = 32;
    Rounding rounding = Rounding::nearest_even;
    RandomWords random;
    Overflow overflow = Overflow::saturate;
    Subnormals subnormals = Subnormals::honoured;
    // As the ABI counts them; the scales of an inline layout stand in the second place.
    Tensor inputs[2];
    Tensor outputs[2];
};

// Refuses what the mutants do not do. Of axis "both" one side of it.
Request read_request(const kit::Arguments& arguments, kit::Buffers buffers);

}  // namespace mx::mutants
