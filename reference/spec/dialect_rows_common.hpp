// What the rows of the dialect table have in common. Used by the files of rows only.
#pragma once

#include <array>
#include <cstdint>

#include "reference/spec/dialect.hpp"

namespace mx {

inline constexpr FormatSet e4m3_format = formats_named("mxfp8-e4m3");
inline constexpr FormatSet e2m1_format = formats_named("mxfp4-e2m1");
inline constexpr FormatSet mxfp8_formats = formats_named("mxfp8");
inline constexpr FormatSet mxfp_formats = formats_named("mxfp");
inline constexpr FormatSet mx_formats = formats_named("mx");
inline constexpr FormatSet no_format = 0;  // a cast to E8M0 and no more
inline constexpr InputSet any_input = input_f32 | input_bf16 | input_f16;

// What most rows do; a row names every field in which it differs.
inline constexpr Dialect common_rules{
    .name = "",
    .title = "",
    .source = "",
    .waits = "",
    .formats = mx_formats,
    .inputs = any_input,
    .amax_rounding = AmaxRounding::none,
    .amax_min = 0,
    .scale_ratio = ScaleRatio::over_emax,
    .ratio_min = 0,
    .scale_cast = {.rounding = ScaleRounding::toward_zero},
    .zero_block = ZeroBlock::as_cast,
    .nan_in_block = NanInBlock::poisons_amax,
    .infinity_in_block = InfinityInBlock::is_amax,
    .inverse = Inverse::exact_power,
    .element_rounding = Rounding::nearest_even,
    .element_overflow = Overflow::saturate,
    .subnormals = Subnormals::honoured,
    .nan_code = NanCode::positive_all_ones,
    .sign_of_zero = SignOfZero::kept,
    .nan_value = NanValue::any,
    .open = 0,
};

// Every decision about the inputs that make no ordinary block: what a source is silent about when
// it gives no more than a formula for the scale.
inline constexpr std::uint32_t all_but_the_formula =
    Decision::nan_in_block | Decision::infinity_in_block | Decision::zero_block |
    Decision::scale_underflow | Decision::sign_of_zero | Decision::nan_code;

struct RowTexts {
    std::string_view name;
    std::string_view title;
    std::string_view source;
};

// A row of its own texts that takes everything else over from `base`, but what `change` changes.
template <typename Change>
constexpr Dialect row_like(const Dialect& base, const RowTexts& texts, const Change& change) {
    Dialect row = base;
    row.name = texts.name;
    row.title = texts.title;
    row.source = texts.source;
    change(row);
    return row;
}

template <typename Change>
constexpr Dialect new_row(const RowTexts& texts, const Change& change) {
    return row_like(common_rules, texts, change);
}

// A row that only casts values to E8M0.
constexpr Dialect cast_row(const RowTexts& texts, const ScaleCast& cast) {
    return new_row(texts, [&](Dialect& row) {
        row.formats = no_format;
        row.scale_ratio = ScaleRatio::none;
        row.scale_cast = cast;
    });
}

template <std::size_t... Sizes>
constexpr auto joined_rows(const std::array<Dialect, Sizes>&... groups) {
    std::array<Dialect, (Sizes + ...)> all{};
    std::size_t next = 0;
    const auto append = [&](const auto& group) {
        for (const Dialect& row : group) all[next++] = row;
    };
    (append(groups), ...);
    return all;
}

}  // namespace mx
