// See real_scale_request.hpp.
#include "device/cpu/real_scale_request.hpp"

#include <string>
#include <utility>

#include "device/cpu/encoded.hpp"
#include "device/cpu/reader.hpp"
#include "device/cpu/rotation.hpp"

namespace mx::cpu {
namespace {

using kit::in_double_quotes;

std::string dialect_text(const mx_operation& operation) {
    return "dialect " + in_double_quotes(operation.dialect);
}

const RealScaleRule& rule_of(const mx_operation& operation, const RealScaleFormat& format) {
    const RealScaleRule* rule = find_real_scale_rule(kit::text_of(operation.dialect));
    const bool is_known = rule != nullptr || knows_dialect(kit::text_of(operation.dialect));
    if (!is_known) kit::not_supported(dialect_text(operation));
    if (rule == nullptr || (rule->formats & format.family) == 0)
        kit::not_supported(dialect_text(operation) + " has no format " +
                           in_double_quotes(operation.format));
    return *rule;
}

kit::Blocks blocks_of(const mx_operation& operation, const RealScaleFormat& format) {
    const kit::Blocks blocks = kit::blocks_or_tensor_of(operation);
    const bool is_line = blocks.axis == kit::Axis::row || blocks.axis == kit::Axis::column;
    const BlockShape shape = is_line                          ? BlockShape::line
                             : blocks.axis == kit::Axis::tile ? BlockShape::tile
                                                              : BlockShape::tensor;
    if (shape != format.shape)
        kit::not_supported("format " + in_double_quotes(operation.format) + " along axis " +
                           in_double_quotes(operation.axis));
    if (blocks.size != format.size)
        kit::not_supported("format " + in_double_quotes(operation.format) + " in blocks of " +
                           std::to_string(blocks.size) + " elements");
    return blocks;
}

enum class NumberSource { none, given, derived };
constexpr kit::Named<NumberSource> number_sources[] = {
    {"", NumberSource::none}, {"given", NumberSource::given}, {"derived", NumberSource::derived}};

NumberSource number_source(const mx_operation& operation, const RealScaleRule& rule) {
    const NumberSource source = kit::choose(number_sources, operation.tensor_scale, "tensor_scale");
    const bool has_number = rule.number != TensorNumber::none;
    if (has_number != (source != NumberSource::none))
        kit::invalid(dialect_text(operation) + " has " + (has_number ? "a" : "no") +
                     " number for the tensor, and tensor_scale is " +
                     in_double_quotes(operation.tensor_scale));
    if (rule.number == TensorNumber::scale_of_history && source == NumberSource::derived)
        kit::not_supported(dialect_text(operation) +
                           " has its scale from earlier tensors, and tensor_scale is \"derived\"");
    return source;
}

Plane number_plane(const kit::Tensor& number) {
    number.expect_type("f32");
    number.expect_strided();
    number.expect_shape({1, 1});
    return plane_of(number);
}

Plane random_plane(const kit::Tensor& words, kit::Shape shape) {
    words.expect_type("u32");
    words.expect_strided();
    words.expect_shape(shape);
    return plane_of(words);
}

// What both directions read of a call before they take its tensors.
struct Question {
    explicit Question(const kit::Call& call)
        : format(*find_real_scale_format(kit::text_of(call.operation().format))),
          rule(rule_of(call.operation(), format)),
          blocks(blocks_of(call.operation(), format)),
          source(number_source(call.operation(), rule)) {}

    EncodedTypes types() const {
        return {format.element, format.scale == RealScaleType::f32 ? "f32" : "ue4m3"};
    }

    const RealScaleFormat& format;
    const RealScaleRule& rule;
    kit::Blocks blocks;
    NumberSource source;
};

RealScaleJob job_of(const Question& question, const kit::Tensor& values, const Encoded& encoded) {
    RealScaleJob job;
    job.rule = question.rule;
    job.element = question.format.element;
    job.scale_type = question.format.scale;
    job.extent = extent_of(values);
    job.block = {question.blocks.rows(), question.blocks.columns()};
    job.values = {value_type(values), plane_of(values)};
    job.codes = encoded.codes;
    job.scales = encoded.scales;
    return job;
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed.
RealScaleJob seen_along_lanes(RealScaleJob job, const kit::Blocks& blocks) {
    if (blocks.axis != kit::Axis::column) return job;
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(job.block.lines, job.block.lanes);
    for (Plane* plane : {&job.values.plane, &job.codes, &job.scales})
        std::swap(plane->line_stride, plane->lane_stride);
    if (job.random) std::swap(job.random->line_stride, job.random->lane_stride);
    return job;
}

void check_values(const mx_operation& operation, const RealScaleJob& job,
                  const kit::Tensor& values) {
    if ((job.rule.inputs & bit_of(job.values.type)) == 0)
        kit::not_supported(dialect_text(operation) + " of values of type " +
                           in_double_quotes(values.type()));
    if (job.rule.rotates && job.extent.lanes % rotation_size != 0)
        kit::not_supported(dialect_text(operation) + " rotates groups of 16 elements, and " +
                           std::to_string(job.extent.lanes) + " are no whole groups");
}

}  // namespace

bool has_real_scales(const mx_operation& operation) {
    return find_real_scale_format(kit::text_of(operation.format)) != nullptr;
}

Work quantize_real_scales_work(kit::Call& call) {
    const Question question(call);
    const kit::Tensor values = call.input("the values");
    std::optional<Plane> given, random, kept;
    if (question.source == NumberSource::given)
        given = number_plane(call.input("the number of the tensor"));
    if (question.rule.rounding == Rounding::stochastic)
        random = random_plane(call.input("the random bits"), values.shape());
    EncodedTensors tensors{call.output("the codes"), std::nullopt};
    if (!is_inline(tensors.codes)) tensors.scales = call.output("the scales");
    if (question.source != NumberSource::none)
        kept = number_plane(call.output("the number that is kept"));
    tensors.codes.expect_shape(values.shape());
    Encoded encoded = encoded_of(call, tensors, question.types(), question.blocks);
    RealScaleJob job = job_of(question, values, encoded);
    job.given = given;
    job.random = random;
    job.kept = kept;
    job = seen_along_lanes(job, question.blocks);
    check_values(call.operation(), job, values);
    return {QuantizeRealScalesJob{job}, {}, std::move(encoded.staged)};
}

Work dequantize_real_scales_work(kit::Call& call) {
    const Question question(call);
    EncodedTensors tensors{call.input("the codes"), std::nullopt};
    if (!is_inline(tensors.codes)) tensors.scales = call.input("the scales");
    std::optional<Plane> kept;
    if (question.source != NumberSource::none)
        kept = number_plane(call.input("the number that was kept"));
    const kit::Tensor values = call.output("the values");
    values.expect_shape(tensors.codes.shape());
    Encoded encoded = encoded_of(call, tensors, question.types(), question.blocks);
    RealScaleJob job = job_of(question, values, encoded);
    job.given = kept;
    return {DequantizeRealScalesJob{seen_along_lanes(job, question.blocks)},
            std::move(encoded.staged),
            {}};
}

}  // namespace mx::cpu
