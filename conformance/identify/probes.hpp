// The blocks worth asking: where hypotheses part, and where devices have been seen to part. Every
// pool is asked of the oracle or written down here; which of its blocks are asked, identify.cpp
// decides. Used by identify.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/identify/subject.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::identify {

using Pool = std::vector<Lanes>;

// The block of one amax among zeros.
Lanes block_of_amax(std::uint32_t code);

// Ordinary amaxes on both sides of every border between scales, under every hypothesis, in binades
// near one and far from it.
Pool ordinary_amaxes(const Setting& setting, std::span<const Quantizer> hypotheses);
// The same from zero up to where ratios are ordinary, and from there up to the largest value.
Pool tiny_amaxes(const Setting& setting, std::span<const Quantizer> hypotheses);
Pool huge_amaxes(const Setting& setting, std::span<const Quantizer> hypotheses);

// NaN and Inf of both signs among larger and smaller values, and alone.
Pool special_blocks(const Setting& setting);

// Ties of both signs and their neighbours, zeros, values that underflow or overflow, subnormals of
// the input and of the element, and blocks whose scale is byte 0; `known` gives the scales.
Pool element_blocks(const Setting& setting, const Quantizer& known);

// Blocks that nothing was learnt from: the amax in every lane, random values, neighbours unlike
// each other. What is believed about the device must predict them.
Pool unseen_blocks(const Setting& setting);

}  // namespace mx::identify
