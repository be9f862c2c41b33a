// D of a GEMM in blocks along its rows, with scales of their own: what becomes of the
// results of a block. With model=any blocks are made of exact results, which are rounded nowhere
// before; under a model, of the binary32 numbers that its epilogue gives. Used by who judges a
// GEMM and who confirms it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/gemm/oracle.hpp"

namespace mx::gemm {

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
std::int64_t output_block_count(const ProblemView& problem);
OutputBlockPlace output_block(const ProblemView& problem, std::int64_t block);
// That of an output, and an output's lane in it.
std::int64_t output_block_of(const ProblemView& problem, const OutputPlace& place);
std::size_t lane_in_output_block(const ProblemView& problem, const OutputPlace& place);

// All of D, in the order of its scales.
std::vector<OutputBlock> expected_blocks(const ProblemView& problem);

// What the source of D's dialect or recipe does not say, and this block of binary32 numbers meets;
// "" where there is nothing.
std::string open_decision_of(const OutputBlocks& blocks, std::span<const Code> numbers, Code scale);
// The same of a zero whose sign it does not say.
std::string open_sign_of_zero(const OutputBlocks& blocks);

// May what is open make NaN of this block? No reading does where all are numbers that scales reach.
bool may_become_nan(const OutputBlocks& blocks, std::span<const Code> numbers);

// By the fast oracle: the element of a number where the device chose this scale for its block;
// nothing of NaN, Inf, and of a scale that is NaN or 0.
struct ScaledNumber {
    Code scale;
    Code number;  // binary32
};
std::optional<Code> element_under(const OutputBlocks& blocks, const ScaledNumber& scaled);

// By the fast oracle, of binary32 numbers.
OutputBlock block_of_numbers(const ProblemView& problem, std::span<const Code> numbers);

}  // namespace mx::gemm
