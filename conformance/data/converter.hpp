// One value at a time, as convert does it: to an element by the rules of the case, or to a scale by
// the dialect's cast. Used by the families and by the expected bits.
#pragma once

#include "conformance/case/rules.hpp"
#include "reference/fast/block.hpp"

namespace mx {

class Converter {
public:
    explicit Converter(const Case& c)
        : rules_(rules_of(c)),
          input_(value_format_of(c)),
          output_(element_format_of(c)),
          casts_(casts_to_scale(c)) {}

    // The same, every tie a border: what stands in for a rounding that hangs on random bits.
    static Converter without_randomness(const Case& c) {
        Converter converter(c);
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
