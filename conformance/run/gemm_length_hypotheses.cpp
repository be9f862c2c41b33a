// See gemm_hypotheses.hpp: products that are left out or counted again, and sums that begin with
// what another output left behind.
#include <algorithm>

#include "conformance/run/gemm_hypotheses.hpp"

namespace mx {
namespace {

using Row = AlteredOutput::Row;

// One row after the other, with zeros up to whole units between them.
void lead_with(Row& row, const Row& before, std::size_t unit) {
    const std::size_t lead = (before.codes.size() + unit - 1) / unit * unit;
    std::vector<std::uint32_t> codes = before.codes;
    codes.resize(lead);
    codes.insert(codes.end(), row.codes.begin(), row.codes.end());
    row.codes = std::move(codes);
    if (row.scales.size() <= 1) {
        row.block = row.block == 0 ? 0 : static_cast<std::int64_t>(row.codes.size());
        return;
    }
    std::vector<std::uint32_t> scales = before.scales;
    scales.resize(lead / static_cast<std::size_t>(row.block), before.scales.back());
    scales.insert(scales.end(), row.scales.begin(), row.scales.end());
    row.scales = std::move(scales);
}

// Where an accumulator is added to another one on the way, what is left of it is no sum of
// products.
void add_accumulators_not_cleared(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const GemmModel* model = problem.model;
    if ((model != nullptr && model->promotion != 0) || problem.depth == 0) return;
    const std::int64_t step = model == nullptr ? 1 : model->products;
    const std::int64_t unit = std::max({step, problem.a.block, problem.b.block});
    for (const std::int64_t tile : {8, 16, 32, 64, 128}) {
        if (problem.m <= tile) continue;
        hypotheses.push_back(altered_outputs(
            problem,
            "the sum of a row begins with that of the row " + std::to_string(tile) + " above",
            [&problem, tile, unit](AlteredOutput& output, const gemm::OutputPlace& place) {
                if (place.row % problem.m < tile) return;
                const AlteredOutput above(problem.output({place.row - tile, place.column}));
                const Row b = output.b;
                lead_with(output.a, above.a, static_cast<std::size_t>(unit));
                lead_with(output.b, b, static_cast<std::size_t>(unit));
                output.look_at_rows();
            }));
    }
}

// Once more in the step that it is in, which has room for it.
void add_last_of_short_steps(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    for (const std::int64_t step : {4, 16, 32}) {
        if (problem.depth % step == 0) continue;
        hypotheses.push_back(altered_outputs(
            problem,
            "the last k of a step that is not of whole " + std::to_string(step) +
                " is counted twice",
            [](AlteredOutput& output, const gemm::OutputPlace&) {
                for (Row* row : {&output.a, &output.b}) {
                    const bool has_one_scale = row->scales.size() <= 1;
                    if (has_one_scale && row->block != 0) ++row->block;
                    const bool begins_block =
                        !has_one_scale &&
                        row->codes.size() % static_cast<std::size_t>(row->block) == 0;
                    if (begins_block) row->scales.push_back(row->scales.back());
                    row->codes.push_back(row->codes.back());
                }
                output.look_at_rows();
            }));
    }
}

}  // namespace

void add_other_lengths(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const std::int64_t depth = problem.depth;
    const auto without = [&](const std::string& what, std::int64_t from, std::int64_t to) {
        hypotheses.push_back(altered_outputs(
            problem, what, [from, to](AlteredOutput& output, const gemm::OutputPlace&) {
                for (Row* row : {&output.a, &output.b})
                    std::fill(row->codes.begin() + from, row->codes.begin() + to, 0u);
            }));
    };
    for (const std::int64_t unit : {8, 16, 32, 64, 128})
        if (depth % unit != 0)
            without("what is left of K after whole " + std::to_string(unit) + " is not counted",
                    depth / unit * unit, depth);
    // A kernel that takes what K leaves over of whole tiles first may skip that loop.
    const std::int64_t residue =
        problem.model == nullptr ? 0 : residue_of(*problem.model, problem.depth);
    if (residue > 1)
        without("what K leaves over of whole " + std::to_string(problem.model->residue_tile) +
                    ", which comes first, is not counted",
                0, residue);
    for (const std::int64_t length : {1024, 2048, 4096, 8192, 16384, 32768})
        if (depth > length)
            without("nothing from k " + std::to_string(length) + " on is counted", length, depth);
    if (depth < 2) return;
    without("the second half of K is not counted", depth / 2, depth);
    without("the first half of K is not counted", 0, depth / 2);
    without("the first k is not counted", 0, 1);
    if (const std::int64_t unit = 32, middle = depth / 2 / unit * unit; middle > 0)
        hypotheses.push_back(
            altered_outputs(problem, "the 32 k from the middle on are counted twice",
                            [=](AlteredOutput& output, const gemm::OutputPlace&) {
                                const std::int64_t end = std::min(middle + unit, depth);
                                for (std::int64_t k = middle; k < end; ++k)
                                    output.count_again(static_cast<std::size_t>(k));
                            }));
    hypotheses.push_back(altered_outputs(problem, "the last k is counted twice",
                                         [](AlteredOutput& output, const gemm::OutputPlace&) {
                                             output.count_again(output.a.codes.size() - 1);
                                         }));
    // A row made longer has another residue than the one that comes first.
    if (problem.model != nullptr && problem.model->residue_tile != 0) return;
    add_last_of_short_steps(problem, hypotheses);
    add_accumulators_not_cleared(problem, hypotheses);
}

}  // namespace mx
