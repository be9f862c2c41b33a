// See gemm_hypotheses.hpp: the steps from the accumulator to an output in another order, or with
// one rounding more. Each step is one operation of binary32, as spec/gemm_epilogue.hpp has them.
#include <functional>
#include <string>
#include <utility>

#include "conformance/run/gemm_hypotheses.hpp"
#include "reference/fast/block.hpp"
#include "reference/fast/f32_arithmetic.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/gemm/oracle.hpp"

namespace mx {
namespace {

using fast::Unpacked;

constexpr ElementFormat step_format = formats::f32;
constexpr Code unit_factor{0x3F800000};

// What a device that takes the steps otherwise begins with.
struct Beginning {
    const GemmEpilogue& epilogue;
    const EpilogueOperands& operands;
    Unpacked accumulator;

    Unpacked alpha() const {
        const Unpacked alpha = fast::unpack(step_format, operands.alpha);
        return epilogue.scales == FactorScales::in_alpha ? fast::with_scales(operands, alpha)
                                                         : alpha;
    }
    // The accumulator with the scales of its rows.
    Unpacked sum() const {
        return epilogue.scales == FactorScales::on_accumulator
                   ? fast::with_scales(operands, accumulator)
                   : accumulator;
    }
    // A +0 where C is not read.
    Unpacked beta_c() const {
        if (operands.beta.bits << 1 == 0) return {};
        return fast::product(fast::unpack(step_format, operands.beta),
                             fast::unpack(epilogue.addend, operands.c));
    }
    Unpacked bias() const { return fast::unpack(epilogue.bias, operands.bias); }
    Unpacked combined() const { return fast::combined(epilogue, operands, accumulator); }
    Unpacked combined_without_c() const {
        EpilogueOperands without = operands;
        without.beta = {};
        return fast::combined(epilogue, without, accumulator);
    }
    Unpacked with_bias(const Unpacked& value) const {
        return epilogue.adds_bias ? fast::sum(value, bias()) : value;
    }
    Unpacked activated(const Unpacked& value) const { return fast::activated(epilogue, value); }
};

using Steps = std::function<Unpacked(const Beginning& from)>;  // up to the scale of D

// Does alpha multiply A, and belong to the sum?
bool is_alpha_done(const gemm::ProblemView& problem) {
    return problem.model != nullptr && problem.model->alpha == AlphaPlace::factor_a;
}

// The sum of products as binary32, before anything is done to it.
gemm::ProblemView sums_of(const gemm::ProblemView& problem) {
    gemm::ProblemView sums = problem;
    if (!is_alpha_done(problem)) sums.alpha = unit_factor;
    sums.beta = {};
    sums.epilogue.output = step_format;
    sums.epilogue.adds_bias = sums.epilogue.scales_output = false;
    sums.epilogue.activation = Activation::none;
    return sums;
}

class OtherSteps {
public:
    OtherSteps(const gemm::ProblemView& problem, GemmHypotheses& hypotheses)
        : problem_(problem), hypotheses_(hypotheses) {}

    // Where alpha was multiplied into A there is no sum that it could be multiplied by here.
    bool multiplies_by_alpha() const { return !is_alpha_done(problem_); }

    void add(std::string what, Steps steps) {
        hypotheses_.push_back(
            {std::move(what), [&problem = problem_, sums = sums_of(problem_),
                               steps = std::move(steps)](const gemm::OutputPlace& place) {
                 gemm::Output right = problem.output(place);
                 if (is_alpha_done(problem)) right.operands.alpha = unit_factor;
                 gemm::Output bare = sums.output(place);
                 bare.operands.scale_a = bare.operands.scale_b = unit_factor;
                 const GemmEpilogue& e = problem.epilogue;
                 Unpacked value = steps(
                     {e, right.operands, fast::unpack(step_format, expected_result(sums, bare))});
                 if (e.scales_output)
                     value = fast::multiplied(e, value,
                                              fast::unpack(step_format, right.operands.scale_out));
                 return fast::round(e.output, Rounding::nearest_even, e.overflow(), value);
             }});
    }

private:
    const gemm::ProblemView& problem_;
    GemmHypotheses& hypotheses_;
};

// A D in blocks whose scale for all of it comes too late.
void add_saturated_blocks(const gemm::ProblemView& problem, OtherSteps& other) {
    const bool is_scaled_late = problem.epilogue.scales_output && problem.blocks &&
                                !problem.blocks->quantizer->has_e8m0_scales();
    if (!is_scaled_late) return;
    const BlockFormat& format = *problem.blocks->format;
    const auto largest_of = [](const ElementFormat& each) {
        return fast::unpack(each, Code{each.code_max_finite()});
    };
    other.add("D saturates before it is multiplied by its scale",
              [largest = fast::product(largest_of(format.element()), largest_of(format.scale()))](
                  const Beginning& from) {
                  Unpacked value = from.activated(from.with_bias(from.combined()));
                  const bool is_beyond = value.kind == fast::Kind::infinity ||
                                         (value.kind == fast::Kind::finite &&
                                          fast::is_larger_magnitude(value, largest));
                  const bool is_negative = value.negative;
                  if (is_beyond) value = largest;
                  value.negative = is_negative;
                  return value;
              });
}

}  // namespace

void add_other_steps(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const GemmEpilogue& e = problem.epilogue;
    OtherSteps other(problem, hypotheses);
    const bool has_activation = e.activation != Activation::none;
    const bool is_rounded_by_d = e.output.mantissa_bits < step_format.mantissa_bits;
    if (problem.adds_c()) {
        if (other.multiplies_by_alpha())
            other.add("alpha multiplies the sum and C together", [](const Beginning& from) {
                const Unpacked both = fast::sum(from.sum(), from.beta_c());
                return from.activated(from.with_bias(fast::product(from.alpha(), both)));
            });
        if (has_activation)
            other.add("the activation comes before C", [](const Beginning& from) {
                return from.with_bias(
                    fast::sum(from.activated(from.combined_without_c()), from.beta_c()));
            });
    }
    if (e.adds_bias) {
        if (other.multiplies_by_alpha())
            other.add("alpha multiplies the sum and the bias together", [](const Beginning& from) {
                const Unpacked both = fast::sum(from.sum(), from.bias());
                return from.activated(fast::fused_multiply_add(from.alpha(), both, from.beta_c()));
            });
        if (has_activation)
            other.add("the activation comes before the bias", [](const Beginning& from) {
                return fast::sum(from.activated(from.combined()), from.bias());
            });
        if (is_rounded_by_d)
            other.add(
                "the sum is rounded to the type of D before the bias", [](const Beginning& from) {
                    const Unpacked sum = fast::rounded_in(from.epilogue.output, from.combined());
                    return from.activated(fast::sum(sum, from.bias()));
                });
    }
    if (is_rounded_by_d && other.multiplies_by_alpha())
        other.add("the sum is rounded to the type of D before alpha", [](const Beginning& from) {
            const Unpacked sum = fast::rounded_in(from.epilogue.output, from.accumulator);
            const Beginning rounded{from.epilogue, from.operands, sum};
            return rounded.activated(rounded.with_bias(rounded.combined()));
        });
    add_saturated_blocks(problem, other);
    if (e.activation == Activation::relu)
        other.add("the activation makes 0 of NaN", [](const Beginning& from) {
            const Unpacked value = from.activated(from.with_bias(from.combined()));
            return value.kind == fast::Kind::nan ? Unpacked{} : value;
        });
    if (e.scales == FactorScales::in_alpha && problem.alpha != unit_factor)
        other.add("the scales of A and B are multiplied before alpha", [](const Beginning& from) {
            const Unpacked scales =
                fast::with_scales(from.operands, fast::unpack(step_format, unit_factor));
            const Unpacked alpha =
                fast::product(scales, fast::unpack(step_format, from.operands.alpha));
            const Unpacked value = fast::fused_multiply_add(alpha, from.accumulator, from.beta_c());
            return from.activated(from.with_bias(value));
        });
}

}  // namespace mx
