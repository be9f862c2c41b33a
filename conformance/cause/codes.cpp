// The hypotheses of codes on their way in and out: inputs read as other values or from elsewhere,
// elements written as other codes. See hypotheses.hpp.
#include <algorithm>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "reference/fast/f32_arithmetic.hpp"
#include "reference/fast/round.hpp"

namespace mx::cause {
namespace {

using fast::Unpacked;
using Hypotheses = std::vector<Alteration>;

// The outputs that hold elements or values, and what each of their codes becomes.
using CodeOf = std::function<Code(const ElementFormat& format, Code code)>;
void map_elements(const Problem& p, Tensors& outputs, const CodeOf& code_of) {
    const std::vector<Part> parts = outputs_of(p);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Part part = parts[i % parts.size()];
        if (part != Part::elements && part != Part::values) continue;
        const ElementFormat& format = part == Part::values ? p.type : element_format_of(p);
        for (std::size_t at = 0; at < outputs[i].count(); ++at)
            outputs[i].set(at, code_of(format, Code{outputs[i].at(at)}).bits);
    }
}

void add_code_changes(const Problem& p, Hypotheses& hypotheses) {
    const auto add_map = [&](std::string kind, std::string text, CodeOf code_of) {
        add_hypothesis(hypotheses, "code:" + std::move(kind), std::move(text)).outputs =
            [code_of = std::move(code_of)](const Problem& p, const Tensors&, Tensors& outputs) {
                map_elements(p, outputs, code_of);
            };
    };
    add_map("zero_unsigned", "zeros lose their sign", [](const ElementFormat& format, Code code) {
        return format.is_zero(code) ? format.positive(0) : code;
    });
    add_map("sign_lost", "elements lose their sign", [](const ElementFormat& format, Code code) {
        return format.is_nan(code) ? code : format.positive(format.magnitude(code));
    });
    // Of a table's entry this is a decision, nan_code.
    if (p.dialect == nullptr)
        add_map("nan_as_zero", "a NaN becomes zero", [](const ElementFormat& format, Code code) {
            return format.is_nan(code) ? format.positive(0) : code;
        });
    add_map("subnormal_as_zero",
            p.operation == OperationKind::dequantize ? "what is subnormal becomes zero"
                                                     : "subnormal elements become zero",
            [](const ElementFormat& format, Code code) {
                if (!format.is_subnormal(code)) return code;
                return format.is_negative(code) ? format.negative(0) : format.positive(0);
            });
    add_map("infinity_as_largest", "an infinity becomes the largest number",
            [](const ElementFormat& format, Code code) {
                if (!format.is_infinity(code)) return code;
                return format.is_negative(code) ? format.negative(format.code_max_finite())
                                                : format.positive(format.code_max_finite());
            });
}

// The same of codes that are made of values.
void add_written_codes(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "code:top_binade_unused", "elements end one binade too early")
        .value = [](const ElementFormat& format, const Unpacked& value) {
        if (format.exponent_bits == 0 || value.kind == fast::Kind::nan) return value;
        Unpacked largest = fast::unpack(
            format, Code{(format.code_max_finite() & ~format.code_mantissa_mask()) - 1});
        largest.negative = value.negative;
        const bool is_within =
            value.kind == fast::Kind::finite && !fast::is_larger_magnitude(value, largest);
        return is_within ? value : largest;
    };
    // Zero too has a sign then, that of the value.
    add_hypothesis(hypotheses, "code:sign_and_magnitude",
                   "negative integers are written as sign and magnitude")
        .outputs = [](const Problem& p, const Tensors& inputs, Tensors& outputs) {
        const ElementFormat& format = element_format_of(p);
        if (format.negatives == Negatives::sign_bit) return;
        const CodeTensor& values = inputs[0];
        for_each_side(p, outputs, [&](const Problem&, std::span<CodeTensor> side) {
            for (std::size_t at = 0; at < side[0].count(); ++at) {
                const Code code{side[0].at(at)};
                const bool is_negative =
                    format.is_negative(code) ||
                    (format.is_zero(code) && p.type.is_negative(Code{values.at(at)}));
                if (is_negative)
                    side[0].set(at, (format.magnitude(code) & format.code_magnitude_mask()) |
                                        format.code_sign_mask());
            }
        });
    };
}

// What a kernel reads that takes rows further apart for dense ones: the gaps too.
void read_as_dense(const Problem& p, std::size_t input, Tensors& inputs) {
    for (const Buffer& buffer : input_buffers(p)) {
        if (buffer.tensor != input || !is_strided(buffer.spec)) continue;
        CodeTensor& tensor = inputs[input];
        const CodeTensor right = tensor;
        const std::int64_t step = buffer.spec.row_stride;
        if (step <= tensor.columns || buffer.spec.column_stride != 1) continue;
        for (std::size_t i = 0; i < tensor.count(); ++i)
            tensor.set(i, value_or_gap(p, right, step, static_cast<std::int64_t>(i)));
    }
}

void add_shifted_inputs(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "input:element_before", "an element is made of the value before it")
        .inputs = [](const Problem&, Tensors& inputs) {
        const CodeTensor right = inputs[0];
        for (std::size_t at = 0; at < right.count(); ++at)
            if (at % static_cast<std::size_t>(right.columns) != 0)
                inputs[0].set(at, right.at(at - 1));
    };
    add_hypothesis(hypotheses, "input:element_after", "an element is made of the value after it")
        .inputs = [](const Problem&, Tensors& inputs) {
        const CodeTensor right = inputs[0];
        for (std::size_t at = 0; at + 1 < right.count(); ++at)
            if ((at + 1) % static_cast<std::size_t>(right.columns) != 0)
                inputs[0].set(at, right.at(at + 1));
    };
}

// Values read as other values, before anything else.
void add_values_read(Hypotheses& hypotheses) {
    const auto add_map = [&](std::string kind, std::string text, CodeOf code_of) {
        add_hypothesis(hypotheses, "input:" + std::move(kind), std::move(text)).inputs =
            [code_of = std::move(code_of)](const Problem& asked, Tensors& inputs) {
                for (std::size_t at = 0; at < inputs[0].count(); ++at)
                    inputs[0].set(at, code_of(asked.type, Code{inputs[0].at(at)}).bits);
            };
    };
    for (const ElementFormat* format : {&formats::bf16, &formats::f16})
        add_map("through_" + std::string(format->name),
                "values are rounded to " + std::string(format->name) + " first",
                [format](const ElementFormat& type, Code code) {
                    const Unpacked value = fast::unpack(type, code);
                    if (value.kind != fast::Kind::finite) return code;
                    return fast::round(type, Rounding::nearest_even, Overflow::overflow,
                                       fast::rounded_in(*format, value));
                });
    add_map("below_f32_normal_as_zero", "inputs below 2^-126 count as zero", flushed_as_f32);
    // The hidden bit of a normal number, at the exponent of its field or at that of the field 0.
    add_map("subnormal_with_hidden_bit",
            "a subnormal input is read as if it were normal, with a leading one",
            [](const ElementFormat& format, Code code) {
                return format.is_subnormal(code)
                           ? Code{code.bits | std::uint32_t{1} << format.mantissa_bits}
                           : code;
            });
    add_map("subnormal_with_field_0",
            "a subnormal input is read as a normal number whose exponent field is 0",
            [](const ElementFormat& format, Code code) {
                if (!format.is_subnormal(code)) return code;
                const std::uint32_t mantissa = code.bits & format.code_mantissa_mask();
                const std::uint32_t hidden = std::uint32_t{1} << (format.mantissa_bits - 1);
                return Code{(code.bits & ~format.code_mantissa_mask()) | hidden | mantissa >> 1 |
                            (mantissa & 1)};
            });
    add_map("nan_cut_to_bf16", "a NaN is cut to its upper 16 bits",
            [](const ElementFormat& format, Code code) {
                const bool is_wide = format == formats::f32 && format.is_nan(code);
                return is_wide ? Code{code.bits & 0xFFFF0000u} : code;
            });
    add_map("nan_as_zero", "a NaN counts as zero", [](const ElementFormat& format, Code code) {
        return format.is_nan(code) ? Code{0} : code;
    });
    add_map("subnormal_as_plus_zero", "subnormal inputs count as +0",
            [](const ElementFormat& format, Code code) {
                return format.is_subnormal(code) ? Code{0} : code;
            });
}

void add_input_changes(const Problem& p, Hypotheses& hypotheses) {
    const std::vector<Part> parts = inputs_of(p);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_random = parts[i] == Part::random_bits;
        add_hypothesis(hypotheses, "dense:" + std::to_string(i),
                       std::string(is_random ? "random words" : "inputs") +
                           " are read as if their rows had no gaps")
            .inputs = [i](const Problem& asked, Tensors& inputs) {
            read_as_dense(asked, i, inputs);
        };
    }
    if (parts.empty() || parts[0] != Part::values) return;
    add_shifted_inputs(hypotheses);
    add_values_read(hypotheses);
}

}  // namespace

Code flushed_as_f32(const ElementFormat& type, Code code) {
    const bool is_tiny =
        type.exponent_bits == formats::f32.exponent_bits && type.is_subnormal(code);
    return is_tiny ? Code{code.bits & type.code_sign_mask()} : code;
}

std::uint32_t value_or_gap(const Problem& p, const CodeTensor& values, std::int64_t row_stride,
                           std::int64_t place) {
    constexpr std::uint32_t gap_byte = 0x7B;
    const std::int64_t row = place / row_stride, column = place % row_stride;
    if (column < values.columns)
        return values.at(static_cast<std::size_t>(row * values.columns + column));
    std::uint32_t gap = 0;
    for (int byte = 0; byte < values.width; ++byte)
        gap |= (p.layout == RowLayout::padded ? gap_byte : 0u) << (8 * byte);
    return gap;
}

void add_tensor_transformations(const Problem& p, Hypotheses& hypotheses) {
    add_code_changes(p, hypotheses);
    const bool writes_elements = p.operation == OperationKind::quantize ||
                                 (p.operation == OperationKind::convert && !casts_to_scale(p));
    if (writes_elements) add_written_codes(hypotheses);
    add_output_places(p, hypotheses);
    add_input_changes(p, hypotheses);
}

}  // namespace mx::cause
