// What an answer's bits are worth: compared with the expected ones, confirmed, classified, and a
// verdict. Whoever has expected and actual bits asks here; must not ask a device.
#pragma once

#include <cstdint>

#include "conformance/results/record.hpp"
#include "conformance/run/evidence.hpp"

namespace mx {

// Differences of one case that the exact oracle is asked about.
inline constexpr std::uint64_t confirmed_max = 4096;

struct Effort {
    std::uint64_t confirmed_max = mx::confirmed_max;
    std::uint64_t heat_runs_max = mx::confirmed_max;
};

// True for verdicts that only the device can cause. Insufficient data, a case nobody tested or a
// disagreement between the oracles is our own fault.
bool blames_device(results::Verdict verdict);

// What an answer of that kind is, before its bits are looked at.
results::Verdict verdict_of(AnswerKind kind);

// What the differences of a case come to; pass_exact where there are none.
results::Verdict verdict_of_mismatches(const results::CaseResult& result);

// Of evidence whose answer is there: fills in all that hangs on bits, and leaves repro lines empty.
void judge_bits(const Evidence& evidence, const Effort& effort, results::CaseResult& result);

}  // namespace mx
