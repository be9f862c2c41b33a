// See number_text.hpp.
#include "conformance/emulate/number_text.hpp"

#include "reference/base/hex.hpp"

namespace mx::emulate {
std::string hex_code(const ElementFormat& format, Code code) {
    return "0x" + hex(code.bits, (format.code_bits() + 3) / 4);
}

std::string exact_text(const exact::Value& value) {
    if (!value.is_finite() || value.magnitude == 0) return exact::to_text(value);
    return (value.negative ? "-" : "") + exact::to_short_fraction(value.magnitude);
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
