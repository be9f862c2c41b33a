// Layouts by walking: every byte of a buffer in storage order, and what it holds. Nothing is
// computed from a formula; proof/prove_pack.cpp compares fast/pack.hpp with this.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/spec/element_format.hpp"
#include "reference/spec/layouts.hpp"

namespace mx::exact {

// One entry for each byte of the buffer in storage order: the scale it holds, or nothing for a pad.
std::vector<std::optional<GridPlace>> walk(const ScaleLayout& layout, GridShape shape);

// The codes of one row as bytes, bit after bit; the bits after the last code are 0.
std::vector<std::uint8_t> pack(CodeStream stream, const std::vector<Code>& codes);

// The first `count` codes of such bytes.
std::vector<Code> unpack(CodeStream stream, const std::vector<std::uint8_t>& bytes,
                         std::size_t count);

// A row of codes with inline scales: `block_size` codes, zeros where the row has ended, then the
// scale; one scale a block.
struct InlineRow {
    CodeStream stream;
    int block_size = 32;
    std::vector<Code> codes = {};
    std::vector<Code> scales = {};
};
std::vector<std::uint8_t> pack_inline(const InlineRow& row);

}  // namespace mx::exact
