// See gemm_explain.hpp.
#include "conformance/emulate/gemm_explain.hpp"

#include <numeric>

#include "conformance/emulate/number_text.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/exact/gemm_output.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate {
namespace {

// Short enough for a screen, and for the exact models, which are slow.
constexpr std::int64_t lines_max = 64;

struct Output {
    ScaledRow a;
    ScaledRow b;
    std::int64_t depth;
    exact::Value c;
};

// The elements that share a scale on both sides.
std::int64_t stretch_of(const GemmProblem& problem) {
    return std::gcd(problem.a.block, problem.b.block);
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

std::string code_and_value(const ElementFormat& format, Code code) {
    return hex_code(format, code) + " = " + exact_text(exact::decode(format, code));
}

std::string blocks_text(const GemmProblem& problem, const Output& output) {
    TextTable table({{"k"},
                     {"sum of elements", Align::right},
                     {"scale of A", Align::right},
                     {"scale of B", Align::right},
                     {"times scales", Align::right}});
    const std::int64_t stretch = stretch_of(problem);
    const std::int64_t all = (output.depth + stretch - 1) / stretch;
    for (std::int64_t i = 0; i < std::min(all, lines_max); ++i) {
        const std::int64_t first = i * stretch, end = std::min(output.depth, first + stretch);
        const exact::Value sum =
            exact::dot(unscaled_from(output.a, first), unscaled_from(output.b, first), end - first);
        const exact::Value scale_a = exact::decode(output.a.scale, output.a.scale_at(first));
        const exact::Value scale_b = exact::decode(output.b.scale, output.b.scale_at(first));
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
std::string total_in_full(const GemmProblem& problem, const exact::Value& total) {
    const bool is_dyadic = problem.a.tensor.divisor * problem.b.tensor.divisor == 1;
    if (is_dyadic || !total.is_finite()) return exact_and_decimal(total);
    const std::string fraction = exact::to_fraction(exact::with_sign(total));
    const std::string decimal = exact::to_text(total);
    return fraction == decimal ? fraction : fraction + " = " + decimal;
}

std::string total_text(const GemmProblem& problem, const Output& output,
                       const exact::OutputFactors& factors, const exact::Value& total) {
    const GemmRules& rules = problem.rules;
    std::string text =
        "sum: " + exact_and_decimal(exact::dot(output.a, output.b, output.depth)) + "\n";
    text += factor_text("A", factors.a) + factor_text("B", factors.b);
    const exact::Value alpha = exact::decode(formats::f32, rules.alpha);
    if (rules.alpha != GemmRules{}.alpha) text += "  times alpha: " + exact_text(alpha) + "\n";
    if (!formats::f32.is_zero(rules.beta))
        text += "  plus beta * C: " + exact_text(exact::decode(formats::f32, rules.beta)) + " * " +
                exact_text(output.c) + "\n";
    text += "exact: " + total_in_full(problem, total) + "\n";
    for (const std::string_view type : gemm_types) {
        const ElementFormat format = *find_element_format(type);
        const Code code = exact::round(format, Rounding::nearest_even, rules.overflow, total);
        text += "  in " + std::string(type) + ": " + code_and_value(format, code) + "\n";
    }
    return text;
}

exact::Value accumulated(const GemmModel& model, const Output& output, std::int64_t depth) {
    return exact::accumulate(model, output.a, output.b, depth, exact::Value{});
}

// Each line is the accumulator after so many products: outer where the model has two.
std::string steps_text(const GemmModel& model, const Output& output) {
    TextTable table({{"after k"},
                     {"accumulator"},
                     {"exact so far", Align::right},
                     {"lost so far", Align::right}});
    const std::int64_t step =
        model.promotion != 0 ? model.promotion : std::int64_t{model.products} * model.exact_group;
    const std::int64_t all = (output.depth + step - 1) / step;
    for (std::int64_t i = 0; i < std::min(all, lines_max); ++i) {
        const std::int64_t depth = std::min(output.depth, (i + 1) * step);
        const exact::Value value = accumulated(model, output, depth);
        const exact::Value sum = exact::dot(output.a, output.b, depth);
        exact::Value minus = value;
        minus.negative = !value.negative;
        const Code code =
            exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
        table.add({std::to_string(depth), code_and_value(formats::f32, code), exact_text(sum),
                   exact_text(exact::plus(sum, minus))});
    }
    return std::string(model.name) + ", " +
           (model.promotion != 0 ? "each time it is promoted" : "step by step") + ":\n" +
           table.print() + shortened_note(std::min(all, lines_max), all);
}

std::string models_text(const GemmProblem& problem, const Output& output) {
    TextTable table({{"model"}, {"accumulator"}, {"lost", Align::right}});
    const exact::Value sum = exact::dot(output.a, output.b, output.depth);
    bool any = false;
    for (const GemmModel& model : gemm_models) {
        if (!takes_both(model, problem.a, problem.b)) continue;
        any = true;
        exact::Value value = accumulated(model, output, output.depth);
        const Code code =
            exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
        value.negative = !value.negative;
        table.add({std::string(model.name), code_and_value(formats::f32, code),
                   exact_text(exact::plus(sum, value))});
    }
    return any ? "what machines make of the sum:\n" + table.print()
               : "no model takes both factors\n";
}

exact::Value addend_at(const GemmProblem& problem, std::int64_t index) {
    if (!problem.c) return {};
    const ElementFormat type = *find_element_format(problem.c->tensor.type);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(problem.c->tensor.bytes.data());
    return exact::decode(type, CodeView{bytes, type.code_bytes()}.at(index));
}

}  // namespace

std::string explain_output(const GemmProblem& problem, std::int64_t index) {
    const GemmRows rows = rows_of(problem, index);
    const Output output{rows.a, rows.b, problem.a.depth(), addend_at(problem, index)};
    const GemmRules& rules = problem.rules;
    const fast::OutputFactors numbers = factors_of(problem, index);
    const exact::OutputFactors factors{
        {exact::decode(formats::f32, rules.alpha), exact::decode(formats::f32, rules.beta)},
        numbers.a,
        numbers.b};
    const exact::Value total =
        exact::output_value(factors, exact::dot(output.a, output.b, output.depth), output.c);
    std::string text = "output " + std::to_string(index) + " of D, row " +
                       std::to_string(index / problem.b.rows()) + " and column " +
                       std::to_string(index % problem.b.rows()) + ": " + problem.a.path +
                       " times " + problem.b.path + ", K " + std::to_string(output.depth) + "\n";
    text += blocks_text(problem, output) + total_text(problem, output, factors, total);
    return text + (rules.model == nullptr ? models_text(problem, output)
                                          : steps_text(*rules.model, output));
}

}  // namespace mx::emulate
