// Which single thing gone wrong makes exactly the outputs that a device gave? "k 37 is not
// counted", "block 2 of A takes the scale of block 3", "rows 3 and 5 of D have changed places".
// Used by the judge of GEMMs; blames nobody.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/run/gemm_hypotheses.hpp"
#include "conformance/run/gemm_trust.hpp"

namespace mx {

struct GemmAnswer {
    const Problem& p;
    const gemm::ProblemView& problem;
    const CodeTensor& expected;
    const CodeTensor& actual;
    std::vector<std::size_t> differing;  // elements, in order, none of them unwritten
};

// All that explain every output that was looked at, the likeliest first: of all outputs alike; of
// lines of D, one k, one block or one length only where none of those does.
std::vector<std::string> explanations_of(const GemmAnswer& answer);

// Would a device that does it give other outputs than the expected ones? Some of them are looked
// at. Nothing where the problem cannot be got wrong so.
class GemmChanges {
public:
    // Looks into all three, which must live on.
    GemmChanges(const Problem& p, const gemm::ProblemView& problem, const CodeTensor& expected);
    std::optional<bool> by(const std::string& what) const;

private:
    const gemm::ProblemView& problem_;
    const CodeTensor& expected_;
    GemmHypotheses general_;
};

// Outputs that were never written: whole batches or rows; "" where they are neither.
std::string unwritten_text(const gemm::ProblemView& problem,
                           const std::vector<std::size_t>& unwritten);

}  // namespace mx
