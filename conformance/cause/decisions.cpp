// The hypotheses that the quantizer table gives: one decision of the problem's entry taken
// otherwise, and every other entry. See hypotheses.hpp.
#include <algorithm>
#include <array>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"

namespace mx::cause {
namespace {

// How a sentence says that a decision is taken so. What is not here is said by the field's name.
struct Phrase {
    std::string_view change, text;
};
constexpr std::array phrases{
    Phrase{"element_rounding:nearest_even->nearest_away", "every tie is rounded away from zero"},
    Phrase{"element_rounding:nearest_even->nearest_toward_zero",
           "every tie is rounded toward zero"},
    Phrase{"element_rounding:nearest_even->toward_zero", "elements are rounded toward zero"},
    Phrase{"element_rounding:nearest_even->toward_positive", "elements are rounded up"},
    Phrase{"element_rounding:nearest_even->toward_negative", "elements are rounded down"},
    Phrase{"element_rounding:nearest_even->away_from_zero", "elements are rounded away from zero"},
    Phrase{"element_overflow:saturate->overflow", "a value too large becomes NaN or infinity"},
    Phrase{"element_overflow:overflow->saturate", "a value too large becomes the largest"},
    Phrase{"element_overflow:saturate->to_infinity",
           "a value too large becomes infinity, where there is one"},
    Phrase{"subnormals:honoured->inputs_flushed", "subnormal inputs count as zero"},
    Phrase{"subnormals:honoured->outputs_flushed", "subnormal elements become zero"},
    Phrase{"sign_of_zero:kept->dropped", "zeros lose their sign"},
    Phrase{"nan_code:positive_all_ones->sign_kept", "the NaN code keeps the sign"},
    Phrase{"nan_code:positive_all_ones->largest", "a NaN becomes the largest element"},
    Phrase{"nan_code:positive_all_ones->zero", "a NaN becomes zero"},
    Phrase{"nan_code:sign_kept->zero", "a NaN becomes zero"},
    Phrase{"nan_code:largest->zero", "a NaN becomes zero"},
    Phrase{"scale_rounding:toward_positive->toward_zero", "the scale is rounded down, not up"},
    Phrase{"scale_rounding:toward_zero->toward_positive", "the scale is rounded up, not down"},
    Phrase{"way_back:times_scale_amax->times_scale_tensor",
           "the number of the tensor is kept or read as its scale, not as its amax"},
    Phrase{"way_back:times_scale_amax->times_scale",
           "the number of the tensor does not count on the way back"},
    Phrase{"way_back:times_scale_tensor->times_scale",
           "the number of the tensor does not count on the way back"},
    Phrase{"nan_in_block:own_lane_only->poisons_amax", "one NaN makes the whole block NaN"},
    Phrase{"nan_in_block:poisons_amax->own_lane_only", "a NaN is left out of the amax"},
    Phrase{"infinity_in_block:is_amax->own_lane_only", "an infinity is left out of the amax"},
};

struct Change {
    std::string field, from, to;
};

Alteration changed(const Change& change, std::function<void(Problem&, Quantizer&)> rules) {
    Alteration alteration;
    alteration.kind = change.field + ":" + change.from + "->" + change.to;
    const auto known = std::ranges::find(phrases, alteration.kind, &Phrase::change);
    alteration.text = known != phrases.end()
                          ? std::string(known->text)
                          : change.field + " is " + change.to + ", not " + change.from;
    alteration.rules = std::move(rules);
    return alteration;
}

constexpr std::string_view name_of(Rounding rounding) {
    return name_in(roundings, rounding);
}

constexpr std::array overflows_of_rows{
    overflows[0], overflows[1],
    std::pair<std::string_view, Overflow>(name_of(Overflow::to_infinity), Overflow::to_infinity)};

// Of a field that a convert names itself: its rules are no table entry's.
template <auto of_row, auto of_convert, typename Names>
void add_named_field(const Problem& p, std::string_view field, const Names& names,
                     std::vector<Alteration>& hypotheses) {
    const auto from = p.rules ? (*p.rules).*of_convert : p.dialect->*of_row;
    for (const auto& [name, to] : names) {
        if (to == from || name == name_in(roundings, Rounding::stochastic)) continue;
        const auto rules = [to = to](Problem& altered, Quantizer& row) {
            row.*of_row = to;
            if (altered.rules) (*altered.rules).*of_convert = to;
        };
        hypotheses.push_back(
            changed({std::string(field), std::string(name_of(from)), std::string(name)}, rules));
    }
}

bool has_number_of_tensor(const Quantizer& row) {
    return row.tensor_scale != TensorScale::none;
}

// Entries with values that a device could take and no entry of the table may have.
std::vector<Quantizer> further_values(const Problem& p) {
    const Quantizer& base = *p.dialect;
    std::vector<Quantizer> rows;
    const auto add = [&](auto member, auto... values) {
        for (const auto value : {values...}) {
            rows.push_back(base);
            rows.back().*member = value;
        }
    };
    const auto add_byte = [&](std::uint8_t ScaleCast::*member, auto... values) {
        for (const int value : {values...}) {
            rows.push_back(base);
            rows.back().scale_cast.*member = static_cast<std::uint8_t>(value);
        }
    };
    add(&Quantizer::nan_code, NanCode::positive_all_ones, NanCode::sign_kept, NanCode::largest,
        NanCode::as_number, NanCode::zero);
    add(&Quantizer::sign_of_zero, SignOfZero::kept, SignOfZero::dropped, SignOfZero::input_dropped);
    if (base.has_e8m0_scales()) add(&Quantizer::sign_of_zero, SignOfZero::underflow_dropped);
    add(&Quantizer::nan_in_block, NanInBlock::poisons_amax, NanInBlock::own_lane_only,
        NanInBlock::own_lane_unless_all);
    if (base.scale_ratio == ScaleRatio::max_over_amax) {
        add(&Quantizer::useless_amax, UselessAmax::as_computed, UselessAmax::one);
        add(&Quantizer::encode_overflow, EncodeOverflow::infinity, EncodeOverflow::largest_f32,
            EncodeOverflow::largest_input);
    }
    if (has_number_of_tensor(base))
        add(&Quantizer::way_back, WayBack::times_scale_tensor, WayBack::times_scale_amax);
    // What is kept of the number for the way back is the same.
    if (has_number_of_tensor(base) && p.operation == OperationKind::dequantize)
        add(&Quantizer::way_back, WayBack::times_scale);
    if (!base.has_e8m0_scales()) return rows;
    add_byte(&ScaleCast::zero, 0, 1, 127, 255);
    add_byte(&ScaleCast::nan, 0, 127, 254, 255);
    add_byte(&ScaleCast::infinity, 0, 127, 254, 255);
    add_byte(&ScaleCast::overflow, 254, 255);
    add_byte(&ScaleCast::byte_min, 0, 1);
    add_byte(&ScaleCast::byte_max, 253, 254);
    return rows;
}

// The entries whose decisions go together with those of this one.
std::vector<Quantizer> entries_like(const Problem& p) {
    std::vector<Quantizer> rows;
    for (const Quantizer& row : quantizers)
        if (row.is_known() && row.scale_type == p.dialect->scale_type &&
            (p.dialect->has_e8m0_scales() || (row.formats & p.dialect->formats) != 0))
            rows.push_back(row);
    for (const Quantizer& row : further_values(p)) rows.push_back(row);
    return rows;
}

// A field that dialect_fields() has not, because under E8M0 nothing reads it.
struct RealScaleField {
    std::string_view name;  // as recipe_fields() has it
    void (*copy)(Quantizer& to, const Quantizer& from);
};
template <auto member>
constexpr RealScaleField real_scale_field(std::string_view name) {
    return {name, [](Quantizer& to, const Quantizer& from) { to.*member = from.*member; }};
}
constexpr std::array real_scale_fields{
    real_scale_field<&Quantizer::scale_max>("scale_max"),
    real_scale_field<&Quantizer::useless_amax>("useless_amax"),
    real_scale_field<&Quantizer::encode_overflow>("encode_overflow"),
    real_scale_field<&Quantizer::scale_rule>("block_scale"),
    real_scale_field<&Quantizer::candidate_error>("candidate_error"),
    real_scale_field<&Quantizer::way_back>("way_back"),
};

std::string text_of(std::string_view field, const Quantizer& row) {
    for (const auto& [name, text] : emulate::recipe_fields(row))
        if (name == field) return text;
    return {};
}

// Every value that an entry has for the field, once.
template <typename Field, typename TextOf>
void add_field(const Problem& p, const std::vector<Quantizer>& rows, const Field& field,
               const TextOf& text_in, std::vector<Alteration>& hypotheses) {
    const std::string from = text_in(*p.dialect);
    std::vector<std::string> known{from};
    for (const Quantizer& row : rows) {
        const std::string to = text_in(row);
        if (std::ranges::find(known, to) != known.end()) continue;
        known.push_back(to);
        hypotheses.push_back(
            changed({std::string(field.name), from, to},
                    [copy = field.copy, row](Problem&, Quantizer& rules) { copy(rules, row); }));
    }
}

bool is_named_by_convert(std::string_view field) {
    return field == "element_rounding" || field == "element_overflow" || field == "subnormals";
}

bool takes_the_same(const Problem& p, const Quantizer& row) {
    const auto has_history = [](const Quantizer& each) {
        return each.tensor_scale == TensorScale::history;
    };
    const auto has_words = [](const Quantizer& each) {
        return each.element_rounding == Rounding::stochastic;
    };
    return row.scale_type == p.dialect->scale_type &&
           has_number_of_tensor(row) == has_number_of_tensor(*p.dialect) &&
           has_history(row) == has_history(*p.dialect) && has_words(row) == has_words(*p.dialect) &&
           row.transform == p.dialect->transform &&  // a rotation asks for whole groups of 16
           (p.format == nullptr || row.formats == 0 || row.quantizes(*p.format));
}

}  // namespace

void add_decisions(const Problem& p, std::vector<Alteration>& hypotheses) {
    if (p.dialect == nullptr) return;
    add_named_field<&Quantizer::element_rounding, &ElementRules::rounding>(p, "element_rounding",
                                                                           roundings, hypotheses);
    if (p.rules)
        add_named_field<&Quantizer::element_overflow, &ElementRules::overflow>(
            p, "element_overflow", overflows, hypotheses);
    else
        add_named_field<&Quantizer::element_overflow, &ElementRules::overflow>(
            p, "element_overflow", overflows_of_rows, hypotheses);
    add_named_field<&Quantizer::subnormals, &ElementRules::subnormals>(p, "subnormals",
                                                                       subnormal_rules, hypotheses);
    const std::vector<Quantizer> rows = entries_like(p);
    for (const emulate::DialectField& field : emulate::dialect_fields())
        if (!is_named_by_convert(field.name)) add_field(p, rows, field, field.value_of, hypotheses);
    if (p.dialect->has_e8m0_scales()) return;
    for (const RealScaleField& field : real_scale_fields)
        add_field(
            p, rows, field, [&field](const Quantizer& row) { return text_of(field.name, row); },
            hypotheses);
}

void add_dialects(const Problem& p, std::vector<Alteration>& hypotheses) {
    if (p.dialect == nullptr || p.rules) return;
    for (const Quantizer& row : quantizers) {
        if (row.name == p.dialect->name || !row.is_known() || !takes_the_same(p, row)) continue;
        add_hypothesis(
            hypotheses,
            std::string(dialect_kind) + std::string(p.dialect->name) + "->" + std::string(row.name),
            std::string(row.name))
            .rules = [&row](Problem&, Quantizer& rules) { rules = row; };
    }
}

std::optional<Decision> read_decision(const std::string& kind) {
    const std::string alteration = kind.substr(0, kind.find('@'));
    const std::size_t colon = alteration.find(':'), arrow = alteration.find("->");
    if (colon == std::string::npos || arrow == std::string::npos) return std::nullopt;
    const std::string field = alteration.substr(0, colon);
    const auto is_field = [&](const auto& each) { return each.name == field; };
    if (std::ranges::none_of(emulate::dialect_fields(), is_field) &&
        std::ranges::none_of(real_scale_fields, is_field))
        return std::nullopt;
    return Decision{field, alteration.substr(colon + 1, arrow - colon - 1),
                    alteration.substr(arrow + 2)};
}

std::vector<Alteration> hypotheses_for(const Problem& p) {
    std::vector<Alteration> hypotheses;
    if (is_gemm(p)) return hypotheses;
    add_decisions(p, hypotheses);
    add_tensor_transformations(p, hypotheses);
    if (p.operation == OperationKind::dequantize)
        add_values_read_otherwise(p, hypotheses);
    else
        add_block_transformations(p, hypotheses);
    add_kernel_steps(p, hypotheses);
    add_real_scale_steps(p, hypotheses);
    add_random_bits(p, hypotheses);
    add_dialects(p, hypotheses);
    return hypotheses;
}

Alteration answer_of_before(const Tensors& before) {
    std::vector<Alteration> hypotheses;
    add_hypothesis(hypotheses, "stale_answer", "a call gives the answer of the call before")
        .outputs = [before](const Problem&, const Tensors&, Tensors& outputs) {
        for (std::size_t i = 0; i < outputs.size() && i < before.size(); ++i)
            if (before[i].count() == outputs[i].count() && before[i].width == outputs[i].width)
                outputs[i].bytes = before[i].bytes;
    };
    return std::move(hypotheses[0]);
}

}  // namespace mx::cause
