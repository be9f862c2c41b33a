// As gemm_explain.hpp, of a D in blocks with scales of its own: what goes wrong in the sums goes
// wrong in the numbers that blocks are made of, and some goes wrong in the blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "conformance/run/gemm_hypotheses.hpp"
#include "reference/gemm/output_blocks.hpp"

namespace mx {

// D as elements and scales.
struct BlocksOfD {
    const CodeTensor& elements;
    const CodeTensor& scales;
};

struct GemmBlockHypothesis {
    std::string what;
    std::function<gemm::OutputBlock(std::int64_t block)> predict;
};

// Look into the problem, which must live on.
class GemmBlockExplainer {
public:
    GemmBlockExplainer(const Problem& p, const gemm::ProblemView& problem, BlocksOfD expected);
    GemmBlockExplainer(const GemmBlockExplainer&) = delete;
    GemmBlockExplainer& operator=(const GemmBlockExplainer&) = delete;

    // All that explain every block that was looked at: some of those that differ, and some that do
    // not.
    std::vector<std::string> explanations_of(BlocksOfD actual) const;
    // As GemmChanges.
    std::optional<bool> changed_by(const std::string& what) const;

private:
    using Blocks = std::vector<std::int64_t>;
    bool is_that_of(const BlocksOfD& d, std::int64_t block, const gemm::OutputBlock& made) const;
    bool predicts(const GemmBlockHypothesis& hypothesis, const BlocksOfD& d,
                  const Blocks& blocks) const;
    void add_numbers(const Problem& p);
    void add_blocks(const Problem& p);
    gemm::OutputBlock right_block(std::int64_t block) const;
    // As a device makes it that does not round the scale to nearest.
    gemm::OutputBlock block_under_cut_scale(std::int64_t block) const;
    std::vector<Code> numbers_of(std::int64_t block, const PredictOutput& number) const;

    const gemm::ProblemView& problem_;
    BlocksOfD expected_;
    std::vector<GemmBlockHypothesis> hypotheses_;
};

}  // namespace mx
