// See gemm_tensor.hpp.
#include "conformance/emulate/gemm_tensor.hpp"

#include <algorithm>

#include "conformance/case/names.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "reference/problem/gemm_problem.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/gemm_scales.hpp"

namespace mx::emulate {
namespace {

CodeView view_of(std::span<const std::byte> bytes, const ElementFormat& format) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), format.code_bytes(), 1};
}

std::span<const std::int64_t> batches_of(const GemmFactor& factor) {
    return std::span(factor.shape).first(factor.shape.size() - 2);
}

std::string described(const GemmFactor& factor) {
    return factor.path + " of shape " + data::shape_text(factor.shape);
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
    const std::string number = !factor.row_numbers.empty()   ? " and a number for each row"
                               : factor.view().has_numbers() ? " and a number for the whole tensor"
                                                             : "";
    if (factor.scaling == gemm::Scaling::none)
        return factor.format + (number.empty() ? " without scales" : " with a scale for each row");
    if (factor.scaling == gemm::Scaling::tensor)
        return factor.format + " with one scale for all" + number;
    return factor.format + " with " + scale + " scales for " + std::to_string(factor.block) +
           number;
}

// Of two factors each of which the model takes.
std::string why_not_both(const GemmModel& model, const GemmFactor& a, const GemmFactor& b) {
    const std::string name = "model " + std::string(model.name);
    if (model.scaling == BlockScaling::none)
        return name + " has scales of rows for both factors or for none, and " + a.path + " is " +
               scales_of(a) + ", " + b.path + " " + scales_of(b);
    const auto rows_of = [](const GemmFactor& factor) {
        return " one for " + std::to_string(factor.block_rows);
    };
    return name + " " + std::string(rows_of_scales(model)) + ", and " + a.path + " has" +
           rows_of(a) + ", " + b.path + rows_of(b);
}

std::string why_not(const GemmModel& model, const GemmFactor& a, const GemmFactor& b) {
    const bool takes_a = gemm::takes(model, a.view());
    if (takes_a && gemm::takes(model, b.view())) return why_not_both(model, a, b);
    const GemmFactor& other = takes_a ? b : a;
    return "model " + std::string(model.name) + " multiplies " + std::string(model.operands) +
           scales_of(model) + ", and " + other.path + " is " + scales_of(other);
}

Status check_model(const GemmModel& model, const GemmFactor& a, const GemmFactor& b) {
    if (gemm::takes(model, a.view(), b.view())) return success();
    std::string fitting;
    for (const GemmModel& row : gemm_models)
        if (gemm::takes(row, a.view(), b.view()))
            fitting += (fitting.empty() ? "" : ", ") + std::string(row.name);
    return bad_input(why_not(model, a, b) + "; the models that take both factors: " +
                     (fitting.empty() ? "none" : fitting) + "; exact takes any");
}

// Rotated lanes multiply to what the lanes themselves do, but only with lanes rotated alike.
Status check_transforms(const GemmFactor& a, const GemmFactor& b) {
    if (a.transform == b.transform) return success();
    const GemmFactor& rotated = a.transform != LaneTransform::none ? a : b;
    const GemmFactor& other = &rotated == &a ? b : a;
    return bad_input(rotated.path + " holds rotated lanes, and " + other.path +
                     " does not: their products mean nothing");
}

Status check_rules(const GemmRules& rules, const GemmFactor& a, const GemmFactor& b) {
    if (rules.model != nullptr) return check_model(*rules.model, a, b);
    if (rules.parts > 1)
        return bad_input(
            "an exact sum is the same in parts: only a model splits K, so name one with "
            "--model");
    if (rules.activation != Activation::gelu) return success();
    return bad_input(
        "GELU is no sum: only a model says which bits it gives, so name one with --model");
}

// The shape of D.
Expected<std::vector<std::int64_t>> joined_shape(const GemmFactor& a, const GemmFactor& b) {
    const auto mismatch = [&](const std::string& what) {
        return bad_input(described(a) + " and " + described(b) + " do not go together: " + what);
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

Status take_type(GemmAddend& addend) {
    const Status known = check_name("type", addend.tensor.type, type_names());
    if (!known) return bad_input(addend.path + ": " + known.error().message);
    addend.type = *find_element_format(addend.tensor.type);
    return success();
}

Status take_bias(GemmAddend& bias, std::int64_t columns) {
    if (const Status known = take_type(bias); !known) return known;
    const std::vector<std::int64_t>& shape = bias.tensor.shape;
    if (product(shape) == columns && !shape.empty() && shape.back() == columns) return success();
    return bad_input(bias.path + " of shape " + data::shape_text(shape) + " is no bias: D has " +
                     std::to_string(columns) + " columns");
}

Status take_c(GemmAddend& c, const std::vector<std::int64_t>& shape) {
    if (const Status known = take_type(c); !known) return known;
    if (c.tensor.shape == shape) return success();
    return bad_input(c.path + " of shape " + data::shape_text(c.tensor.shape) +
                     " cannot be added: D has shape " + data::shape_text(shape));
}

// Of exact sums. Of MX factors an element with its scale has the digits of a binary32 number, and
// of others either may. More than five of them lie beyond the sums that reference/fast has room
// for.
Status check_room(const TensorGemm& problem) {
    if (problem.rules.model != nullptr) return success();
    int numbers = 1 + (problem.rules.scale_out ? 1 : 0);
    const int lowest_number = formats::f32.quantum_exponent_min();
    int lowest = numbers * lowest_number;  // exponent that a product may have
    for (const GemmFactor* factor : {&problem.a, &problem.b}) {
        const bool is_small = factor->element.exponent_bits < 8;
        const bool has_e8m0 = factor->scale.name == formats::e8m0.name;
        const bool has_scales = factor->scaling != gemm::Scaling::none;
        numbers += is_small && !(has_scales && has_e8m0) ? 0 : 1;
        numbers += has_scales && factor->scale.name == formats::f32.name ? 1 : 0;
        const bool has_numbers = factor->view().has_numbers() || !factor->row_numbers.empty();
        numbers += has_numbers ? 1 : 0;
        lowest += factor->element.quantum_exponent_min() +
                  (has_scales ? factor->scale.quantum_exponent_min() : 0) +
                  (has_numbers ? lowest_number : 0);
    }
    // What is divided at the end needs its leading digits, too.
    const bool is_divided = problem.a.tensor.divisor != 1 || problem.b.tensor.divisor != 1;
    constexpr int most = 5;
    if (numbers <= (is_divided ? most - 1 : most) && lowest >= most * lowest_number)
        return success();
    return bad_input(
        "numbers for rows or tensors beside other scales are more than exact sums have room for");
}

FactorScales factor_scales(const GemmFactor& factor) {
    switch (factor.view().scaling) {
        case gemm::Scaling::none:
            return FactorScales::none;
        case gemm::Scaling::tensor:
            return FactorScales::in_alpha;
        case gemm::Scaling::row:
            return FactorScales::on_accumulator;
        case gemm::Scaling::blocks:
            break;
    }
    return factor.scale.name == formats::f32.name ? FactorScales::in_accumulator
                                                  : FactorScales::none;
}

GemmEpilogue epilogue_of(const TensorGemm& problem) {
    const GemmRules& rules = problem.rules;
    GemmEpilogue epilogue;
    epilogue.output = rules.type;
    if (problem.c) epilogue.addend = problem.c->type;
    if (problem.bias) epilogue.bias = problem.bias->type;
    epilogue.adds_bias = problem.bias.has_value();
    epilogue.scales =
        factor_scales(problem.a.view().scaling == gemm::Scaling::none ? problem.b : problem.a);
    epilogue.activation = rules.activation;
    epilogue.kernel = kernel_of(rules.model, rules.parts);
    epilogue.scales_output = rules.scale_out.has_value() || epilogue.is_narrow();
    if (rules.overflow)
        epilogue.overflow_of_narrow = epilogue.overflow_of_wide = *rules.overflow;
    else if (rules.model == nullptr)
        epilogue.overflow_of_narrow = Overflow::overflow;
    return epilogue;
}

}  // namespace

gemm::ProblemView TensorGemm::view() const {
    gemm::ProblemView made;
    made.a = a.view();
    made.b = b.view();
    made.m = a.rows();
    made.n = b.rows();
    made.depth = a.depth();
    made.batches = product({shape.begin(), shape.end() - 2});
    made.shares_b = batches_of(b).empty();
    made.alpha = rules.alpha;
    made.beta = rules.beta;
    made.epilogue = epilogue_of(*this);
    if (c) made.c = view_of(c->tensor.bytes, made.epilogue.addend);
    if (bias) made.bias = view_of(bias->tensor.bytes, made.epilogue.bias);
    // In words of four bytes, the lowest first, as the machine has them.
    if (rules.scale_out)
        made.scale_out = {reinterpret_cast<const std::uint8_t*>(&rules.scale_out->bits), 4, 1};
    made.model = rules.model;
    const auto has_squares = [](const GemmFactor& factor) {
        return factor.scaling == gemm::Scaling::blocks && factor.block_rows == 128;
    };
    if (rules.model != nullptr)
        made.part = part_length({made.depth, a.element.code_bytes(),
                                 has_squares(a) || has_squares(b), rules.model->residue_tile != 0},
                                rules.parts);
    made.element = rules.type;
    return made;
}

Expected<TensorGemm> tensor_gemm(GemmFactor a, GemmFactor b, GemmAddends addends,
                                 const GemmRules& rules) {
    auto& [c, bias] = addends;
    if (const Status sound = oracle_status(); !sound) return sound.error();
    auto shape = joined_shape(a, b);
    if (!shape) return shape.error();
    if (c)
        if (const Status fits = take_c(*c, shape.value()); !fits) return fits.error();
    if (bias)
        if (const Status fits = take_bias(*bias, shape.value().back()); !fits) return fits.error();
    if (!c && !formats::f32.is_zero(rules.beta)) return bad_input("a beta that is not 0 needs C");
    if (const Status fits = check_transforms(a, b); !fits) return fits.error();
    if (const Status fits = check_rules(rules, a, b); !fits) return fits.error();
    const auto bytes = data::byte_count(*data::find_tensor_type(rules.type.name), shape.value());
    if (!bytes) return bytes.error();
    TensorGemm problem{std::move(a),    std::move(b), std::move(c),
                       std::move(bias), rules,        std::move(shape).value(),
                       bytes.value()};
    if (const Status fits = check_room(problem); !fits) return fits.error();
    return problem;
}

void gemm_outputs(const TensorGemm& problem, gemm::OutputRange range, std::span<std::byte> d) {
    const int width = problem.rules.type.code_bytes();
    gemm::for_each_result(problem.view(), range, [&](std::int64_t output, Code code) {
        for (int i = 0; i < width; ++i)
            d[static_cast<std::size_t>(output * width + i)] =
                static_cast<std::byte>(code.bits >> (8 * i) & 0xFF);
    });
}

void gemm_values(const TensorGemm& problem, gemm::OutputRange range, std::span<fast::Unpacked> d) {
    gemm::for_each_number(problem.view(), range,
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
