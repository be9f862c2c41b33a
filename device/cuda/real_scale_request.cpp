// See real_scale_request.hpp.
#include "device/cuda/real_scale_request.hpp"

#include <optional>
#include <string>
#include <utility>

#include "device/cuda/real_scale_rules.hpp"
#include "device/cuda/rules.hpp"
#include "device/cuda/tensors.hpp"
#include "device/kit/tensor_number.hpp"

namespace mx::cuda {
namespace {

using kit::Blocks;
using kit::in_double_quotes;
using kit::invalid;
using kit::not_supported;
using kit::text_of;

std::string dialect_text(const mx_operation& operation) {
    return "dialect " + in_double_quotes(operation.dialect);
}

const RealScaleDialect& dialect_of(const mx_operation& operation, const RealScaleFormat& format) {
    const std::string_view name = text_of(operation.dialect);
    const RealScaleDialect* dialect = find_real_scale_dialect(name);
    if (dialect == nullptr && !knows_dialect(name))
        not_supported("the GPU kernels have no " + dialect_text(operation));
    if (dialect == nullptr || (dialect->formats & format.family) == 0)
        not_supported(dialect_text(operation) + " has no format " +
                      in_double_quotes(operation.format));
    return *dialect;
}

kit::KeptNumber kept_number(const RealScaleRule& rule) {
    if (rule.number == TensorNumber::none) return kit::KeptNumber::none;
    return rule.number == TensorNumber::given_as_scale ? kit::KeptNumber::of_history
                                                       : kit::KeptNumber::of_tensor;
}

// What both directions read of a call before they take its tensors.
struct Question {
    explicit Question(const kit::Call& call)
        : format(*find_real_scale_format(text_of(call.operation().format))),
          dialect(dialect_of(call.operation(), format)),
          blocks(kit::blocks_of(call.operation(), format.shape, format.size)),
          source(kit::number_source<NumberSource>(call.operation(), kept_number(dialect.rule))) {}

    const RealScaleFormat& format;
    const RealScaleDialect& dialect;
    Blocks blocks;
    NumberSource source;
};

std::uint8_t* place_of_number(const kit::Tensor& number) {
    kit::expect_tensor_number(number);
    return static_cast<std::uint8_t*>(number.raw().data);
}

ValueType value_type(const kit::Tensor& tensor) {
    const auto type = find_value_type(tensor.type());
    if (!type) not_supported("values of type " + in_double_quotes(tensor.raw().type));
    tensor.expect_strided();
    return *type;
}

bool is_inline(const kit::Tensor& codes) {
    return codes.layout() == "inline";
}

// Strides are those that mx_device.h says: a block is its codes and a byte.
void check_inline(const kit::Tensor& codes, const Question& question) {
    if (question.blocks.axis != Axis::row) invalid("layout \"inline\" is for axis \"row\" only");
    if (question.format.has_f32_scales)
        not_supported("scales of type \"f32\" in layout \"inline\"");
    const mx_tensor& tensor = codes.raw();
    const std::int64_t bytes = question.blocks.size / 2 + 1;
    std::int64_t row_bytes = 0;
    const std::int64_t across = question.blocks.grid(codes.shape()).columns;
    const bool is_huge = __builtin_mul_overflow(across, bytes, &row_bytes);
    if (is_huge || tensor.column_stride != bytes || tensor.row_stride < row_bytes)
        invalid("inline blocks of " + std::to_string(bytes) + " bytes with strides " +
                std::to_string(tensor.row_stride) + " and " + std::to_string(tensor.column_stride));
}

CodePlane codes_of(const kit::Tensor& tensor, const Question& question) {
    tensor.expect_type(name_of(question.format.element));
    const Layout& layout = *find_layout(tensor.layout());
    if (is_inline(tensor)) check_inline(tensor, question);
    const bool is_packed = layout.kind == LayoutKind::codes || is_inline(tensor);
    if (!is_packed && layout.kind != LayoutKind::strided)
        not_supported("element codes in layout " + in_double_quotes(tensor.layout()));
    if (is_packed && question.format.element != Element::e2m1)
        invalid("layout " + in_double_quotes(tensor.layout()) + " does not hold codes of type " +
                in_double_quotes(tensor.type()));
    return code_plane_of(tensor.raw(), layout, question.blocks);
}

RealScalePlane scales_of(const kit::Tensor& tensor, kit::Shape elements, const Question& question,
                         const char* axis) {
    const bool is_f32 = question.format.has_f32_scales;
    tensor.expect_type(is_f32 ? "f32" : "ue4m3");
    tensor.expect_shape(question.blocks.grid(elements));
    if (is_f32) tensor.expect_strided();
    const Layout& layout = *find_layout(tensor.layout());
    const bool is_line = question.format.shape == BlockShape::line;
    const bool holds_scales =
        layout.kind == LayoutKind::scales || layout.kind == LayoutKind::small_tiles;
    if (layout.kind != LayoutKind::strided && (!holds_scales || !is_line))
        not_supported("scales in layout " + in_double_quotes(tensor.layout()) + " along axis " +
                      in_double_quotes(axis));
    if (!layout.axis.empty() && layout.axis != text_of(axis))
        invalid("layout " + in_double_quotes(tensor.layout()) + " is not for scales along axis " +
                in_double_quotes(axis));
    return {scale_plane_of(tensor.raw(), layout, question.blocks.axis), layout.tiles, is_f32};
}

// The tensors of either direction.
struct RealTensors {
    kit::Tensor values, codes;
    std::optional<kit::Tensor> scales;  // nothing when inline
};

RealScaleJob job_of(const mx_operation& operation, const Question& question,
                    const RealTensors& tensors) {
    const mx_tensor& values = tensors.values.raw();
    tensors.codes.expect_shape(tensors.values.shape());
    const bool is_whole = question.blocks.axis == Axis::tensor;
    RealScaleJob job{};
    job.rule = question.dialect.rule;
    job.value_type = value_type(tensors.values);
    job.element = question.format.element;
    job.extent = {values.rows, values.columns};
    if (!is_whole) job.block = {question.blocks.rows(), question.blocks.columns()};
    job.values = plane_of(values);
    job.codes = codes_of(tensors.codes, question);
    job.scales = tensors.scales
                     ? scales_of(*tensors.scales, tensors.values.shape(), question, operation.axis)
                     : RealScalePlane{scales_among(tensors.codes.raw()), TileOrder::none, false};
    job.source = question.source;
    return job;
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed. The planes of codes
// and scales are made so.
RealScaleJob seen_along_lanes(RealScaleJob job, const Blocks& blocks) {
    if (blocks.axis != Axis::column) return job;
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(job.block.lines, job.block.lanes);
    for (Plane* plane : {&job.values, &job.random})
        std::swap(plane->line_stride, plane->lane_stride);
    return job;
}

void check_values(const mx_operation& operation, const Question& question, const RealScaleJob& job,
                  const kit::Tensor& values) {
    if ((question.dialect.inputs & bit_of(job.value_type)) == 0)
        not_supported(dialect_text(operation) + " of values of type " +
                      in_double_quotes(values.type()));
    if (job.rule.rotates && job.extent.lanes % rotation_lanes != 0)
        not_supported(dialect_text(operation) + " rotates groups of 16 elements, and " +
                      std::to_string(job.extent.lanes) + " are no whole groups");
}

}  // namespace

bool has_real_scales(const mx_operation& operation) {
    return find_real_scale_format(text_of(operation.format)) != nullptr;
}
bool knows_real_scale_dialect(std::string_view dialect) {
    return find_real_scale_dialect(dialect) != nullptr;
}

Job quantize_real_scales_job(kit::Call& call) {
    const mx_operation& operation = call.operation();
    const Question question(call);
    const kit::Tensor values = call.input("the values");
    std::optional<kit::Tensor> number, random;
    if (question.source == NumberSource::given) number = call.input("the number of the tensor");
    if (question.dialect.rule.rounding == ElementRounding::stochastic8)
        random = call.input("the random bits");
    RealTensors tensors{values, call.output("the codes"), std::nullopt};
    if (!is_inline(tensors.codes)) tensors.scales = call.output("the scales");
    RealScaleJob job = job_of(operation, question, tensors);
    if (number) job.number = place_of_number(*number);
    if (random) {
        random->expect_type("u32");
        random->expect_strided();
        random->expect_shape(values.shape());
        job.random = plane_of(random->raw());
    }
    if (question.source != NumberSource::none)
        job.kept = place_of_number(call.output("the number that is kept"));
    job = seen_along_lanes(job, question.blocks);
    check_values(operation, question, job, values);
    return QuantizeRealScalesJob{job, std::nullopt};
}

Job dequantize_real_scales_job(kit::Call& call) {
    const Question question(call);
    const kit::Tensor codes = call.input("the codes");
    std::optional<kit::Tensor> scales;
    if (!is_inline(codes)) scales = call.input("the scales");
    std::optional<kit::Tensor> number;
    if (question.source != NumberSource::none) number = call.input("the number that was kept");
    RealScaleJob job =
        job_of(call.operation(), question, {call.output("the values"), codes, scales});
    if (number) job.number = place_of_number(*number);
    return DequantizeRealScalesJob{seen_along_lanes(job, question.blocks)};
}

}  // namespace mx::cuda
