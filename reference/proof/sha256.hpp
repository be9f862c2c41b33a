// SHA-256 (FIPS 180-4), for digests that anyone can recompute. Not fast; used on short texts.
#pragma once

#include <string>
#include <string_view>

namespace mx {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace mx
