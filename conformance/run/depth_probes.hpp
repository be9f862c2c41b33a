// Questions along K that go with a case under model=bounded: the same product of data whose sums
// are exact in any order, so that a k that is dropped, a scale that is wrong and a mantissa that is
// short show bit for bit, where random data only have a bound. Asks nobody.
#pragma once

#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/results/record.hpp"
#include "conformance/run/evidence.hpp"

namespace mx {

// For a case without a named row under a bound; none for others. Together they have a product at
// every k, as long as a few of them can.
std::vector<Case> depth_probes(const Case& c);

// Whether probes that passed show what the bound of the case does not: every gross fault that
// would have passed there, and that every output has a bound.
bool probes_show_the_rest(const Evidence& bounded, const std::vector<Case>& passed);

// What the record of a case says when one of its probes found the device wrong.
void take_fault_of_probe(const results::CaseResult& probe, results::CaseResult& result);

}  // namespace mx
