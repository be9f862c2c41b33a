// All probes, asked at once, and what a device refuses of them. Used by gemm_identify.cpp and
// gemm_search.cpp.
#pragma once

#include <string>
#include <vector>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_probes.hpp"
#include "conformance/identify/gemm_subject.hpp"

namespace mx::identify {

inline constexpr GemmShape probe_shape{128, 128, 512};

GemmAnswers paired(GemmProbes probes, const std::vector<Code>& bits);

// The answers to all probes. What else than sums the device may refuse is left out, and a sentence
// about it added to the refusals. As error: it refuses the plainest, or fails.
Expected<GemmAnswers> ask_all_probes(GemmSubject& subject, std::vector<std::string>& refusals);

// Nothing is done to the sum, as far as what is asked goes: no C, alpha of 1, and no scales but
// those that are a matter of the accumulator.
bool is_sum(const GemmProblem& setting, const GemmProbe& probe);
GemmAnswers sums_of(const GemmProblem& setting, const GemmAnswers& answers);

}  // namespace mx::identify
