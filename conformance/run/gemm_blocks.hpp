// D of a GEMM in blocks along its rows, with scales of their own: what both oracles make of the
// results of a block. With model=any blocks are made of exact results, which are rounded nowhere
// before; under a model, of the binary32 numbers that its epilogue gives. Used by the judge of
// GEMMs and its trust.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/run/gemm_oracle.hpp"

namespace mx {

struct OutputBlock {
    Code scale{};
    std::vector<Code> elements;
};

// The outputs of a block; the last one of a row may have fewer than the others.
struct OutputBlockPlace {
    OutputPlace first;
    std::int64_t count = 0;

    OutputPlace lane(std::int64_t index) const { return {first.row, first.column + index}; }
};

// The blocks of D in the order of their scales.
std::int64_t output_block_count(const GemmRules& rules);
OutputBlockPlace output_block(const GemmRules& rules, std::int64_t block);
// That of an output, and an output's lane in it.
std::int64_t output_block_of(const GemmRules& rules, const OutputPlace& place);
std::size_t lane_in_output_block(const GemmRules& rules, const OutputPlace& place);

OutputBlock expected_block(const GemmRules& rules, const GemmOperands& operands,
                           const OutputBlockPlace& place);
OutputBlock confirmed_block(const GemmRules& rules, const GemmOperands& operands,
                            const OutputBlockPlace& place);

// By the fast oracle, of binary32 numbers.
OutputBlock block_of_numbers(const GemmRules& rules, std::span<const Code> numbers);

}  // namespace mx
