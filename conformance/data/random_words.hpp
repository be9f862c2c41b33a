// The random bits of stochastic roundings: random ones, and among them those on both sides of where
// a value changes its code. With 32 bits no random word ever meets that place.
#pragma once

#include "conformance/data/inputs.hpp"

namespace mx {

// `words` has the shape that the case's rounding asks for, and serves `values`.
void fill_random_words(const Case& c, const CodeTensor& values, CodeTensor& words);

}  // namespace mx
