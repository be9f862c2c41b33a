// The hypotheses of the way back: a code or a scale read as something else, and values rounded
// otherwise. See hypotheses.hpp.
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/fast/round.hpp"

namespace mx::cause {
namespace {

using fast::Kind;
using fast::Unpacked;

Unpacked read(const ElementFormat& format, Code code) {
    return fast::unpack(format, code);
}

// How a device reads and rounds; each step that is set takes the place of the right one.
struct Reading {
    std::function<Unpacked(const ElementFormat& format, Code code)> element = read;
    std::function<Unpacked(const ElementFormat& format, Code code)> scale = read;
    std::function<std::int64_t(const Problem& p, std::int64_t block)> scale_place =
        [](const Problem&, std::int64_t block) { return block; };
    Rounding rounding = Rounding::nearest_even;
    Overflow overflow = Overflow::overflow;
};

// Under scales that are powers of two.
void read_again(const Reading& reading, const Problem& p, const Tensors& inputs,
                CodeTensor& values) {
    const Blocking blocking = blocking_of(p);
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        const std::int64_t from = reading.scale_place(p, block);
        const Unpacked factor =
            reading.scale(p.format->scale(), Code{inputs[1].at(static_cast<std::size_t>(from))});
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.element(lane);
            Unpacked value = reading.element(p.format->element(), Code{inputs[0].at(element)});
            if (factor.kind == Kind::nan || value.kind == Kind::nan)
                value = {Kind::nan, false, 0, 0};
            else if (factor.kind == Kind::infinity)
                value.kind = fast::is_zero(value) ? Kind::nan : Kind::infinity;
            else if (factor.significand == 0)
                value = {Kind::finite, value.negative, 0, 0};
            value.exponent += factor.exponent;
            const Overflow overflow =  // an infinity is not too large, it is one
                value.kind == Kind::infinity ? Overflow::overflow : reading.overflow;
            values.set(element, fast::round(p.type, reading.rounding, overflow, value).bits);
        }
    }
}

void add(std::vector<Alteration>& hypotheses, std::string kind, std::string text, Reading reading) {
    Alteration& alteration = add_hypothesis(hypotheses, "read:" + std::move(kind), std::move(text));
    alteration.outputs = [reading = std::move(reading)](const Problem& p, const Tensors& inputs,
                                                        Tensors& outputs) {
        read_again(reading, p, inputs, outputs[0]);
    };
}

// In which the bits of a NaN are a number.
ElementFormat without_specials(ElementFormat format) {
    format.specials = Specials::none;
    return format;
}
Unpacked as_number(const ElementFormat& format, Code code) {
    return fast::unpack(format.is_nan(code) ? without_specials(format) : format, code);
}

void add_elements(std::vector<Alteration>& hypotheses) {
    Reading reading;
    reading.element = [](const ElementFormat& format, Code code) {
        return fast::unpack(format, Code{code.bits & format.code_magnitude_mask()});
    };
    add(hypotheses, "sign_lost", "the sign of an element is not read", reading);
    reading.element = [](const ElementFormat& format, Code code) {
        if (format.negatives == Negatives::sign_bit) return fast::unpack(format, code);
        Unpacked value = fast::unpack(format, Code{1});
        value.significand *= code.bits;
        return value;
    };
    add(hypotheses, "integer_unsigned", "integers are read without a sign", reading);
    reading.element = [](const ElementFormat& format, Code code) {
        const bool is_lowest =
            format.negatives != Negatives::sign_bit && code.bits == format.code_sign_mask();
        return is_lowest ? Unpacked{} : fast::unpack(format, code);
    };
    add(hypotheses, "lowest_integer_as_zero", "the lowest integer is read as zero", reading);
    reading.element = as_number;
    add(hypotheses, "nan_as_number", "the NaN code of an element is read as a number", reading);
    reading.element = [](const ElementFormat& format, Code code) {
        Unpacked value = fast::unpack(format, code);
        if (value.kind == Kind::infinity) value.kind = Kind::nan;
        return value;
    };
    add(hypotheses, "infinity_as_nan", "an infinite element is read as NaN", reading);
    reading.element = [](const ElementFormat& format, Code code) {
        const Unpacked value = fast::unpack(format, code);
        return format.is_subnormal(code) ? Unpacked{Kind::finite, value.negative, 0, 0} : value;
    };
    add(hypotheses, "subnormal_as_zero", "subnormal elements are read as zero", reading);
}

std::int64_t place_exchanged(const Problem& p, std::int64_t block) {
    const BlockGrid grid = block_grid(p);
    const std::int64_t row = block / grid.block_columns, column = block % grid.block_columns;
    return column * grid.block_rows + row;
}

std::int64_t place_of_pair(const Problem& p, std::int64_t block) {
    const BlockGrid grid = block_grid(p);
    const std::int64_t row = block / grid.block_columns, column = block % grid.block_columns;
    if (p.axis == BlockAxis::col) return row / 2 * grid.block_columns + column;
    if (p.axis == BlockAxis::tile) return row / 2 * grid.block_columns + column / 2;
    return row * grid.block_columns + column / 2;
}

void add_scales(std::vector<Alteration>& hypotheses) {
    Reading reading;
    reading.scale = [](const ElementFormat& format, Code code) {
        return code.bits == 0 ? Unpacked{} : fast::unpack(format, code);
    };
    add(hypotheses, "scale_0_as_zero", "scale 0 is read as the number 0", reading);
    reading.scale = [](const ElementFormat& format, Code code) {
        return format.is_nan(code) ? Unpacked{Kind::infinity, false, 0, 0}
                                   : fast::unpack(format, code);
    };
    add(hypotheses, "nan_scale_as_infinity", "scale 255 is read as infinity", reading);
    reading.scale = as_number;
    add(hypotheses, "nan_scale_as_number", "scale 255 is read as 2^128", reading);
    reading.scale = read;
    reading.scale_place = place_exchanged;
    add(hypotheses, "scales_exchanged", "scales are read with rows and columns exchanged", reading);
    reading.scale_place = place_of_pair;
    add(hypotheses, "blocks_twice_as_long", "scales are read as if blocks were twice as long",
        reading);
}

// Under scales with a mantissa: through binary32, by the rules of the entry.
using FormatChange = std::function<void(BlockFormat& format)>;
using ScalePlace = std::function<std::int64_t(const Problem& p, std::int64_t block)>;
struct RealReading {
    std::string kind, text;
    FormatChange change = [](BlockFormat&) {};
    ScalePlace scale_place = [](const Problem&, std::int64_t block) { return block; };
};

void read_real_again(const RealReading& reading, const Problem& p, const Tensors& inputs,
                     CodeTensor& values) {
    BlockFormat format = *p.format;
    reading.change(format);
    const fast::DequantizeQuestion question{
        *p.dialect, format, p.type, fast::unpack(formats::f32, Code{p.tensor_number.value_or(0)})};
    const Blocking blocking = blocking_of(p);
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        const auto from = static_cast<std::size_t>(reading.scale_place(p, block));
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.element(lane);
            values.set(element, fast::dequantize(question, {Code{inputs[1].at(from)},
                                                            Code{inputs[0].at(element)}})
                                    .bits);
        }
    }
}

void add_real_scales_read(std::vector<Alteration>& hypotheses) {
    const auto add_reading = [&](RealReading reading) {
        Alteration& alteration = add_hypothesis(hypotheses, "read:" + reading.kind, reading.text);
        alteration.outputs = [reading = std::move(reading)](const Problem& p, const Tensors& inputs,
                                                            Tensors& outputs) {
            read_real_again(reading, p, inputs, outputs[0]);
        };
    };
    add_reading({"nan_scale_as_number", "the NaN code of a scale is read as a number",
                 [](BlockFormat& format) {
                     if (format.scale() == formats::e4m3)
                         format.scale_format = without_specials(format.scale());
                 }});
    add_reading(
        {"nan_as_number", "the NaN code of an element is read as a number",
         [](BlockFormat& format) { format.element_format = without_specials(format.element()); }});
    add_reading({.kind = "scales_exchanged",
                 .text = "scales are read with rows and columns exchanged",
                 .scale_place = place_exchanged});
    add_reading({.kind = "blocks_twice_as_long",
                 .text = "scales are read as if blocks were twice as long",
                 .scale_place = place_of_pair});
}

}  // namespace

void add_values_read_otherwise(const Problem& p, std::vector<Alteration>& hypotheses) {
    if (p.format == nullptr) return;
    if (!p.format->has_e8m0_scales()) return add_real_scales_read(hypotheses);
    add_elements(hypotheses);
    add_scales(hypotheses);
    for (const auto& [name, rounding] : roundings) {
        if (rounding == Rounding::nearest_even || rounding == Rounding::stochastic) continue;
        Reading reading;
        reading.rounding = rounding;
        add(hypotheses, "rounding_" + std::string(name), "values are rounded " + std::string(name),
            reading);
    }
    Reading saturating;
    saturating.overflow = Overflow::saturate;
    add(hypotheses, "saturated", "values too large become the largest", saturating);
}

}  // namespace mx::cause
