// A row of the quantizer table with one decision changed, for the test that mutates rows.
#pragma once

#include <string>
#include <vector>

#include "reference/spec/quantizer.hpp"

namespace mx {

struct Mutant {
    std::string change;  // "overflow=overflow": the fields that differ from the row's
    Quantizer row;
};

// Every other value of every field that both oracles take beside the row's others. Decisions that
// the row leaves open are not changed: a device may have any value there.
std::vector<Mutant> mutants_of(const Quantizer& row);

}  // namespace mx
