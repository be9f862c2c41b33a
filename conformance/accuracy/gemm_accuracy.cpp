// See gemm_accuracy.hpp.
#include "conformance/accuracy/gemm_accuracy.hpp"

#include <algorithm>
#include <cmath>

#include "conformance/accuracy/block_codes.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "reference/gemm/bound.hpp"

namespace mx::accuracy {
namespace {

double value_of(const fast::Total& total) {
    return number_of(fast::leading_bits(total.sum));
}

// D's gap at a number; at zero its smallest.
double gap_at(const ElementFormat& d, double value) {
    const int binade = value == 0 ? d.exponent_min() : std::ilogb(value);
    return std::ldexp(1.0, std::max(binade, d.exponent_min()) - d.mantissa_bits);
}

template <typename Visit>
void for_each_output(const gemm::ProblemView& problem, const Visit& visit) {
    for (std::int64_t row = 0; row < problem.m; ++row)
        for (std::int64_t column = 0; column < problem.n; ++column)
            visit(gemm::OutputPlace{row, column},
                  static_cast<std::size_t>(row * problem.n + column));
}

void add_share(double share, GemmAccuracy& accuracy) {
    accuracy.share_sum += share;
    accuracy.share_max = std::max(accuracy.share_max, share);
    ++accuracy.shares[share == 0 ? exact_share : std::ilogb(share)];
}

void add_output(const gemm::ProblemView& problem, const gemm::Output& output, Code actual,
                GemmAccuracy& accuracy) {
    ++accuracy.outputs;
    const ElementFormat& d = problem.epilogue.output;
    const gemm::Bound bound = bound_of(problem, output);
    const bool has_bound = bound.none_because.empty();
    const fast::Total total = has_bound ? bound.result : exact_total(problem, output);
    // Infinite for a NaN where a number belongs, and the other way round.
    const double share = has_bound ? share_of_bound(problem, bound, actual) : 0;
    accuracy.judged += has_bound;
    accuracy.beyond += share > 1;
    if (fast::kind_of(total) != fast::Kind::finite || d.is_nan(actual) || d.is_infinity(actual)) {
        ++accuracy.not_finite;
        return;
    }
    const double exact = value_of(total);
    const double error = distance_of(problem, total, actual);
    accuracy.signal += exact * exact;
    accuracy.noise += error * error;
    const double ulp = error / gap_at(d, exact);
    accuracy.ulp_sum += ulp;
    accuracy.ulp_max = std::max(accuracy.ulp_max, ulp);
    if (has_bound)
        add_share(share, accuracy);
    else
        ++accuracy.without_bound;
}

double mean(double sum, std::uint64_t count) {
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

double GemmAccuracy::ulp_mean() const {
    return mean(ulp_sum, outputs - not_finite);
}

double GemmAccuracy::share_mean() const {
    return mean(share_sum, outputs - not_finite - without_bound);
}

Outputs expected_outputs(const Case& c, const GemmFactors& data) {
    return gemm::expected_results(gemm_problem_of(c, data.inputs));
}

GemmAccuracy measure(const Case& c, const GemmFactors& data, const Outputs& outputs) {
    const gemm::ProblemView problem = gemm_problem_of(c, data.inputs);
    GemmAccuracy accuracy;
    for_each_output(problem, [&](const gemm::OutputPlace& place, std::size_t index) {
        add_output(problem, problem.output(place), outputs[index], accuracy);
    });
    return accuracy;
}

double quantizing_sqnr(const Case& c, const GemmFactors& data) {
    const gemm::ProblemView problem = gemm_problem_of(c, data.inputs);
    double signal = 0, noise = 0;
    for_each_output(problem, [&](const gemm::OutputPlace& place, std::size_t) {
        const std::int64_t k = problem.depth;
        const float* a = data.a.data() + place.row * k;
        const float* b = data.b.data() + place.column * k;
        double product = 0;
        for (std::int64_t i = 0; i < k; ++i) product += double{a[i]} * b[i];
        const double error = value_of(exact_total(problem, problem.output(place))) - product;
        signal += product * product;
        noise += error * error;
    });
    return 10 * std::log10(signal / noise);
}

}  // namespace mx::accuracy
