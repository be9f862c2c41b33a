// The hypotheses under scales that have a mantissa: the number of the whole tensor, the scale next
// to a ratio, and what elements are multiplied by. See hypotheses.hpp.
#include <cctype>
#include <string>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/run/expected.hpp"
#include "reference/fast/round.hpp"

namespace mx::cause {
namespace {

using fast::BlockQuestion;
using fast::BlockScale;
using fast::Unpacked;
using Hypotheses = std::vector<Alteration>;

Unpacked inverse_of(const Unpacked& value) {
    return fast::quotient(fast::whole(1), value);
}

// As an entry that multiplies by it makes it, for one that divides by it, and the other way about.
void invert(const Problem& p, fast::TensorNumbers& numbers) {
    Quantizer other = *p.dialect;
    if (other.tensor_scale == TensorScale::history) {
        numbers.scale = inverse_of(numbers.scale);
        return;
    }
    other.tensor_scale = other.tensor_scale == TensorScale::encode ? TensorScale::decode_divided
                                                                   : TensorScale::encode;
    numbers = fast::tensor_numbers(other, *p.format, numbers.amax);
}

void add_tensor_numbers(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "number:inverted", "the number of the tensor is inverted").numbers =
        invert;
    add_hypothesis(hypotheses, "number:range_of_e4m3",
                   "the number of the tensor is made for elements up to 448")
        .numbers = [](const Problem& p, fast::TensorNumbers& numbers) {
        if (p.dialect->tensor_scale == TensorScale::history) return;
        BlockFormat format = *p.format;
        format.element_format = formats::e4m3;
        numbers = fast::tensor_numbers(*p.dialect, format, numbers.amax);
    };
    add_hypothesis(hypotheses, "number:not_in_scales",
                   "the scales of blocks are made as if the number of the tensor were 1")
        .number_in_ratios = [](const Unpacked&) { return fast::whole(1); };
    add_hypothesis(hypotheses, "number:twice_in_scales",
                   "the number of the tensor counts twice in the scales of blocks")
        .number_in_ratios = [](const Unpacked& number) { return fast::product(number, number); };
}

// The guards of a number that would be of no use, each alone.
void add_unguarded_numbers(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "number:of_zero_amax",
                   "the number of a tensor whose amax is 0 is the largest binary32, not 1")
        .numbers = [](const Problem& p, fast::TensorNumbers& numbers) {
        if (p.dialect->tensor_scale == TensorScale::encode && fast::is_zero(numbers.amax))
            numbers.scale = fast::largest_of(formats::f32);
    };
    add_hypothesis(hypotheses, "number:of_infinite_amax",
                   "the number of a tensor whose amax is infinite is 0, not 1")
        .numbers = [](const Problem& p, fast::TensorNumbers& numbers) {
        if (p.dialect->tensor_scale == TensorScale::encode &&
            numbers.amax.kind == fast::Kind::infinity)
            numbers.scale = fast::whole(0);
    };
    add_hypothesis(hypotheses, "number:of_subnormal_amax",
                   "a subnormal amax of the tensor counts as 0")
        .numbers = [](const Problem& p, fast::TensorNumbers& numbers) {
        if (p.dialect->tensor_scale != TensorScale::history &&
            fast::f32_code(numbers.amax) <= formats::f32.code_mantissa_mask())
            numbers = fast::tensor_numbers(*p.dialect, *p.format, fast::whole(0));
    };
}

void add_amax_before_rotation(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "tensor_amax:before_rotation",
                   "the amax of the tensor is that of the values before they are rotated")
        .amax_before_rotation = true;
}

// Blocks whose scale is 1, because their amax gives no other.
void add_unguarded_scales(const Quantizer& rules, Hypotheses& hypotheses) {
    if (rules.scale_ratio != ScaleRatio::max_over_amax || rules.useless_amax != UselessAmax::one)
        return;
    using IsSuch = bool (*)(const Unpacked& amax);
    const auto add = [&](std::string kind, std::string text, IsSuch is_such) {
        add_hypothesis(hypotheses, "unguarded:" + std::move(kind), std::move(text)).rules_of_block =
            [is_such](const Unpacked& amax, Quantizer& of_block) {
                if (is_such(amax)) of_block.useless_amax = UselessAmax::as_computed;
            };
    };
    add("zero_amax", "a block of zeros has no scale 1",
        [](const Unpacked& amax) { return fast::is_zero(amax); });
    add("infinite_amax", "a block whose amax is infinite has no scale 1",
        [](const Unpacked& amax) { return amax.kind == fast::Kind::infinity; });
    add("nan_amax", "a block whose amax is NaN has no scale 1",
        [](const Unpacked& amax) { return amax.kind == fast::Kind::nan; });
}

// Where two candidates for a scale are compared.
void add_comparisons(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "candidates:tie_to_four",
                   "of equal errors the scale of four wins, not that of six")
        .comparison = Comparison::ties_to_expanded;
    add_hypothesis(hypotheses, "candidates:signed_errors",
                   "the errors of four and six are summed with their signs")
        .comparison = Comparison::signed_errors;
    add_hypothesis(hypotheses, "candidates:unrounded_scales",
                   "the errors of four and six are those of scales that are not rounded")
        .comparison = Comparison::unrounded_scales;
}

// "an E4M3 scale", "a UE5M3 scale"
std::string one_scale_of(const ElementFormat& format) {
    std::string name(format.name);
    for (char& letter : name)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return (name.starts_with('E') ? "an " : "a ") + name + " scale";
}

// Of scales that are a ratio rounded to their format.
void add_rounded_scales(const ElementFormat& format, Hypotheses& hypotheses) {
    using enum Overflow;
    const auto add_scale = [&](const std::string& kind, std::string text, auto scale_of) {
        add_hypothesis(hypotheses, std::string(format.name) + "_scale:" + kind, std::move(text))
            .rounded_scale = scale_of;
    };
    const auto add_rounding = [&](const std::string& kind, const std::string& what,
                                  Rounding rounding, Overflow overflow) {
        add_scale(kind, one_scale_of(format) + what,
                  [format, rounding, overflow](const Unpacked& ratio) {
                      return fast::round(format, rounding, overflow, ratio);
                  });
    };
    add_rounding("toward_zero", " is rounded toward zero", Rounding::toward_zero, saturate);
    add_rounding("toward_positive", " is rounded up", Rounding::toward_positive, saturate);
    add_rounding("nearest_away", " that is a tie goes away from zero", Rounding::nearest_away,
                 saturate);
    add_rounding("overflow", " too large becomes NaN, not the largest", Rounding::nearest_even,
                 overflow);
    for (const ElementFormat* between : {&formats::bf16, &formats::f16})
        add_scale("through_" + std::string(between->name),
                  "what becomes " + one_scale_of(format) + " is rounded to " +
                      std::string(between->name) + " first",
                  [format, between](const Unpacked& ratio) {
                      const Code code =
                          fast::round(*between, Rounding::nearest_even, overflow, ratio);
                      return fast::round(format, Rounding::nearest_even, saturate,
                                         fast::unpack(*between, code));
                  });
}

// The binary32 value next to one, away from zero or toward it; the largest and 0 stay.
Unpacked stepped(const Unpacked& value, int step) {
    const std::uint32_t code = fast::f32_code(value);
    const bool may_step = value.kind == fast::Kind::finite && !fast::is_zero(value) &&
                          (step < 0 || code < formats::f32.code_max_finite());
    return may_step ? fast::unpack(formats::f32, Code{step > 0 ? code + 1 : code - 1}) : value;
}

// What an element is divided by: the scale, with the number of the tensor.
Unpacked divisor_of(const BlockQuestion& question, const BlockScale& scale) {
    const Unpacked& number = question.tensor.scale;
    switch (question.quantizer.inverse) {
        case Inverse::reciprocal_of_product:
            return fast::product(scale.scale, inverse_of(number));
        case Inverse::reciprocal_over_scale:
        case Inverse::divided_by_product:
            return fast::product(scale.scale, number);
        default:
            return scale.scale;
    }
}

void add_factors(Hypotheses& hypotheses) {
    const auto add_made = [&](std::string kind, std::string text, auto change) {
        add_hypothesis(hypotheses, "factor:" + std::move(kind), std::move(text)).made_scale =
            change;
    };
    for (const int step : {1, -1})
        add_made(step > 0 ? "ulp_up" : "ulp_down",
                 std::string("what elements are multiplied by is one ulp too ") +
                     (step > 0 ? "large" : "small"),
                 [step](const BlockQuestion&, BlockScale& scale) {
                     scale.factor = stepped(scale.factor, step);
                 });
    add_made("infinite", "the inverse of a scale of 0 is infinite, not the largest number",
             [](const BlockQuestion& question, BlockScale& scale) {
                 if (question.quantizer.inverse == Inverse::reciprocal_of_product)
                     scale.factor = inverse_of(divisor_of(question, scale));
             });
    add_made("not_rounded_between",
             "the scale over the number of the tensor is not rounded before it is inverted",
             [](const BlockQuestion& question, BlockScale& scale) {
                 const Unpacked inverse = inverse_of(question.tensor.scale);
                 const bool is_number = scale.scale.kind == fast::Kind::finite &&
                                        inverse.kind == fast::Kind::finite &&
                                        !fast::is_zero(scale.scale) && !fast::is_zero(inverse);
                 if (question.quantizer.inverse == Inverse::reciprocal_of_product && is_number)
                     scale.factor = fast::within_f32(
                         inverse_of({fast::Kind::finite, scale.scale.negative,
                                     scale.scale.exponent + inverse.exponent,
                                     scale.scale.significand * inverse.significand}));
             });
    add_made("stored", "what elements are multiplied by is stored as the scale",
             [](const BlockQuestion& question, BlockScale& scale) {
                 scale.stored = fast::round(question.format.scale(), Rounding::nearest_even,
                                            Overflow::overflow, scale.factor);
             });
    add_hypothesis(hypotheses, "divided",
                   "elements are divided by their scale, not multiplied by its inverse")
        .scaled_value = [](const BlockQuestion& question, const BlockScale& scale,
                           const Unpacked& value) {
        if (question.quantizer.stores_inverse() || question.quantizer.divides_lanes())
            return fast::scaled_lane(question.quantizer, scale, value);
        return fast::quotient(value, divisor_of(question, scale));
    };
}

// The scale as a maximum without the magnitude would have it.
void sign_scales(const Problem& p, const CodeTensor& values, CodeTensor& scales) {
    const ElementFormat& format = p.format->scale();
    for (std::size_t block = 0; block < scales.count(); ++block) {
        const BlockPlace place = place_of(blocking_of(p), static_cast<std::int64_t>(block));
        std::uint32_t largest = 0, largest_negative = 0;
        for (int lane = 0; lane < place.count; ++lane) {
            const Code code{values.at(place.element(lane))};
            if (p.type.is_nan(code)) continue;
            const std::uint32_t magnitude = p.type.magnitude(code);
            largest = std::max(largest, magnitude);
            if (p.type.is_negative(code)) largest_negative = std::max(largest_negative, magnitude);
        }
        if (largest != 0 && largest == largest_negative)
            scales.set(block, scales.at(block) | format.code_sign_mask());
    }
}

void add_signed_scale(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "scale_signed",
                   "a scale has the sign of the element that is the amax")
        .outputs = [](const Problem& asked, const Tensors& inputs, Tensors& outputs) {
        const std::span<const BlockAxis> axes = axes_of(asked);
        const std::size_t parts = outputs.size() / axes.size();
        for (std::size_t side = 0; side < axes.size(); ++side) {
            const Problem p = along(asked, axes[side]);
            CodeTensor rotated;
            sign_scales(p, transformed(p, inputs[0], rotated), outputs[side * parts + 1]);
        }
    };
}

// Values as they go into a rotation, in groups along its axis.
void add_rotation(Hypotheses& hypotheses) {
    constexpr int group = 16;
    for (int left_out = 0; left_out < group; ++left_out)
        add_hypothesis(
            hypotheses, "rotation_sign:" + std::to_string(left_out),
            "element " + std::to_string(left_out) + " of a group is rotated with the other sign")
            .inputs = [left_out](const Problem& p, Tensors& inputs) {
            const Blocking blocking = blocking_of(p);
            for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
                const BlockPlace place = place_of(blocking, block);
                for (int lane = left_out; lane < place.count; lane += group) {
                    const std::size_t at = place.element(lane);
                    inputs[0].set(at, inputs[0].at(at) ^ p.type.code_sign_mask());
                }
            }
        };
    for (const int step : {1, -1})
        add_hypothesis(hypotheses, std::string("rotated:") + (step > 0 ? "twice" : "half"),
                       std::string("rotated values are ") + (step > 0 ? "twice" : "half") +
                           " what they should be")
            .inputs = [step](const Problem& p, Tensors& inputs) {
            for (std::size_t at = 0; at < inputs[0].count(); ++at) {
                Unpacked value = fast::unpack(p.type, Code{inputs[0].at(at)});
                if (value.kind != fast::Kind::finite || fast::is_zero(value)) continue;
                value.exponent += step;
                inputs[0].set(
                    at,
                    fast::round(p.type, Rounding::nearest_even, Overflow::overflow, value).bits);
            }
        };
}

}  // namespace

void add_real_scale_steps(const Problem& p, Hypotheses& hypotheses) {
    if (p.operation != OperationKind::quantize || p.dialect == nullptr ||
        p.dialect->has_e8m0_scales())
        return;
    if (has_tensor_number(p)) {
        add_tensor_numbers(hypotheses);
        add_unguarded_numbers(hypotheses);
    }
    add_unguarded_scales(*p.dialect, hypotheses);
    if (p.dialect->candidate_error != CandidateError::none) add_comparisons(hypotheses);
    if (p.dialect->transform != LaneTransform::none && has_tensor_number(p) && !p.tensor_number)
        add_amax_before_rotation(hypotheses);
    const ElementFormat& scale = p.format->scale();
    if (scale != formats::f32) add_rounded_scales(scale, hypotheses);
    add_factors(hypotheses);
    add_signed_scale(hypotheses);
    if (p.dialect->transform != LaneTransform::none && p.axis != BlockAxis::both)
        add_rotation(hypotheses);
}

}  // namespace mx::cause
