// request.hpp: the operations, each as the tensors and names that it takes. What is wrong with a
// single name or tensor stands in reader.cpp. Must not compute.
#include "device/cpu/request.hpp"

#include <array>
#include <utility>

#include "device/cpu/gemm_request.hpp"
#include "device/cpu/reader.hpp"

namespace mx::cpu {
namespace {

Extent extent_of(const mx_tensor& tensor) {
    return {tensor.rows, tensor.columns};
}
Plane plane_of(const mx_tensor& tensor) {
    return {static_cast<std::uint8_t*>(tensor.data), tensor.row_stride, tensor.column_stride};
}

using Answer = std::variant<Work, Refusal>;

Answer answer(const Reader& reader, Work work) {
    if (reader.refused()) return reader.refusal();
    return work;
}

// What convert takes besides the format: everything that a dialect decides elsewhere.
Conversion conversion_of(Reader& reader, ElementType element) {
    Conversion how;
    const RoundingName rounding = reader.rounding();
    how.rounding = rounding.rounding;
    how.random_digits = rounding.random_digits;
    how.random_shared = rounding.random_shared;
    how.overflow = reader.overflow();
    how.subnormals = reader.subnormals();
    const bool has_nan = element_of(element).special_from != no_specials;
    if (reader.operation().dialect != nullptr)
        how.nan_code = reader.dialect_rule(element).nan_code;
    else
        how.nan_code = find_dialect_rule("ocp", element)->nan_code;
    if (how.random_shared != 0 && !has_nan)
        reader.refuse(not_supported("rounding \"stochastic-x4\" of elements other than FP8"));
    return how;
}

Answer convert_job(Reader& reader) {
    const ElementType element = reader.element_format();
    const Conversion how = conversion_of(reader, element);
    const bool random = how.rounding == Rounding::stochastic;
    reader.expect_inputs(random ? 2 : 1);
    reader.expect_outputs(1);
    if (reader.refused()) return reader.refusal();
    const mx_tensor& values = reader.input(0);
    const mx_tensor& codes = reader.output(0);
    reader.expect_type(codes, name_of(element));
    reader.expect_strided(codes);
    reader.expect_shape(codes, {values.rows, values.columns});
    ConvertJob job{reader.value_type(values), element,         how, extent_of(values),
                   plane_of(values),          plane_of(codes), {}};
    if (random) {
        const mx_tensor& words = reader.input(1);
        const std::int64_t shared = how.random_shared == 0 ? 1 : how.random_shared;
        reader.expect_type(words, "u32");
        reader.expect_strided(words);
        reader.expect_shape(words, {values.rows, (values.columns + shared - 1) / shared});
        job.random = plane_of(words);
    }
    return answer(reader, {job, {}, {}});
}

// From amax values, or as a cast from any values: which is the rule's business.
Answer scale_job(Reader& reader, ScaleRule (*rule_of)(Reader&)) {
    reader.expect_inputs(1);
    reader.expect_outputs(1);
    if (reader.refused()) return reader.refusal();
    const mx_tensor& values = reader.input(0);
    const mx_tensor& scales = reader.output(0);
    reader.expect_type(scales, "e8m0");
    reader.expect_strided(scales);
    reader.expect_shape(scales, {values.rows, values.columns});
    return answer(reader, {EncodeScaleJob{reader.value_type(values), rule_of(reader),
                                          extent_of(values), plane_of(values), plane_of(scales)},
                           {},
                           {}});
}

ScaleRule cast_rule(Reader& reader) {
    return reader.cast_rule();
}
ScaleRule amax_rule(Reader& reader) {
    const ElementType element = reader.block_format();
    return reader.dialect_rule(element).scale;
}

// Codes and scales, which either side of a block operation has.
struct Encoded {
    Plane codes;
    Plane scales;
    std::vector<Staged> staged;
};

// A dense copy, with its memory only where there will be something to compute.
Plane stage(const Reader& reader, Staged staged, Encoded& encoded) {
    const mx_tensor& tensor = staged.tensor;
    if (reader.buffers() == Buffers::present)
        staged.dense.resize(static_cast<std::size_t>(tensor.rows * tensor.columns));
    const Plane plane{staged.dense.data(), tensor.columns, 1};
    encoded.staged.push_back(std::move(staged));
    return plane;
}

// Scales that have no tensor of their own lie beside the codes.
Plane inline_scales(const Reader& reader, const Blocks& blocks, Encoded& encoded) {
    Staged& staged = encoded.staged.back();
    const std::int64_t per_row = (staged.tensor.columns + blocks.size - 1) / blocks.size;
    if (reader.buffers() == Buffers::present)
        staged.dense_scales.resize(static_cast<std::size_t>(staged.tensor.rows * per_row));
    return {staged.dense_scales.data(), per_row, 1};
}

struct EncodedTensors {
    const mx_tensor* codes;
    const mx_tensor* scales;  // nullptr when inline
};

Encoded encoded_of(Reader& reader, const EncodedTensors& tensors, ElementType element,
                   const Blocks& blocks) {
    Encoded encoded{plane_of(*tensors.codes), {}, {}};
    const mx_tensor& codes = *tensors.codes;
    reader.expect_type(codes, name_of(element));
    const Layout layout = reader.layout_of_codes(codes, element);
    if (tensors.scales == nullptr) reader.check_inline(codes, blocks, element);
    if (tensors.scales != nullptr) {
        const mx_tensor& scales = *tensors.scales;
        reader.expect_type(scales, "e8m0");
        reader.expect_scale_shape(codes, scales, blocks);
        const Layout scale_layout = reader.layout_of_scales(scales, blocks);
        encoded.scales = plane_of(scales);
        if (!reader.refused() && scale_layout.kind != LayoutKind::strided)
            encoded.scales = stage(reader, {scale_layout, scales, 0, 8, {}, {}}, encoded);
    }
    if (reader.refused() || layout.kind == LayoutKind::strided) return encoded;
    const int bits = element_of(element).sign_place + 1;
    encoded.codes = stage(reader, {layout, codes, blocks.size, bits, {}, {}}, encoded);
    if (tensors.scales == nullptr) encoded.scales = inline_scales(reader, blocks, encoded);
    return encoded;
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed.
BlockJob seen_along_lanes(BlockJob job, const Blocks& blocks) {
    job.block = {blocks.rows(), blocks.columns()};
    if (blocks.axis != Axis::column) return job;
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(job.block.lines, job.block.lanes);
    for (Plane* plane : {&job.values, &job.codes, &job.scales})
        std::swap(plane->line_stride, plane->lane_stride);
    return job;
}

bool is_inline(const mx_tensor& codes) {
    return text_of(codes.layout) == "inline";
}

Answer quantize_job(Reader& reader) {
    reader.expect_inputs(1);
    if (reader.output_count() == 0) reader.expect_outputs(2);
    if (reader.refused()) return reader.refusal();
    const mx_tensor& codes = reader.output(0);
    reader.expect_outputs(is_inline(codes) ? 1 : 2);
    if (reader.refused()) return reader.refusal();
    const mx_tensor& values = reader.input(0);
    const ElementType element = reader.block_format();
    const DialectRule rule = reader.dialect_rule(element);
    const Blocks blocks = reader.blocks();
    reader.expect_shape(codes, {values.rows, values.columns});
    Encoded encoded = encoded_of(reader, {&codes, is_inline(codes) ? nullptr : &reader.output(1)},
                                 element, blocks);
    const BlockJob job{{reader.value_type(values), element, rule.scale, rule.nan_code},
                       extent_of(values),
                       {},
                       plane_of(values),
                       encoded.codes,
                       encoded.scales};
    return answer(reader,
                  {QuantizeJob{seen_along_lanes(job, blocks)}, {}, std::move(encoded.staged)});
}

Answer dequantize_job(Reader& reader) {
    if (reader.input_count() == 0) reader.expect_inputs(2);
    reader.expect_outputs(1);
    if (reader.refused()) return reader.refusal();
    const mx_tensor& codes = reader.input(0);
    reader.expect_inputs(is_inline(codes) ? 1 : 2);
    if (reader.refused()) return reader.refusal();
    const mx_tensor& values = reader.output(0);
    const ElementType element = reader.block_format();
    const Blocks blocks = reader.blocks();
    reader.check_dialect();
    reader.expect_shape(values, {codes.rows, codes.columns});
    Encoded encoded = encoded_of(reader, {&codes, is_inline(codes) ? nullptr : &reader.input(1)},
                                 element, blocks);
    const BlockJob job{{reader.value_type(values), element, {}, 0},
                       extent_of(codes),
                       {},
                       plane_of(values),
                       encoded.codes,
                       encoded.scales};
    return answer(reader,
                  {DequantizeJob{seen_along_lanes(job, blocks)}, std::move(encoded.staged), {}});
}

Answer work_of(const Call& call, Buffers buffers) {
    Reader reader(call, buffers);
    reader.check_structs();
    if (reader.refused()) return reader.refusal();
    const std::string_view name = text_of(call.operation->name);
    const bool to_scale = text_of(call.operation->format) == "e8m0";
    if (name == "convert") return to_scale ? scale_job(reader, cast_rule) : convert_job(reader);
    if (name == "encode_scale") return scale_job(reader, amax_rule);
    if (name == "quantize") return quantize_job(reader);
    if (name == "dequantize") return dequantize_job(reader);
    if (name == "gemm") return gemm_work(reader);
    return not_supported("operation " + quoted(call.operation->name));
}

// Of axis "both" the call for rows and the one for columns, whose operations `sides` keeps.
std::vector<Call> calls_of(Reader& reader, const Call& call, std::array<mx_operation, 2>& sides) {
    const bool is_both =
        text_of(call.operation->name) == "quantize" && text_of(call.operation->axis) == "both";
    if (!is_both) return {call};
    constexpr std::size_t each = 2;
    reader.expect_outputs(sides.size() * each);
    if (reader.refused()) return {};
    std::vector<Call> calls;
    for (mx_operation& side : sides) {
        side = *call.operation;
        side.struct_size = sizeof(mx_operation);
        side.axis = calls.empty() ? "row" : "col";
        const mx_tensor* outputs = &reader.output(calls.size() * each);
        calls.push_back({&side, call.inputs, call.input_count, outputs, each});
    }
    return calls;
}

}  // namespace

std::variant<std::vector<Work>, Refusal> works_of(const Call& call, Buffers buffers) {
    Reader reader(call, buffers);
    reader.check_structs();
    if (reader.refused()) return reader.refusal();
    std::array<mx_operation, 2> sides;
    std::vector<Work> works;
    for (const Call& one : calls_of(reader, call, sides)) {
        Answer work = work_of(one, buffers);
        if (const auto* refusal = std::get_if<Refusal>(&work)) return *refusal;
        works.push_back(std::get<Work>(std::move(work)));
    }
    if (reader.refused()) return reader.refusal();
    return works;
}

}  // namespace mx::cpu
