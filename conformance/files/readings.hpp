// Other ways to read the bytes of two tensors that differ: nibbles the other way round, scales in
// another order, a transposed tensor, a number of the tensor that is inverted or left out. Used by
// diff, which tries them; judges nothing itself.
#pragma once

#include <string>
#include <vector>

#include "conformance/files/compare.hpp"

namespace mx::files {

struct OtherReading {
    Reading a, b;
    int changes = 0;
    std::string
        cause;  // what would then be so: "B has the nibbles of each byte the other way round"
};

// Every combination that both tensors' bytes are enough for, those with few changes first. Without
// what is read as it stands.
std::vector<OtherReading> other_readings(const Reading& a, const Reading& b);

// Numbers of the whole tensor that are the same, or each the other's inverse, are left out of both
// sides: true of the second case.
bool cancel_numbers(Reading& a, Reading& b);

}  // namespace mx::files
