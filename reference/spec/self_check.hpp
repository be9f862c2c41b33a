// Puts the answers of known_answers.hpp and known_blocks.hpp to an oracle: one body for both. An
// oracle is a type with the functions that are called here; it says nothing of what is expected.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "reference/spec/gemm_models.hpp"
#include "reference/spec/known_answers.hpp"
#include "reference/spec/known_blocks.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::known {

enum class Part { decode, round, scale, block, dot };
inline constexpr std::array part_names{"decode", "round", "scale", "block", "dot"};
inline constexpr std::array parts{Part::decode, Part::round, Part::scale, Part::block, Part::dot};

// How many codes and values are compared.
constexpr int answer_count() {
    std::size_t count = decoded.size() + rounded.size() * rounding_columns.size() +
                        rounded_once.size() + overflown.size() * overflows.size() +
                        randomly_rounded.size() + casts.size() * cast_columns.size() +
                        dequantized.size() + dots.size();
    for (const Block& block : blocks) count += 1 + static_cast<std::size_t>(block.count);
    return static_cast<int>(count);
}

// The same table from where the compiler cannot see it: an oracle that it has evaluated already
// would not be asked in the running program.
template <typename Table>
const Table& at_run_time(const Table& table) {
    const Table* volatile place = &table;
    return *place;
}

inline std::string hex(std::uint32_t bits) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    do text.insert(text.begin(), digits[bits % 16]);
    while ((bits /= 16) != 0);
    return "0x" + text;
}

// "0", "-7*2^-2", "inf", "nan": of a number one text, whatever its units.
inline std::string to_text(Number number) {
    if (number.kind == Number::Kind::nan) return "nan";
    const std::string sign = number.negative ? "-" : "";
    if (number.kind == Number::Kind::infinity) return sign + "inf";
    if (number.units == 0) return sign + "0";
    for (; number.units % 2 == 0; number.units /= 2) ++number.exponent;
    return sign + std::to_string(number.units) + "*2^" + std::to_string(number.exponent);
}

// "ASKED gives GIVEN, expected EXPECTED", or "".
inline std::string difference(const std::string& asked, std::uint32_t given,
                              std::uint32_t expected) {
    if (given == expected) return "";
    return asked + " gives " + hex(given) + ", expected " + hex(expected);
}

template <typename Oracle>
std::string wrong_in_decode() {
    for (const Decoded& row : at_run_time(decoded)) {
        const std::string given = Oracle::decoded(*row.format, Code{row.code});
        const std::string expected = to_text(row.value);
        if (given != expected)
            return std::string(row.format->name) + " " + hex(row.code) + " gives " + given +
                   ", expected " + expected;
    }
    return Oracle::wrong_in_numbers();
}

inline std::string rounding_text(const ElementFormat& format, const Number& value,
                                 Rounding rounding, Overflow overflow) {
    return to_text(value) + " to " + std::string(format.name) + ", " +
           std::string(name_in(roundings, rounding)) + ", " +
           std::string(name_in(overflows, overflow));
}

template <typename Oracle>
std::string wrong_in_round() {
    const auto wrong = [](const ElementFormat& format, const Number& value, Rounding rounding,
                          Overflow overflow, RandomBits random, std::uint32_t expected) {
        const Code given = Oracle::rounded(format, rounding, overflow, value, random);
        if (given.bits == expected) return std::string();
        return difference(rounding_text(format, value, rounding, overflow), given.bits, expected);
    };
    for (const Rounded& row : at_run_time(rounded))
        for (std::size_t i = 0; i < rounding_columns.size(); ++i)
            if (std::string text = wrong(*row.format, row.value, at_run_time(rounding_columns)[i],
                                         Overflow::saturate, {}, row.codes[i]);
                !text.empty())
                return text;
    for (const RoundedOnce& row : at_run_time(rounded_once))
        if (std::string text =
                wrong(*row.format, row.value, row.rounding, Overflow::saturate, {}, row.code);
            !text.empty())
            return text;
    for (const Overflown& row : at_run_time(overflown))
        for (const Overflow overflow : {Overflow::saturate, Overflow::overflow})
            if (std::string text =
                    wrong(*row.format, row.value, row.rounding, overflow, {},
                          overflow == Overflow::saturate ? row.saturated : row.overflown);
                !text.empty())
                return text;
    for (const RandomlyRounded& row : at_run_time(randomly_rounded))
        if (std::string text = wrong(*row.format, row.value, Rounding::stochastic,
                                     Overflow::saturate, row.random, row.code);
            !text.empty())
            return text;
    return "";
}

template <typename Oracle>
std::string wrong_in_scale() {
    for (const Cast& row : at_run_time(casts)) {
        const Quantizer& dialect = *find_quantizer(row.dialect);
        for (std::size_t i = 0; i < cast_columns.size(); ++i) {
            const Code value{at_run_time(cast_columns)[i]};
            const std::uint32_t given = Oracle::cast(dialect, value).bits;
            if (given != static_cast<std::uint32_t>(row.bytes[i]))
                return difference("f32 " + hex(value.bits) + " by " + std::string(row.dialect),
                                  given, static_cast<std::uint32_t>(row.bytes[i]));
        }
    }
    return "";
}

// A scale and its elements.
using BlockCodes = std::array<std::uint32_t, 9>;

template <typename Oracle>
std::string wrong_in_block() {
    for (const Block& row : at_run_time(blocks)) {
        const BlockCodes given =
            Oracle::quantized(*find_quantizer(row.dialect), *find_block_format(row.format), row);
        const std::string place = std::string(row.format) + " by " + std::string(row.dialect) +
                                  " of " + hex(row.input[0]) + ": ";
        if (given[0] != row.scale) return difference(place + "the scale", given[0], row.scale);
        for (std::size_t i = 0; i < static_cast<std::size_t>(row.count); ++i)
            if (given[i + 1] != row.elements[i])
                return difference(place + "element " + std::to_string(i), given[i + 1],
                                  row.elements[i]);
    }
    for (const Dequantized& row : at_run_time(dequantized)) {
        const std::uint32_t given =
            Oracle::dequantized(*find_block_format(row.format), Code{row.scale}, Code{row.element})
                .bits;
        if (given != row.f32)
            return difference(
                std::string(row.format) + " " + hex(row.element) + " at scale " + hex(row.scale),
                given, row.f32);
    }
    return "";
}

inline ScaledRow scaled_row(const Dot& dot, const DotRow& row) {
    return {
        *dot.element, {row.codes.data(), 1, 1}, *dot.scale, {row.scales.data(), 1, 1}, dot.block};
}

template <typename Oracle>
std::string wrong_in_dot() {
    for (const Dot& row : at_run_time(dots)) {
        const ScaledRow a = scaled_row(row, row.a), b = scaled_row(row, row.b);
        const std::uint32_t given =
            row.model.empty()
                ? Oracle::dot(a, b, row.depth).bits
                : Oracle::accumulated(*find_gemm_model(row.model), a, b, row.depth, Code{row.c})
                      .bits;
        if (given != row.f32)
            return difference("row " + std::to_string(&row - dots.data()) + " of " +
                                  std::to_string(row.depth) + " products of " +
                                  std::string(row.element->name) +
                                  (row.model.empty() ? "" : " by " + std::string(row.model)),
                              given, row.f32);
    }
    return "";
}

// The first answer that is wrong, or "".
template <typename Oracle>
std::string first_wrong(Part part) {
    switch (part) {
        case Part::decode:
            return wrong_in_decode<Oracle>();
        case Part::round:
            return wrong_in_round<Oracle>();
        case Part::scale:
            return wrong_in_scale<Oracle>();
        case Part::block:
            return wrong_in_block<Oracle>();
        case Part::dot:
            return wrong_in_dot<Oracle>();
    }
    return "asked for a part that there is not";
}

}  // namespace mx::known
