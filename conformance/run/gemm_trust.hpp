// Could the data of a GEMM case have shown that something is wrong? Used by the judge of GEMMs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "conformance/run/gemm_wrong.hpp"
#include "reference/gemm/output_blocks.hpp"

namespace mx {

// Are these codes of D as good as the same? Where no model is named, any NaN is as good as another,
// and so are both zeros: a sum that cancels has a sign by its order.
bool is_as_good(const gemm::ProblemView& problem, Code expected, Code actual);

// Whether a code would be taken as right, for an element of D.
using Accepts = std::function<bool(std::size_t element, Code code)>;

// "" where the expected outputs tell every way to go wrong that the case has from the right one,
// and a named model from its neighbours; where there are only bounds, what is gross. Else the first
// that they do not tell, as a sentence.
std::string untold_by(const gemm::ProblemView& problem, const CodeTensor& expected,
                      const Accepts& accepts);

// Of what is gross, all that the expected outputs do not tell.
std::vector<const WrongGemm*> gross_untold_by(const gemm::ProblemView& problem,
                                              const CodeTensor& expected, const Accepts& accepts);

// The same of D in blocks, whose numbers lose most of their bits when they become elements: told
// must be what is gross, and one scale from its neighbour.
using AcceptsBlock = std::function<bool(std::int64_t block, const gemm::OutputBlock& made)>;
std::string untold_by_blocks(const gemm::ProblemView& problem, const CodeTensor& scales,
                             const AcceptsBlock& accepts);

}  // namespace mx
