// One value at a time, as convert does it: to an element by the rules of the case, or to a scale by
// the dialect's cast. Used by the families and by the expected bits.
#pragma once

#include "reference/fast/block.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

class Converter {
public:
    explicit Converter(const Problem& p)
        : rules_(rules_of(p)),
          input_(p.type),
          output_(element_format_of(p)),
          casts_(casts_to_scale(p)) {}

    // The same, every tie a border: what stands in for a rounding that hangs on random bits.
    static Converter without_randomness(const Problem& p) {
        Converter converter(p);
        if (converter.rules_.element_rounding == Rounding::stochastic)
            converter.rules_.element_rounding = Rounding::nearest_even;
        return converter;
    }

    Code operator()(Code code, RandomBits random = {}) const {
        const fast::Unpacked value = fast::read_input(rules_.subnormals, input_, code);
        if (casts_) return fast::cast_to_scale(rules_.scale_cast, value);
        return fast::round_element(rules_, output_, value, random);
    }

private:
    Quantizer rules_;
    ElementFormat input_;
    ElementFormat output_;
    bool casts_;
};

}  // namespace mx
