// The switch of the faults that plant_faults.cpp writes into a copy of the oracles. Only that copy
// includes it; the oracles themselves have no such thing.
#pragma once

#include <type_traits>

namespace mx {

// Which fault is on: its number in planted_faults.txt, from 1, or none.
inline int planted_fault = 0;

constexpr bool planted(int fault) {
    return !std::is_constant_evaluated() && planted_fault == fault;
}

}  // namespace mx
