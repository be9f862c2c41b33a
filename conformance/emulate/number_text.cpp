// See number_text.hpp.
#include "conformance/emulate/number_text.hpp"

#include "reference/base/hex.hpp"
#include "reference/spec/assert.hpp"

namespace mx::emulate {
namespace {

// The widest fraction a column of an explanation has room for.
constexpr std::size_t fraction_width_max = 25;

// odd * 2^exponent. The magnitude is not zero.
std::string odd_times_power(const exact::Rational& magnitude) {
    exact::Integer odd = numerator(magnitude);
    const exact::Integer below = denominator(magnitude);
    const int twos = static_cast<int>(lsb(odd));
    odd >>= twos;
    const int exponent = twos - static_cast<int>(msb(below));
    MX_ASSERT(lsb(below) == msb(below));  // a power of two
    const std::string power = "2^" + std::to_string(exponent);
    return odd == 1 ? power : odd.str() + " * " + power;
}

}  // namespace

std::string hex_code(const ElementFormat& format, Code code) {
    return "0x" + hex(code.bits, (format.code_bits() + 3) / 4);
}

std::string exact_text(const exact::Value& value) {
    if (!value.is_finite() || value.magnitude == 0) return exact::to_text(value);
    std::string text = exact::to_fraction(value.magnitude);
    if (text.size() > fraction_width_max) text = odd_times_power(value.magnitude);
    return (value.negative ? "-" : "") + text;
}

std::string exact_and_decimal(const exact::Value& value) {
    const std::string fraction = exact_text(value);
    const std::string decimal = exact::to_text(value);
    return fraction == decimal ? fraction : fraction + " = " + decimal;
}

exact::Value positive(exact::Rational magnitude) {
    return {exact::Value::Kind::finite, false, std::move(magnitude)};
}

}  // namespace mx::emulate
