// Names, then tensors; the first thing wrong becomes the answer. See request.hpp.
#include "device/nvhost/request.hpp"

#include <cstdio>
#include <string>

namespace mx::nvhost {
namespace {

bool same(const char* left, const char* right) {
    return left != nullptr && std::strcmp(left, right) == 0;
}
std::string quoted(const char* name) {
    if (name == nullptr) return "none";
    return std::string("'").append(name).append("'");
}

// A refusal is a status and a sentence; MX_OK has none.
struct Answer {
    mx_status status = MX_OK;
    std::string sentence;
};
Answer not_supported(std::string sentence) {
    return {MX_NOT_SUPPORTED, std::move(sentence)};
}
Answer invalid(std::string sentence) {
    return {MX_INVALID, std::move(sentence)};
}

mx_status give(const Call& call, const Answer& answer) {
    if (answer.status != MX_OK && call.message != nullptr && call.message->text != nullptr)
        std::snprintf(call.message->text, call.message->capacity, "%s", answer.sentence.c_str());
    return answer.status;
}

Answer read_action(const char* name, Request& request) {
    if (same(name, "convert"))
        request.action = Action::convert;
    else if (same(name, "encode_scale"))
        request.action = Action::encode_scale;
    else if (same(name, "quantize"))
        request.action = Action::quantize;
    else if (same(name, "dequantize"))
        request.action = Action::dequantize;
    else
        return not_supported("nvhost has no operation " + quoted(name));
    return {};
}

struct FormatName {
    const char* element;
    const char* block;
    Element format;
};
constexpr FormatName format_names[] = {{"e4m3", "mxfp8-e4m3", Element::e4m3},
                                       {"e5m2", "mxfp8-e5m2", Element::e5m2},
                                       {"e3m2", "mxfp6-e3m2", Element::e3m2},
                                       {"e2m3", "mxfp6-e2m3", Element::e2m3},
                                       {"e2m1", "mxfp4-e2m1", Element::e2m1}};

const char* name_of(Element element) {
    for (const FormatName& row : format_names)
        if (row.format == element) return row.element;
    return "";
}

Answer read_format(const char* name, Request& request) {
    if (request.action == Action::convert && same(name, "e8m0")) {
        request.action = Action::cast_to_scale;
        return {};
    }
    for (const FormatName& row : format_names) {
        if (!same(name, request.action == Action::convert ? row.element : row.block)) continue;
        request.element = row.format;
        return {};
    }
    return not_supported("NVIDIA's headers have no format " + quoted(name));
}

// The casts to E8M0 that the header offers, and the dialects whose scales are such a cast.
struct ScaleName {
    const char* dialect;
    Conversion how;
    bool is_quantizer;  // elements and scales of blocks are determined too
};
constexpr Conversion up_satfinite{Saturation::satfinite, Rounding::toward_positive};
constexpr Conversion up{Saturation::nosat, Rounding::toward_positive};
constexpr ScaleName scale_names[] = {
    {"nv", up_satfinite, true},
    {"torchao-rceil", up, false},
    {"cuda-e8m0-rp-satfinite", up_satfinite, false},
    {"cuda-e8m0-rp", up, false},
    {"cuda-e8m0-rz-satfinite", {Saturation::satfinite, Rounding::toward_zero}, false},
    {"cuda-e8m0-rz", {Saturation::nosat, Rounding::toward_zero}, false},
};

// Elements are converted, and dequantized, in one way only, so that these need no dialect and serve
// ocp as well. A scale is another matter: the headers hold the round-up of nv, and without
// saturation that of torchao-rceil; how torchao then converts elements they do not say.
Answer read_dialect(const char* name, Request& request) {
    const bool has_no_choice =
        request.action == Action::convert || request.action == Action::dequantize;
    if (has_no_choice && (name == nullptr || same(name, "ocp") || same(name, "nv"))) return {};
    const bool is_cast = request.action == Action::cast_to_scale;
    for (const ScaleName& row : scale_names) {
        if (has_no_choice || !same(name, row.dialect)) continue;
        const bool is_amax_rule = row.is_quantizer || same(name, "torchao-rceil");
        request.scales_cast = row.how;
        if (is_cast || row.is_quantizer) return {};
        if (request.action == Action::encode_scale && is_amax_rule) return {};
    }
    const std::string what = has_no_choice ? "this operation" : "scale and elements";
    return not_supported("NVIDIA's headers do not determine " + what + " of dialect " +
                         quoted(name));
}

Answer read_conversion(const mx_operation& operation, Request& request) {
    const bool fp8 = request.element == Element::e4m3 || request.element == Element::e5m2;
    if (same(operation.rounding, "toward_zero") && !fp8)
        request.elements.rounding = Rounding::toward_zero;
    else if (!same(operation.rounding, "nearest_even"))
        return not_supported("NVIDIA's headers have no conversion to " +
                             std::string(name_of(request.element)) + " by rounding " +
                             quoted(operation.rounding));
    if (same(operation.overflow, "overflow"))
        request.elements.saturation = Saturation::nosat;
    else if (!same(operation.overflow, "saturate"))
        return not_supported("NVIDIA's headers have no overflow " + quoted(operation.overflow));
    if (operation.subnormals != nullptr && !same(operation.subnormals, "honoured"))
        return not_supported("NVIDIA's headers honour subnormals, they do not know " +
                             quoted(operation.subnormals));
    return {};
}

Answer read_blocks(const mx_operation& operation, Request& request) {
    if (same(operation.axis, "col"))
        request.axis = Axis::col;
    else if (!same(operation.axis, "row"))
        return not_supported("nvhost has no axis " + quoted(operation.axis));
    if (operation.block_size < 0)
        return invalid("blocks of " + std::to_string(operation.block_size) + " lanes");
    if (operation.block_size != 0) request.block_lanes = operation.block_size;
    return {};
}

Answer read_names(const mx_operation& operation, Request& request) {
    if (operation.struct_size < sizeof(mx_operation))
        return invalid("mx_operation is shorter than this device's ABI needs");
    Answer answer = read_action(operation.name, request);
    if (answer.status == MX_OK) answer = read_format(operation.format, request);
    if (answer.status == MX_OK) answer = read_dialect(operation.dialect, request);
    if (answer.status != MX_OK) return answer;
    switch (request.action) {
        case Action::convert:
            return read_conversion(operation, request);
        case Action::cast_to_scale:
        case Action::encode_scale:
            return {};
        case Action::quantize:
        case Action::dequantize:
            break;
    }
    return read_blocks(operation, request);
}

// A layout of its own may change how many tensors there are, so it is looked at before they are
// counted.
Answer check_layouts(const mx_tensor* tensors, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (tensors[i].struct_size >= sizeof(mx_tensor) && !same(tensors[i].layout, "strided"))
            return not_supported("nvhost has no layout " + quoted(tensors[i].layout));
    return {};
}

struct Shape {
    std::int64_t rows, columns;
};

std::string text_of(Shape shape) {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
}

Answer read_shape(const mx_tensor& asked, Shape wanted, Tensor& tensor) {
    if (asked.struct_size < sizeof(mx_tensor))
        return invalid("mx_tensor is shorter than this device's ABI needs");
    if (!same(asked.place, "host"))
        return not_supported("nvhost reads host memory, not place " + quoted(asked.place));
    if (asked.rows < 0 || asked.columns < 0 || asked.rows != wanted.rows ||
        asked.columns != wanted.columns)
        return invalid("a tensor of type " + quoted(asked.type) + " is " +
                       text_of({asked.rows, asked.columns}) + ", not " + text_of(wanted));
    tensor.data = static_cast<unsigned char*>(asked.data);
    tensor.rows = asked.rows;
    tensor.columns = asked.columns;
    tensor.row_stride = asked.row_stride;
    tensor.column_stride = asked.column_stride;
    return {};
}

Answer read_values(const mx_tensor& asked, Shape wanted, Request& request) {
    request.values.width = 2;
    if (same(asked.type, "bf16"))
        request.value_type = ValueType::bf16;
    else if (same(asked.type, "f16"))
        request.value_type = ValueType::f16;
    else if (same(asked.type, "f32"))
        request.values.width = 4;
    else
        return not_supported("nvhost has no value type " + quoted(asked.type));
    return read_shape(asked, wanted, request.values);
}

Answer read_codes(const mx_tensor& asked, Shape wanted, Request& request) {
    const char* type = name_of(request.element);
    if (!same(asked.type, type))
        return invalid("the element tensor is of type " + quoted(asked.type) + ", not " + type);
    return read_shape(asked, wanted, request.codes);
}

Answer read_scales(const mx_tensor& asked, Shape wanted, Request& request) {
    if (!same(asked.type, "e8m0"))
        return invalid("the scale tensor is of type " + quoted(asked.type) + ", not e8m0");
    return read_shape(asked, wanted, request.scales);
}

Shape scale_shape(const Request& request, Shape whole) {
    const auto blocks_in = [&](std::int64_t lanes) {
        return lanes / request.block_lanes + (lanes % request.block_lanes != 0);
    };
    if (request.axis == Axis::row) return {whole.rows, blocks_in(whole.columns)};
    return {blocks_in(whole.rows), whole.columns};
}

Answer read_tensors(const Call& call, Request& request) {
    const bool from_codes = request.action == Action::dequantize;
    const std::size_t inputs = from_codes ? 2 : 1;
    const std::size_t outputs = request.action == Action::quantize ? 2 : 1;
    if (call.input_count != inputs || call.output_count != outputs)
        return invalid(std::string(call.operation->name) + " has " + std::to_string(inputs) +
                       " inputs and " + std::to_string(outputs) + " outputs, not " +
                       std::to_string(call.input_count) + " and " +
                       std::to_string(call.output_count));
    const Shape whole{call.inputs[0].rows, call.inputs[0].columns};
    const Shape scales = scale_shape(request, whole);
    const mx_tensor& values = from_codes ? call.outputs[0] : call.inputs[0];
    const Answer answer = read_values(values, whole, request);
    if (answer.status != MX_OK) return answer;
    if (request.action == Action::convert) return read_codes(call.outputs[0], whole, request);
    const bool only_scales =
        request.action == Action::encode_scale || request.action == Action::cast_to_scale;
    if (only_scales) return read_scales(call.outputs[0], whole, request);
    const mx_tensor& codes = from_codes ? call.inputs[0] : call.outputs[0];
    const Answer of_codes = read_codes(codes, whole, request);
    if (of_codes.status != MX_OK) return of_codes;
    return read_scales(from_codes ? call.inputs[1] : call.outputs[1], scales, request);
}

bool lacks_data(const mx_tensor& tensor) {
    return tensor.data == nullptr && tensor.rows > 0 && tensor.columns > 0;
}

}  // namespace

mx_status read_request(const Call& call, Request& request) {
    Answer answer = read_names(*call.operation, request);
    if (answer.status == MX_OK) answer = check_layouts(call.inputs, call.input_count);
    if (answer.status == MX_OK) answer = check_layouts(call.outputs, call.output_count);
    if (answer.status == MX_OK) answer = read_tensors(call, request);
    return give(call, answer);
}

mx_status check_data(const Call& call) {
    for (std::size_t i = 0; i < call.input_count; ++i)
        if (lacks_data(call.inputs[i])) return give(call, invalid("an input tensor has no data"));
    for (std::size_t i = 0; i < call.output_count; ++i)
        if (lacks_data(call.outputs[i])) return give(call, invalid("an output tensor has no data"));
    return MX_OK;
}

}  // namespace mx::nvhost
