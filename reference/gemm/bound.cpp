// See bound.hpp. Magnitudes are added up in binary64, and what that may lose is added to the
// bound: sums of positive terms lose no more than a share of themselves.
#include "reference/gemm/bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/fast/dot_model.hpp"
#include "reference/gemm/exactness.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::gemm {
namespace {

constexpr ElementFormat f32 = formats::f32;
// What one operation of binary32 may lose, toward zero or to nearest.
constexpr double unit = 0x1p-23;
// More than binary64 loses in sums of fewer than 2^21 terms.
constexpr double room = 1 + 0x1p-30;
constexpr double infinite = std::numeric_limits<double>::infinity();

// 0 of what is no number.
double magnitude_of(const fast::Unpacked& value) {
    if (value.kind != fast::Kind::finite) return 0;
    return std::ldexp(static_cast<double>(value.significand), value.exponent);
}
double magnitude_of(const ElementFormat& format, Code code) {
    return magnitude_of(fast::unpack(format, code));
}

// What of an accumulator decides its errors.
struct Accuracy {
    double per_product = 0;      // lost of 2^E
    double per_step = 0;         // lost of the sum
    double flushed = 0;          // lost of each step, near the lower end of the range
    std::int64_t step = 1;       // products
    std::int64_t promotion = 0;  // 0: none
    double promotion_loss = 0;   // of the outer accumulator, at each addition
};

Accuracy accuracy_of(const GemmModel& model) {
    const ElementFormat& accumulator = model.accumulator;
    Accuracy accuracy;
    const bool is_cut = model.fraction_bits != all_bits;
    accuracy.step = std::int64_t{model.products} * model.exact_group;
    accuracy.per_product = is_cut ? std::ldexp(1.0, -model.fraction_bits) : 0;
    accuracy.per_step = std::ldexp(1.0, -accumulator.mantissa_bits);
    accuracy.flushed = std::ldexp(1.0, accumulator.quantum_exponent_min());
    if (is_cut && model.exponent_floor > -all_bits)
        accuracy.flushed += std::ldexp(static_cast<double>(model.products + 1),
                                       model.exponent_floor - model.fraction_bits);
    accuracy.promotion = model.promotion;
    // Three roundings at most: two products with scales and the sum. Each is to nearest and loses
    // half of 2^-P of no more than all that is held, so that 3 * 2^-P has room for their powers.
    accuracy.promotion_loss = std::ldexp(3.0, -model.promoted.mantissa_bits);
    return accuracy;
}

// The weakest of those that multiply such elements, in the shortest steps that such a one has.
Accuracy weakest_accuracy(const ProblemView& problem) {
    std::int64_t step = 0;
    for (const GemmModel& model : gemm_models) {
        const bool multiplies = lists(model.operands, problem.a.element.name) &&
                                lists(model.operands, problem.b.element.name);
        const int bits = std::min(model.fraction_bits, model.accumulator.mantissa_bits);
        if (!multiplies || bits != problem.fraction_bits) continue;
        const std::int64_t own = std::int64_t{model.products} * model.exact_group;
        step = step == 0 ? own : std::min(step, own);
    }
    Accuracy accuracy;
    accuracy.step = std::max<std::int64_t>(step, 1);
    accuracy.per_product = std::ldexp(1.0, -problem.fraction_bits);
    // A sum kept in D's own type, and one of parts in binary32.
    accuracy.per_step = std::ldexp(1.0, -problem.fraction_bits) + unit;
    const bool may_be_half = problem.element.name == formats::f16.name;
    accuracy.flushed =
        std::ldexp(1.0, may_be_half ? formats::f16.quantum_exponent_min() : f32.exponent_min());
    return accuracy;
}

// The products of one group that is accumulated by itself.
struct Group {
    double sum = 0;      // of magnitudes
    double largest = 0;  // 2^E
    double scale = 1;    // of binary32, which multiplies what comes out of it
    std::int64_t count = 0;

    double error(const Accuracy& accuracy) const {
        const std::int64_t steps = (count + accuracy.step - 1) / accuracy.step;
        const auto n = static_cast<double>(steps);
        const double share =
            n * static_cast<double>(accuracy.step) * accuracy.per_product + n * accuracy.per_step;
        if (share >= 1) return infinite;
        return share / (1 - share) * std::max(sum, largest) + n * accuracy.flushed * scale;
    }
};

double scale_size(const ScaledRow& row, std::int64_t k) {
    return row.block == 0 ? 1 : magnitude_of(row.scale, row.scale_at(k));
}
double f32_scale(const ScaledRow& row, std::int64_t k) {
    return row.scale.name == f32.name ? scale_size(row, k) : 1;
}
// 2 to the exponent of an element's field, times its scale.
double field_size(const ScaledRow& row, std::int64_t k) {
    const fast::Unpacked element = fast::unpack(row.element, row.codes.at(k));
    return std::ldexp(scale_size(row, k), fast::exponent_of(row.element, element));
}

struct Sums {
    double magnitudes = 0;  // of all products
    double error = 0;
};

// Products with their scales, those that are finite. An accumulator that is
// scaled afterwards errs by as much times the scale, so that groups may be taken with it.
Sums sums_of(const Output& output, const Accuracy& accuracy) {
    Sums sums;
    Group group;
    for (std::int64_t k = 0; k < output.depth; ++k) {
        const fast::Unpacked a = fast::scaled_element(output.a, k);
        const fast::Unpacked b = fast::scaled_element(output.b, k);
        const double product = magnitude_of(a) * magnitude_of(b);
        group.sum += product;
        ++group.count;
        group.scale = std::max(group.scale, f32_scale(output.a, k) * f32_scale(output.b, k));
        if (product > 0)
            group.largest =
                std::max(group.largest, field_size(output.a, k) * field_size(output.b, k));
        const bool ends = accuracy.promotion != 0 && (k + 1) % accuracy.promotion == 0;
        if (!ends && k + 1 != output.depth) continue;
        sums.error += group.error(accuracy);
        sums.magnitudes += group.sum;
        sums.error +=
            accuracy.promotion == 0 ? 0 : accuracy.promotion_loss * (sums.magnitudes + sums.error);
        group = {};
    }
    return sums;
}

// From the accumulator to D: each step may lose a unit of what it makes, and one number below the
// normal range.
double with_epilogue(const ProblemView& problem, const Output& output, const Sums& sums) {
    const EpilogueOperands& operands = output.operands;
    const double alpha = magnitude_of(f32, operands.alpha);
    double total = alpha * (sums.magnitudes + sums.error);
    double error = alpha * sums.error;
    const auto lose = [&error](double made, int operations) {
        error += operations * (unit * made + 0x1p-126);
    };
    lose(total, 4);  // alpha and two scales, and where the sum becomes binary32
    if (operands.beta.bits << 1 != 0) {
        const double c =
            magnitude_of(f32, operands.beta) * magnitude_of(problem.epilogue.addend, operands.c);
        total += c;
        lose(c, 1);
        lose(total + error, 1);
    }
    if (problem.epilogue.adds_bias) {
        total += magnitude_of(problem.epilogue.bias, operands.bias);
        lose(total + error, 1);
    }
    if (problem.epilogue.scales_output) {
        const double scale = magnitude_of(f32, operands.scale_out);
        total *= scale;
        error *= scale;
        lose(total + error, 1);
    }
    return error * room;
}

// Half of the last place of D, where that is more than binary32 has.
double rounding_of(const ElementFormat& d, double result) {
    if (d.name == f32.name) return 0;
    return std::ldexp(result, -d.mantissa_bits - 1) + std::ldexp(0.5, d.quantum_exponent_min());
}

double size_of(const fast::Total& total) {
    return magnitude_of(fast::leading_bits(total.sum));
}

// Scales that move the exponents of products, or multiply sums exactly, are never applied one by
// one.
std::string scaled_because(const ProblemView& problem, const Output& output) {
    const bool is_exact =
        problem.model != nullptr && (problem.model->scaling == BlockScaling::product_exponent ||
                                     problem.model->scaling == BlockScaling::group);
    return is_exact ? "" : partly_scaled_because(output);
}

// The magnitudes of the elements' products, times the scales of blocks alone.
double unscaled_magnitudes(const ProblemView& problem, const Output& output) {
    const auto part = [](const Factor& factor, const ScaledRow& row, std::int64_t k) {
        const double element = magnitude_of(fast::unpack(row.element, row.codes.at(k)));
        return is_whole(factor.scaling) ? element : element * scale_size(row, k);
    };
    double sum = 0;
    for (std::int64_t k = 0; k < output.depth; ++k)
        sum += part(problem.a, output.a, k) * part(problem.b, output.b, k);
    return sum;
}

// An accumulator of binary16 becomes Inf beyond 65504, in a partial sum too, whatever the others
// take away again. No partial sum exceeds the magnitudes of all products and what has been lost.
// It stands before the scales of rows and tensors; where no row is named, a partial sum in D's
// own type may stand after them and alpha as well.
bool may_pass_half(const ProblemView& problem, const Output& output, const Sums& sums) {
    const GemmModel* model = problem.model;
    const auto is_half = [](const ElementFormat& format) { return format.exponent_bits < 8; };
    const bool may_be_half = model != nullptr
                                 ? is_half(model->accumulator) || is_half(model->promoted)
                                 : problem.element.name == formats::f16.name;
    if (!may_be_half) return false;
    const double before = unscaled_magnitudes(problem, output);
    const double lost = sums.magnitudes > 0 ? sums.error / sums.magnitudes : 0;
    double largest = before * (1 + lost);
    if (model == nullptr) {
        const double scaled = sums.magnitudes + sums.error;
        const double alpha = magnitude_of(f32, output.operands.alpha);
        largest = std::max({largest, scaled, alpha * scaled});
    }
    return largest * room >= magnitude_of(formats::f16, Code{formats::f16.code_max_finite()});
}

std::string range_because(const ProblemView& problem, const Output& output, const Sums& sums) {
    if (2 * sums.magnitudes >= magnitude_of(f32, Code{f32.code_max_finite()}))
        return "a partial sum may be beyond the range of binary32";
    if (may_pass_half(problem, output, sums))
        return "a partial sum may be beyond 65504, the end of binary16";
    return "";
}

}  // namespace

Bound bound_of(const ProblemView& problem, const Output& output) {
    const ElementFormat& d = problem.epilogue.output;
    Bound made;
    if (problem.epilogue.activation == Activation::gelu) {
        made.none_because = "there is no bound of GELU";
        return made;
    }
    if (problem.model != nullptr && problem.model->scaling == BlockScaling::dequantised) {
        made.none_because = "there is no bound of a model that dequantises first";
        return made;
    }
    made.result = exact_total(problem, output);
    const fast::Kind kind = fast::kind_of(made.result);
    made.is_nan = kind == fast::Kind::nan;
    made.is_infinite = kind == fast::Kind::infinity;
    if (made.is_nan && problem.epilogue.activation != Activation::none)
        made.none_because = "a NaN meets ReLU, and no source says what becomes of it";
    if (made.is_infinite && problem.epilogue.is_narrow())
        made.none_because = "an Inf becomes FP8, which may saturate";
    if (made.is_infinite && !problem.epilogue.is_narrow())
        made.infinity = exact_result(problem, output);
    if (!made.is_nan && made.none_because.empty())
        made.none_because = scaled_because(problem, output);
    if (made.is_nan || !made.none_because.empty()) return made;
    const Accuracy accuracy =
        problem.model == nullptr ? weakest_accuracy(problem) : accuracy_of(*problem.model);
    const Sums sums = sums_of(output, accuracy);
    const double error = with_epilogue(problem, output, sums);
    if (!(error < infinite))
        made.none_because = "K is so large that nothing is left of the bound";
    else
        made.none_because = range_because(problem, output, sums);
    // What is finite beside an Inf must not become the other one.
    if (made.is_infinite || !made.none_because.empty()) return made;
    const double largest = size_of(made.result) + error;
    made.bound = (error + rounding_of(d, largest)) * room;
    if (largest >= magnitude_of(d, Code{d.code_max_finite()}))
        made.none_because = "the result may be beyond the range of D's type";
    return made;
}

double distance_of(const ProblemView& problem, const fast::Total& result, Code actual) {
    fast::Total distance = result;
    fast::add_product(distance, fast::unpack(problem.epilogue.output, actual),
                      fast::unpack(f32, Code{0xBF800000}));
    return size_of(distance);
}

double share_of_bound(const ProblemView& problem, const Bound& bound, Code actual) {
    const ElementFormat& d = problem.epilogue.output;
    if (bound.is_nan) return d.is_nan(actual) ? 0 : infinite;
    if (bound.is_infinite) return actual == bound.infinity ? 0 : infinite;
    if (fast::unpack(d, actual).kind != fast::Kind::finite) return infinite;
    const double error = distance_of(problem, bound.result, actual);
    if (error == 0) return 0;
    return bound.bound == 0 ? infinite : error / bound.bound;
}

}  // namespace mx::gemm
