// See gemm_oracle.hpp.
#include "conformance/run/gemm_oracle.hpp"

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/exact/gemm_epilogue.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/gemm/model_sum.hpp"
#include "reference/gemm/row_pairs.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

constexpr ElementFormat f32 = formats::f32;

CodeView view_of(const CodeTensor& tensor, std::int64_t first) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(tensor.bytes.data());
    return {bytes + first * tensor.width, tensor.width, 1};
}

Code code_at(const CodeTensor& tensor, std::int64_t row, std::int64_t column) {
    return Code{tensor.at(static_cast<std::size_t>(row * tensor.columns + column))};
}

bool is_whole(const std::string& scaling) {
    return scaling == "tensor" || scaling == "row";
}

// Rows as a model takes them: scales of whole rows belong to what comes after it.
ScaledRow row_of_model(const GemmModel& model, ScaledRow row) {
    if (model.scaling == BlockScaling::none) row.block = 0;
    return row;
}

bool adds_c(const EpilogueOperands& operands) {
    return operands.beta.bits << 1 != 0;
}

bool is_negative(const fast::Total& total) {
    const fast::Kind kind = fast::kind_of(total);
    if (kind == fast::Kind::infinity) return total.negative_infinity;
    return kind == fast::Kind::finite && fast::is_negative(total.sum);
}

exact::Value f32_value(Code code) {
    return exact::decode(f32, code);
}

const ElementFormat& scale_format_of(const std::string& scaling) {
    if (scaling == "1x32") return formats::e8m0;
    return scaling == "1x16" ? ue4m3 : f32;
}

OutputBlocks output_blocks_of(const Case& c, const std::string& scaling) {
    OutputBlocks blocks;
    blocks.size = block_of(scaling);
    blocks.scale = scale_format_of(scaling);
    blocks.name = c.dialect;
    blocks.quantizer = find_quantizer(c.dialect);
    blocks.format = find_block_format(c.type);
    blocks.source = blocks.quantizer->source;
    return blocks;
}

}  // namespace

GemmRules gemm_rules_of(const Case& c) {
    GemmRules rules;
    rules.setting = setting_of(c);
    rules.fraction_bits = fraction_bits_kept(rules.setting);
    const std::int64_t parts = parts_of(c.gemm.algorithm);
    rules.epilogue = epilogue_of(rules.setting, parts);
    rules.element = *find_element_format(rules.setting.output);
    if (has_output_blocks(c)) rules.blocks = output_blocks_of(c, rules.setting.scaling_out);
    rules.is_bounded = c.gemm.model.starts_with(bounded_model);
    rules.model = find_gemm_model(model_row_name(c.gemm));
    if (rules.model != nullptr) rules.part = part_length(rules.setting, parts);
    return rules;
}

GemmOperands::GemmOperands(const GemmRules& rules, const std::vector<CodeTensor>& inputs)
    : rules_(rules) {
    const GemmSetting& s = rules.setting;
    const auto factor = [](const std::string& type, const std::string& scaling) {
        return Factor{*find_element_format(type), scale_format_of(scaling), nullptr, nullptr,
                      scaling};
    };
    a_ = factor(s.a, s.scaling_a);
    b_ = factor(s.b, s.scaling_b);
    const std::vector<GemmTensor> tensors = tensors_of(s);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const CodeTensor* tensor = &inputs[i];
        switch (tensors[i].part) {
            case GemmPart::a:
                a_.codes = tensor;
                break;
            case GemmPart::scales_a:
                a_.scales = tensor;
                break;
            case GemmPart::b:
                b_.codes = tensor;
                break;
            case GemmPart::scales_b:
                b_.scales = tensor;
                break;
            case GemmPart::c:
                c_ = tensor;
                break;
            case GemmPart::bias:
                bias_ = tensor;
                break;
            case GemmPart::scale_out:
                scale_out_ = tensor;
                break;
            case GemmPart::d:
            case GemmPart::scales_d:
                break;
        }
    }
}

OutputPlace place_of(const CodeTensor& d, std::size_t element) {
    const auto at = static_cast<std::int64_t>(element);
    return {at / d.columns, at % d.columns};
}

ScaledRow GemmOperands::Factor::row(std::int64_t index) const {
    ScaledRow row{element, view_of(*codes, index * codes->columns), scale, {}, 0};
    if (scales == nullptr) return row;
    const std::int64_t line = scaling == "tensor" ? 0 : scaling == "128x128" ? index / 128 : index;
    row.scales = view_of(*scales, line * scales->columns);
    row.block = is_whole(scaling) ? codes->columns : block_of(scaling);
    return row;
}

Code GemmOperands::Factor::whole_scale(std::int64_t index) const {
    if (!is_whole(scaling)) return Code{0x3F800000};
    return code_at(*scales, scaling == "tensor" ? 0 : index, 0);
}

EpilogueOperands GemmOperands::epilogue_operands(const OutputPlace& place) const {
    const GemmSetting& s = rules_.setting;
    EpilogueOperands operands;
    operands.alpha = Code{s.alpha};
    operands.beta = Code{s.beta};
    operands.scale_a = a_.whole_scale(place.row);
    operands.scale_b = b_.whole_scale(b_row_of(place));
    if (c_ != nullptr) operands.c = code_at(*c_, place.row, place.column);
    if (bias_ != nullptr) operands.bias = code_at(*bias_, 0, place.column);
    if (scale_out_ != nullptr) operands.scale_out = code_at(*scale_out_, 0, 0);
    return operands;
}

std::int64_t GemmOperands::b_row_of(const OutputPlace& place) const {
    return place.row / rules_.setting.m * rules_.setting.n + place.column;
}

GemmOutput GemmOperands::output(const OutputPlace& place) const {
    return {a_.row(place.row), b_.row(b_row_of(place)), rules_.setting.k, epilogue_operands(place)};
}

GemmOperands::Rows GemmOperands::rows_of_batch(std::int64_t batch) const {
    const GemmSetting& s = rules_.setting;
    Rows rows;
    for (std::int64_t row = 0; row < s.m; ++row) rows.a.push_back(a_.row(batch * s.m + row));
    for (std::int64_t row = 0; row < s.n; ++row) rows.b.push_back(b_.row(batch * s.n + row));
    return rows;
}

namespace {

// From the dot product on.
fast::Total exact_total(const GemmRules& rules, const EpilogueOperands& operands,
                        const fast::Total& dot) {
    const GemmEpilogue& epilogue = rules.epilogue;
    fast::Total total;
    fast::add_multiple(total, fast::unpack(f32, operands.alpha), dot);
    if (adds_c(operands))
        fast::add_product(total, fast::unpack(f32, operands.beta),
                          fast::unpack(epilogue.addend, operands.c));
    if (epilogue.adds_bias)
        fast::add_product(total, fast::unpack(epilogue.bias, operands.bias),
                          fast::unpack(f32, Code{0x3F800000}));
    if (epilogue.activation == Activation::relu && is_negative(total)) total = {};
    if (!epilogue.scales_output) return total;
    fast::Total scaled;
    fast::add_multiple(scaled, fast::unpack(f32, operands.scale_out), total);
    return scaled;
}

Code rounded_once(const GemmRules& rules, const fast::Total& total) {
    const Overflow overflow = rules.epilogue.is_narrow() ? Overflow::saturate : Overflow::overflow;
    return fast::round_total(rules.epilogue.output, Rounding::nearest_even, overflow, total);
}

}  // namespace

fast::Total exact_total(const GemmRules& rules, const GemmOutput& output) {
    return exact_total(rules, output.operands, fast::dot(output.a, output.b, output.depth));
}

Code exact_result(const GemmRules& rules, const GemmOutput& output) {
    return rounded_once(rules, exact_total(rules, output));
}

void for_each_exact(const GemmRules& rules, const GemmOperands& operands, const TakeExact& take) {
    const GemmSetting& s = rules.setting;
    for (std::int64_t batch = 0; batch < s.batches; ++batch) {
        const GemmOperands::Rows rows = operands.rows_of_batch(batch);
        gemm::for_each_total(
            {rows.a, rows.b, s.k}, [&](const gemm::Place& at, const fast::Total& dot) {
                const OutputPlace place{batch * s.m + static_cast<std::int64_t>(at.row),
                                        static_cast<std::int64_t>(at.column)};
                take(place, exact_total(rules, operands.epilogue_operands(place), dot));
            });
    }
}

std::vector<Code> exact_results(const GemmRules& rules, const GemmOperands& operands) {
    const GemmSetting& s = rules.setting;
    std::vector<Code> results(static_cast<std::size_t>(s.batches * s.m * s.n));
    for_each_exact(rules, operands, [&](const OutputPlace& place, const fast::Total& total) {
        results[static_cast<std::size_t>(place.row * s.n + place.column)] =
            rounded_once(rules, total);
    });
    return results;
}

Code expected_result(const GemmRules& rules, const GemmOutput& output) {
    if (rules.model == nullptr || rules.is_bounded) return exact_result(rules, output);
    const ScaledRow a = row_of_model(*rules.model, output.a);
    const ScaledRow b = row_of_model(*rules.model, output.b);
    const fast::Unpacked accumulator =
        gemm::accumulate_in_parts(*rules.model, a, b, output.depth, rules.part);
    return fast::finish(rules.epilogue, output.operands, accumulator);
}

exact::Value exact_value(const GemmRules& rules, const GemmOutput& output) {
    const GemmEpilogue& epilogue = rules.epilogue;
    const EpilogueOperands& operands = output.operands;
    exact::Value value =
        exact::times(f32_value(operands.alpha), exact::dot(output.a, output.b, output.depth));
    if (adds_c(operands))
        value = exact::plus(value, exact::times(f32_value(operands.beta),
                                                exact::decode(epilogue.addend, operands.c)));
    if (epilogue.adds_bias) value = exact::plus(value, exact::decode(epilogue.bias, operands.bias));
    if (epilogue.activation == Activation::relu && !value.is_nan() && value.negative)
        value = exact::number(0);
    if (epilogue.scales_output) value = exact::times(value, f32_value(operands.scale_out));
    if (exact::is_zero(value)) value.negative = false;
    return value;
}

Code confirmed_result(const GemmRules& rules, const GemmOutput& output) {
    if (rules.model == nullptr || rules.is_bounded) {
        const bool is_narrow = rules.epilogue.is_narrow();
        return exact::round(rules.epilogue.output, Rounding::nearest_even,
                            is_narrow ? Overflow::saturate : Overflow::overflow,
                            exact_value(rules, output));
    }
    const ScaledRow a = row_of_model(*rules.model, output.a);
    const ScaledRow b = row_of_model(*rules.model, output.b);
    const exact::Value zero = exact::number(0);
    const exact::Value accumulator =
        rules.part == 0 ? exact::accumulate(*rules.model, a, b, output.depth, zero)
                        : exact::accumulate_in_parts(*rules.model, a, b, output.depth, rules.part);
    return exact::finish(rules.epilogue, output.operands, accumulator);
}

}  // namespace mx
