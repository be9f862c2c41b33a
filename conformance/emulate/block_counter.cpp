// See block_counter.hpp.
#include "conformance/emulate/block_counter.hpp"

#include "reference/fast/block.hpp"

namespace mx::emulate {
namespace {

// Is the magnitude in units, which no range has cut, larger than the other?
bool is_larger(const fast::Units& units, const fast::Unpacked& most) {
    const int top = fast::bit_width(units.count) + units.quantum;
    const int most_top = fast::bit_width(most.significand) + most.exponent;
    if (top != most_top) return top > most_top;
    const int shift = units.quantum - most.exponent;
    return shift > 0 ? units.count << shift > most.significand
                     : units.count > most.significand << -shift;
}

}  // namespace

void BlockCounter::add_scale(Code scale) {
    ++counts_.blocks;
    if (format_.scale().is_nan(scale)) ++counts_.nan_scales;
}

void BlockCounter::add_element(Code scale, const fast::Unpacked& lane, Code element) {
    const ElementFormat& format = format_.element();
    ++counts_.elements;
    const bool was_zero = lane.kind == fast::Kind::finite && lane.significand == 0;
    if (format.is_zero(element) && !was_zero) ++counts_.flushed;
    if (format.magnitude(element) < format.code_max_finite()) return;
    if (is_beyond(fast::scaled(rules_, format_, scale, lane))) ++counts_.saturated;
}

bool BlockCounter::is_beyond(const fast::Unpacked& scaled) const {
    const ElementFormat& format = format_.element();
    if (scaled.kind != fast::Kind::finite) return scaled.kind == fast::Kind::infinity;
    if (scaled.significand == 0) return false;
    const Code most = scaled.negative ? format.negative(format.code_max_finite_negative())
                                      : format.positive(format.code_max_finite());
    return is_larger(fast::round_to_units(format, rules_.element_rounding, scaled),
                     fast::unpack(format, most));
}

}  // namespace mx::emulate
