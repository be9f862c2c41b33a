// See gemm_problem.hpp.
#include "conformance/run/gemm_problem.hpp"

#include <algorithm>

#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

CodeView view_of(const CodeTensor& tensor, const ElementFormat& type) {
    return {reinterpret_cast<const std::uint8_t*>(tensor.bytes.data()), tensor.width, 1,
            type.spare_bits()};
}

gemm::Scaling scaling_of(FactorScaling scaling) {
    if (row_of(scaling).block != 0) return gemm::Scaling::blocks;
    if (scaling == FactorScaling::none) return gemm::Scaling::none;
    return scaling == FactorScaling::tensor ? gemm::Scaling::tensor : gemm::Scaling::row;
}

gemm::Factor factor_of(const FactorType& type, const Shape& shape) {
    const FactorScalingRow& scales = row_of(type.scaling);
    gemm::Factor factor;
    factor.element = type.element;
    factor.depth = shape.columns;
    factor.rows = shape.rows;
    factor.scaling = scaling_of(type.scaling);
    factor.scale = scales.scale;
    factor.block = scales.block;
    factor.block_rows = std::max<std::int64_t>(1, scales.rows);
    return factor;
}

gemm::OutputBlocks output_blocks_of(const Problem& p) {
    return {p.dialect, small_block_format(p.gemm.output), row_of(p.gemm.output.scaling).scale};
}

void look_at(gemm::ProblemView& problem, const GemmTensor& asked, const CodeTensor& tensor) {
    const CodeView view = view_of(tensor, asked.type);
    switch (asked.part) {
        case GemmPart::a:
            problem.a.codes = view;
            break;
        case GemmPart::scales_a:
            problem.a.scales = view;
            break;
        case GemmPart::b:
            problem.b.codes = view;
            break;
        case GemmPart::scales_b:
            problem.b.scales = view;
            break;
        case GemmPart::c:
            problem.c = view;
            break;
        case GemmPart::bias:
            problem.bias = view;
            break;
        case GemmPart::scale_out:
            problem.scale_out = view;
            break;
        case GemmPart::d:
        case GemmPart::scales_d:
        case GemmPart::row_offsets:  // the problem has them
            break;
    }
}

}  // namespace

gemm::ProblemView gemm_problem_of(const Problem& p, const std::vector<CodeTensor>& inputs) {
    const GemmProblem& asked = p.gemm;
    const std::int64_t parts = parts_of(asked.algorithm);
    gemm::ProblemView problem;
    const std::int64_t rows = asked.is_grouped() ? asked.rows_written() : asked.m;
    problem.a = factor_of(asked.a, {rows, asked.k});
    problem.b = factor_of(asked.b, {asked.n, asked.k});
    problem.m = rows;
    problem.n = asked.n;
    problem.depth = asked.k;
    problem.batches = asked.batches;
    if (asked.is_grouped()) problem.offsets = asked.offsets();
    problem.alpha = Code{asked.alpha};
    problem.beta = Code{asked.beta};
    problem.epilogue = epilogue_of(asked, parts);
    problem.model = asked.model.row;
    problem.is_bounded = asked.model.is_bounded;
    if (problem.model != nullptr) problem.part = part_length(asked, parts);
    if (declares_parts(asked.algorithm)) problem.parts = parts;
    problem.fraction_bits = fraction_bits_kept(asked);
    problem.element = asked.output.element;
    if (has_output_blocks(p)) problem.blocks = output_blocks_of(p);
    const std::vector<GemmTensor> tensors = tensors_of(p);
    for (std::size_t i = 0; i < inputs.size(); ++i) look_at(problem, tensors[i], inputs[i]);
    return problem;
}

}  // namespace mx
