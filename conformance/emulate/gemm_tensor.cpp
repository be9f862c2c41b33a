// See gemm_tensor.hpp.
#include "conformance/emulate/gemm_tensor.hpp"

#include <algorithm>

#include "conformance/case/names.hpp"
#include "conformance/emulate/recipe_tensor.hpp"
#include "reference/fast/dot.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

const std::uint8_t* pointer_to(const std::vector<std::byte>& bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes.data());
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

// Is the word one of a list with blanks between?
bool lists(std::string_view list, std::string_view word) {
    for (std::size_t first = 0; first < list.size();) {
        const std::size_t end = std::min(list.find(' ', first), list.size());
        if (list.substr(first, end - first) == word) return true;
        first = end + 1;
    }
    return false;
}

// How many neighbours a model scales at once.
std::int64_t scaled_together(const GemmModel& model) {
    const bool at_promotion = model.scaling == BlockScaling::promoted_a_first ||
                              model.scaling == BlockScaling::promoted_product;
    return at_promotion ? model.promotion : model.exact_group;
}

// What is scaled at once must lie within one block.
bool takes(const GemmModel& model, const GemmFactor& factor) {
    return model.scaling != BlockScaling::none &&
           lists(model.operands, factor.format.element().name) &&
           factor.block % scaled_together(model) == 0;
}

Status check_model(const GemmModel& model, const GemmFactor& a, const GemmFactor& b) {
    const GemmFactor& other = takes(model, a) ? b : a;
    if (takes(model, other)) return success();
    std::string fitting;
    for (const GemmModel& row : gemm_models)
        if (takes(row, a) && takes(row, b))
            fitting += (fitting.empty() ? "" : ", ") + std::string(row.name);
    const std::string scales =
        model.scaling == BlockScaling::none
            ? " without block scales"
            : " in whole blocks of " + std::to_string(scaled_together(model));
    return bad("model " + std::string(model.name) + " multiplies " + std::string(model.operands) +
               scales + ", and " + other.path + " is " + std::string(other.format.name) +
               " in blocks of " + std::to_string(other.block) +
               "; the models that take both factors: " + (fitting.empty() ? "none" : fitting) +
               "; exact takes any");
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

// Rows of both factors, the one after the other, make the outputs of D.
struct Pair {
    ScaledRow a;
    ScaledRow b;
};

Pair pair_of(const GemmProblem& problem, std::int64_t output) {
    const std::int64_t columns = problem.b.rows();
    const std::int64_t row = output / columns;
    const std::int64_t batch = batches_of(problem.b).empty() ? 0 : row / problem.a.rows();
    return {problem.a.row(row), problem.b.row(batch * columns + output % columns)};
}

Code exact_output(const GemmProblem& problem, const Pair& pair, const fast::Unpacked& c) {
    const GemmRules& rules = problem.rules;
    const fast::Affine affine{fast::unpack(formats::f32, rules.alpha),
                              fast::unpack(formats::f32, rules.beta)};
    const fast::Total total = fast::dot(pair.a, pair.b, problem.a.depth());
    return fast::round_total(rules.type, Rounding::nearest_even, rules.overflow,
                             fast::combine(affine, total, c));
}

Code model_output(const GemmProblem& problem, const Pair& pair) {
    const GemmRules& rules = problem.rules;
    return fast::round(
        rules.type, Rounding::nearest_even, rules.overflow,
        fast::accumulate(*rules.model, pair.a, pair.b, problem.a.depth(), fast::Unpacked{}));
}

}  // namespace

ScaledRow GemmFactor::row(std::int64_t index) const {
    const std::int64_t blocks = (depth() + block - 1) / block;
    return {format.element(),
            {pointer_to(codes.elements) + index * depth()},
            format.scale(),
            {pointer_to(codes.scales) + index * blocks},
            block};
}

Expected<GemmFactor> gemm_factor(const std::string& path, data::TensorFile file) {
    const auto in_file = [&path](const std::string& what) { return bad(path + ": " + what); };
    if (!data::is_quantized(file))
        return in_file("holds no elements with scales; mxcheck quantize makes them of values");
    const auto facts = read_facts(file, {});
    if (!facts) return in_file(facts.error().message);
    const BlockNames& names = facts.value().names;
    if (names_recipe(names))
        return in_file("format " + names.format + " is not supported yet, only MX formats are");
    if (names.axis != "row")
        return in_file("its blocks are of axis " + names.axis +
                       ", and a dot product needs them along K, the last dimension; quantize it "
                       "with --axis row");
    const std::vector<std::int64_t>& shape = facts.value().shape;
    if (shape.size() < 2)
        return in_file("has shape " + data::shape_text(shape) +
                       ", and a factor needs two dimensions, rows and K");
    const std::int64_t block = std::stoll(names.block);
    const auto layout = layout_of(shape, {names.axis, block});
    if (!layout) return in_file(layout.error().message);
    auto codes = load(file, names, layout.value());
    if (!codes) return in_file(codes.error().message);
    return GemmFactor{path, *find_block_format(names.format), block, shape,
                      std::move(codes).value()};
}

Expected<GemmProblem> gemm_problem(GemmFactor a, GemmFactor b, std::optional<GemmAddend> c,
                                   const GemmRules& rules) {
    auto shape = joined_shape(a, b);
    if (!shape) return shape.error();
    if (c)
        if (const Status fits = check_addend(*c, shape.value()); !fits) return fits.error();
    if (!c && !formats::f32.is_zero(rules.beta)) return bad("a beta that is not 0 needs C");
    if (const Status fits = check_rules(rules, a, b); !fits) return fits.error();
    const auto bytes = data::byte_count(*data::find_tensor_type(rules.type.name), shape.value());
    if (!bytes) return bytes.error();
    return GemmProblem{std::move(a), std::move(b), std::move(c), rules, std::move(shape).value(),
                       bytes.value()};
}

void gemm_outputs(const GemmProblem& problem, OutputRange range, std::span<std::byte> d) {
    const GemmRules& rules = problem.rules;
    const bool reads_c = problem.c && !formats::f32.is_zero(rules.beta);
    const ElementFormat c_type =
        reads_c ? *find_element_format(problem.c->tensor.type) : formats::f32;
    const CodeView c = reads_c ? view_of(problem.c->tensor.bytes, c_type) : CodeView{};
    const int width = rules.type.code_bytes();
    for (std::int64_t output = range.first; output < range.end; ++output) {
        const Pair pair = pair_of(problem, output);
        const fast::Unpacked addend =
            reads_c ? fast::unpack(c_type, c.at(output)) : fast::Unpacked{};
        const Code code = rules.model == nullptr ? exact_output(problem, pair, addend)
                                                 : model_output(problem, pair);
        for (int i = 0; i < width; ++i)
            d[static_cast<std::size_t>(output * width + i)] =
                static_cast<std::byte>(code.bits >> (8 * i) & 0xFF);
    }
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
