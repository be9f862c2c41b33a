// See self_check.hpp.
#include "reference/exact/self_check.hpp"

#include "reference/exact/block.hpp"
#include "reference/exact/dot.hpp"
#include "reference/exact/dot_model.hpp"

namespace mx::exact {
namespace {

// Powers of two as fractions in full, of both signs.
struct Power {
    int exponent;
    const char* text;
};
constexpr std::array powers{
    Power{-149, "1/713623846352979940529142984724747568191373312"},
    Power{-127, "1/170141183460469231731687303715884105728"},
    Power{-64, "1/18446744073709551616"},
    Power{-9, "1/512"},
    Power{-1, "1/2"},
    Power{0, "1"},
    Power{1, "2"},
    Power{9, "512"},
    Power{64, "18446744073709551616"},
    Power{127, "170141183460469231731687303715884105728"},
};

std::string text_of(const Rational& magnitude) {
    // A power of two in a denominator is written with a minus; anything else stays a fraction.
    const Integer above = numerator(magnitude), below = denominator(magnitude);
    if (above == 0) return "0";
    const auto zeros_above = static_cast<int>(lsb(above));
    const auto zeros_below = static_cast<int>(lsb(below));
    if (static_cast<int>(msb(below)) != zeros_below) return to_fraction(magnitude);
    return Integer(above >> static_cast<unsigned>(zeros_above)).str() + "*2^" +
           std::to_string(zeros_above - zeros_below);
}

Value value_of(const known::Number& number) {
    Value value{Value::Kind::finite, number.negative,
                times_power_of_two(Integer(number.units), number.exponent)};
    if (number.kind == known::Number::Kind::nan) value.kind = Value::Kind::nan;
    if (number.kind == known::Number::Kind::infinity) value.kind = Value::Kind::infinity;
    return value;
}

Code f32_of(const Value& value) {
    return round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
}

struct CheckedOracle {
    static std::string decoded(const ElementFormat& format, Code code) {
        const Value value = decode(format, code);
        if (value.is_nan()) return "nan";
        const std::string sign = value.negative ? "-" : "";
        return sign + (value.is_infinity() ? "inf" : text_of(value.magnitude));
    }

    static std::string wrong_in_numbers() {
        for (const Power& row : known::at_run_time(powers)) {
            const Rational power = power_of_two(row.exponent);
            const std::string asked = "2^" + std::to_string(row.exponent);
            if (to_fraction(power) != row.text)
                return asked + " gives " + to_fraction(power) + ", expected " + row.text;
            if (floor_log2(power) != row.exponent)
                return "floor_log2 of " + asked + " gives " + std::to_string(floor_log2(power));
        }
        if (to_decimal(Rational(-29, 16)) != "-1.8125")
            return "-29/16 gives " + to_decimal(Rational(-29, 16)) + ", expected -1.8125";
        return "";
    }

    static Code rounded(const ElementFormat& format, Rounding rounding, Overflow overflow,
                        const known::Number& number, RandomBits random) {
        return round(format, rounding, overflow, value_of(number), random);
    }

    static Code cast(const Quantizer& quantizer, Code f32) {
        return cast_to_scale(quantizer.scale_cast, decode(formats::f32, f32));
    }

    static known::BlockCodes quantized(const Quantizer& quantizer, const BlockFormat& format,
                                       const known::Block& block) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i)
            values.push_back(read_input(quantizer.subnormals, formats::f32, Code{block.input[i]}));
        const exact::Block result = quantize_block(quantizer, format, values);
        known::BlockCodes codes{result.scale.bits};
        for (std::size_t i = 0; i < result.elements.size(); ++i)
            codes[i + 1] = result.elements[i].bits;
        return codes;
    }

    static Code dequantized(const BlockFormat& format, Code scale, Code element) {
        return dequantize(format, formats::f32, scale, element);
    }

    static Code dot(const ScaledRow& a, const ScaledRow& b, std::int64_t depth) {
        return f32_of(exact::dot(a, b, depth));
    }

    static Code accumulated(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                            std::int64_t depth, Code c) {
        return f32_of(accumulate(model, a, b, depth, decode(formats::f32, c)));
    }
};

}  // namespace

std::string self_check(known::Part part) {
    return known::first_wrong<CheckedOracle>(part);
}

}  // namespace mx::exact
