// See bound.hpp. Magnitudes are added up in binary64, and what that may lose is added to the
// bound: sums of positive terms lose no more than a share of themselves.
#include "reference/gemm/bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

// Parts of a split K whose number nobody says.
constexpr std::int64_t parts_unknown = 8;

// What of an accumulator decides its errors.
struct Accuracy {
    const GemmModel* row = nullptr;
    double per_product = 0;      // lost of what is held: of each product, and of the accumulator
    double per_step = unit;      // the same, of each sum
    double flushed = 0;          // lost of each step, near the lower end of the range
    std::int64_t step = 1;       // products
    std::int64_t promotion = 0;  // 0: none
    double promotion_loss = 0;   // of the outer accumulator, at each addition
    std::int64_t lanes = 1;      // sums that are added in the end
    double subnormals = 0;       // 1 where subnormal factors are taken for 0
    double converted = 0;        // 1 where those of 8 bits are that are subnormal in binary16
};

// What is lost in the end by losses one after the other, of which each is a share of all that is
// held: (1 + s1) * (1 + s2) * ... - 1 is at most e^(s1 + s2 + ...) - 1.
double compound(double shares) {
    return std::expm1(shares);
}

std::int64_t steps_of(std::int64_t products, std::int64_t step) {
    return (products + step - 1) / step;
}

Accuracy accuracy_of(const GemmModel& model) {
    const ElementFormat& accumulator = model.accumulator;
    Accuracy accuracy;
    accuracy.row = &model;
    const bool is_cut = model.fraction_bits != all_bits;
    accuracy.step = std::int64_t{model.products} * model.exact_group;
    accuracy.per_product = is_cut ? std::ldexp(1.0, -model.fraction_bits) : 0;
    accuracy.per_step = std::ldexp(1.0, -accumulator.mantissa_bits);
    accuracy.flushed = std::ldexp(1.0, accumulator.quantum_exponent_min());
    if (is_cut && model.exponent_floor > -all_bits)
        accuracy.flushed += std::ldexp(static_cast<double>(model.products + 1),
                                       model.exponent_floor - model.fraction_bits);
    accuracy.promotion = model.promotion;
    accuracy.lanes = model.lanes;
    // What is cut once more before it joins the accumulator, or the other half: as much again, for
    // each of the sums that do.
    if (model.sum == StepSum::products_first || model.sum == StepSum::even_and_odd)
        accuracy.per_product *= 4;
    // Every product is rounded on its way, and every sum of a tree of fewer than there are
    // products; what is subnormal counts as 0.
    if (model.sum == StepSum::pairs_flushed) {
        accuracy.step = 1;
        accuracy.per_step *= 2;
        accuracy.flushed = std::ldexp(3.0, f32.exponent_min());
        accuracy.subnormals = 1;
    }
    // There are no more rounded sums than products: those of two lanes start from nothing.
    if (flushes_in_f32(model.sum)) {
        accuracy.step = 1;
        accuracy.flushed = std::ldexp(2.0, f32.exponent_min());
        accuracy.subnormals = 1;
        accuracy.converted = model.exponents == FactorExponents::f16 ? 1 : 0;
    }
    // To odd, a unit may be lost of each summand, of their sum, and beside the accumulator.
    if (model.sum == StepSum::products_alone) accuracy.per_step *= 2;
    // Three roundings at most: two products with scales and the sum. Each is to nearest and loses
    // half of 2^-P of no more than all that is held, so that 3 * 2^-P has room for their powers.
    accuracy.promotion_loss = std::ldexp(3.0, -model.promoted.mantissa_bits);
    return accuracy;
}

// Could a machine without a name be this one? Scales of blocks are applied by rows that scale
// blocks; those of rows and tensors by the others.
bool may_be(const GemmModel& model, const ProblemView& problem) {
    const auto multiplies = [&model](const Factor& factor) {
        return lists(model.operands, factor.element.name) &&
               (factor.scaling != Scaling::blocks ||
                takes_block_scales(model, factor.scale.name, std::to_string(factor.block)));
    };
    const bool has_blocks =
        problem.a.scaling == Scaling::blocks || problem.b.scaling == Scaling::blocks;
    const bool ends_in_half = model.accumulator.exponent_bits < f32.exponent_bits;
    return multiplies(problem.a) && multiplies(problem.b) &&
           has_blocks == (model.scaling != BlockScaling::none) &&
           (!ends_in_half || problem.element.name == formats::f16.name);
}

// Of all that the machine may be; binary32 where nothing is known.
std::vector<Accuracy> accuracies_of(const ProblemView& problem) {
    if (problem.model != nullptr) return {accuracy_of(*problem.model)};
    std::vector<Accuracy> accuracies;
    for (const GemmModel& model : gemm_models)
        if (may_be(model, problem)) accuracies.push_back(accuracy_of(model));
    if (accuracies.empty()) accuracies.emplace_back();
    // Who is not known may flush what is subnormal in binary32.
    for (Accuracy& accuracy : accuracies)
        accuracy.flushed = std::max(accuracy.flushed, std::ldexp(1.0, f32.exponent_min()));
    return accuracies;
}

// Of products in so many steps that are accumulated together, as a share of them.
double share_lost(const Accuracy& accuracy, std::int64_t products, std::int64_t steps) {
    return compound(static_cast<double>(products + steps) * accuracy.per_product +
                    static_cast<double>(steps) * accuracy.per_step);
}

// The products of one group that is accumulated by itself.
struct Group {
    double sum = 0;      // of magnitudes
    double largest = 0;  // 2^E
    double scale = 1;    // of binary32, which multiplies what comes out of it
    std::int64_t count = 0;

    // Each part of a split K may end in a step that is not full.
    double error(const Accuracy& accuracy, std::int64_t parts) const {
        const std::int64_t steps = steps_of(count, accuracy.step) + parts - 1;
        return share_lost(accuracy, count, steps) * std::max(sum, largest) +
               static_cast<double>(steps) * accuracy.flushed * scale;
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

bool is_subnormal(const ScaledRow& row, std::int64_t k) {
    return row.element.code_bits() > 8 && row.element.is_subnormal(row.codes.at(k));
}
bool is_converted_subnormal(const ScaledRow& row, std::int64_t k) {
    return row.element.exponent_min() == formats::f16.exponent_min() &&
           row.element.code_bits() == 8 && row.element.is_subnormal(row.codes.at(k));
}

struct Sums {
    double magnitudes = 0;  // of all products
    double error = 0;
    const GemmModel* row = nullptr;  // whose error it is
};

// The products of one output, those that are finite, with their scales.
struct Products {
    std::vector<double> sizes, powers;  // |product| and 2^E of it, 0 where it is zero
    std::vector<double> scales;         // of binary32
    double magnitudes = 0, largest_scale = 1;
    double gross = 0;      // S of bound.hpp
    double subnormal = 0;  // of the magnitudes, with a subnormal factor of more than 8 bits
    double converted = 0;  // with one of 8 bits that is so in binary16

    explicit Products(const Output& output) {
        for (std::int64_t k = 0; k < output.depth; ++k) {
            const fast::Unpacked a = fast::scaled_element(output.a, k);
            const fast::Unpacked b = fast::scaled_element(output.b, k);
            const double size = magnitude_of(a) * magnitude_of(b);
            sizes.push_back(size);
            powers.push_back(size > 0 ? field_size(output.a, k) * field_size(output.b, k) : 0);
            scales.push_back(f32_scale(output.a, k) * f32_scale(output.b, k));
            magnitudes += size;
            if (is_subnormal(output.a, k) || is_subnormal(output.b, k)) subnormal += size;
            if (is_converted_subnormal(output.a, k) || is_converted_subnormal(output.b, k))
                converted += size;
            gross += std::max(size, powers.back());
            largest_scale = std::max(largest_scale, scales.back());
        }
    }
    std::int64_t count() const { return static_cast<std::int64_t>(sizes.size()); }
    double flushed_by(const Accuracy& accuracy) const {
        return accuracy.subnormals * subnormal + accuracy.converted * converted;
    }
};

// In the order of k. An accumulator that is scaled afterwards errs by as much times the scale, so
// that groups may be taken with it.
double error_along_k(const Products& products, const Accuracy& accuracy, std::int64_t parts) {
    double error = products.flushed_by(accuracy), magnitudes = 0;
    Group group;
    for (std::int64_t k = 0; k < products.count(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        group.sum += products.sizes[at];
        ++group.count;
        group.scale = std::max(group.scale, products.scales[at]);
        group.largest = std::max(group.largest, products.powers[at]);
        const bool ends = accuracy.promotion != 0 && (k + 1) % accuracy.promotion == 0;
        if (!ends && k + 1 != products.count()) continue;
        error += group.error(accuracy, parts);
        magnitudes += group.sum;
        error += accuracy.promotion == 0 ? 0 : accuracy.promotion_loss * (magnitudes + error);
        group = {};
    }
    return error +
           compound(static_cast<double>(parts * accuracy.lanes) * unit) * (magnitudes + error);
}

// Each part may end in a step, and in a group, that is not full.
double error_in_any_order(const Products& products, const Accuracy& accuracy, std::int64_t parts) {
    const bool is_promoted = accuracy.promotion != 0;
    const std::int64_t length =
        is_promoted ? std::min(products.count(), accuracy.promotion) : products.count();
    const std::int64_t groups =
        is_promoted ? steps_of(products.count(), accuracy.promotion) + parts : 1;
    const std::int64_t steps = steps_of(length, accuracy.step) + (is_promoted ? 0 : parts);
    double error = products.flushed_by(accuracy) +
                   share_lost(accuracy, length, steps) * products.gross +
                   static_cast<double>(groups * steps) * accuracy.flushed * products.largest_scale;
    if (is_promoted)
        error += compound(static_cast<double>(groups) * accuracy.promotion_loss) *
                 (products.magnitudes + error);
    return error + compound(static_cast<double>(parts * accuracy.lanes) * unit) *
                       (products.magnitudes + error);
}

Sums sums_of(const ProblemView& problem, const Output& output) {
    const Products products(output);
    Sums sums{products.magnitudes};
    for (const Accuracy& accuracy : accuracies_of(problem)) {
        const double error =
            problem.model == nullptr
                ? error_in_any_order(products, accuracy,
                                     problem.parts == 0 ? parts_unknown : problem.parts)
                : error_along_k(products, accuracy, std::max<std::int64_t>(problem.parts, 1));
        if (error < sums.error) continue;
        sums.error = error;
        sums.row = accuracy.row;
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
    const double alpha = magnitude_of(f32, output.operands.alpha);
    const double before = alpha_may_scale_a(problem) ? std::max(alpha, 1.0) : 1;
    if (2 * before * (sums.magnitudes + sums.error) >=
        magnitude_of(f32, Code{f32.code_max_finite()}))
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
    if (!made.is_nan && made.none_because.empty())
        made.none_because = alpha_on_a_because(problem, output);
    if (made.is_nan || !made.none_because.empty()) return made;
    const Sums sums = sums_of(problem, output);
    made.row = sums.row;
    const double error = with_epilogue(problem, output, sums);
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
