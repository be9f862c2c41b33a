// See alteration.hpp.
#include "conformance/cause/alteration.hpp"

#include <algorithm>
#include <bit>

#include "conformance/data/converter.hpp"
#include "conformance/data/tensor_number.hpp"
#include "conformance/run/expected.hpp"

namespace mx::cause {
namespace {

using Alterations = std::span<const Alteration* const>;

template <typename Step>
bool any_has(Alterations alterations, Step Alteration::*step) {
    return std::ranges::any_of(alterations,
                               [&](const Alteration* each) { return bool(each->*step); });
}

Comparison comparison_of(Alterations alterations) {
    for (const Alteration* each : alterations)
        if (each->comparison != Comparison::as_asked) return each->comparison;
    return Comparison::as_asked;
}

// As fast::error_with, of errors that keep their signs.
fast::Unpacked signed_error_with(const fast::BlockQuestion& question, const fast::Unpacked& error,
                                 const fast::BlockScale& scale, const fast::Unpacked& lane) {
    const fast::Unpacked size = fast::error_with(question, fast::whole(0), scale, lane);
    const fast::Unpacked back =
        fast::unpack(question.format.element(), fast::quantize_lane(question, scale, lane));
    const fast::Unpacked value =
        fast::quotient(fast::product(fast::product(back, scale.scale), question.tensor.amax),
                       fast::range_of_tensor(question.quantizer, question.format.element()));
    fast::Unpacked signed_size = size;
    signed_size.negative =
        std::bit_cast<float>(fast::f32_code(value)) < std::bit_cast<float>(fast::f32_code(lane));
    return fast::sum(error, signed_size);
}

// Is a step from an amax to a scale with a mantissa altered?
bool makes_real_scales(Alterations alterations) {
    return any_has(alterations, &Alteration::number_in_ratios) ||
           any_has(alterations, &Alteration::rounded_scale) ||
           any_has(alterations, &Alteration::made_scale) ||
           comparison_of(alterations) != Comparison::as_asked;
}

// Is a step within a block altered, so that the block has to be gone through here?
bool goes_inside(Alterations alterations) {
    return any_has(alterations, &Alteration::tensor_values) ||
           any_has(alterations, &Alteration::amax_before_rotation) ||
           any_has(alterations, &Alteration::rules_of_block) ||
           any_has(alterations, &Alteration::amax_lanes) ||
           any_has(alterations, &Alteration::amax) ||
           any_has(alterations, &Alteration::scale_byte) ||
           any_has(alterations, &Alteration::scales) ||
           any_has(alterations, &Alteration::scale_format) ||
           any_has(alterations, &Alteration::element_format) ||
           any_has(alterations, &Alteration::element_rules) ||
           any_has(alterations, &Alteration::value) || any_has(alterations, &Alteration::random) ||
           any_has(alterations, &Alteration::numbers) || makes_real_scales(alterations) ||
           any_has(alterations, &Alteration::scaled_value);
}

bool rounds_to_nearest(ScaleRule rule) {
    return rule == ScaleRule::nearest || rule == ScaleRule::best_of_two;
}

// What fast::scale_value rounds.
fast::Unpacked before_rounding(ScaleRule rule, const fast::Unpacked& ratio,
                               fast::Candidate candidate) {
    if (rule == ScaleRule::best_of_two && candidate == fast::Candidate::maps_to_two_thirds)
        return fast::product(ratio, {fast::Kind::finite, false, -1, 3});
    return ratio;
}

// One problem along one axis, with the right steps and the altered ones.
class AlteredSteps {
public:
    AlteredSteps(Alterations alterations, const Problem& p)
        : alterations_(alterations), p_(p), rules_(rules_of(p)), without_rotation_(rules_) {
        without_rotation_.transform = LaneTransform::none;
        scale_format_ = element_format_ = p.format;
        for (const Alteration* each : alterations) {
            if (each->scale_format != nullptr) scale_format_ = each->scale_format;
            if (each->element_format != nullptr) element_format_ = each->element_format;
        }
    }

    Tensors convert(const Tensors& inputs) const {
        const StochasticForm* form = stochastic_form_of(p_);
        CodeTensor output = make_tensor(shape_of(p_, Part::elements));
        for (std::size_t i = 0; i < output.count(); ++i) {
            const RandomBits random =
                form == nullptr ? RandomBits{} : random_of({p_, *form, inputs[0], inputs[1], i});
            const fast::Unpacked value =
                fast::read_input(rules_.subnormals, p_.type, Code{inputs[0].at(i)});
            output.set(i, casts_to_scale(p_)
                              ? fast::cast_to_scale(rules_.scale_cast, amax_after(value)).bits
                              : element_of(rules_, value, random).bits);
        }
        return {std::move(output)};
    }

    Tensors encode_scales(const CodeTensor& input) const {
        CodeTensor output = make_tensor(shape_of(p_, Part::value_scales));
        for (std::size_t i = 0; i < output.count(); ++i) {
            const fast::Unpacked amax =
                fast::read_input(rules_.subnormals, p_.type, Code{input.at(i)});
            output.set(i, scale_byte(*scale_format_, amax_after(amax)).bits);
        }
        return {std::move(output)};
    }

    Tensors quantize(const Tensors& inputs) const {
        CodeTensor rotated;
        const CodeTensor& input = transformed(p_, inputs[0], rotated);
        const fast::BlockQuestion question{rules_, *element_format_, p_.type,
                                           tensor_numbers(inputs)};
        std::vector<fast::BlockScale> scales = scales_of(question, input);
        for (const Alteration* each : alterations_)
            if (each->scales) each->scales(p_, scales);
        Tensors outputs{make_tensor(shape_of(p_, Part::elements)),
                        make_tensor(shape_of(p_, Part::scales))};
        for (std::size_t block = 0; block < scales.size(); ++block) {
            outputs[1].set(block, scales[block].stored.bits);
            write_elements(question, {input, inputs.back()}, {block, scales[block]}, outputs[0]);
        }
        if (!has_tensor_number(p_)) return outputs;
        outputs.push_back(make_tensor(shape_of(p_, Part::tensor_number)));
        outputs.back().set(0, fast::f32_code(fast::kept_number(rules_, question.tensor)));
        return outputs;
    }

private:
    RandomBits random_of(const RandomSeen& seen) const {
        for (const Alteration* each : alterations_)
            if (each->random) return each->random(seen);
        return random_bits_at(p_, seen.form, seen.words, seen.element);
    }

    fast::TensorNumbers tensor_numbers(const Tensors& inputs) const {
        fast::TensorNumbers numbers = numbers_before(inputs);
        for (const Alteration* each : alterations_)
            if (each->numbers && has_tensor_number(p_)) each->numbers(p_, numbers);
        return numbers;
    }

    fast::TensorNumbers numbers_before(const Tensors& inputs) const {
        if (!has_tensor_number(p_)) return {};
        if (p_.tensor_number) return numbers_of(p_, *p_.tensor_number);
        Problem plain = p_;  // as it is once the values are rotated
        plain.dialect = &without_rotation_;
        if (any_has(alterations_, &Alteration::amax_before_rotation))
            return numbers_of(p_, derived_amax(plain, inputs[0]));
        if (!any_has(alterations_, &Alteration::tensor_values))
            return numbers_of(p_, derived_amax(p_, inputs[0]));
        CodeTensor rotated;
        CodeTensor seen = transformed(p_, inputs[0], rotated);
        for (const Alteration* each : alterations_)
            if (each->tensor_values) each->tensor_values(plain, seen);
        return numbers_of(p_, derived_amax(plain, seen));
    }

    fast::Unpacked amax_after(fast::Unpacked amax) const {
        for (const Alteration* each : alterations_)
            if (each->amax) amax = each->amax(p_, amax);
        return amax;
    }

    Code scale_byte(const BlockFormat& format, const fast::Unpacked& amax) const {
        for (const Alteration* each : alterations_)
            if (each->scale_byte) return each->scale_byte(rules_, format, amax);
        return fast::encode_scale(rules_, format, amax);
    }

    std::vector<fast::BlockScale> scales_of(const fast::BlockQuestion& question,
                                            const CodeTensor& input) const {
        const Blocking blocking = blocking_of(p_);
        fast::BlockQuestion of_scale = question;
        of_scale.format = *scale_format_;
        std::vector<fast::BlockScale> scales;
        std::vector<std::uint32_t> lanes, seen;
        for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
            const BlockPlace place = place_of(blocking, block);
            lanes.clear();
            for (int lane = 0; lane < place.count; ++lane)
                lanes.push_back(input.at(place.element(lane)));
            seen = lanes;
            for (const Alteration* each : alterations_)
                if (each->amax_lanes) each->amax_lanes({p_, input, block, place}, seen);
            const fast::Unpacked amax = amax_after(fast::amax_of(
                rules_, p_.type, seen.data(), static_cast<std::int64_t>(seen.size())));
            scales.push_back(scale_of(of_scale, amax, lanes));
        }
        return scales;
    }

    fast::BlockScale scale_of(const fast::BlockQuestion& of_tensor, const fast::Unpacked& amax,
                              const std::vector<std::uint32_t>& lanes) const {
        if (rules_.has_e8m0_scales()) return {scale_byte(of_tensor.format, amax), {}, {}};
        fast::BlockQuestion question = of_tensor;
        for (const Alteration* each : alterations_)
            if (each->rules_of_block) each->rules_of_block(amax, question.quantizer);
        const auto value_at = [&](int lane) {
            return fast::read_input(rules_.subnormals, p_.type,
                                    Code{lanes[static_cast<std::size_t>(lane)]});
        };
        const auto count = static_cast<int>(lanes.size());
        if (!makes_real_scales(alterations_))
            return fast::chosen_scale(question, amax, count, value_at);
        const fast::BlockScale largest =
            real_scale(question, amax, fast::Candidate::maps_to_largest);
        if (rules_.candidate_error == CandidateError::none) return largest;
        const fast::BlockScale expanded =
            real_scale(question, amax, fast::Candidate::maps_to_two_thirds);
        const Comparison comparison = comparison_of(alterations_);
        const bool is_unrounded = comparison == Comparison::unrounded_scales;
        const fast::BlockScale by_largest =
            is_unrounded ? unrounded_scale(question, amax, fast::Candidate::maps_to_largest)
                         : largest;
        const fast::BlockScale by_expanded =
            is_unrounded ? unrounded_scale(question, amax, fast::Candidate::maps_to_two_thirds)
                         : expanded;
        const bool has_signs = comparison == Comparison::signed_errors &&
                               rules_.candidate_error == CandidateError::absolute;
        const auto error_with = has_signs ? signed_error_with : fast::error_with;
        fast::Unpacked error_largest = fast::whole(0), error_expanded = fast::whole(0);
        for (int lane = 0; lane < count; ++lane) {
            error_largest = error_with(question, error_largest, by_largest, value_at(lane));
            error_expanded = error_with(question, error_expanded, by_expanded, value_at(lane));
        }
        const auto of_largest = std::bit_cast<float>(fast::f32_code(error_largest));
        const auto of_expanded = std::bit_cast<float>(fast::f32_code(error_expanded));
        const bool wins_tie =
            comparison == Comparison::ties_to_expanded && of_expanded == of_largest;
        return of_expanded < of_largest || wins_tie ? expanded : largest;
    }

    fast::Unpacked ratio_of(const fast::BlockQuestion& question, const fast::Unpacked& amax) const {
        return fast::at_least(fast::ratio_of(question, fast::at_least(amax, rules_.amax_min)),
                              rules_.ratio_min);
    }

    fast::BlockScale unrounded_scale(const fast::BlockQuestion& question,
                                     const fast::Unpacked& amax, fast::Candidate candidate) const {
        const fast::Unpacked scale =
            before_rounding(rules_.scale_rule, ratio_of(question, amax), candidate);
        return {{}, scale, fast::factor_of(rules_.inverse, scale, question.tensor.scale)};
    }

    // As fast::block_scale, with the altered steps.
    fast::BlockScale real_scale(const fast::BlockQuestion& question, const fast::Unpacked& amax,
                                fast::Candidate candidate) const {
        fast::BlockQuestion of_ratio = question;
        for (const Alteration* each : alterations_)
            if (each->number_in_ratios)
                of_ratio.tensor.scale = each->number_in_ratios(of_ratio.tensor.scale);
        const ElementFormat& format = question.format.scale();
        const fast::Unpacked ratio = ratio_of(of_ratio, amax);
        fast::Unpacked scale = fast::scale_value(rules_.scale_rule, format, ratio, candidate);
        for (const Alteration* each : alterations_)
            if (each->rounded_scale && rounds_to_nearest(rules_.scale_rule))
                scale = fast::unpack(format, each->rounded_scale(before_rounding(
                                                 rules_.scale_rule, ratio, candidate)));
        const fast::Unpacked stored =
            rules_.stores_inverse() ? fast::quotient(fast::whole(1), scale) : scale;
        fast::BlockScale made{fast::round(question.format.scale(), Rounding::nearest_even,
                                          Overflow::overflow, stored),
                              scale, fast::factor_of(rules_.inverse, scale, question.tensor.scale)};
        for (const Alteration* each : alterations_)
            if (each->made_scale) each->made_scale(question, made);
        return made;
    }

    struct Read {
        const CodeTensor& values;
        const CodeTensor& random_words;
    };
    struct Scaled {
        std::size_t block;
        const fast::BlockScale& scale;
    };
    void write_elements(const fast::BlockQuestion& question, const Read& read, const Scaled& scaled,
                        CodeTensor& elements) const {
        const StochasticForm* form = stochastic_form_of(p_);
        const BlockPlace place = place_of(blocking_of(p_), static_cast<std::int64_t>(scaled.block));
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.element(lane);
            const fast::Unpacked value =
                fast::read_input(rules_.subnormals, p_.type, Code{read.values.at(element)});
            const RandomBits random =
                form == nullptr ? RandomBits{}
                                : random_of({p_, *form, read.values, read.random_words, element});
            elements.set(element, rules_.has_e8m0_scales()
                                      ? element_of(rules_,
                                                   fast::scaled(rules_, question.format,
                                                                scaled.scale.stored, value),
                                                   random)
                                            .bits
                                      : lane_of_real_scale(question, scaled.scale, value, random));
        }
    }

    std::uint32_t lane_of_real_scale(const fast::BlockQuestion& question,
                                     const fast::BlockScale& scale, const fast::Unpacked& value,
                                     RandomBits random) const {
        fast::BlockQuestion asked = question;
        for (const Alteration* each : alterations_)
            if (each->element_rules)
                each->element_rules(asked.quantizer, question.format.element(), value);
        const ElementFormat& format = question.format.element();
        fast::Unpacked scaled = fast::scaled_lane(asked.quantizer, scale, value);
        for (const Alteration* each : alterations_) {
            if (each->scaled_value) scaled = each->scaled_value(asked, scale, value);
            if (each->value) scaled = each->value(format, scaled);
        }
        return fast::round_element(rules_after_product(asked.quantizer), format, scaled, random)
            .bits;
    }

    Code element_of(Quantizer rules, fast::Unpacked value, RandomBits random) const {
        const ElementFormat& format =
            element_format_ == p_.format ? element_format_of(p_) : element_format_->element();
        for (const Alteration* each : alterations_) {
            if (each->element_rules) each->element_rules(rules, format, value);
            if (each->value) value = each->value(format, value);
        }
        return fast::round_element(rules, format, value, random);
    }

    Alterations alterations_;
    const Problem& p_;
    Quantizer rules_, without_rotation_;
    const BlockFormat* scale_format_;
    const BlockFormat* element_format_;
};

Tensors altered_outputs(Alterations alterations, const Problem& p, const Tensors& inputs) {
    if (!goes_inside(alterations)) return expect(p, inputs);
    switch (p.operation) {
        case OperationKind::convert:
            return AlteredSteps(alterations, p).convert(inputs);
        case OperationKind::encode_scale:
            return AlteredSteps(alterations, p).encode_scales(inputs[0]);
        case OperationKind::quantize: {
            Tensors outputs;
            for (const BlockAxis axis : axes_of(p)) {
                const Problem side = along(p, axis);
                for (CodeTensor& output : AlteredSteps(alterations, side).quantize(inputs))
                    outputs.push_back(std::move(output));
            }
            return outputs;
        }
        case OperationKind::dequantize:
        case OperationKind::gemm:
            break;
    }
    return expect(p, inputs);
}

}  // namespace

Tensors answer_with(Alterations alterations, const Problem& p, const Tensors& inputs) {
    Problem altered = p;
    Quantizer rules = p.dialect == nullptr ? Quantizer{} : *p.dialect;
    for (const Alteration* each : alterations)
        if (each->rules) each->rules(altered, rules);
    if (p.dialect != nullptr) altered.dialect = &rules;
    Tensors outputs;
    if (any_has(alterations, &Alteration::inputs)) {
        Tensors read = inputs;
        for (const Alteration* each : alterations)
            if (each->inputs) each->inputs(altered, read);
        outputs = altered_outputs(alterations, altered, read);
    } else {
        outputs = altered_outputs(alterations, altered, inputs);
    }
    for (const Alteration* each : alterations)
        if (each->outputs) each->outputs(altered, inputs, outputs);
    return outputs;
}

}  // namespace mx::cause
