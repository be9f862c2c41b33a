// See gemm_tensor.hpp.
#include "conformance/emulate/gemm_tensor.hpp"

#include <algorithm>

#include "conformance/case/names.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "reference/fast/gemm_output.hpp"
#include "reference/gemm/exact_gemm.hpp"
#include "reference/gemm/model_sum.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

CodeView view_of(std::span<const std::byte> bytes, const ElementFormat& format) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), format.code_bytes(), 1};
}

std::span<const std::int64_t> batches_of(const GemmFactor& factor) {
    return std::span(factor.shape).first(factor.shape.size() - 2);
}

std::string described(const GemmFactor& factor) {
    return factor.path + " of shape " + data::shape_text(factor.shape);
}

bool has_number(const GemmFactor& factor) {
    return factor.tensor.number != TensorFactor{}.number || factor.tensor.divisor != 1 ||
           !factor.row_numbers.empty();
}

bool takes(const GemmModel& model, const GemmFactor& factor) {
    return lists(model.operands, factor.element.name) && lists(model.scales, factor.scale.name) &&
           lists(model.blocks, std::to_string(factor.block)) && factor.block_rows != 0 &&
           !has_number(factor);
}

std::string scales_of(const GemmModel& model) {
    if (model.scaling == BlockScaling::none) return " without block scales";
    const auto joined = [](std::string_view list) {
        std::string text;
        for (const char letter : list) text += letter == ' ' ? " or " : std::string(1, letter);
        return text;
    };
    return " with " + joined(model.scales) + " scales for " + joined(model.blocks) + " along K";
}

std::string scales_of(const GemmFactor& factor) {
    const std::string scale(factor.scale.name);
    const std::string number = !factor.row_numbers.empty() ? " and a number for each row"
                               : has_number(factor)        ? " and a number for the whole tensor"
                                                           : "";
    if (factor.block_rows == 0) return factor.format + " with one scale for all" + number;
    return factor.format + " with " + scale + " scales for " + std::to_string(factor.block) +
           number;
}

Status check_model(const GemmModel& model, const GemmFactor& a, const GemmFactor& b) {
    if (takes_both(model, a, b)) return success();
    const GemmFactor& other = takes(model, a) ? b : a;
    std::string fitting;
    for (const GemmModel& row : gemm_models)
        if (takes_both(row, a, b)) fitting += (fitting.empty() ? "" : ", ") + std::string(row.name);
    return bad("model " + std::string(model.name) + " multiplies " + std::string(model.operands) +
               scales_of(model) + ", and " + other.path + " is " + scales_of(other) +
               "; the models that take both factors: " + (fitting.empty() ? "none" : fitting) +
               "; exact takes any");
}

// Rotated lanes multiply to what the lanes themselves do, but only with lanes rotated alike.
Status check_transforms(const GemmFactor& a, const GemmFactor& b) {
    if (a.transform == b.transform) return success();
    const GemmFactor& rotated = a.transform != LaneTransform::none ? a : b;
    const GemmFactor& other = &rotated == &a ? b : a;
    return bad(rotated.path + " holds rotated lanes, and " + other.path +
               " does not: their products mean nothing");
}

Status check_rules(const GemmRules& rules, const GemmFactor& a, const GemmFactor& b) {
    if (rules.model == nullptr) return success();
    const GemmRules plain;
    if (rules.alpha.bits != plain.alpha.bits || rules.beta.bits != plain.beta.bits)
        return bad("model " + std::string(rules.model->name) +
                   " says nothing of alpha and beta yet: only alpha 1 and beta 0 go with a model");
    return check_model(*rules.model, a, b);
}

// The shape of D.
Expected<std::vector<std::int64_t>> joined_shape(const GemmFactor& a, const GemmFactor& b) {
    const auto mismatch = [&](const std::string& what) {
        return bad(described(a) + " and " + described(b) + " do not go together: " + what);
    };
    if (a.depth() != b.depth())
        return mismatch("the last dimension of both is K, and " + std::to_string(a.depth()) +
                        " is not " + std::to_string(b.depth()));
    if (!batches_of(b).empty() && !std::ranges::equal(batches_of(a), batches_of(b)))
        return mismatch("before the last two dimensions B has those of A, or none");
    std::vector<std::int64_t> shape = a.shape;
    shape.back() = b.rows();
    return shape;
}

Status check_addend(const GemmAddend& c, const std::vector<std::int64_t>& shape) {
    const Status known = check_name("type", c.tensor.type, type_names());
    if (!known) return bad(c.path + ": " + known.error().message);
    if (c.tensor.shape == shape) return success();
    return bad(c.path + " of shape " + data::shape_text(c.tensor.shape) +
               " cannot be added: D has shape " + data::shape_text(shape));
}

fast::Unpacked value_of(const GemmProblem& problem, std::int64_t output, const fast::Unpacked& c) {
    const GemmRules& rules = problem.rules;
    const GemmRows pair = rows_of(problem, output);
    if (rules.model != nullptr)
        return gemm::accumulate(*rules.model, pair.a, pair.b, problem.a.depth(), fast::Unpacked{});
    return fast::output_value(factors_of(problem, output),
                              fast::dot(pair.a, pair.b, problem.a.depth()), c);
}

// How the whole of D is summed at once; nullptr where its outputs are asked one by one.
const gemm::Kernel* kernel_of(const GemmProblem& problem) {
    if (problem.rules.model != nullptr || problem.outputs() == 0 || problem.a.depth() == 0)
        return nullptr;
    const GemmRows rows = rows_of(problem, 0);
    return gemm::find_kernel(rows.a, rows.b);
}

// Calls `take(output, value)` for each output of a range that is part of a row, or whole rows of
// one batch.
template <typename AddendAt, typename Take>
void for_rectangle(const gemm::Kernel& kernel, const GemmProblem& problem, OutputRange range,
                   gemm::Asked asked, const AddendAt& addend_at, const Take& take) {
    const std::int64_t width = problem.b.rows();
    const std::int64_t columns = std::min(width, range.end - range.first);
    std::vector<ScaledRow> a, b;
    for (std::int64_t output = range.first; output < range.end; output += width)
        a.push_back(rows_of(problem, output).a);
    for (std::int64_t column = 0; column < columns; ++column)
        b.push_back(rows_of(problem, range.first + column).b);
    const bool leaves_alone = gemm::leaves_sums_alone(factors_of(problem, range.first).affine) &&
                              !has_number(problem.a) && !has_number(problem.b);
    const gemm::Factors factors{a, b, problem.a.depth()};
    const auto output_at = [&](const gemm::Place& place) {
        return range.first + static_cast<std::int64_t>(place.row) * width +
               static_cast<std::int64_t>(place.column);
    };
    if (leaves_alone && asked == gemm::Asked::values)
        return gemm::for_each_value(kernel, factors,
                                    [&](const gemm::Place& place, const fast::Unpacked& value) {
                                        take(output_at(place), value);
                                    });
    gemm::for_each_sum(kernel, factors, [&](const gemm::Place& place, const gemm::ExactSum& sum) {
        const std::int64_t output = output_at(place);
        take(output, leaves_alone ? gemm::value_of(sum)
                                  : fast::output_value(factors_of(problem, output),
                                                       gemm::total_of(sum), addend_at(output)));
    });
}

// The end of the next rectangle of a range: part of a row, or whole rows of one batch.
std::int64_t rectangle_end(const GemmProblem& problem, OutputRange range) {
    const std::int64_t width = problem.b.rows(), batch = problem.a.rows() * width;
    const std::int64_t row_end = (range.first / width + 1) * width;
    if (range.first % width != 0 || range.end < row_end) return std::min(range.end, row_end);
    const std::int64_t batch_end = (range.first / batch + 1) * batch;
    return std::min(range.end / width * width, batch_end);
}

// Calls `take(output, value)` for each output of the range, with the sums or what they round to.
template <typename Take>
void for_values(const GemmProblem& problem, OutputRange range, gemm::Asked asked,
                const Take& take) {
    const bool reads_c = problem.c && !formats::f32.is_zero(problem.rules.beta);
    const ElementFormat c_type =
        reads_c ? *find_element_format(problem.c->tensor.type) : formats::f32;
    const CodeView c = reads_c ? view_of(problem.c->tensor.bytes, c_type) : CodeView{};
    const auto addend_at = [&](std::int64_t output) {
        return reads_c ? fast::unpack(c_type, c.at(output)) : fast::Unpacked{};
    };
    if (const gemm::Kernel* kernel = kernel_of(problem)) {
        for (std::int64_t end; range.first < range.end; range.first = end) {
            end = rectangle_end(problem, range);
            for_rectangle(*kernel, problem, {range.first, end}, asked, addend_at, take);
        }
        return;
    }
    for (std::int64_t output = range.first; output < range.end; ++output)
        take(output, value_of(problem, output, addend_at(output)));
}

}  // namespace

bool takes_both(const GemmModel& model, const GemmFactor& a, const GemmFactor& b) {
    if (!takes(model, a) || !takes(model, b)) return false;
    const int of_many_rows = (a.block_rows > 1 ? 1 : 0) + (b.block_rows > 1 ? 1 : 0);
    return !lists(model.scales, formats::f32.name) ||
           of_many_rows == (model.scaling == BlockScaling::promoted_product ? 1 : 0);
}

GemmRows rows_of(const GemmProblem& problem, std::int64_t output) {
    const std::int64_t columns = problem.b.rows();
    const std::int64_t row = output / columns;
    const std::int64_t batch = batches_of(problem.b).empty() ? 0 : row / problem.a.rows();
    return {problem.a.row(row), problem.b.row(batch * columns + output % columns)};
}

fast::OutputFactors factors_of(const GemmProblem& problem, std::int64_t output) {
    const GemmRules& rules = problem.rules;
    const std::int64_t columns = problem.b.rows(), row = output / columns;
    const std::int64_t batch = batches_of(problem.b).empty() ? 0 : row / problem.a.rows();
    return {{fast::unpack(formats::f32, rules.alpha), fast::unpack(formats::f32, rules.beta)},
            problem.a.number_of(row),
            problem.b.number_of(batch * columns + output % columns)};
}

Expected<GemmProblem> gemm_problem(GemmFactor a, GemmFactor b, std::optional<GemmAddend> c,
                                   const GemmRules& rules) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    auto shape = joined_shape(a, b);
    if (!shape) return shape.error();
    if (c)
        if (const Status fits = check_addend(*c, shape.value()); !fits) return fits.error();
    if (!c && !formats::f32.is_zero(rules.beta)) return bad("a beta that is not 0 needs C");
    if (const Status fits = check_transforms(a, b); !fits) return fits.error();
    if (const Status fits = check_rules(rules, a, b); !fits) return fits.error();
    const auto bytes = data::byte_count(*data::find_tensor_type(rules.type.name), shape.value());
    if (!bytes) return bytes.error();
    return GemmProblem{std::move(a), std::move(b), std::move(c), rules, std::move(shape).value(),
                       bytes.value()};
}

std::int64_t outputs_at_once(const GemmProblem& problem) {
    const std::int64_t products = problem.a.depth() + 32;
    if (kernel_of(problem) == nullptr) return std::max<std::int64_t>(1, (1 << 20) / products);
    const std::int64_t width = problem.b.rows();
    return width * std::max<std::int64_t>(1, (1 << 27) / (width * products));
}

void gemm_outputs(const GemmProblem& problem, OutputRange range, std::span<std::byte> d) {
    const GemmRules& rules = problem.rules;
    const int width = rules.type.code_bytes();
    for_values(problem, range, gemm::Asked::values,
               [&](std::int64_t output, const fast::Unpacked& value) {
                   const Code code =
                       fast::round(rules.type, Rounding::nearest_even, rules.overflow, value);
                   for (int i = 0; i < width; ++i)
                       d[static_cast<std::size_t>(output * width + i)] =
                           static_cast<std::byte>(code.bits >> (8 * i) & 0xFF);
               });
}

void gemm_values(const GemmProblem& problem, OutputRange range, std::span<fast::Unpacked> d) {
    for_values(problem, range, gemm::Asked::sums,
               [&](std::int64_t output, const fast::Unpacked& value) {
                   d[static_cast<std::size_t>(output)] = value;
               });
}

SpecialCounts count_specials(const ElementFormat& type, std::span<const std::byte> values) {
    const CodeView codes = view_of(values, type);
    const auto count = static_cast<std::int64_t>(values.size()) / type.code_bytes();
    SpecialCounts counts;
    for (std::int64_t i = 0; i < count; ++i) {
        counts.nan += type.is_nan(codes.at(i)) ? 1 : 0;
        counts.infinity += type.is_infinity(codes.at(i)) ? 1 : 0;
    }
    return counts;
}

}  // namespace mx::emulate
