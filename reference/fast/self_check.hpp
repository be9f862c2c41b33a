// The fast oracle asked for answers typed by hand, in a running program: is this build of it, by
// this compiler with these flags, right? Whoever uses these headers may ask once before the first
// answer. What is asked has been
// Proved by reference/proof/prove_round.cpp, prove_scale.cpp, prove_block.cpp and prove_dot.cpp;
// but a proof is of one build.
#pragma once

#include <cstdint>
#include <string>

#include "reference/fast/block.hpp"
#include "reference/fast/dot.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/spec/self_check.hpp"

namespace mx::fast {

// What self_check.hpp of spec/ calls.
struct CheckedOracle {
    static std::string decoded(const ElementFormat& format, Code code) {
        const Unpacked value = unpack(format, code);
        known::Number number{known::Number::Kind::finite, value.negative, value.significand,
                             value.exponent};
        if (value.kind == Kind::nan) number.kind = known::Number::Kind::nan;
        if (value.kind == Kind::infinity) number.kind = known::Number::Kind::infinity;
        return known::to_text(number);
    }
    static std::string wrong_in_numbers() { return ""; }

    static Code rounded(const ElementFormat& format, Rounding rounding, Overflow overflow,
                        const known::Number& number, RandomBits random) {
        Unpacked value{Kind::finite, number.negative, number.exponent, number.units};
        if (number.kind == known::Number::Kind::nan) value.kind = Kind::nan;
        if (number.kind == known::Number::Kind::infinity) value.kind = Kind::infinity;
        return round(format, rounding, overflow, value, random);
    }

    static Code cast(const Quantizer& quantizer, Code f32) {
        return cast_to_scale(quantizer.scale_cast, unpack(formats::f32, f32));
    }

    static known::BlockCodes quantized(const Quantizer& quantizer, const BlockFormat& format,
                                       const known::Block& block) {
        std::uint8_t elements[8] = {};
        known::BlockCodes codes{quantize_block(quantizer, format, formats::f32, block.input.data(),
                                               block.count, elements)
                                    .bits};
        for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i)
            codes[i + 1] = elements[i];
        return codes;
    }

    static Code dequantized(const BlockFormat& format, Code scale, Code element) {
        return dequantize(format, formats::f32, scale, element);
    }

    static Code dot(const ScaledRow& a, const ScaledRow& b, std::int64_t depth) {
        return round_total(formats::f32, Rounding::nearest_even, Overflow::overflow,
                           fast::dot(a, b, depth));
    }

    static Code accumulated(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                            std::int64_t depth, Code c) {
        return round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                     accumulate(model, a, b, depth, unpack(formats::f32, c)));
    }
};

// "" if all is right, otherwise the first wrong answer: what was asked, given and expected.
inline std::string self_check(known::Part part) {
    return known::first_wrong<CheckedOracle>(part);
}
inline std::string self_check() {
    for (const known::Part part : known::parts)
        if (std::string wrong = self_check(part); !wrong.empty()) return wrong;
    return "";
}

}  // namespace mx::fast
