// Which single thing gone wrong makes exactly the outputs that a device gave? "k 37 is not
// counted", "block 2 of A takes the scale of block 3", "rows 3 and 5 of D have changed places".
// Used by the judge of GEMMs; blames nobody.
#pragma once

#include <string>
#include <vector>

#include "conformance/run/gemm_trust.hpp"

namespace mx {

struct GemmAnswer {
    const gemm::ProblemView& problem;
    const CodeTensor& expected;
    const CodeTensor& actual;
    std::vector<std::size_t> differing;  // elements, in order, none of them unwritten
};

// "" where nothing that is known explains every output that was looked at.
std::string explanation_of(const GemmAnswer& answer);

// Outputs that were never written: whole batches or rows; "" where they are neither.
std::string unwritten_text(const gemm::ProblemView& problem,
                           const std::vector<std::size_t>& unwritten);

}  // namespace mx
