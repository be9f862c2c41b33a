// See problem.hpp.
#include "reference/gemm/problem.hpp"

#include <algorithm>
#include <iterator>

#include "reference/spec/gemm_scales.hpp"

namespace mx::gemm {
namespace {

constexpr Code one{0x3F800000};

CodeView from(const CodeView& codes, std::int64_t first) {
    return {codes.bytes + first * codes.width, codes.width, 1, codes.shift};
}

}  // namespace

ScaledRow Factor::row(std::int64_t index) const {
    ScaledRow made{element, from(codes, index * depth), scale, {}, 0};
    switch (scaling) {
        case Scaling::none:
            return made;
        case Scaling::tensor:
        case Scaling::row:
            made.scales = from(scales, scaling == Scaling::tensor ? 0 : index);
            made.block = depth;
            return made;
        case Scaling::blocks:
            break;
    }
    const std::int64_t lines = (rows + block_rows - 1) / block_rows;
    const std::int64_t line = index / rows * lines + index % rows / block_rows;
    made.scales = from(scales, line * ((depth + block - 1) / block));
    made.block = block;
    return made;
}

Code Factor::whole_scale(std::int64_t index) const {
    if (!is_whole(scaling)) return one;
    return scales.at(scaling == Scaling::tensor ? 0 : index);
}

TensorFactor Factor::number_of(std::int64_t index) const {
    return row_numbers.bytes == nullptr ? number : TensorFactor{row_numbers.at(index), 1};
}

bool Factor::has_numbers() const {
    return number.number != one || number.divisor != 1 || row_numbers.bytes != nullptr;
}

std::int64_t ProblemView::group_count() const {
    return is_grouped() ? std::ssize(offsets) - 1 : batches;
}

// Groups without rows begin where the next one does: the last that begins here has the row.
std::int64_t ProblemView::group_of(std::int64_t row) const {
    if (!is_grouped()) return row / m;
    return std::ranges::upper_bound(offsets, row) - offsets.begin() - 1;
}

RowRange ProblemView::rows_of_group(std::int64_t group) const {
    if (!is_grouped()) return {group * m, (group + 1) * m};
    const auto at = static_cast<std::size_t>(group);
    return {offsets[at], offsets[at + 1]};
}

std::int64_t ProblemView::row_of_b(const OutputPlace& place) const {
    return (shares_b ? 0 : group_of(place.row) * n) + place.column;
}

EpilogueOperands ProblemView::operands(const OutputPlace& place) const {
    EpilogueOperands operands;
    operands.alpha = alpha;
    operands.beta = beta;
    operands.scale_a = a.whole_scale(place.row);
    operands.scale_b = b.whole_scale(row_of_b(place));
    if (c.bytes != nullptr) operands.c = c.at(index(place));
    if (bias.bytes != nullptr) operands.bias = bias.at(place.column);
    if (scale_out.bytes != nullptr) operands.scale_out = scale_out.at(0);
    return operands;
}

Output ProblemView::output(const OutputPlace& place) const {
    const std::int64_t of_b = row_of_b(place);
    return {a.row(place.row),       b.row(of_b),      depth, operands(place),
            a.number_of(place.row), b.number_of(of_b)};
}

Output ProblemView::output(const OutputPlace& place, std::int64_t group) const {
    const std::int64_t of_b = group * n + place.column;
    Output output = this->output(place);
    output.b = b.row(of_b);
    output.operands.scale_b = b.whole_scale(of_b);
    output.number_b = b.number_of(of_b);
    return output;
}

bool takes(const GemmModel& model, const Factor& factor) {
    const bool has_blocks = factor.scaling == Scaling::blocks;
    return factor.row_numbers.bytes == nullptr && lists(model.operands, factor.element.name) &&
           (has_blocks ? takes_block_scales(model, factor.scale.name, std::to_string(factor.block))
                       : model.scaling == BlockScaling::none);
}

bool takes(const GemmModel& model, const Factor& a, const Factor& b) {
    if (!takes(model, a) || !takes(model, b)) return false;
    if (model.scaling == BlockScaling::none)
        return a.scaling == b.scaling || a.scaling == Scaling::none || b.scaling == Scaling::none;
    return takes_rows_of_scales(model, a.block_rows, b.block_rows);
}

GroupRows rows_of_group(const ProblemView& problem, std::int64_t group) {
    GroupRows rows;
    const RowRange of_a = problem.rows_of_group(group);
    const std::int64_t first_b = problem.shares_b ? 0 : group * problem.n;
    for (std::int64_t row = of_a.first; row < of_a.end; ++row) rows.a.push_back(problem.a.row(row));
    for (std::int64_t row = 0; row < problem.n; ++row)
        rows.b.push_back(problem.b.row(first_b + row));
    return rows;
}

}  // namespace mx::gemm
