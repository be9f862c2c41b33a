// See operations.hpp.
#include "conformance/case/operations.hpp"

#include "conformance/case/rules.hpp"

namespace mx {

std::span<const OperationRow> operations() {
    static const std::array table{
        OperationRow{OperationKind::convert,
                     "convert",
                     "input",
                     {Part::values, Part::random_bits},
                     {Part::elements}},
        OperationRow{OperationKind::encode_scale,
                     "encode_scale",
                     "input",
                     {Part::values},
                     {Part::value_scales}},
        OperationRow{OperationKind::quantize,
                     "quantize",
                     "input",
                     {Part::values},
                     {Part::elements, Part::scales}},
        OperationRow{OperationKind::dequantize,
                     "dequantize",
                     "output",
                     {Part::elements, Part::scales},
                     {Part::values}},
        OperationRow{OperationKind::gemm, "gemm", "output", {}, {}},
    };
    return table;
}

const OperationRow& operation_of(const Case& c) {
    for (const OperationRow& row : operations())
        if (row.name == c.operation) return row;
    MX_ASSERT(false && "a validated case names a known operation");
    return operations()[0];
}

bool has_element_rules(const Case& c) {
    return operation_of(c).kind == OperationKind::convert && c.format != formats::e8m0.name;
}

std::vector<Case> sides_of(const Case& c) {
    if (c.axis != "both") return {c};
    std::vector<Case> sides{c, c};
    sides[0].axis = "row";
    sides[1].axis = "col";
    return sides;
}

std::vector<Part> inputs_of(const Case& c) {
    std::vector<Part> parts = operation_of(c).inputs;
    if (stochastic_form_of(c) == nullptr) std::erase(parts, Part::random_bits);
    return parts;
}

std::vector<Part> outputs_of(const Case& c) {
    std::vector<Part> parts;
    for (std::size_t side = 0; side < sides_of(c).size(); ++side)
        parts.insert(parts.end(), operation_of(c).outputs.begin(), operation_of(c).outputs.end());
    return parts;
}

PartShape shape_of(const Case& c, Part part) {
    const BlockGrid grid = block_grid(c);
    switch (part) {
        case Part::values:
            return {c.type, c.rows, c.columns};
        case Part::elements:
            return {std::string(element_format_of(c).name), c.rows, c.columns};
        case Part::scales:
            return {"e8m0", grid.block_rows, grid.block_columns};
        case Part::value_scales:
            return {"e8m0", c.rows, c.columns};
        case Part::random_bits: {
            const std::int64_t values = stochastic_form_of(c)->values_per_word;
            return {"u32", c.rows, (c.columns + values - 1) / values};
        }
    }
    MX_ASSERT(false && "a part without a shape");
    return {};
}

const StochasticForm* stochastic_form_of(const Case& c) {
    for (const StochasticForm& form : stochastic_forms)
        if (form.name == c.rounding) return &form;
    return nullptr;
}

}  // namespace mx
