// See gemm_confirm.hpp.
#include "conformance/run/gemm_confirm.hpp"

#include <optional>

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/exact/f32_arithmetic.hpp"
#include "reference/exact/gemm_epilogue.hpp"
#include "reference/exact/gemm_output.hpp"

namespace mx {
namespace {

exact::Value f32_value(Code code) {
    return exact::decode(formats::f32, code);
}

// Rows as a model takes them: scales of whole rows belong to what comes after it.
ScaledRow row_of_model(const GemmModel& model, ScaledRow row) {
    if (model.scaling == BlockScaling::none) row.block = 0;
    return row;
}

}  // namespace

exact::Value exact_value(const gemm::ProblemView& problem, const gemm::Output& output) {
    const GemmEpilogue& epilogue = problem.epilogue;
    const EpilogueOperands& operands = output.operands;
    const bool adds_c = operands.beta.bits << 1 != 0;
    const exact::OutputFactors factors{
        {f32_value(operands.alpha), adds_c ? f32_value(operands.beta) : exact::number(0)},
        output.number_a,
        output.number_b};
    exact::Value value =
        exact::output_value(factors, exact::dot(output.a, output.b, output.depth),
                            adds_c ? exact::decode(epilogue.addend, operands.c) : exact::number(0));
    if (epilogue.adds_bias) value = exact::plus(value, exact::decode(epilogue.bias, operands.bias));
    if (epilogue.activation == Activation::relu && !value.is_nan() && value.negative)
        value = exact::number(0);
    if (epilogue.scales_output) value = exact::times(value, f32_value(operands.scale_out));
    if (exact::is_zero(value)) value.negative = false;
    return value;
}

Code confirmed_alpha(const gemm::Output& output) {
    const TensorFactor &a = output.number_a, &b = output.number_b;
    exact::Value alpha = exact::product(f32_value(output.operands.alpha), f32_value(a.number));
    alpha = exact::product(alpha, f32_value(b.number));
    const std::int64_t divisor = std::int64_t{a.divisor} * b.divisor;
    if (divisor != 1)
        alpha = exact::product(alpha, exact::quotient(exact::number(1), exact::number(divisor)));
    return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, alpha);
}

Code confirmed_result(const gemm::ProblemView& problem, const gemm::Output& output) {
    if (problem.is_exact())
        return exact::round(problem.epilogue.output, Rounding::nearest_even,
                            problem.epilogue.overflow(), exact_value(problem, output));
    EpilogueOperands operands = output.operands;
    operands.alpha = confirmed_alpha(output);
    ScaledRow a = row_of_model(*problem.model, output.a);
    const ScaledRow b = row_of_model(*problem.model, output.b);
    std::optional<exact::TimesAlpha> times_alpha;
    if (problem.model->alpha == AlphaPlace::factor_a) {
        a = times_alpha.emplace(a, output.depth, f32_value(operands.alpha)).row();
        operands.alpha = EpilogueOperands{}.alpha;
    }
    const exact::Value accumulator =
        problem.part == 0
            ? exact::accumulate(*problem.model, a, b, output.depth, exact::number(0))
            : exact::accumulate_in_parts(*problem.model, a, b, output.depth, problem.part);
    return exact::finish(problem.epilogue, operands, accumulator);
}

gemm::OutputBlock confirmed_block(const gemm::ProblemView& problem,
                                  const gemm::OutputBlockPlace& place) {
    std::vector<exact::Value> lanes;
    for (std::int64_t lane = 0; lane < place.count; ++lane) {
        const gemm::Output output = problem.output(place.lane(lane));
        lanes.push_back(problem.model == nullptr ? exact_value(problem, output)
                                                 : f32_value(confirmed_result(problem, output)));
    }
    const gemm::OutputBlocks& blocks = *problem.blocks;
    const bool reads_numbers = problem.model != nullptr && blocks.quantizer->has_e8m0_scales();
    const exact::Block block =
        reads_numbers ? exact::quantize_block(*blocks.quantizer, *blocks.format, lanes)
                      : exact::quantize_exact_block(*blocks.quantizer, *blocks.format, lanes);
    return {block.scale, block.elements};
}

}  // namespace mx
