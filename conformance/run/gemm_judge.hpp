// What the bits of a GEMM's output are worth: compared, confirmed by the exact oracle, explained.
// One case at a time; used by the runner, which adds what concerns memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/gemm_wrong.hpp"

namespace mx {

struct GemmJudgement {
    std::uint64_t compared = 0, compared_scales = 0;
    std::uint64_t differing = 0, differing_scales = 0;
    std::vector<results::Mismatch> mismatches;  // the largest first, without repro lines
    std::string disagreement;                   // of the two oracles, "" if none was seen
    // What each makes all outputs that were looked at (gemm_explain.hpp), and how many differing
    // ones were: none where their right bits are not known one by one.
    std::vector<std::string> explanations;
    std::optional<std::uint64_t> looked_at;
    // Of a case without mismatches, and why.
    results::Verdict verdict = results::Verdict::pass_exact;
    std::string reason;
    std::optional<double> bound_share;  // the largest that is finite, where outputs have bounds
};

// Asks the exact oracle about the first `confirmed_max` differences, and the first of each kind.
GemmJudgement judge_gemm(const Evidence& evidence, std::uint64_t confirmed_max);

// Of a case under a bound: the gross faults that would have passed; nothing where an output has no
// bound.
std::optional<std::vector<const WrongGemm*>> gross_faults_untold(const Evidence& evidence);

// D as the problem says, and its scales where it lies in blocks.
std::vector<CodeTensor> expect_gemm(const Problem& p, const std::vector<CodeTensor>& inputs);

// Why the bits of expect_gemm are not the only right ones: a bound is asked for, or, where no model
// is named, some output hangs on the order of its sum. "" where they are.
std::string without_right_bits(const Problem& p, const std::vector<CodeTensor>& inputs);

}  // namespace mx
