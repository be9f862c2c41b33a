// tanh.approx.f32 of an NVIDIA GPU, which spec/tanh_approx.hpp describes, in fractions.
#pragma once

#include "reference/exact/decode.hpp"

namespace mx::exact {

// Of a number of binary32, and one itself. NaN is positive.
Value tanh_approx(const Value& x);

// From code to code, as the instruction.
Code tanh_approx(Code code);

}  // namespace mx::exact
