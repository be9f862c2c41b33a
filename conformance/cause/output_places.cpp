// The hypotheses of outputs that are written in another place, or made of other outputs. See
// hypotheses.hpp.
#include <algorithm>
#include <string>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/run/expected.hpp"

namespace mx::cause {
namespace {

using Hypotheses = std::vector<Alteration>;

void exchange_rows(CodeTensor& tensor) {
    const CodeTensor right = tensor;
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t column = 0; column < tensor.columns; ++column)
            tensor.set(static_cast<std::size_t>(column * tensor.rows + row),
                       right.at(static_cast<std::size_t>(row * tensor.columns + column)));
}

void exchange_pairs(CodeTensor& tensor) {
    const CodeTensor right = tensor;
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t column = 0; column + 1 < tensor.columns; column += 2) {
            const auto at = static_cast<std::size_t>(row * tensor.columns + column);
            tensor.set(at, right.at(at + 1));
            tensor.set(at + 1, right.at(at));
        }
}

// The elements of each block in another order, as wires or lanes are exchanged: element `i` is what
// element `i ^ mask` should be. What lies beyond a short block is 0.
void exchange_in_blocks(const Problem& p, int mask, CodeTensor& elements) {
    const CodeTensor right = elements;
    const Blocking blocking = blocking_of(p);
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        for (int lane = 0; lane < place.count; ++lane) {
            const int from = lane ^ mask;
            elements.set(place.element(lane),
                         from < place.count ? right.at(place.element(from)) : 0);
        }
    }
}

void add_element_orders(const Problem& p, Hypotheses& hypotheses) {
    const auto whole = static_cast<int>(lanes_of(p));
    struct Order {
        int mask;
        std::string kind, text;
    };
    for (const Order& order :
         {Order{1, "pairs", "neighbouring elements of a block change places"},
          Order{3, "fours", "each four elements of a block stand in reverse order"},
          Order{7, "eights", "each eight elements of a block stand in reverse order"},
          Order{whole - 1, "whole", "the elements of a block stand in reverse order"},
          Order{whole / 2, "halves", "the halves of a block change places"}})
        add_hypothesis(hypotheses, "order:" + order.kind, order.text).outputs =
            [mask = order.mask](const Problem& asked, const Tensors&, Tensors& outputs) {
                for_each_side(asked, outputs, [mask](const Problem& p, std::span<CodeTensor> side) {
                    exchange_in_blocks(p, mask, side[0]);
                });
            };
}

// Columns along which what the rows were quantized to is quantized again.
void add_columns_of_rows(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "columns_of_rows",
                   "columns are quantized from what the rows were quantized to")
        .outputs = [](const Problem& asked, const Tensors& inputs, Tensors& outputs) {
        const std::size_t parts = outputs.size() / 2;
        Problem rows = along(asked, BlockAxis::row);
        rows.operation = OperationKind::dequantize;
        rows.type = formats::f32;
        Problem columns = along(asked, BlockAxis::col);
        columns.type = formats::f32;
        if (has_tensor_number(asked)) rows.tensor_number = outputs[2].at(0);
        Tensors read = inputs;
        read[0] = expect(rows, {outputs[0], outputs[1]})[0];
        const Tensors made = expect(columns, read);
        std::copy(made.begin(), made.end(), outputs.begin() + static_cast<std::ptrdiff_t>(parts));
    };
}

// Codes that share a byte, where a row has an odd number of them.
void add_last_odd_codes(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "last_odd_code", "the last code of a row of an odd number is 0")
        .outputs = [](const Problem& asked, const Tensors&, Tensors& outputs) {
        const std::vector<Part> parts = outputs_of(asked);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const auto columns = static_cast<std::size_t>(outputs[i].columns);
            if (parts[i % parts.size()] != Part::elements || columns % 2 == 0) continue;
            for (std::size_t at = columns; at <= outputs[i].count(); at += columns)
                outputs[i].set(at - 1, 0);
        }
    };
}

}  // namespace

void add_output_places(const Problem& p, Hypotheses& hypotheses) {
    if (p.operation == OperationKind::quantize && p.axis == BlockAxis::both)
        add_columns_of_rows(hypotheses);
    if (has_blocks(p) && p.packing != &packing_rows::bytes) add_last_odd_codes(hypotheses);
    const auto add_exchange = [&](std::string kind, std::string text, std::vector<Part> wanted) {
        add_hypothesis(hypotheses, "exchanged:" + std::move(kind), std::move(text)).outputs =
            [wanted = std::move(wanted)](const Problem& asked, const Tensors&, Tensors& outputs) {
                const std::vector<Part> parts = outputs_of(asked);
                for (std::size_t i = 0; i < outputs.size(); ++i)
                    if (std::ranges::find(wanted, parts[i % parts.size()]) != wanted.end())
                        exchange_rows(outputs[i]);
            };
    };
    add_exchange("elements", "elements are stored with rows and columns exchanged",
                 {Part::elements, Part::values});
    add_hypothesis(hypotheses, "exchanged:elements_of_columns",
                   "elements of blocks along columns are stored with rows and columns exchanged")
        .outputs = [](const Problem& asked, const Tensors&, Tensors& outputs) {
        if (asked.operation != OperationKind::quantize) return;
        for_each_side(asked, outputs, [](const Problem& p, std::span<CodeTensor> side) {
            if (p.axis == BlockAxis::col) exchange_rows(side[0]);
        });
    };
    add_hypothesis(hypotheses, "exchanged:pairs", "neighbouring elements of a row change places")
        .outputs = [](const Problem& asked, const Tensors&, Tensors& outputs) {
        const std::vector<Part> parts = outputs_of(asked);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (const Part part = parts[i % parts.size()];
                part == Part::elements || part == Part::values)
                exchange_pairs(outputs[i]);
    };
    if (has_blocks(p)) add_element_orders(p, hypotheses);
    if (p.operation == OperationKind::quantize)
        add_exchange("scales", "scales are stored with rows and columns exchanged", {Part::scales});
}

}  // namespace mx::cause
