// request.hpp: the operations, each as the tensors and names that it takes.
#include "device/cuda/request.hpp"

#include <string>
#include <utility>

#include "device/cuda/real_scale_request.hpp"
#include "device/cuda/rules.hpp"
#include "device/cuda/tensors.hpp"
#include "device/kit/tensor_number.hpp"

namespace mx::cuda {
namespace {

using kit::Blocks;
using kit::in_double_quotes;
using kit::not_supported;
using kit::text_of;

// What is packed more tightly or lies in smaller tiles is served where scales have a mantissa.
bool is_for_powers_of_two(const Layout& layout) {
    return layout.kind == LayoutKind::strided || layout.kind == LayoutKind::scales;
}

void check_tensor(const std::string& what, const mx_tensor& tensor, bool has_powers_of_two) {
    const Layout* layout = find_layout(text_of(tensor.layout));
    if (layout == nullptr || (has_powers_of_two && !is_for_powers_of_two(*layout)))
        not_supported(what + " has layout " + in_double_quotes(tensor.layout) +
                      "; the GPU kernels write strided codes, and scales that are strided,"
                      " 128x4 or te-padded");
    const bool has_strides = tensor.row_stride != 0 || tensor.column_stride != 0;
    if (has_strides && !is_for_powers_of_two(*layout) && layout->kind != LayoutKind::with_scales)
        kit::invalid(what + " has strides, and layout " + in_double_quotes(tensor.layout) +
                     " has none");
    if (!is_addressable(tensor, *layout))
        kit::invalid(what + " of " + kit::text_of(kit::Shape{tensor.rows, tensor.columns}) +
                     " with strides " + std::to_string(tensor.row_stride) + " and " +
                     std::to_string(tensor.column_stride) +
                     " is larger than an address space, or runs backwards");
}

Extent extent_of(const kit::Tensor& tensor) {
    return {tensor.raw().rows, tensor.raw().columns};
}

ValueType value_type(const kit::Tensor& tensor) {
    const auto type = find_value_type(tensor.type());
    if (!type) not_supported("values of type " + in_double_quotes(tensor.raw().type));
    if (!tensor.is_strided()) kit::invalid("values in layout " + in_double_quotes(tensor.layout()));
    return *type;
}

Plane codes(const kit::Tensor& tensor, std::string_view type, kit::Shape shape) {
    tensor.expect_type(type);
    if (!tensor.is_strided())
        kit::invalid("codes of type " + in_double_quotes(tensor.type()) + " in layout " +
                     in_double_quotes(tensor.layout()));
    tensor.expect_shape(shape);
    return plane_of(tensor.raw());
}

ScalePlane scales(const kit::Tensor& tensor, kit::Shape elements, const Blocks& blocks,
                  const char* axis) {
    tensor.expect_type("e8m0");
    tensor.expect_shape(blocks.grid(elements));
    const Layout& layout = *find_layout(tensor.layout());
    if (!layout.axis.empty() && layout.axis != text_of(axis))
        kit::invalid("layout " + in_double_quotes(tensor.layout()) +
                     " is not for scales along axis " + in_double_quotes(axis));
    return scale_plane_of(tensor.raw(), layout, blocks.axis);
}

Element block_format(const mx_operation& operation) {
    const auto element = find_block_format(text_of(operation.format));
    if (!element) not_supported("block format " + in_double_quotes(operation.format));
    return *element;
}

DialectRule dialect_rule(const mx_operation& operation, Element element) {
    const std::string_view dialect = text_of(operation.dialect);
    const auto rule = find_dialect_rule(dialect, element);
    if (rule) return *rule;
    if (knows_dialect(dialect) || knows_real_scale_dialect(dialect))
        not_supported("dialect " + in_double_quotes(dialect) + " has no format " +
                      in_double_quotes(operation.format));
    not_supported("the GPU kernels have no dialect " + in_double_quotes(operation.dialect));
}

// Where the dialect decides nothing it may be absent, but not unknown.
void check_dialect(const mx_operation& operation) {
    if (operation.dialect != nullptr && !knows_dialect(operation.dialect))
        not_supported("the GPU kernels have no dialect " + in_double_quotes(operation.dialect));
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed.
BlockJob seen_along_lanes(BlockJob job, const Blocks& blocks) {
    job.block = {blocks.rows(), blocks.columns()};
    if (blocks.axis != Axis::column) return job;
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(job.block.lines, job.block.lanes);
    for (Plane* plane : {&job.values, &job.codes})
        std::swap(plane->line_stride, plane->lane_stride);
    return job;
}

// The tensors of either block operation.
struct BlockTensors {
    kit::Tensor values, codes, scales;
};
BlockJob block_job(const mx_operation& operation, const BlockTensors& tensors,
                   const DialectRule& rule) {
    const Element element = block_format(operation);
    const Blocks blocks = kit::blocks_of(operation);
    const kit::Shape shape = tensors.values.shape();
    const BlockJob job{{value_type(tensors.values), element, rule.scale, rule.nan_code},
                       extent_of(tensors.values),
                       {},
                       plane_of(tensors.values.raw()),
                       codes(tensors.codes, name_of(element), shape),
                       scales(tensors.scales, shape, blocks, operation.axis)};
    return seen_along_lanes(job, blocks);
}

Job quantize_job(kit::Call& call) {
    if (has_real_scales(call.operation())) return quantize_real_scales_job(call);
    const DialectRule rule = dialect_rule(call.operation(), block_format(call.operation()));
    kit::expect_no_tensor_number(call.operation());
    const BlockTensors tensors{call.input("the values"), call.output("the codes"),
                               call.output("the scales")};
    return QuantizeJob{block_job(call.operation(), tensors, rule)};
}

Job dequantize_job(kit::Call& call) {
    if (has_real_scales(call.operation())) return dequantize_real_scales_job(call);
    check_dialect(call.operation());
    kit::expect_no_tensor_number(call.operation());
    const kit::Tensor codes = call.input("the codes"), scales = call.input("the scales");
    return DequantizeJob{
        block_job(call.operation(), {call.output("the values"), codes, scales}, {})};
}

constexpr kit::Named<Overflow> overflows[] = {{"saturate", Overflow::saturate},
                                              {"overflow", Overflow::to_special}};

Job convert_job(kit::Call& call) {
    const mx_operation& operation = call.operation();
    const auto element = find_element(text_of(operation.format));
    if (!element) not_supported("element format " + in_double_quotes(operation.format));
    if (text_of(operation.rounding) != "nearest_even")
        not_supported("the GPU converts to nearest even, not by rounding " +
                      in_double_quotes(operation.rounding));
    if (operation.subnormals != nullptr && text_of(operation.subnormals) != "honoured")
        not_supported("the GPU kernels honour subnormals, they do not know " +
                      in_double_quotes(operation.subnormals));
    const Overflow overflow = kit::choose(overflows, operation.overflow, "overflow mode");
    const DialectRule rule = operation.dialect == nullptr ? *find_dialect_rule("ocp", *element)
                                                          : dialect_rule(operation, *element);
    const kit::Tensor values = call.input("the values");
    return ConvertJob{value_type(values),
                      *element,
                      rule.nan_code,
                      overflow,
                      extent_of(values),
                      plane_of(values.raw()),
                      codes(call.output("the codes"), name_of(*element), values.shape())};
}

// From amax values, or as a cast from any values: which is the rule's business.
Job scale_job(kit::Call& call, const ScaleRule& rule) {
    const kit::Tensor values = call.input("the values");
    return EncodeScaleJob{value_type(values), rule, extent_of(values), plane_of(values.raw()),
                          codes(call.output("the scales"), "e8m0", values.shape())};
}

Job cast_job(kit::Call& call) {
    const auto rule = find_cast_rule(text_of(call.operation().dialect));
    if (!rule)
        not_supported("the GPU kernels have no cast to e8m0 of dialect " +
                      in_double_quotes(call.operation().dialect));
    return scale_job(call, *rule);
}

enum class Action { quantize, dequantize, encode_scale, convert };
constexpr kit::Named<Action> actions[] = {{"quantize", Action::quantize},
                                          {"dequantize", Action::dequantize},
                                          {"encode_scale", Action::encode_scale},
                                          {"convert", Action::convert}};

Job job_of(kit::Call& call) {
    const mx_operation& operation = call.operation();
    switch (kit::choose(actions, operation.name, "operation")) {
        case Action::quantize:
            return quantize_job(call);
        case Action::dequantize:
            return dequantize_job(call);
        case Action::encode_scale:
            return scale_job(call, dialect_rule(operation, block_format(operation)).scale);
        case Action::convert:
            break;
    }
    return text_of(operation.format) == "e8m0" ? cast_job(call) : convert_job(call);
}

Job job_of_side(const kit::Arguments& side, kit::Buffers buffers, std::string_view memory) {
    const std::string_view places[] = {"host", memory};
    kit::Call call(side, buffers);
    call.expect_places(places);
    const bool has_powers_of_two = !has_real_scales(call.operation());
    call.for_each_tensor([&](const std::string& what, const mx_tensor& tensor) {
        check_tensor(what, tensor, has_powers_of_two);
    });
    const Job job = job_of(call);
    call.expect_no_more();
    return job;
}

}  // namespace

Job job_of(const kit::Arguments& call, kit::Buffers buffers, std::string_view memory) {
    const kit::Sides sides(call);
    const Job rows = job_of_side(*sides.begin(), buffers, memory);
    if (sides.end() - sides.begin() == 1) return rows;
    const Job columns = job_of_side(sides.begin()[1], buffers, memory);
    if (const auto* real = std::get_if<QuantizeRealScalesJob>(&rows))
        return QuantizeRealScalesJob{real->blocks, std::get<QuantizeRealScalesJob>(columns).blocks};
    const BlockJob& down = std::get<QuantizeJob>(columns).blocks;
    return BothJob{std::get<QuantizeJob>(rows).blocks, plane_of(kit::tensor_at(call.outputs, 2)),
                   down.scales};
}

}  // namespace mx::cuda
