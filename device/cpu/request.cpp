// request.hpp: the operations, each as the tensors and names that it takes. What is wrong with a
// single name or tensor stands in reader.cpp. Must not compute.
#include "device/cpu/request.hpp"

#include <utility>

#include "device/cpu/encoded.hpp"
#include "device/cpu/gemm_request.hpp"
#include "device/cpu/reader.hpp"
#include "device/cpu/real_scale_request.hpp"
#include "device/kit/tensor_number.hpp"

namespace mx::cpu {
namespace {

// What convert takes besides the format: everything that a dialect decides elsewhere.
Conversion conversion_of(const mx_operation& operation, ElementType element) {
    Conversion how;
    const RoundingName name = rounding(operation);
    how.rounding = name.rounding;
    how.random_digits = name.random_digits;
    how.random_shared = name.random_shared;
    how.overflow = overflow(operation);
    how.subnormals = subnormals(operation);
    const bool has_nan = element_of(element).special_from != no_specials;
    if (const auto rule = find_conversion_rule(kit::text_of(operation.dialect), element)) {
        how.nan_code = rule->nan_code;
        how.nan_form = rule->nan_form;
    } else {
        how.nan_code = operation.dialect != nullptr ? dialect_rule(operation, element).nan_code
                                                    : find_dialect_rule("ocp", element)->nan_code;
    }
    if (how.random_shared != 0 && !has_nan)
        kit::not_supported("rounding \"stochastic-x4\" of elements other than FP8");
    return how;
}

constexpr std::string_view ue5m3 = "ue5m3";  // no element of a block: convert alone writes it

Work convert_work(kit::Call& call) {
    const bool is_ue5m3 = kit::text_of(call.operation().format) == ue5m3;
    const ElementType element = is_ue5m3 ? ElementType::ue5m3 : element_format(call.operation());
    const Conversion how = conversion_of(call.operation(), element);
    const kit::Tensor values = call.input("the values");
    ConvertJob job{value_type(values), element, how, extent_of(values), plane_of(values), {}, {}};
    if (how.rounding == Rounding::stochastic) {
        const kit::Tensor words = call.input("the random bits");
        const std::int64_t shared = how.random_shared == 0 ? 1 : how.random_shared;
        words.expect_type("u32");
        words.expect_strided();
        words.expect_shape({values.shape().rows, (values.shape().columns + shared - 1) / shared});
        job.random = plane_of(words);
    }
    const kit::Tensor codes = call.output("the codes");
    codes.expect_type(is_ue5m3 ? ue5m3 : name_of(element));
    codes.expect_strided();
    codes.expect_shape(values.shape());
    job.codes = plane_of(codes);
    return {job, {}, {}};
}

// From amax values, or as a cast from any values: which is the rule's business.
Work scale_work(kit::Call& call, const ScaleRule& rule) {
    const kit::Tensor values = call.input("the values");
    const kit::Tensor scales = call.output("the scales");
    scales.expect_type("e8m0");
    scales.expect_strided();
    scales.expect_shape(values.shape());
    return {EncodeScaleJob{value_type(values), rule, extent_of(values), plane_of(values),
                           plane_of(scales)},
            {},
            {}};
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed.
BlockJob seen_along_lanes(BlockJob job, const kit::Blocks& blocks) {
    job.block = {blocks.rows(), blocks.columns()};
    if (blocks.axis != kit::Axis::column) return job;
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(job.block.lines, job.block.lanes);
    for (Plane* plane : {&job.values, &job.codes, &job.scales})
        std::swap(plane->line_stride, plane->lane_stride);
    return job;
}

Work quantize_work(kit::Call& call) {
    if (has_real_scales(call.operation())) return quantize_real_scales_work(call);
    const ElementType element = block_format(call.operation());
    const DialectRule rule = dialect_rule(call.operation(), element);
    kit::expect_no_tensor_number(call.operation());
    const kit::Blocks blocks = kit::blocks_of(call.operation());
    const kit::Tensor values = call.input("the values");
    EncodedTensors tensors{call.output("the codes"), std::nullopt};
    if (!is_inline(tensors.codes)) tensors.scales = call.output("the scales");
    tensors.codes.expect_shape(values.shape());
    Encoded encoded = encoded_of(call, tensors, {element, "e8m0"}, blocks);
    const BlockJob job{{value_type(values), element, rule.scale, rule.nan_code},
                       extent_of(values),
                       {},
                       plane_of(values),
                       encoded.codes,
                       encoded.scales};
    return {QuantizeJob{seen_along_lanes(job, blocks)}, {}, std::move(encoded.staged)};
}

Work dequantize_work(kit::Call& call) {
    if (has_real_scales(call.operation())) return dequantize_real_scales_work(call);
    const ElementType element = block_format(call.operation());
    const kit::Blocks blocks = kit::blocks_of(call.operation());
    check_dialect(call.operation());
    kit::expect_no_tensor_number(call.operation());
    EncodedTensors tensors{call.input("the codes"), std::nullopt};
    if (!is_inline(tensors.codes)) tensors.scales = call.input("the scales");
    const kit::Tensor values = call.output("the values");
    values.expect_shape(tensors.codes.shape());
    Encoded encoded = encoded_of(call, tensors, {element, "e8m0"}, blocks);
    const BlockJob job{{value_type(values), element, {}, 0},
                       extent_of(values),
                       {},
                       plane_of(values),
                       encoded.codes,
                       encoded.scales};
    return {DequantizeJob{seen_along_lanes(job, blocks)}, std::move(encoded.staged), {}};
}

enum class Action { convert, encode_scale, quantize, dequantize, gemm };
constexpr kit::Named<Action> actions[] = {{"convert", Action::convert},
                                          {"encode_scale", Action::encode_scale},
                                          {"quantize", Action::quantize},
                                          {"dequantize", Action::dequantize},
                                          {"gemm", Action::gemm}};

Work work_of(kit::Call& call) {
    const mx_operation& operation = call.operation();
    switch (kit::choose(actions, operation.name, "operation")) {
        case Action::convert:
            return kit::text_of(operation.format) == "e8m0" ? scale_work(call, cast_rule(operation))
                                                            : convert_work(call);
        case Action::encode_scale:
            return scale_work(call, dialect_rule(operation, block_format(operation)).scale);
        case Action::quantize:
            return quantize_work(call);
        case Action::dequantize:
            return dequantize_work(call);
        case Action::gemm:
            break;
    }
    return gemm_work(call);
}

}  // namespace

std::vector<Work> works_of(const kit::Arguments& call, kit::Buffers buffers) {
    std::vector<Work> works;
    for (const kit::Arguments& side : kit::Sides(call)) {
        kit::Call checked(side, buffers);
        check_tensors(checked);
        works.push_back(work_of(checked));
        checked.expect_no_more();
    }
    return works;
}

}  // namespace mx::cpu
