// Is what a device made of a rotated block one of the answers that its row leaves open: the order
// in which a matrix unit adds, or what a NaN or an infinity does to the amax? What there is to
// choose from, reference/exact/rotated_range.hpp says. And the element under whatever scale a
// device chose. Used by site.cpp and open_decision.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/run/site.hpp"
#include "reference/fast/quantize.hpp"

namespace mx {

// The element that a lane becomes under a stored scale with a mantissa, whoever chose that.
Code element_under(const fast::BlockQuestion& question, Code stored, const fast::Unpacked& lane,
                   RandomBits random);

// The numbers of a tensor for the fast oracle: binary32 values.
fast::TensorNumbers numbers_for_fast(const exact::TensorNumbers& tensor);

// Whole groups of 16 lanes, rotated.
std::vector<exact::LaneRange> rotated_ranges(const Case& c, std::span<const Code> lanes);

// The decisions by which a tensor of such lanes comes to have this amax; 0 where none gives it.
std::uint32_t amax_decisions(const Quantizer& row, std::span<const exact::LaneRange> ranges,
                             const exact::Value& amax);

// The decisions, of those that the row leaves open, by which the device's scale and, of an element,
// its code come about; 0 where no choice gives these bits. Of a site in a block of a quantizer that
// rotates.
std::uint32_t rotated_decisions(const Case& c, const Site& site, const Difference& difference);

}  // namespace mx
