// How explanations spell numbers: codes in hex, exact values as fractions and decimals. Used by the
// files of this room; knows nothing of dialects or blocks.
#pragma once

#include <string>

#include "reference/exact/decode.hpp"

namespace mx::emulate {

// "0x7b", with as many digits as the format has bits.
std::string hex_code(const ElementFormat& format, Code code);

// "358", "-29/16", or "16777215 * 2^-172" where the fraction would be long; "inf", "-nan", "-0".
std::string exact_text(const exact::Value& value);

// "29/16 = 1.8125"; once where both would be the same.
std::string exact_and_decimal(const exact::Value& value);

// A finite value without sign.
exact::Value positive(exact::Rational magnitude);

}  // namespace mx::emulate
