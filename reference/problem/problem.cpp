// See problem.hpp.
#include "reference/problem/problem.hpp"
#include "reference/spec/gemm.hpp"

namespace mx {
namespace {

// All that an operation may take and give: inputs_of and outputs_of leave out what a problem lacks.
constexpr std::array operation_rows{
    OperationRow{OperationKind::convert,
                 "convert",
                 "input",
                 {Part::values, Part::random_bits},
                 2,
                 {Part::elements},
                 1},
    OperationRow{OperationKind::encode_scale,
                 "encode_scale",
                 "input",
                 {Part::values},
                 1,
                 {Part::value_scales},
                 1},
    OperationRow{OperationKind::quantize,
                 "quantize",
                 "input",
                 {Part::values, Part::tensor_number, Part::random_bits},
                 3,
                 {Part::elements, Part::scales, Part::tensor_number},
                 3},
    OperationRow{OperationKind::dequantize,
                 "dequantize",
                 "output",
                 {Part::elements, Part::scales, Part::tensor_number},
                 3,
                 {Part::values},
                 1},
    OperationRow{OperationKind::gemm, "gemm", "output", {}, 0, {}, 0},
};
static_assert([] {
    for (std::size_t i = 0; i < operation_rows.size(); ++i)
        if (operation_rows[i].kind != static_cast<OperationKind>(i)) return false;
    return true;
}());

}  // namespace

std::span<const OperationRow> operations() {
    return operation_rows;
}

const OperationRow& row_of(OperationKind operation) {
    return operation_rows[static_cast<std::size_t>(operation)];
}

bool is_gemm(const Problem& p) {
    return p.operation == OperationKind::gemm;
}

bool has_blocks(const Problem& p) {
    return p.operation == OperationKind::quantize || p.operation == OperationKind::dequantize;
}

bool has_element_rules(const Problem& p) {
    return p.operation == OperationKind::convert && p.format != nullptr;
}

bool casts_to_scale(const Problem& p) {
    return p.operation == OperationKind::convert && p.format == nullptr;
}

bool has_tensor_number(const Problem& p) {
    return has_blocks(p) && p.dialect->tensor_scale != TensorScale::none;
}

bool has_output_blocks(const Problem& p) {
    return is_gemm(p) && has_blocks(p.gemm.output);
}

bool is_inline(const Problem& p) {
    return p.packing == &packing_rows::in_line;
}

std::int64_t element_count(const Problem& p) {
    return p.rows * p.columns;
}

Blocking blocking_of(const Problem& p) {
    return {p.rows, p.columns, p.axis, p.block, has_blocks(p)};
}

std::int64_t lanes_of(const Problem& p) {
    return lanes_of(blocking_of(p));
}

BlockGrid block_grid(const Problem& p) {
    return block_grid(blocking_of(p));
}

const ElementFormat& element_format_of(const Problem& p) {
    return p.format == nullptr ? formats::e8m0 : p.format->element();
}

const ElementFormat& scale_format_of(const Problem& p) {
    return p.format == nullptr ? formats::e8m0 : scale_in_tensors(*p.format);
}

const StochasticForm* stochastic_form_of(const Problem& p) {
    // What every dialect that rounds stochastically takes: a word with eight bits a value.
    static constexpr const StochasticForm* of_dialects = &stochastic_forms[0];
    static_assert(of_dialects->bits == 8 && of_dialects->values_per_word == 1);
    const bool by_dialect = p.operation == OperationKind::quantize &&
                            p.dialect->element_rounding == Rounding::stochastic;
    if (by_dialect) return of_dialects;
    return p.rules ? p.rules->form : nullptr;
}

Quantizer rules_of(const Problem& p) {
    Quantizer rules = *p.dialect;
    if (!p.rules) return rules;
    rules.element_rounding = p.rules->rounding;
    rules.element_overflow = p.rules->overflow;
    rules.subnormals = p.rules->subnormals;
    return rules;
}

std::string unknown_scale(const Problem& p) {
    const bool needs_it =
        p.operation == OperationKind::quantize || p.operation == OperationKind::encode_scale;
    if (!needs_it || p.dialect->is_known()) return "";
    return "the scale of dialect '" + std::string(p.dialect->name) + "' waits for " +
           std::string(p.dialect->waits);
}

std::span<const BlockAxis> axes_of(const Problem& p) {
    static constexpr std::array both{BlockAxis::row, BlockAxis::col};
    if (p.axis == BlockAxis::both) return both;
    return {&p.axis, 1};
}

std::vector<Part> inputs_of(const Problem& p) {
    const OperationRow& row = row_of(p.operation);
    std::vector<Part> parts;
    for (const Part part : std::span(row.inputs).first(row.input_count)) {
        if (part == Part::tensor_number && !p.tensor_number) continue;
        if (part == Part::random_bits && stochastic_form_of(p) == nullptr) continue;
        parts.push_back(part);
    }
    return parts;
}

std::vector<Part> outputs_of(const Problem& p) {
    const OperationRow& row = row_of(p.operation);
    std::vector<Part> parts;
    for (std::size_t axis = 0; axis < axes_of(p).size(); ++axis)
        for (const Part part : std::span(row.outputs).first(row.output_count))
            if (part != Part::tensor_number || has_tensor_number(p)) parts.push_back(part);
    return parts;
}

PartShape shape_of(const Problem& p, Part part) {
    switch (part) {
        case Part::values:
            return {p.type, p.rows, p.columns};
        case Part::elements:
            return {element_format_of(p), p.rows, p.columns};
        case Part::scales: {
            const BlockGrid grid = block_grid(p);
            return {scale_format_of(p), grid.block_rows, grid.block_columns};
        }
        case Part::tensor_number:
            return {formats::f32, 1, 1};
        case Part::value_scales:
            return {formats::e8m0, p.rows, p.columns};
        case Part::random_bits: {
            const std::int64_t values = stochastic_form_of(p)->values_per_word;
            return {random_word, p.rows, (p.columns + values - 1) / values};
        }
    }
    MX_ASSERT(false && "a part without a shape");
    return {random_word};
}

RandomBits random_bits_of(const StochasticForm& form, std::uint32_t word, std::int64_t column) {
    if (form.values_per_word > 1)
        word >>= column % form.values_per_word < form.values_per_word / 2 ? 0 : form.bits;
    const std::uint32_t unused = 32 - static_cast<std::uint32_t>(form.bits);
    return {word << unused >> unused, form.bits};
}

std::string_view name_of(OperationKind operation) {
    return row_of(operation).name;
}

std::string_view rounding_name_of(const ElementRules& rules) {
    return rules.form != nullptr ? rules.form->name : name_in(roundings, rules.rounding);
}

}  // namespace mx
