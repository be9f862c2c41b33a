// The inputs of a case that a fuzzer made up. Used by the targets that read cases; judges nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "fuzz/targets/text.hpp"

namespace mx::fuzz {

// Nothing for a case too large to be made thousands of times a second, for one whose data cannot
// be opened, and for one that names a file: a fuzzer must not read what lies on the machine.
inline std::optional<std::vector<CodeTensor>> small_inputs(const Case& c) {
    constexpr std::int64_t side_max = 256;
    if (is_file(c) || is_gemm(c)) return std::nullopt;
    if (c.rows > side_max || c.columns > side_max) return std::nullopt;
    Sources sources;
    const auto source = sources.open(c);
    if (!source) {
        require_sentence(source.error());
        return std::nullopt;
    }
    return make_inputs(c, *source.value());
}

}  // namespace mx::fuzz
