// Rows of a GEMM made of lists of codes, for proofs and tests.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/gemm.hpp"

namespace mx {

struct CodeRow {
    ElementFormat element;
    std::vector<std::uint32_t> codes;
    ElementFormat scale = formats::e8m0;
    std::vector<std::uint32_t> scales = {};
    std::int64_t block = 0;

    std::int64_t depth() const { return static_cast<std::int64_t>(codes.size()); }
    // Points into this row. Words of four bytes lie as the machine has them: little-endian.
    ScaledRow row() const {
        const auto view = [](const std::vector<std::uint32_t>& words) {
            return CodeView{reinterpret_cast<const std::uint8_t*>(words.data()), 4, 1};
        };
        return {element, view(codes), scale, view(scales), block};
    }
};

}  // namespace mx
