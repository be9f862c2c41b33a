// Of all outputs at once, from what each pair of rows shows. See exactness.hpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/gemm/exact_terms.hpp"
#include "reference/gemm/exactness.hpp"
#include "reference/gemm/oracle.hpp"
#include "reference/gemm/row_pairs.hpp"

namespace mx::gemm {
namespace {

// What the facts of a pair of rows decide; `open` where they do not.
enum class Decided { determined, undetermined, open };

class Decider {
public:
    Decider(const ProblemView& problem, const Output& like)
        : problem_(problem),
          bits_(problem.fraction_bits),
          end_(highest_term(like.depth)),
          alpha_(term_of(f32, like.operands.alpha)),
          has_alpha_(like.operands.alpha != Code{0x3F800000}),
          may_scale_a_(alpha_may_scale_a(problem)),
          is_a_scaled_(like.a.block != 0),
          is_b_scaled_(like.b.block != 0),
          may_dequantise_(is_small(like.a) || is_small(like.b)),
          are_e8m0_(is_e8m0(like.a) && is_e8m0(like.b)),
          is_known_(is_known(problem, like)) {}

    Decided decide(const PairFacts& facts, const EpilogueOperands& operands, Code result) const {
        if (!is_known_ || !factors_fit(facts)) return Decided::open;
        if (has_alpha_ && !fits_without_alpha(facts)) return Decided::open;
        if (may_scale_a_ && !fits_on_a(facts.a.scaled)) return Decided::open;
        if (facts.a.nan || facts.b.nan)
            return problem_.epilogue.activation == Activation::none ? Decided::determined
                                                                    : Decided::undetermined;
        Sum sum;
        if (facts.any) {
            sum.quantum = facts.quantum + alpha_.exponent;
            sum.magnitudes = std::ldexp(facts.magnitudes, alpha_.exponent);
        }
        sum.any = facts.any;
        sum.largest = facts.largest + alpha_.exponent;
        if (!add_others(operands, sum)) return Decided::open;
        if (facts.a.infinity || facts.b.infinity) return decide_infinity(sum);
        const Decided decided = sum.any ? decide_sum(sum) : Decided::determined;
        if (decided != Decided::determined) return decided;
        return is_beyond(problem_, result) ? Decided::undetermined : Decided::determined;
    }

private:
    // As Survey has them; magnitudes that reach past binary64 count as too large.
    struct Sum {
        bool any = false;
        int quantum = std::numeric_limits<int>::max();
        int largest = 0;
        double magnitudes = 0;
    };

    static bool is_small(const ScaledRow& row) {
        return row.block != 0 && row.scale.name != f32.name;
    }
    static bool is_e8m0(const ScaledRow& row) {
        return row.block != 0 && row.scale.name == formats::e8m0.name;
    }

    // What is the same for all outputs: else each is asked, which takes no time.
    static bool is_known(const ProblemView& problem, const Output& like) {
        const EpilogueOperands& operands = like.operands;
        const fast::Unpacked alpha = fast::unpack(f32, operands.alpha);
        return problem.epilogue.activation != Activation::gelu && only_moves(operands.alpha) &&
               alpha.kind == fast::Kind::finite && alpha.significand != 0 &&
               (operands.beta.bits << 1 == 0 || only_moves(operands.beta)) &&
               (!problem.epilogue.scales_output || only_moves(operands.scale_out));
    }

    // As factors_because, but for products without alpha.
    bool factors_fit(const PairFacts& facts) const {
        const int first = f32.exponent_min(), last = f32.exponent_max();
        if (!facts.a.scales_only_move || !facts.b.scales_only_move) return false;
        if (may_dequantise_ && (!facts.a.scaled.is_within(first, last + 1) ||
                                !facts.b.scaled.is_within(first, last + 1)))
            return false;
        if ((is_a_scaled_ || is_b_scaled_) &&
            (!facts.with_a.is_within(first, end_) || !facts.with_b.is_within(first, end_)))
            return false;
        if (are_e8m0_ && !facts.scales.is_within(first, last)) return false;
        return f32_scales_fit(facts.a.f32_scales, facts.b.f32_scales);
    }

    // Products of alpha and scales of binary32, each with each.
    bool f32_scales_fit(const ExponentRange& a, const ExponentRange& b) const {
        const int alpha = alpha_.exponent;
        for (const ExponentRange& range :
             {ExponentRange{a.least + b.least, a.largest + b.largest},
              ExponentRange{alpha + a.least, alpha + a.largest},
              ExponentRange{alpha + b.least, alpha + b.largest},
              ExponentRange{alpha + a.least + b.least, alpha + a.largest + b.largest}})
            if (!range.is_within(f32.exponent_min(), f32.exponent_max())) return false;
        return true;
    }

    bool fits_without_alpha(const PairFacts& facts) const {
        if (!facts.any) return true;
        return facts.quantum >= f32.exponent_min() &&
               facts.magnitudes < std::ldexp(1.0, std::min(end_, facts.quantum + 53));
    }

    bool fits_on_a(const ExponentRange& a) const {
        return ExponentRange{a.least + alpha_.exponent, a.largest + alpha_.exponent}.is_within(
            f32.exponent_min(), f32.exponent_max() + 1);
    }

    // Beta * C and the bias. False where one is not finite.
    bool add_others(const EpilogueOperands& operands, Sum& sum) const {
        const auto add = [&sum](const Term& term) {
            if (term.value.kind != fast::Kind::finite) return false;
            if (term.value.significand == 0) return true;
            sum.any = true;
            sum.largest = std::max(sum.largest, term.exponent);
            sum.quantum = std::min(sum.quantum, lowest_bit(term.value));
            sum.magnitudes +=
                std::ldexp(static_cast<double>(term.value.significand), term.value.exponent);
            return true;
        };
        const bool reads_c = operands.beta.bits << 1 != 0;
        return (!reads_c || add(times(term_of(f32, operands.beta),
                                      term_of(problem_.epilogue.addend, operands.c)))) &&
               (!problem_.epilogue.adds_bias ||
                add(term_of(problem_.epilogue.bias, operands.bias)));
    }

    // Of an Inf among the factors an Inf or a NaN becomes.
    Decided decide_infinity(const Sum& sum) const {
        const bool says_both =
            problem_.epilogue.activation == Activation::none && !problem_.epilogue.is_narrow();
        const bool is_far_from_end =
            !sum.any || sum.magnitudes < std::ldexp(1.0, std::min(end_, sum.quantum + 53));
        return says_both && is_far_from_end ? Decided::determined : Decided::open;
    }

    Decided decide_sum(const Sum& sum) const {
        const bool is_exact = sum.quantum >= f32.exponent_min() &&
                              sum.largest <= sum.quantum + bits_ &&
                              sum.magnitudes < std::ldexp(1.0, sum.quantum + bits_ + 1);
        if (!is_exact) return Decided::undetermined;
        // No term is above the sum of the magnitudes.
        return sum.magnitudes < std::ldexp(1.0, end_) ? Decided::determined : Decided::open;
    }

    const ProblemView& problem_;
    int bits_;
    int end_;
    Term alpha_;
    bool has_alpha_, may_scale_a_, is_a_scaled_, is_b_scaled_, may_dequantise_, are_e8m0_;
    bool is_known_;
};

}  // namespace

std::vector<bool> undetermined_outputs(const ProblemView& problem, std::span<const Code> results) {
    std::vector<bool> undetermined(results.size());
    if (results.empty()) return undetermined;
    const auto is_undetermined = [&](const OutputPlace& place) {
        return !undetermined_because(problem, problem.output(place)).empty();
    };
    if (problem.depth == 0) {
        for (std::size_t i = 0; i < results.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            undetermined[i] = is_undetermined({at / problem.n, at % problem.n});
        }
        return undetermined;
    }
    const Decider decider(problem, problem.output({0, 0}));
    for (std::int64_t group = 0; group < problem.group_count(); ++group) {
        const std::int64_t first = problem.rows_of_group(group).first;
        const GroupRows rows = rows_of_group(problem, group);
        if (rows.a.empty()) continue;
        for_each_pair(
            {rows.a, rows.b, problem.depth}, [&](const Place& at, const PairFacts& facts) {
                const OutputPlace place{first + static_cast<std::int64_t>(at.row),
                                        static_cast<std::int64_t>(at.column)};
                const auto i = static_cast<std::size_t>(place.row * problem.n + place.column);
                const Decided decided = decider.decide(facts, problem.operands(place), results[i]);
                undetermined[i] = decided == Decided::open ? is_undetermined(place)
                                                           : decided == Decided::undetermined;
            });
    }
    return undetermined;
}

}  // namespace mx::gemm
