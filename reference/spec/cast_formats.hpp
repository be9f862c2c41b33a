// Formats that no block format has for its elements. convert writes them, one value at a time;
// quantize and dequantize have no such format. UE5M3 is a type of scales: it begins at zero.
#pragma once

#include <array>
#include <string_view>

#include "reference/spec/formats.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx {

// A row stands where convert has a block format: its blocks are single elements, and their scale,
// which nobody stores, is 1.
inline constexpr std::array cast_formats{
    BlockFormat{formats::e4m3fnuz.name, formats::e4m3fnuz, formats::e8m0, 1, 1,
                formats::e4m3fnuz.source},
    BlockFormat{formats::e5m2fnuz.name, formats::e5m2fnuz, formats::e8m0, 1, 1,
                formats::e5m2fnuz.source},
    BlockFormat{formats::ue5m3.name, formats::ue5m3, formats::e8m0, 1, 1,
                "llvm/llvm-project#210720 (values), #216387 (negative ones)"},
};

constexpr bool has_no_blocks(const BlockFormat& format) {
    return format.block_rows == 1 && format.block_columns == 1;
}

// Returns nullptr when convert makes no element of that name, or when that is a scale.
constexpr const BlockFormat* find_converted_format(std::string_view element) {
    if (const BlockFormat* format = find_named(cast_formats, element)) return format;
    for (const BlockFormat& format : mx_block_formats)
        if (format.element().name == element) return &format;
    return nullptr;
}

// Does the dialect say what becomes of NaN and of a zero in such elements? FNUZ and UE5M3, with one
// NaN and one zero, settle that themselves, so they need a dialect that leaves both open; and no
// library's, which has some formats and not others, speaks for a format beyond them.
constexpr bool makes_elements(const Quantizer& dialect, const BlockFormat& format) {
    if (!has_no_blocks(format)) return contains(dialect.formats, format);
    for (const BlockFormat& other : mx_block_formats)
        if (!dialect.quantizes(other)) return false;
    return dialect.leaves_open(Decision::nan_code) && dialect.leaves_open(Decision::sign_of_zero);
}

}  // namespace mx
