// See oracle.hpp.
#include "reference/gemm/oracle.hpp"

#include <algorithm>

#include "reference/fast/gemm_epilogue.hpp"
#include "reference/fast/gemm_output.hpp"
#include "reference/gemm/exact_gemm.hpp"
#include "reference/gemm/model_sum.hpp"
#include "reference/gemm/row_pairs.hpp"

namespace mx::gemm {
namespace {

constexpr ElementFormat f32 = formats::f32;
constexpr Code one{0x3F800000};

bool is_negative(const fast::Total& total) {
    const fast::Kind kind = fast::kind_of(total);
    if (kind == fast::Kind::infinity) return total.negative_infinity;
    return kind == fast::Kind::finite && fast::is_negative(total.sum);
}

// A number that is added: times what the sum is divided by at the end.
fast::Unpacked times_whole(fast::Unpacked value, std::uint32_t factor) {
    value.significand *= factor;
    return value;
}

fast::Total times(Code factor, const fast::Total& total) {
    if (factor == one) return total;
    fast::Total product;
    fast::add_multiple(product, fast::unpack(f32, factor), total);
    return product;
}

// From the dot product on, times the divisors of both numbers.
fast::Total total_of(const ProblemView& problem, const Output& output, const fast::Total& dot) {
    const GemmEpilogue& epilogue = problem.epilogue;
    const EpilogueOperands& operands = output.operands;
    const std::uint32_t divisor = output.number_a.divisor * output.number_b.divisor;
    fast::Total total;
    fast::add_multiple(
        total, fast::unpack(f32, operands.alpha),
        fast::times_number(output.number_b, fast::times_number(output.number_a, dot)));
    if (problem.adds_c())
        fast::add_product(total, fast::unpack(f32, operands.beta),
                          times_whole(fast::unpack(epilogue.addend, operands.c), divisor));
    if (epilogue.adds_bias)
        fast::add_product(total, times_whole(fast::unpack(epilogue.bias, operands.bias), divisor),
                          fast::unpack(f32, one));
    if (epilogue.activation == Activation::relu && is_negative(total)) total = {};
    return epilogue.scales_output ? times(operands.scale_out, total) : total;
}

// What no rounding tells from the total.
fast::Unpacked number_of(const Output& output, const fast::Total& total) {
    const fast::Kind kind = fast::kind_of(total);
    if (kind != fast::Kind::finite)
        return {kind, kind == fast::Kind::infinity && total.negative_infinity, 0, 0};
    const std::uint32_t divisor = output.number_a.divisor * output.number_b.divisor;
    return divisor == 1 ? fast::leading_bits(total.sum)
                        : fast::leading_quotient(total.sum, divisor);
}

Code rounded_once(const ProblemView& problem, const fast::Unpacked& number) {
    return fast::round(problem.epilogue.output, Rounding::nearest_even, problem.epilogue.overflow(),
                       number);
}

// Rows as a model takes them: scales of whole rows belong to what comes after it.
ScaledRow row_of_model(const GemmModel& model, ScaledRow row) {
    if (model.scaling == BlockScaling::none) row.block = 0;
    return row;
}

// With the numbers of both tensors, as spec/gemm_output.hpp says.
Code alpha_of_model(const Output& output) {
    fast::Unpacked alpha = fast::unpack(f32, output.operands.alpha);
    for (const TensorFactor& factor : {output.number_a, output.number_b})
        alpha = fast::product(alpha, fast::unpack(f32, factor.number));
    const std::uint32_t divisor = output.number_a.divisor * output.number_b.divisor;
    if (divisor != 1)
        alpha = fast::product(
            alpha, fast::quotient(fast::unpack(f32, one), {fast::Kind::finite, false, 0, divisor}));
    return fast::round(f32, Rounding::nearest_even, Overflow::overflow, alpha);
}

Code modelled_result(const ProblemView& problem, const Output& output) {
    const GemmModel& model = *problem.model;
    EpilogueOperands operands = output.operands;
    operands.alpha = alpha_of_model(output);
    const fast::Unpacked accumulator = accumulate_with_alpha(
        model, {row_of_model(model, output.a), row_of_model(model, output.b), output.depth},
        problem.part, operands.alpha);
    return fast::finish(problem.epilogue, operands, accumulator);
}

// Rows without the scale of each whole one, which multiplies its sums instead: only where all of
// these are finite, or an element of 0 makes a NaN that the sum does not.
bool has_finite_scales(const Factor& factor, std::int64_t groups) {
    const std::int64_t count = factor.scaling == Scaling::tensor ? 1 : factor.rows * groups;
    for (std::int64_t i = 0; i < count; ++i)
        if (fast::unpack(f32, factor.scales.at(i)).kind != fast::Kind::finite) return false;
    return true;
}

std::vector<ScaledRow> without_scales(std::vector<ScaledRow> rows) {
    for (ScaledRow& row : rows) row.block = 0;
    return rows;
}

// The exact sums of part of a row of D, or of whole rows of one group.
class Rectangle {
public:
    Rectangle(const ProblemView& problem, OutputRange range)
        : problem_(problem), first_(range.first) {
        columns_ = std::min(problem.n, range.end - range.first);
        for (std::int64_t output = range.first; output < range.end; output += problem.n)
            a_.push_back(problem.a.row(problem.place(output).row));
        for (std::int64_t column = 0; column < columns_; ++column)
            b_.push_back(problem.b.row(problem.row_of_b(problem.place(first_ + column))));
        take_scales_off();
    }

    bool has_kernel() const {
        return problem_.depth != 0 && find_kernel(a_.front(), b_.front()) != nullptr;
    }

    void for_each_number(Asked asked, const TakeNumber& take) const {
        const Kernel* kernel = has_kernel() ? find_kernel(a_.front(), b_.front()) : nullptr;
        if (asked == Asked::values && kernel != nullptr && leaves_sums_alone())
            return for_each_value(*kernel, factors(),
                                  [&](const Place& place, const fast::Unpacked& value) {
                                      take(output_at(place), value);
                                  });
        for_each_total(factors(), [&](const Place& place, const fast::Total& dot) {
            const std::int64_t at = output_at(place);
            const OutputPlace where = problem_.place(at);
            const std::int64_t of_b = problem_.row_of_b(where);
            const Output output{{},
                                {},
                                problem_.depth,
                                problem_.operands(where),
                                problem_.a.number_of(where.row),
                                problem_.b.number_of(of_b)};
            const fast::Total scaled = are_scales_off_ ? times(output.operands.scale_b,
                                                               times(output.operands.scale_a, dot))
                                                       : dot;
            take(at, number_of(output, total_of(problem_, output, scaled)));
        });
    }

private:
    // So that a kernel takes the rows.
    void take_scales_off() {
        const bool is_any = is_whole(problem_.a.scaling) || is_whole(problem_.b.scaling);
        if (!is_any || problem_.depth == 0) return;
        auto a = is_whole(problem_.a.scaling) ? without_scales(a_) : a_;
        auto b = is_whole(problem_.b.scaling) ? without_scales(b_) : b_;
        if (find_kernel(a.front(), b.front()) == nullptr) return;
        for (const Factor* factor : {&problem_.a, &problem_.b})
            if (is_whole(factor->scaling) && !has_finite_scales(*factor, groups_of(*factor)))
                return;
        a_ = std::move(a);
        b_ = std::move(b);
        are_scales_off_ = true;
    }

    std::int64_t groups_of(const Factor& factor) const {
        if (&factor == &problem_.a) return problem_.batches;
        return problem_.shares_b ? 1 : problem_.group_count();
    }

    Factors factors() const { return {a_, b_, problem_.depth}; }

    std::int64_t output_at(const Place& place) const {
        return first_ + static_cast<std::int64_t>(place.row) * problem_.n +
               static_cast<std::int64_t>(place.column);
    }

    bool leaves_sums_alone() const {
        const GemmEpilogue& epilogue = problem_.epilogue;
        const bool keeps = !epilogue.scales_output || problem_.scale_out.bytes == nullptr;
        return !are_scales_off_ && problem_.alpha == one && !problem_.adds_c() &&
               !epilogue.adds_bias && epilogue.activation == Activation::none && keeps &&
               !problem_.a.has_numbers() && !problem_.b.has_numbers();
    }

    const ProblemView& problem_;
    std::int64_t first_;
    std::int64_t columns_ = 0;
    std::vector<ScaledRow> a_, b_;
    bool are_scales_off_ = false;
};

// The end of the next rectangle of a range: part of a row, or whole rows of one group.
std::int64_t rectangle_end(const ProblemView& problem, OutputRange range) {
    const std::int64_t width = problem.n;
    const std::int64_t row_end = (range.first / width + 1) * width;
    if (range.first % width != 0 || range.end < row_end) return std::min(range.end, row_end);
    const std::int64_t group = problem.group_of(range.first / width);
    return std::min(range.end / width * width, problem.rows_of_group(group).end * width);
}

void for_each_exact(const ProblemView& problem, OutputRange range, Asked asked,
                    const TakeNumber& take) {
    for (std::int64_t end; range.first < range.end; range.first = end) {
        end = rectangle_end(problem, range);
        Rectangle(problem, {range.first, end}).for_each_number(asked, take);
    }
}

}  // namespace

fast::Total exact_total(const ProblemView& problem, const Output& output) {
    MX_ASSERT(output.number_a.divisor == 1 && output.number_b.divisor == 1);
    return total_of(problem, output, fast::dot(output.a, output.b, output.depth));
}

Code exact_result(const ProblemView& problem, const Output& output) {
    const fast::Total dot = fast::dot(output.a, output.b, output.depth);
    return rounded_once(problem, number_of(output, total_of(problem, output, dot)));
}

Code expected_result(const ProblemView& problem, const Output& output) {
    return problem.is_exact() ? exact_result(problem, output) : modelled_result(problem, output);
}

void for_each_result(const ProblemView& problem, OutputRange range, const TakeResult& take) {
    if (problem.is_exact())
        return for_each_exact(problem, range, Asked::values,
                              [&](std::int64_t output, const fast::Unpacked& number) {
                                  take(output, rounded_once(problem, number));
                              });
    for (std::int64_t output = range.first; output < range.end; ++output)
        take(output, modelled_result(problem, problem.output(problem.place(output))));
}

void for_each_number(const ProblemView& problem, OutputRange range, const TakeNumber& take) {
    if (problem.is_exact()) return for_each_exact(problem, range, Asked::sums, take);
    for_each_result(problem, range, [&](std::int64_t output, Code result) {
        take(output, fast::unpack(problem.epilogue.output, result));
    });
}

std::vector<Code> expected_results(const ProblemView& problem) {
    std::vector<Code> results(static_cast<std::size_t>(problem.outputs()));
    for_each_result(problem, {0, problem.outputs()}, [&](std::int64_t output, Code result) {
        results[static_cast<std::size_t>(output)] = result;
    });
    return results;
}

std::int64_t outputs_at_once(const ProblemView& problem) {
    const std::int64_t products = problem.depth + 32;
    if (!problem.is_exact()) return std::max<std::int64_t>(1, (1 << 20) / products);
    // Without a kernel a product takes ten times as long.
    const bool has_kernel = problem.outputs() != 0 && Rectangle(problem, {0, 1}).has_kernel();
    const std::int64_t width = std::max<std::int64_t>(1, problem.n);
    return width * std::max<std::int64_t>(1, (has_kernel ? 1 << 27 : 1 << 23) / (width * products));
}

}  // namespace mx::gemm
