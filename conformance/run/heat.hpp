// Where the mismatches of a case are: by input and by lane, as the report draws them. Filled by the
// classifier, one difference at a time. Must not know what kind of mismatch it counts.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/results/record.hpp"
#include "conformance/run/evidence.hpp"
#include "reference/spec/formats.hpp"

namespace mx {

// The bfloat16 that the leading bits of a value make: cut off, not rounded, so that the values of
// one binade stay in it.
std::uint32_t leading_bfloat16(const ElementFormat& format, Code code);

class Heat {
public:
    // `lane` of 32.
    void add(std::uint32_t bfloat16, std::size_t lane);
    void add(const Heat& other);
    void write(results::CaseResult& result, std::size_t runs_max) const;

private:
    std::vector<std::uint64_t> inputs_, lanes_;  // empty until the first mismatch
};

// Counts the scale bytes of both sides, where the case has any.
void count_scales(const Evidence& evidence, results::CaseResult& result);

}  // namespace mx
