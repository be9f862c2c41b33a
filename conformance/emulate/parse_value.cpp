// See parse_value.hpp.
#include "conformance/emulate/parse_value.hpp"

#include <charconv>
#include <optional>

#include "conformance/case/case.hpp"
#include "conformance/data/host_tensor.hpp"
#include "conformance/emulate/number_text.hpp"
#include "reference/exact/round.hpp"

namespace mx::emulate {
namespace {

using exact::Integer;
using exact::Rational;
using exact::Value;

// Far beyond every input type, near enough to be computed at once.
constexpr std::size_t text_length_max = 400;
constexpr int exponent_max = 5000;
constexpr std::string_view bits_prefix = "bits:";

Error bad(std::string_view text, const std::string& what) {
    return bad_input("value " + data::in_quotes(text) + " " + what);
}

constexpr std::string_view known_forms =
    "is not a number; write 2.8, 1e-3, 0x1.8p3, nan, -nan, inf, -inf or bits:0x3f800000";

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return result;
}

struct Radix {
    int digits;          // 10 or 16
    char exponent_mark;  // what opens the exponent
    int exponent_base;   // what the exponent is a power of
};

std::optional<int> digit_of(char letter, const Radix& radix) {
    int digit = 16;
    if (letter >= '0' && letter <= '9') digit = letter - '0';
    if (letter >= 'a' && letter <= 'f') digit = letter - 'a' + 10;
    return digit < radix.digits ? std::optional(digit) : std::nullopt;
}

Rational power(int base, int exponent) {
    const Integer power =
        pow(Integer(base), static_cast<unsigned>(exponent < 0 ? -exponent : exponent));
    return exponent < 0 ? Rational(Integer(1), power) : Rational(power);
}

// Digits with at most one point, then an optional exponent; nothing before and nothing after.
std::optional<Rational> magnitude_of(std::string_view text, const Radix& radix) {
    Integer digits = 0;
    int count = 0, after_point = 0;
    bool point = false;
    std::size_t at = 0;
    for (; at < text.size() && text[at] != radix.exponent_mark; ++at) {
        if (text[at] == '.' && !point) {
            point = true;
            continue;
        }
        const std::optional<int> digit = digit_of(text[at], radix);
        if (!digit) return std::nullopt;
        digits = digits * radix.digits + *digit;
        ++count;
        if (point) ++after_point;
    }
    if (count == 0) return std::nullopt;
    int exponent = 0;
    if (at < text.size()) {
        std::string_view rest = text.substr(at + 1);
        if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
        if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
        if (exponent > exponent_max || exponent < -exponent_max) return std::nullopt;
    }
    return Rational(digits) * power(radix.digits, -after_point) *
           power(radix.exponent_base, exponent);
}

Expected<ParsedValue> parse_bits(const ElementFormat& format, std::string_view text) {
    std::string_view digits = text.substr(bits_prefix.size());
    if (!digits.starts_with("0x")) return bad(text, "must spell its bits in hex, as bits:0x3f80");
    digits.remove_prefix(2);
    std::uint64_t bits = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    if (digits.empty() || error == std::errc::invalid_argument ||
        end != digits.data() + digits.size())
        return bad(text, "must spell its bits in hex, as bits:0x3f80");
    if (error != std::errc{} || bits >> format.code_bits() != 0)
        return bad(text, "has more than the " + std::to_string(format.code_bits()) + " bits of " +
                             std::string(format.name));
    return ParsedValue{Code{static_cast<std::uint32_t>(bits)}, ""};
}

// IEEE 754's quiet NaN without a payload, as processors make it: of the mantissa only the top bit.
Code quiet_nan(const ElementFormat& format, bool is_negative) {
    const std::uint32_t magnitude =
        format.has_infinity() ? format.code_infinity() | (format.code_mantissa_mask() + 1) >> 1
                              : format.code_nan();
    return is_negative ? format.negative(magnitude) : format.positive(magnitude);
}

// What became of a finite value that the type does not hold.
std::string note_of(const ElementFormat& format, std::string_view text, const Value& value,
                    Code code) {
    const Value rounded = exact::decode(format, code);
    const std::string type(format.name), given(text.size() > 40 ? "the number" : text);
    if (rounded.is_infinity())
        return given + " is beyond the largest " + type + ": it became " + exact::to_text(rounded);
    if (rounded.magnitude == value.magnitude) return "";
    const Rational error = abs(rounded.magnitude - value.magnitude);
    return given + " is no " + type + " value: nearest even gives " + hex_code(format, code) +
           " = " + exact::to_text(rounded) + ", off by " + exact::to_decimal(error, 3);
}

}  // namespace

Expected<ParsedValue> parse_value(const ElementFormat& format, std::string_view text) {
    if (text.size() > text_length_max)
        return bad(text.substr(0, 20), "is too long: at most " + std::to_string(text_length_max) +
                                           " characters are read");
    const std::string lowered = lower(text);
    std::string_view rest = lowered;
    if (rest.starts_with(bits_prefix)) return parse_bits(format, rest);
    Value value;
    value.negative = rest.starts_with('-');
    if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
    if (rest == "nan") return ParsedValue{quiet_nan(format, value.negative), ""};
    if (rest == "inf" || rest == "infinity") {
        value.kind = Value::Kind::infinity;
    } else {
        const bool is_hex = rest.starts_with("0x");
        const auto magnitude =
            is_hex ? magnitude_of(rest.substr(2), {16, 'p', 2}) : magnitude_of(rest, {10, 'e', 10});
        if (!magnitude) return bad(text, std::string(known_forms));
        value.magnitude = *magnitude;
    }
    const Code code = exact::round(format, Rounding::nearest_even, Overflow::overflow, value);
    return ParsedValue{code, value.is_finite() ? note_of(format, text, value, code) : ""};
}

Expected<std::vector<ParsedValue>> parse_values(const ElementFormat& format,
                                                std::string_view text) {
    std::vector<ParsedValue> values;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        std::string_view word = text.substr(start, comma - start);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        if (values.size() == static_cast<std::size_t>(block_size))
            return bad_input("more than " + std::to_string(block_size) +
                             " values: explain takes one block");
        auto value = parse_value(format, word);
        if (!value) return value.error();
        values.push_back(std::move(value).value());
        start = comma + 1;
    }
    return values;
}

}  // namespace mx::emulate
