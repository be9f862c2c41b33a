// See real_scale_request.hpp.
#include "device/cpu/real_scale_request.hpp"

#include <string>
#include <utility>

#include "device/cpu/encoded.hpp"
#include "device/cpu/reader.hpp"
#include "device/cpu/rotation.hpp"
#include "device/kit/tensor_number.hpp"

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

kit::KeptNumber kept_number(const RealScaleRule& rule) {
    if (rule.number == TensorNumber::none) return kit::KeptNumber::none;
    return rule.number == TensorNumber::scale_of_history ? kit::KeptNumber::of_history
                                                         : kit::KeptNumber::of_tensor;
}

Plane number_plane(const kit::Tensor& number) {
    kit::expect_tensor_number(number);
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
          blocks(kit::blocks_of(call.operation(), format.shape, format.size)),
          source(kit::number_source(call.operation(), kept_number(rule))) {}

    EncodedTypes types() const { return {format.element, name_of(format.scale)}; }

    const RealScaleFormat& format;
    const RealScaleRule& rule;
    kit::Blocks blocks;
    kit::NumberSource source;
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
    if (question.source == kit::NumberSource::given)
        given = number_plane(call.input("the number of the tensor"));
    if (question.rule.rounding == Rounding::stochastic)
        random = random_plane(call.input("the random bits"), values.shape());
    EncodedTensors tensors{call.output("the codes"), std::nullopt};
    if (!is_inline(tensors.codes)) tensors.scales = call.output("the scales");
    if (question.source != kit::NumberSource::none)
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
    if (question.source != kit::NumberSource::none)
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
