// What the properties draw from. Every bit pattern is drawn at RapidCheck's nominal size: at its
// default, growing size the upper bits of an integer are never set. Knows no property.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/data/host_tensor.hpp"
#include "reference/spec/formats.hpp"

namespace mx::fuzz {

template <typename T>
rc::Gen<T> any_bits() {
    return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<T>());
}

inline std::vector<std::byte> draw_bytes(std::size_t count) {
    const auto values =
        *rc::gen::container<std::vector<std::uint8_t>>(count, any_bits<std::uint8_t>());
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

// Printable, with everything a header must escape or could trip over.
inline rc::Gen<std::string> any_text() {
    return rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("abcxyz019_.-/ \"\\'{}[](),:\n\t\x01\x7F")));
}

// A sound tensor of at most a few hundred elements; every fourth dimension is 0 or 1.
inline data::HostTensor draw_tensor(std::string name, const data::TensorType& type) {
    data::HostTensor tensor{std::move(name), std::string(type.id), {}, {}};
    const int rank = *rc::gen::inRange(0, 5);
    for (int axis = 0; axis < rank; ++axis)
        tensor.shape.push_back(*rc::gen::weightedElement<std::int64_t>(
            {{1, 0}, {2, 1}, {3, 2}, {3, 3}, {2, 5}, {1, 12}}));
    const auto size = data::byte_count(type, tensor.shape);
    RC_PRE(size.ok());  // sub-byte types must fill whole bytes
    tensor.bytes = draw_bytes(size.value());
    return tensor;
}

// A code of a format: any of them, and as often one whose mantissa has few bits set, for ties lie
// there.
inline Code draw_code(const ElementFormat& format) {
    const std::uint32_t mask = format.code_sign_mask() | format.code_magnitude_mask();
    const auto code = *any_bits<std::uint32_t>() & mask;
    const auto cut = *rc::gen::inRange(0, format.mantissa_bits + 1);
    return Code{*rc::gen::inRange(0, 2) == 0 ? code : code >> cut << cut};
}

// The same among finite values, within `binades` of the value 1.
inline Code draw_finite(const ElementFormat& format, int binades) {
    const Code code = draw_code(format);
    const int bias = format.exponent_bias;
    const auto field = static_cast<std::uint32_t>(
        *rc::gen::inRange(std::max(bias - binades, 0), std::min(bias + binades, 2 * bias)));
    return Code{(code.bits & (format.code_sign_mask() | format.code_mantissa_mask())) |
                field << format.mantissa_bits};
}

}  // namespace mx::fuzz
