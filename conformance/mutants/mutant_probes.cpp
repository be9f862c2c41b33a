// The probes and the playing of them; see the header.
#include "conformance/mutants/mutant_probes.hpp"

#include <array>
#include <cstring>
#include <string>

namespace mx::mutants {
namespace {

constexpr std::uint32_t f32_infinity = 0x7F800000, f32_nan = 0x7FC00000;
constexpr std::uint32_t f32_negative_nan = 0xFFC00000;
constexpr unsigned char poison = 0xA5;
constexpr std::size_t red_zone = 16;

constexpr Question ocp{"mxfp8-e4m3", "ocp", "f32"};
constexpr Question ocp_e5m2{"mxfp8-e5m2", "ocp", "f32"};
constexpr Question nv{"mxfp8-e4m3", "nv", "f32"};

std::size_t width_of(std::string_view type) {
    if (type == "f32") return 4;
    return type == "bf16" || type == "f16" ? 2 : 1;
}

struct Shape {
    std::int64_t rows, columns;
    std::size_t count() const { return static_cast<std::size_t>(rows * columns); }
};

// A dense tensor with a red zone behind it, poisoned all through.
struct Buffer {
    const char* type;
    Shape shape;
    std::vector<unsigned char> bytes;

    Buffer(const char* of_type, Shape of_shape) : type(of_type), shape(of_shape) {
        bytes.assign(shape.count() * width_of(type) + red_zone, poison);
    }
    mx_tensor view() {
        return {sizeof(mx_tensor), bytes.data(), type, "host", "strided", shape.rows,
                shape.columns,     shape.columns, 1};
    }
    void fill(const Codes& codes) {
        for (std::size_t i = 0; i < codes.size(); ++i)
            std::memcpy(&bytes[i * width_of(type)], &codes[i], width_of(type));
    }
    Codes codes() const {
        Codes result(shape.count());
        for (std::size_t i = 0; i < result.size(); ++i)
            std::memcpy(&result[i], &bytes[i * width_of(type)], width_of(type));
        return result;
    }
};

struct Buffers {
    std::vector<Buffer> inputs, outputs;
};

Buffers buffers_for(const Probe& probe, const Codes& call) {
    const std::string action = probe.operation.name, format = probe.operation.format;
    const char* element = format.ends_with("e4m3") ? "e4m3" : "e5m2";
    const Shape whole{probe.rows, probe.columns};
    const bool by_row = probe.operation.axis == nullptr || probe.operation.axis[0] == 'r';
    const Shape blocks = by_row ? Shape{whole.rows, (whole.columns + 31) / 32}
                                : Shape{(whole.rows + 31) / 32, whole.columns};
    Buffers buffers;
    if (action == "dequantize") {
        buffers.inputs = {Buffer(element, whole), Buffer("e8m0", blocks)};
        buffers.inputs[1].fill(probe.scales);
        buffers.outputs = {Buffer(probe.value_type, whole)};
    } else {
        buffers.inputs = {Buffer(probe.value_type, whole)};
        buffers.outputs = {Buffer(action == "encode_scale" ? "e8m0" : element, whole)};
        if (action == "quantize") buffers.outputs.push_back(Buffer("e8m0", blocks));
    }
    buffers.inputs[0].fill(call);
    return buffers;
}

mx_status run(const mx_device_api& api, void* device, const Probe& probe, Buffers& buffers) {
    std::vector<mx_tensor> inputs, outputs;
    for (Buffer& buffer : buffers.inputs) inputs.push_back(buffer.view());
    for (Buffer& buffer : buffers.outputs) outputs.push_back(buffer.view());
    return api.run(device, &probe.operation, inputs.data(), inputs.size(), outputs.data(),
                   outputs.size(), nullptr);
}

Probe quantize(std::string_view name, Question question, const std::vector<float>& values) {
    return quantize_row(name, question, bits_of(values));
}

Probe shaped(Probe probe, Shape shape, const char* axis) {
    probe.rows = shape.rows;
    probe.columns = shape.columns;
    probe.operation.axis = axis;
    return probe;
}

// Every code under every scale of the list.
Probe dequantize_all(std::string_view name, const char* format, const Codes& scales) {
    Probe probe{name, {}, "f32", static_cast<std::int64_t>(scales.size()), 256, {Codes()}, {}};
    probe.operation = {sizeof(mx_operation), "dequantize", format, "ocp", "row", nullptr, nullptr,
                       nullptr, 32};
    for (std::uint32_t scale : scales) {
        for (std::uint32_t code = 0; code < 256; ++code) probe.calls[0].push_back(code);
        probe.scales.insert(probe.scales.end(), 256 / 32, scale);
    }
    return probe;
}

std::vector<float> ones_with(std::size_t count, std::size_t lane, float value) {
    std::vector<float> values(count, 1.0f);
    values[lane] = value;
    return values;
}

std::vector<Probe> quantize_probes() {
    std::vector<float> unlike(64, 1.0f), ramp;
    for (std::size_t lane = 0; lane < 32; ++lane) unlike[lane] = 300.0f;
    for (int i = 1; i <= 33 * 3; ++i) ramp.push_back(static_cast<float>(i));
    const std::vector<float> short_tail(unlike.begin(), unlike.begin() + 40);
    Probe twice = quantize("two calls", ocp, {1, 2});
    twice.calls.push_back(bits_of({3, -7}));
    Probe many = quantize("300 blocks twice", ocp, std::vector<float>(300 * 32, 1.0f));
    many.calls.push_back(many.calls[0]);
    return {
        quantize("exact", ocp, {1, 0.5f, 0.25f}),
        quantize("exact e5m2", ocp_e5m2, {1, 0.5f, 0.25f}),
        quantize("ties", ocp, {256, 17, -17, 19, -19}),
        quantize("just above a tie", ocp, {256, 17.01f}),
        quantize("carry", ocp, {256, 15.9f}),
        quantize("480", ocp, {480, 300}),
        quantize("element subnormal", ocp, {256, 0x1p-8f}),
        quantize("float32 subnormal", ocp, {0x1p-130f}),
        quantize("minus zero", ocp, {1, -0.0f}),
        quantize("just below 256", ocp, {0x1.fffffep+7f}),
        quantize("negative amax", ocp, {-300, 1}),
        quantize("lane 31", ocp, ones_with(32, 31, 300)),
        quantize("unlike blocks", ocp, unlike),
        quantize("short tail", ocp, short_tail),
        quantize("zeros", ocp, {0, 0}),
        quantize("tiny", ocp, {0x1p-120f}),
        quantize("nv 500", nv, {500}),
        quantize("nv 448", nv, {448}),
        quantize_row("nv NaN", nv, {bits_of({1})[0], f32_nan, f32_negative_nan}),
        quantize_row("nv infinity", nv, {bits_of({1})[0], f32_infinity}),
        shaped(quantize("columns", ocp, ramp), {33, 3}, "col"),
        twice,
        many,
    };
}

std::vector<Probe> make_probes() {
    std::vector<Probe> list = quantize_probes();
    list.push_back(encode_scales("nv tiny amax", nv, bits_of({0x1p-140f, 0})));
    list.push_back(convert_row("convert 500", {"e4m3", "ocp", "f32"}, "overflow",
                               bits_of({500, -500})));
    list.push_back(dequantize_all("dequantize e4m3", "mxfp8-e4m3", {127}));
    list.push_back(dequantize_all("dequantize e5m2", "mxfp8-e5m2", {127}));
    list.push_back(dequantize_all("dequantize scale 0", "mxfp8-e4m3", {0}));
    list.push_back(dequantize_all("dequantize scale 255", "mxfp8-e4m3", {255}));
    return list;
}

Probe row_probe(std::string_view name, Question question, const Codes& values) {
    Probe probe{name, {}, question.value_type, 1, static_cast<std::int64_t>(values.size()),
                {values}, {}};
    probe.operation = {sizeof(mx_operation), "quantize", question.format, question.dialect,
                       "row",                nullptr,    nullptr,         nullptr,
                       32};
    return probe;
}

}  // namespace

Codes bits_of(const std::vector<float>& values) {
    Codes codes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(&codes[i], &values[i], sizeof(codes[i]));
    return codes;
}

Probe quantize_row(std::string_view name, Question question, const Codes& values) {
    return row_probe(name, question, values);
}

Probe encode_scales(std::string_view name, Question question, const Codes& amax) {
    Probe probe = row_probe(name, question, amax);
    probe.operation.name = "encode_scale";
    probe.operation.axis = nullptr;
    return probe;
}

Probe convert_row(std::string_view name, Question question, const char* overflow,
                  const Codes& values) {
    Probe probe = row_probe(name, question, values);
    probe.operation.name = "convert";
    probe.operation.axis = nullptr;
    probe.operation.rounding = "nearest_even";
    probe.operation.overflow = overflow;
    return probe;
}

const std::vector<Probe>& probes() {
    static const std::vector<Probe> list = make_probes();
    return list;
}

std::vector<unsigned char> play(const mx_device_api& api, const Probe& probe) {
    std::vector<unsigned char> seen;
    void* device = nullptr;
    if (api.open(&device, nullptr) != MX_OK) return seen;
    for (const Codes& call : probe.calls) {
        Buffers buffers = buffers_for(probe, call);
        seen.push_back(static_cast<unsigned char>(run(api, device, probe, buffers)));
        for (const Buffer& buffer : buffers.outputs)
            seen.insert(seen.end(), buffer.bytes.begin(), buffer.bytes.end());
        for (const Buffer& buffer : buffers.inputs)
            seen.insert(seen.end(), buffer.bytes.begin(), buffer.bytes.end());
    }
    api.close(device);
    return seen;
}

Outputs outputs_of(const mx_device_api& api, const Probe& probe) {
    void* device = nullptr;
    Outputs outputs{api.open(&device, nullptr), {}, {}};
    if (outputs.status != MX_OK) return outputs;
    Buffers buffers = buffers_for(probe, probe.calls[0]);
    outputs.status = run(api, device, probe, buffers);
    outputs.first = buffers.outputs[0].codes();
    if (buffers.outputs.size() > 1) outputs.second = buffers.outputs[1].codes();
    api.close(device);
    return outputs;
}

}  // namespace mx::mutants
