// The shared scale of a block from its amax, on exact values: OCP MX v1.0 section 6.3, with every
// freedom it leaves filled in by the quantizer.
#pragma once

#include "reference/exact/round.hpp"
#include "reference/spec/formats.hpp"

namespace mx::exact {

// A scale with the steps that led to it.
struct ScaleSteps {
    Value amax;
    Value shortened;           // the amax that the ratio is taken of
    Value argument;            // the ratio that becomes a power of two
    int byte = 0;              // of a positive finite argument, before the limits of the quantizer
    bool overflowed = false;   // a finite ratio above the largest byte of the quantizer
    bool underflowed = false;  // the ratio was positive but below 2^-127
    Code code;
};

// `amax` is not negative.
ScaleSteps scale_steps(const Quantizer& quantizer, const BlockFormat& format, const Value& amax);
Code encode_scale(const Quantizer& quantizer, const BlockFormat& format, const Value& amax);

// Any value as an E8M0 byte, the way a quantizer casts its ratio.
Code cast_to_scale(const ScaleCast& cast, const Value& value);

}  // namespace mx::exact
