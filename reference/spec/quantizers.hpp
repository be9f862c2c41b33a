// The table of quantizers. A new one is a new row in one of the files below and changes no
// function. Facts are cited as repository@commit:path; where a source is silent the field holds our
// choice and `open` says so.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "reference/spec/quantizer.hpp"
#include "reference/spec/quantizer_rows_alto.hpp"
#include "reference/spec/quantizer_rows_amd.hpp"
#include "reference/spec/quantizer_rows_cast.hpp"
#include "reference/spec/quantizer_rows_convert.hpp"
#include "reference/spec/quantizer_rows_fp8.hpp"
#include "reference/spec/quantizer_rows_library.hpp"
#include "reference/spec/quantizer_rows_mlx.hpp"
#include "reference/spec/quantizer_rows_nvfp4.hpp"
#include "reference/spec/quantizer_rows_nvidia.hpp"
#include "reference/spec/quantizer_rows_ocp.hpp"
#include "reference/spec/quantizer_rows_torch.hpp"

namespace mx {

template <std::size_t... Sizes>
constexpr auto joined_rows(const std::array<Quantizer, Sizes>&... groups) {
    std::array<Quantizer, (Sizes + ...)> all{};
    std::size_t next = 0;
    const auto append = [&](const auto& group) {
        for (const Quantizer& row : group) all[next++] = row;
    };
    (append(groups), ...);
    return all;
}

inline constexpr auto quantizers =
    joined_rows(ocp_rows, nvidia_rows, torch_rows, amd_rows, library_rows, cast_rows, nvfp4_rows,
                fp8_rows, alto_rows, mlx_rows, convert_rows);

// Returns nullptr when no row has that name.
constexpr const Quantizer* find_quantizer(std::string_view name) {
    return find_named(quantizers, name);
}

// The three parts of the table, in the order of its rows: scales that are powers of two, scales
// with a mantissa, and rows without scales, which convert single values and quantize no blocks.
inline constexpr std::size_t e8m0_quantizer_count = [] {
    std::size_t count = 0;
    while (count < quantizers.size() && quantizers[count].has_e8m0_scales()) ++count;
    return count;
}();
inline constexpr std::span<const Quantizer, e8m0_quantizer_count> e8m0_quantizers =
    std::span(quantizers).first<e8m0_quantizer_count>();
inline constexpr std::size_t conversion_count = convert_rows.size();
inline constexpr std::size_t real_scale_quantizer_count =
    quantizers.size() - e8m0_quantizer_count - conversion_count;
inline constexpr std::span<const Quantizer, real_scale_quantizer_count> real_scale_quantizers =
    std::span(quantizers).subspan<e8m0_quantizer_count, real_scale_quantizer_count>();
inline constexpr std::span<const Quantizer, conversion_count> conversions =
    std::span(quantizers).last<conversion_count>();

// What convert takes: a row with E8M0 scales or with none.
constexpr const Quantizer* find_converter(std::string_view name) {
    const Quantizer* row = find_named(conversions, name);
    return row != nullptr ? row : find_named(e8m0_quantizers, name);
}

// See rules_after_product.
static_assert(std::ranges::none_of(real_scale_quantizers, [](const Quantizer& row) {
    return row.sign_of_zero == SignOfZero::underflow_dropped;
}));

// A name stands once among quantizers, block formats and element formats, and a row's formats have
// the type of scale that the row names.
constexpr bool quantizer_names_are_unique() {
    for (const Quantizer& row : quantizers)
        if (find_quantizer(row.name) != &row || find_block_format(row.name) != nullptr)
            return false;
    for (const BlockFormat& format : block_formats)
        if (find_block_format(format.name) != &format ||
            find_element_format(format.name) != nullptr)
            return false;
    return true;
}
constexpr bool scale_types_agree() {
    for (const Quantizer& row : quantizers) {
        if (row.has_e8m0_scales() != (row.scale_rule == ScaleRule::e8m0_cast)) return false;
        if (!row.has_scales()) continue;
        // By their places: names would cost Clang more steps than it takes in one expression.
        for (std::size_t i = 0; i < block_formats.size(); ++i)
            if ((row.formats >> i & 1) != 0 &&
                block_formats[i].scale().name != name_of(row.scale_type))
                return false;
    }
    return true;
}
constexpr bool parts_are_whole() {
    for (const Quantizer& row : real_scale_quantizers)
        if (row.has_e8m0_scales() || !row.has_scales()) return false;
    for (const Quantizer& row : conversions)
        if (row.has_scales()) return false;
    for (const BlockFormat& format : real_scale_formats)
        if (format.has_e8m0_scales()) return false;
    return true;
}
static_assert(quantizer_names_are_unique());
static_assert(scale_types_agree());
static_assert(parts_are_whole());

}  // namespace mx
