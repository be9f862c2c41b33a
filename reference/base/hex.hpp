// A number in hexadecimal, in lower case and without a prefix. Used wherever codes are printed.
#pragma once

#include <cstdint>
#include <string>

namespace mx {

// The lowest `digits` of the number: "007f" in four.
inline std::string hex(std::uint64_t number, int digits) {
    std::string text;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        text += "0123456789abcdef"[number >> shift & 15];
    return text;
}

// As many digits as the number needs: "7f".
inline std::string hex(std::uint64_t number) {
    int digits = 1;
    while (digits < 16 && number >> (4 * digits) != 0) ++digits;
    return hex(number, digits);
}

}  // namespace mx
