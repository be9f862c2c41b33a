// See problem.hpp.
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

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
                 {Part::values},
                 1,
                 {Part::elements, Part::scales},
                 2},
    OperationRow{OperationKind::dequantize,
                 "dequantize",
                 "output",
                 {Part::elements, Part::scales},
                 2,
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

const StochasticForm* stochastic_form_of(const Problem& p) {
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

std::span<const Part> inputs_of(const Problem& p) {
    const OperationRow& row = row_of(p.operation);
    const bool has_word = stochastic_form_of(p) != nullptr;
    const bool lacks_word = p.operation == OperationKind::convert && !has_word;
    return std::span(row.inputs).first(lacks_word ? 1 : row.input_count);
}

std::vector<Part> outputs_of(const Problem& p) {
    const OperationRow& row = row_of(p.operation);
    std::vector<Part> parts;
    for (std::size_t axis = 0; axis < axes_of(p).size(); ++axis)
        parts.insert(parts.end(), row.outputs.begin(),
                     row.outputs.begin() + static_cast<std::ptrdiff_t>(row.output_count));
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
            return {formats::e8m0, grid.block_rows, grid.block_columns};
        }
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
