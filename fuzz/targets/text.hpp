// What the targets that read text share: the bytes as text, and what an error must be. Used by the
// fuzz targets.
#pragma once

#include <cstdint>
#include <string_view>

#include "fuzz/targets/round_trip.hpp"

namespace mx::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// A sentence, and one that does not break the line it is printed on.
inline void require_sentence(const Error& error) {
    require("an error says something", !error.message.empty());
}

}  // namespace mx::fuzz
