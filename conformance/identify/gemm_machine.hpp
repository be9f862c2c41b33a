// A machine that multiplies matrices, as far as identification can tell one from another: a row of
// the table of models, and beside it what no row holds. It predicts one output at a time.
// Used by gemm_fit.cpp; asks no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/fast/decode.hpp"
#include "reference/problem/gemm_problem.hpp"
#include "reference/spec/gemm_model.hpp"

namespace mx::identify {

inline constexpr Code one_f32{0x3F800000};

// What is asked of a machine is here a GEMM to binary32: its factors, how they are scaled, and
// which of its ways the device is to take. The shape and the numbers are those of each call.

// The scales stand for blocks along k, as only a machine itself can apply them.
bool has_block_scales(const GemmProblem& setting);

// The value of a code of any format, which binary64 holds.
double number_of(const fast::Unpacked& value);
double number_of(const ElementFormat& format, Code code);

// One row of A, one row of B, and the numbers that go with their product.
struct GemmProbe {
    std::string about;
    std::vector<Code> a, b;                // as long as K
    std::vector<Code> scales_a, scales_b;  // of the blocks, or one; none where there are none
    Code alpha = one_f32, beta = {}, c = {};

    std::int64_t depth() const { return static_cast<std::int64_t>(a.size()); }
};

// Where the exponent of a product that is not zero comes from.
enum class ProductExponent {
    fields,      // the exponent fields of its factors, as the model reads them
    normalised,  // its own leading bit
};
// What a sum of a step that is not 0 becomes where it rounds to 0.
enum class RoundedToZero { positive, keeps_sign };
enum class AddendPlace { after_sum, first_summand };
enum class AddendStep { fused_alpha, fused_beta, rounded_apart, rounded_once };
enum class NoAddend { zero_added, zero_added_unless_alpha_is_one, nothing_added };
// The scales of whole tensors and rows.
enum class ScaleStep { alpha_b_a, alpha_a_b, alpha_product, sum_b_a, sum_a_b, sum_product };

struct GemmMachine {
    GemmModel model;
    ProductExponent product_exponent = ProductExponent::fields;
    Subnormals factors = Subnormals::honoured;
    Subnormals results = Subnormals::honoured;
    RoundedToZero rounded_to_zero = RoundedToZero::positive;
    std::int64_t part = 0;  // elements along k in each part of a split; 0 where there is none
    AddendPlace addend = AddendPlace::after_sum;
    AddendStep addend_step = AddendStep::fused_alpha;
    NoAddend no_addend = NoAddend::zero_added;
    ScaleStep scale_step = ScaleStep::alpha_b_a;
    // In a search every field of the model may vary, and no row of the table is known.
    bool is_searched = false;

    // Does the machine sum as its model says, with nothing beside it?
    bool sums_as_model() const {
        return product_exponent == ProductExponent::fields && factors == Subnormals::honoured &&
               rounded_to_zero == RoundedToZero::positive;
    }
};

// Where alpha multiplies A, what comes after the sum is what the row says of it, until answers say
// otherwise.
constexpr GemmMachine with_steps_of_row(GemmMachine machine) {
    if (machine.model.alpha == AlphaPlace::sum) return machine;
    if (machine.addend_step == AddendStep::fused_alpha)
        machine.addend_step = AddendStep::fused_beta;
    if (machine.no_addend == NoAddend::zero_added) machine.no_addend = NoAddend::nothing_added;
    return machine;
}

// Can the fields of the model vary one by one? Trees, exact sums of several products, sums beside
// each other and sums that the accumulator joins late are taken as their rows have them.
constexpr bool is_divisible(const GemmModel& model) {
    return model.sum == StepSum::aligned &&
           (model.fraction_bits != all_bits || model.products == 1) && model.lanes == 1 &&
           model.alpha == AlphaPlace::sum;
}

// The bits of binary32 that the machine answers; any NaN is 0x7fffffff.
Code predicted(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe);

// The same by the engine of reference/fast, for a machine that sums as its model says.
Code predicted_by_model(const GemmMachine& machine, const GemmProblem& setting,
                        const GemmProbe& probe);

// What the machine makes of a sum that came about in another way: what comes after it.
Code finished(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe,
              const fast::Unpacked& sum);
// With this alpha in the place of the probe's.
Code finished(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe,
              const fast::Unpacked& sum, Code alpha);
// What the sum begins with: beta * C, if it does.
fast::Unpacked first_summand(const GemmMachine& machine, const GemmProbe& probe);

// One NaN for all.
Code without_payload(Code d);

}  // namespace mx::identify
