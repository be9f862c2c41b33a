// See gemm_explain.hpp.
#include "conformance/emulate/gemm_explain.hpp"

#include <numeric>
#include <optional>

#include "conformance/emulate/number_text.hpp"
#include "conformance/emulate/text_table.hpp"
#include "conformance/run/gemm_confirm.hpp"
#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/exact/gemm_output.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate {
namespace {

// Short enough for a screen, and for the exact models, which are slow.
constexpr std::int64_t lines_max = 64;

// The elements that share a scale on both sides.
std::int64_t stretch_of(const TensorGemm& problem) {
    std::int64_t stretch = 0;
    for (const GemmFactor* factor : {&problem.a, &problem.b})
        if (factor->scaling == gemm::Scaling::blocks) stretch = std::gcd(stretch, factor->block);
    return stretch == 0 ? problem.a.depth() : stretch;
}

// Of so many products at the end of those that came before.
std::string range_text(std::int64_t first, std::int64_t end) {
    return std::to_string(first) + ".." + std::to_string(end - 1);
}

std::string shortened_note(std::int64_t shown, std::int64_t all) {
    if (shown == all) return "";
    return "... " + std::to_string(all - shown) + " more lines; the total has them all\n";
}

ScaledRow without_scales(ScaledRow row) {
    row.block = 0;
    return row;
}

// Element k of the row and what follows, without scales: blocks need not end there.
ScaledRow unscaled_from(const ScaledRow& row, std::int64_t k) {
    return without_scales(row).from(k);
}

std::string code_with_value(const ElementFormat& format, Code code) {
    return hex_code(format, code) + " = " + exact_text(exact::decode(format, code));
}

exact::Value scale_at(const ScaledRow& row, std::int64_t k) {
    return row.block == 0 ? exact::number(1) : exact::decode(row.scale, row.scale_at(k));
}

std::string blocks_text(const TensorGemm& problem, const gemm::Output& output) {
    TextTable table({{"k"},
                     {"sum of elements", Align::right},
                     {"scale of A", Align::right},
                     {"scale of B", Align::right},
                     {"times scales", Align::right}});
    const std::int64_t stretch = stretch_of(problem);
    const std::int64_t all = stretch == 0 ? 0 : (output.depth + stretch - 1) / stretch;
    for (std::int64_t i = 0; i < std::min(all, lines_max); ++i) {
        const std::int64_t first = i * stretch, end = std::min(output.depth, first + stretch);
        const exact::Value sum =
            exact::dot(unscaled_from(output.a, first), unscaled_from(output.b, first), end - first);
        const exact::Value scale_a = scale_at(output.a, first), scale_b = scale_at(output.b, first);
        table.add({range_text(first, end), exact_text(sum), exact_text(scale_a),
                   exact_text(scale_b),
                   exact_text(exact::times(sum, exact::times(scale_a, scale_b)))});
    }
    return table.print() + shortened_note(std::min(all, lines_max), all);
}

std::string factor_text(const char* name, const TensorFactor& factor) {
    if (factor.divisor == 1 && factor.number == TensorFactor{}.number) return "";
    return std::string("  times the number of ") + name + ": " +
           exact_text(exact::decode(formats::f32, factor.number)) +
           (factor.divisor == 1 ? "" : " / " + std::to_string(factor.divisor)) + "\n";
}

// A number of a tensor over 2688 is no whole number times a power of two.
std::string total_in_full(const TensorGemm& problem, const exact::Value& total) {
    const bool is_dyadic = problem.a.tensor.divisor * problem.b.tensor.divisor == 1;
    if (is_dyadic || !total.is_finite()) return exact_and_decimal(total);
    const std::string fraction = exact::to_fraction(exact::with_sign(total));
    const std::string decimal = exact::to_text(total);
    return fraction == decimal ? fraction : fraction + " = " + decimal;
}

std::string total_text(const TensorGemm& problem, const gemm::Output& output,
                       const exact::Value& total) {
    const GemmRules& rules = problem.rules;
    const gemm::ProblemView view = problem.view();
    std::string text =
        "sum: " + exact_and_decimal(exact::dot(output.a, output.b, output.depth)) + "\n";
    text += factor_text("A", output.number_a) + factor_text("B", output.number_b);
    const exact::Value alpha = exact::decode(formats::f32, rules.alpha);
    if (rules.alpha != GemmRules{}.alpha) text += "  times alpha: " + exact_text(alpha) + "\n";
    if (!formats::f32.is_zero(rules.beta))
        text += "  plus beta * C: " + exact_text(exact::decode(formats::f32, rules.beta)) + " * " +
                exact_text(exact::decode(view.epilogue.addend, output.operands.c)) + "\n";
    if (problem.bias)
        text += "  plus the bias: " +
                exact_text(exact::decode(view.epilogue.bias, output.operands.bias)) + "\n";
    if (rules.activation == Activation::relu) text += "  ReLU\n";
    if (rules.scale_out)
        text +=
            "  times the scale of D: " + exact_text(exact::decode(formats::f32, *rules.scale_out)) +
            "\n";
    text += "exact: " + total_in_full(problem, total) + "\n";
    for (const ElementFormat& format : gemm_types) {
        const Code code = exact::round(format, Rounding::nearest_even,
                                       rules.overflow.value_or(Overflow::overflow), total);
        text += "  in " + std::string(format.name) + ": " + code_with_value(format, code) + "\n";
    }
    return text;
}

// The first `depth` products, in parts of `part`, or in one where it is 0.
struct Stretch {
    std::int64_t depth = 0, part = 0;
};

exact::Value accumulated(const GemmModel& model, const gemm::Output& output,
                         const Stretch& stretch) {
    const bool has_scales = model.scaling != BlockScaling::none;
    ScaledRow a = has_scales ? output.a : without_scales(output.a);
    const ScaledRow b = has_scales ? output.b : without_scales(output.b);
    std::optional<exact::TimesAlpha> times_alpha;
    if (model.alpha == AlphaPlace::factor_a)
        a = times_alpha
                .emplace(a, stretch.depth, exact::decode(formats::f32, output.operands.alpha))
                .row();
    if (stretch.part != 0)
        return exact::accumulate_in_parts(model, a, b, stretch.depth, stretch.part);
    // What is left over of all of K comes first, of however much of it the first products are.
    GemmModel in_order = model;
    in_order.residue_tile = 0;
    const std::int64_t residue = std::min(residue_of(model, output.depth), stretch.depth);
    const exact::Value before = exact::accumulate(in_order, a, b, residue, exact::Value{});
    return exact::accumulate(in_order, a.from(residue), b.from(residue), stretch.depth - residue,
                             before);
}

// After how many products the accumulator is shown: where it is promoted, or each step ends; of a
// K in parts that each begin with a residue, where they end.
std::vector<std::int64_t> shown_depths(const GemmModel& model, const gemm::Output& output,
                                       std::int64_t part) {
    const bool by_parts = part != 0 && model.residue_tile != 0;
    const std::int64_t step = by_parts ? part
                              : model.promotion != 0
                                  ? model.promotion
                                  : std::int64_t{model.products} * model.exact_group;
    const std::int64_t residue = by_parts ? 0 : residue_of(model, output.depth);
    std::vector<std::int64_t> depths;
    for (std::int64_t k = 0; k < output.depth; depths.push_back(k))
        k = std::min(k + step, k < residue ? residue : output.depth);
    return depths;
}

// What the accumulator would be if nothing were lost.
exact::Value sum_for(const GemmModel& model, const gemm::Output& output, std::int64_t depth) {
    if (model.scaling != BlockScaling::none) return exact::dot(output.a, output.b, depth);
    const exact::Value sum = exact::dot(without_scales(output.a), without_scales(output.b), depth);
    return model.alpha == AlphaPlace::sum
               ? sum
               : exact::times(sum, exact::decode(formats::f32, output.operands.alpha));
}

// Each line is the accumulator after so many products: outer where the model has two.
std::string steps_text(const GemmModel& model, const gemm::Output& output, std::int64_t part) {
    TextTable table({{"after k"},
                     {"accumulator"},
                     {"exact so far", Align::right},
                     {"lost so far", Align::right}});
    const std::vector<std::int64_t> depths = shown_depths(model, output, part);
    const auto all = static_cast<std::int64_t>(depths.size());
    for (std::int64_t i = 0; i < std::min(all, lines_max); ++i) {
        const std::int64_t depth = depths[static_cast<std::size_t>(i)];
        const exact::Value value = accumulated(model, output, {depth, part});
        const exact::Value sum = sum_for(model, output, depth);
        exact::Value minus = value;
        minus.negative = !value.negative;
        const Code code =
            exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
        table.add({std::to_string(depth), code_with_value(formats::f32, code), exact_text(sum),
                   exact_text(exact::plus(sum, minus))});
    }
    return std::string(model.name) + ", " +
           (part == 0 ? "" : "in parts of " + std::to_string(part) + " along K, ") +
           (part != 0 && model.residue_tile != 0 ? "part by part"
            : model.promotion != 0               ? "each time it is promoted"
                                                 : "step by step") +
           ":\n" + table.print() + shortened_note(std::min(all, lines_max), all);
}

// Sums alone, whatever alpha is.
std::string models_text(const TensorGemm& problem, gemm::Output output) {
    output.operands.alpha = EpilogueOperands{}.alpha;
    TextTable table({{"model"}, {"accumulator"}, {"lost", Align::right}});
    bool any = false;
    for (const GemmModel& model : gemm_models) {
        if (!gemm::takes(model, problem.a.view(), problem.b.view())) continue;
        any = true;
        exact::Value value = accumulated(model, output, {output.depth});
        const Code code =
            exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
        const exact::Value sum = sum_for(model, output, output.depth);
        value.negative = !value.negative;
        table.add({std::string(model.name), code_with_value(formats::f32, code),
                   exact_text(exact::plus(sum, value))});
    }
    return any ? "what machines make of the sum:\n" + table.print()
               : "no model takes both factors\n";
}

// From the accumulator on.
std::string result_text(const TensorGemm& problem, const gemm::Output& output) {
    const gemm::ProblemView view = problem.view();
    const Code alpha = confirmed_alpha(output);
    const bool has_numbers = view.a.has_numbers() || view.b.has_numbers();
    return (has_numbers ? "alpha with the numbers of both tensors, in binary32: " +
                              code_with_value(formats::f32, alpha) + "\n"
                        : "") +
           "D: " + code_with_value(view.epilogue.output, confirmed_result(view, output)) + "\n";
}

}  // namespace

std::string explain_output(const TensorGemm& problem, std::int64_t index) {
    const gemm::ProblemView view = problem.view();
    const gemm::Output output = view.output(view.place(index));
    const exact::Value total = exact_value(view, output);
    std::string text = "output " + std::to_string(index) + " of D, row " +
                       std::to_string(index / problem.b.rows()) + " and column " +
                       std::to_string(index % problem.b.rows()) + ": " + problem.a.path +
                       " times " + problem.b.path + ", K " + std::to_string(output.depth) + "\n";
    text += blocks_text(problem, output) + total_text(problem, output, total);
    if (view.model == nullptr) return text + models_text(problem, output);
    return text + steps_text(*view.model, output, view.part) + result_text(problem, output);
}

}  // namespace mx::emulate
