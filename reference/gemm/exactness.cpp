// See exactness.hpp.
#include "reference/gemm/exactness.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "reference/gemm/exact_terms.hpp"
#include "reference/gemm/oracle.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::gemm {
namespace {

// What the conditions need of all terms of an output.
struct Survey {
    bool nan = false, positive_infinity = false, negative_infinity = false, any = false;
    int quantum = std::numeric_limits<int>::max();  // of nonzero terms
    int largest = std::numeric_limits<int>::min();  // exponent aligned to, zeros counted
    int highest = std::numeric_limits<int>::min();  // above the leading bit of any term

    void note(const Term& term) {
        const fast::Unpacked& value = term.value;
        nan = nan || value.kind == fast::Kind::nan;
        if (value.kind == fast::Kind::infinity)
            (value.negative ? negative_infinity : positive_infinity) = true;
        if (value.kind != fast::Kind::finite) return;
        largest = std::max(largest, term.exponent);
        if (value.significand == 0) return;
        any = true;
        quantum = std::min(quantum, lowest_bit(value));
        highest = std::max(highest, above_highest_bit(value));
    }
};

template <typename Visit>
void for_each_term(const ProblemView& problem, const Output& output, const Visit& visit) {
    const Term alpha = term_of(f32, output.operands.alpha);
    const auto scale = [](const ScaledRow& row, std::int64_t k) {
        if (row.block == 0) return Term{{fast::Kind::finite, false, 0, 1}, 0};
        return term_of(row.scale, row.scale_at(k));
    };
    Term scales{};
    for (std::int64_t k = 0; k < output.depth; ++k) {
        const auto begins_block = [k](const ScaledRow& row) {
            return row.block != 0 && k % row.block == 0;
        };
        if (k == 0 || begins_block(output.a) || begins_block(output.b))
            scales = times(alpha, times(scale(output.a, k), scale(output.b, k)));
        visit(times(scales, times(term_of(output.a.element, output.a.codes.at(k)),
                                  term_of(output.b.element, output.b.codes.at(k)))));
    }
    if (output.operands.beta.bits << 1 != 0) {
        const Term c = times(term_of(f32, output.operands.beta),
                             term_of(problem.epilogue.addend, output.operands.c));
        // A C of zero is added to whatever is there.
        if (c.value.kind != fast::Kind::finite || c.value.significand != 0) visit(c);
    }
    if (problem.epilogue.adds_bias) {
        const Term bias = term_of(problem.epilogue.bias, output.operands.bias);
        if (bias.value.kind != fast::Kind::finite || bias.value.significand != 0) visit(bias);
    }
}

bool scales_only_move(const ScaledRow& row, std::int64_t depth) {
    if (row.block == 0 || row.scale.name != f32.name) return true;
    for (std::int64_t k = 0; k < depth; k += row.block)
        if (!only_moves(row.scale_at(k))) return false;
    return true;
}

// Every product of factors of binary32 that some order takes must have a code.
std::string factor_out_of_range(const Output& output) {
    const auto is_f32 = [](const ScaledRow& row) {
        return row.block != 0 && row.scale.name == f32.name;
    };
    const std::int64_t step_a = is_f32(output.a) ? output.a.block : output.depth;
    const std::int64_t step = is_f32(output.b) ? std::min(step_a, output.b.block) : step_a;
    const auto exponent = [&](const ScaledRow& row, std::int64_t k) {
        const Term scale = is_f32(row) ? term_of(f32, row.scale_at(k)) : Term{};
        return scale.value.kind == fast::Kind::finite ? scale.exponent : 0;
    };
    const int alpha = term_of(f32, output.operands.alpha).exponent;
    for (std::int64_t k = 0; k < output.depth; k += step) {
        const int a = exponent(output.a, k), b = exponent(output.b, k);
        for (const int product : {a + b, alpha + a, alpha + b, alpha + a + b})
            if (product < f32.exponent_min() || product > f32.exponent_max())
                return "a product of alpha and scales is out of the range of binary32";
    }
    return "";
}

// A scale, those of binary32 cut to a power of two: where such a product is normal, it rounds.
fast::Unpacked scale_factor(const ScaledRow& row, std::int64_t k) {
    if (row.block == 0) return {fast::Kind::finite, false, 0, 1};
    const fast::Unpacked scale = fast::unpack(row.scale, row.scale_at(k));
    if (row.scale.name != f32.name || scale.kind != fast::Kind::finite || scale.significand == 0)
        return scale;
    const int leading = static_cast<int>(std::bit_width(scale.significand)) - 1;
    return {fast::Kind::finite, false, scale.exponent + leading, 1};
}

bool is_in_range(const fast::Unpacked& value, int end) {
    return !has_digits(value) ||
           (lowest_bit(value) >= f32.exponent_min() && above_highest_bit(value) <= end);
}

// Alpha may come last, and is too late for what is Inf or 0 by then.
bool products_fit(const Output& output) {
    const int end = highest_term(output.depth);
    for (std::int64_t k = 0; k < output.depth; ++k) {
        const auto scaled = [k](const ScaledRow& row) {
            return fast::exact_product(fast::unpack(row.element, row.codes.at(k)),
                                       scale_factor(row, k));
        };
        if (!is_in_range(fast::exact_product(scaled(output.a), scaled(output.b)), end))
            return false;
    }
    return true;
}

// Machines without scales of small blocks dequantise first, or scale the sum of a block by one
// scale after the other. A sum of products is a multiple of the last place of some of them.
bool partly_scaled_fits(const Output& output) {
    const auto is_small = [](const ScaledRow& row) {
        return row.block != 0 && row.scale.name != f32.name;
    };
    const bool may_dequantise = is_small(output.a) || is_small(output.b);
    if (output.a.block == 0 && output.b.block == 0) return true;
    constexpr int end_of_one = f32.exponent_max() + 1;
    const int end = highest_term(output.depth);
    for (std::int64_t k = 0; k < output.depth; ++k) {
        const fast::Unpacked a = fast::unpack(output.a.element, output.a.codes.at(k));
        const fast::Unpacked b = fast::unpack(output.b.element, output.b.codes.at(k));
        const fast::Unpacked scaled_a = fast::exact_product(a, scale_factor(output.a, k));
        const fast::Unpacked scaled_b = fast::exact_product(b, scale_factor(output.b, k));
        const bool meets_zero = fast::is_zero(a) || fast::is_zero(b);
        if (may_dequantise &&
            (!is_in_range(scaled_a, end_of_one) || !is_in_range(scaled_b, end_of_one)))
            return false;
        if (!meets_zero && (!is_in_range(fast::exact_product(scaled_a, b), end) ||
                            !is_in_range(fast::exact_product(a, scaled_b), end)))
            return false;
    }
    return true;
}

// Or they multiply the scales of both sides with each other: where that is Inf, zeros make NaN.
bool scales_fit(const Output& output) {
    const auto is_e8m0 = [](const ScaledRow& row) {
        return row.block != 0 && row.scale.name == formats::e8m0.name;
    };
    const auto is_zero_at = [](const ScaledRow& row, std::int64_t k) {
        return fast::is_zero(fast::unpack(row.element, row.codes.at(k)));
    };
    if (!is_e8m0(output.a) || !is_e8m0(output.b)) return true;
    for (std::int64_t k = 0; k < output.depth; ++k) {
        const fast::Unpacked both =
            fast::exact_product(scale_factor(output.a, k), scale_factor(output.b, k));
        if (both.kind != fast::Kind::finite) continue;
        if (both.exponent > f32.exponent_max()) return false;
        const bool meets_zero = is_zero_at(output.a, k) || is_zero_at(output.b, k);
        if (!meets_zero && both.exponent < f32.exponent_min()) return false;
    }
    return true;
}

std::string factors_because(const ProblemView& problem, const Output& output) {
    if (problem.epilogue.activation == Activation::gelu)
        return "GELU is no sum: only a model says which bits it gives, so name a row with model=";
    const EpilogueOperands& operands = output.operands;
    const bool reads_c = operands.beta.bits << 1 != 0;
    if (!only_moves(operands.alpha)) return "alpha is no power of two";
    if (reads_c && !only_moves(operands.beta)) return "beta is no power of two";
    if (problem.epilogue.scales_output && !only_moves(operands.scale_out))
        return "the scale of D is no power of two";
    if (!scales_only_move(output.a, output.depth)) return "a scale of A is no power of two";
    if (!scales_only_move(output.b, output.depth)) return "a scale of B is no power of two";
    constexpr Code one{0x3F800000};
    if (operands.alpha != one && !products_fit(output))
        return "products are out of the range of binary32 before alpha";
    if (std::string why = alpha_on_a_because(problem, output); !why.empty()) return why;
    return partly_scaled_because(output);
}

std::string exponent_text(int exponent) {
    return "2^" + std::to_string(exponent);
}

// T against 2^(q + F + 1), once every term is known to be below 2^(q + 62).
bool magnitudes_fit(const ProblemView& problem, const Output& output, int quantum, int bits) {
    std::uint64_t sum = 0;
    const std::uint64_t limit = std::uint64_t{1} << (bits + 1);
    for_each_term(problem, output, [&](const Term& term) {
        if (term.value.kind != fast::Kind::finite || term.value.significand == 0) return;
        const int shift = term.value.exponent - quantum;
        const std::uint64_t units =
            shift >= 0 ? term.value.significand << shift : term.value.significand >> -shift;
        sum = std::min(limit, sum + std::min(limit, units));
    });
    return sum < limit;
}

std::string sum_because(const ProblemView& problem, const Output& output, const Survey& survey) {
    const int bits = problem.fraction_bits;
    const std::string kept = " and the weakest accumulator of such elements keeps " +
                             std::to_string(bits) + " bits of fraction";
    if (survey.quantum < f32.exponent_min())
        return "a term has bits below " + exponent_text(f32.exponent_min()) +
               ", where machines may flush";
    if (survey.largest > survey.quantum + bits)
        return "terms are multiples of " + exponent_text(survey.quantum) +
               ", but are aligned to 2^" + std::to_string(survey.largest) + kept;
    // An exponent field bounds a product but for a factor of 4.
    const bool is_near = survey.highest - survey.quantum < 62;
    if (!is_near || !magnitudes_fit(problem, output, survey.quantum, bits))
        return "terms are multiples of " + exponent_text(survey.quantum) +
               ", but their magnitudes sum to " + exponent_text(survey.quantum + bits + 1) +
               " or more" + kept;
    return "";
}

}  // namespace

bool alpha_may_scale_a(const ProblemView& problem) {
    if (problem.alpha == Code{0x3F800000} || problem.a.scaling == Scaling::blocks ||
        problem.b.scaling == Scaling::blocks)
        return false;
    if (problem.model != nullptr) return problem.model->alpha == AlphaPlace::factor_a;
    return std::ranges::any_of(gemm_models, [&](const GemmModel& row) {
        return row.alpha == AlphaPlace::factor_a && lists(row.operands, problem.a.element.name) &&
               lists(row.operands, problem.b.element.name);
    });
}

std::string alpha_on_a_because(const ProblemView& problem, const Output& output) {
    const Code code = output.operands.alpha;
    const fast::Unpacked alpha = fast::unpack(f32, code);
    if (!alpha_may_scale_a(problem) || alpha.kind == fast::Kind::nan) return "";
    // What is rounded may be rounded up.
    const int end = f32.exponent_max() + (only_moves(code) ? 1 : 0);
    bool fits = alpha.kind == fast::Kind::finite;
    for (std::int64_t k = 0; fits && k < output.depth; ++k) {
        const fast::Unpacked element = fast::unpack(output.a.element, output.a.codes.at(k));
        const fast::Unpacked product = fast::exact_product(element, alpha);
        fits = !has_digits(product) || (above_highest_bit(product) > f32.exponent_min() &&
                                        above_highest_bit(product) <= end);
    }
    return fits ? "" : "elements of A times alpha are out of the range of binary32";
}

std::string partly_scaled_because(const Output& output) {
    if (!partly_scaled_fits(output))
        return "elements with one of their scales are out of the range of binary32";
    if (!scales_fit(output)) return "a product of scales is out of the range of binary32";
    return factor_out_of_range(output);
}

std::string undetermined_because(const ProblemView& problem, const Output& output) {
    if (std::string why = factors_because(problem, output); !why.empty()) return why;
    Survey survey;
    for_each_term(problem, output, [&survey](const Term& term) { survey.note(term); });
    const bool is_nan = survey.nan || (survey.positive_infinity && survey.negative_infinity);
    const bool is_infinite = survey.positive_infinity || survey.negative_infinity;
    if (is_nan)
        return problem.epilogue.activation == Activation::none
                   ? ""
                   : "a NaN meets ReLU, and no source says what becomes of it";
    if (survey.any && survey.highest > highest_term(output.depth))
        return "terms come near the end of binary32's range";
    const Code result = exact_result(problem, output);
    if (!is_infinite) {
        if (std::string why = survey.any ? sum_because(problem, output, survey) : ""; !why.empty())
            return why;
        return is_beyond(problem, result) ? "the result is beyond the range of D's type" : "";
    }
    return problem.epilogue.is_narrow() ? "an Inf becomes FP8, which may saturate" : "";
}

}  // namespace mx::gemm
