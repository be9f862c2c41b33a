// Makes probes and plays them; see the header. The list of them is in mutant_probe_list.cpp.
#include "conformance/mutants/mutant_probes.hpp"

#include <cstring>
#include <string>

#include "device/abi/block_operation.hpp"

namespace mx::mutants {
namespace {

constexpr unsigned char poison = 0xA5;
constexpr std::size_t red_zone = 16;

std::size_t width_of(std::string_view type) {
    if (type == "f32" || type == "u32") return 4;
    return type == "bf16" || type == "f16" ? 2 : 1;
}

std::int64_t divided_up(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

// "mxfp8-e4m3" is of e4m3, "mxint8" of int8; convert names the element itself.
const char* element_of(const char* format) {
    const std::string_view name = format;
    if (name.starts_with("mxfp")) return format + std::strlen("mxfp8-");
    return name.starts_with("mxint8") ? format + std::strlen("mx") : format;
}

std::int64_t bits_of_element(std::string_view element) {
    if (element == "e2m1") return 4;
    return element == "e3m2" || element == "e2m3" ? 6 : 8;
}

// What a layout rounds the rows and columns of scales up to.
Extent padding_of(const std::string& layout) {
    const bool is_across = layout.ends_with("-col");
    Extent tile{128, 4};
    if (layout.starts_with("8x4")) tile = {8, 4};
    if (layout.starts_with("32x8")) tile = {32, 8};
    return is_across ? Extent{tile.columns, tile.rows} : tile;
}

// A tensor with a red zone behind it, poisoned all through.
struct Buffer {
    mx_tensor tensor;  // without its data
    std::vector<unsigned char> bytes;

    Buffer(const char* type, Extent extent, std::int64_t row_gap = 0) {
        tensor = {
            sizeof(mx_tensor),        nullptr, type, "host", "strided", extent.rows, extent.columns,
            extent.columns + row_gap, 1};
        resize(extent.rows * (extent.columns + row_gap) *
               static_cast<std::int64_t>(width_of(type)));
    }
    void resize(std::int64_t size) {
        bytes.assign(static_cast<std::size_t>(size) + red_zone, poison);
    }
    void lay_out(const char* layout, std::int64_t size) {
        tensor.layout = layout;
        tensor.row_stride = tensor.column_stride = 0;
        resize(size);
    }
    bool is_strided() const { return std::string_view(tensor.layout) == "strided"; }
    std::size_t width() const { return width_of(tensor.type); }
    // Where number `i` of a dense matrix lies; of another layout byte `i`.
    std::size_t offset(std::size_t i) const {
        const auto columns = static_cast<std::size_t>(tensor.columns);
        if (!is_strided() || columns == 0) return i;
        return (i / columns * static_cast<std::size_t>(tensor.row_stride) + i % columns) * width();
    }
    void fill(const Codes& codes) {
        for (std::size_t i = 0; i < codes.size(); ++i)
            std::memcpy(&bytes[offset(i)], &codes[i], width());
    }
    Codes codes() const {
        const std::size_t count = is_strided()
                                      ? static_cast<std::size_t>(tensor.rows * tensor.columns)
                                      : bytes.size() - red_zone;
        Codes result(count);
        for (std::size_t i = 0; i < count; ++i) std::memcpy(&result[i], &bytes[offset(i)], width());
        return result;
    }
    mx_tensor view() {
        mx_tensor with_data = tensor;
        with_data.data = bytes.data();
        return with_data;
    }
};

Buffer codes_buffer(const Probe& probe) {
    const char* element = element_of(probe.operation.format);
    Buffer buffer(element, {probe.rows, probe.columns});
    const std::string layout = probe.code_layout;
    const std::int64_t bits = bits_of_element(element), block = probe.operation.block_size;
    if (layout == "inline") {
        const std::int64_t blocks = divided_up(probe.columns, block), step = block * bits / 8 + 1;
        buffer.lay_out(probe.code_layout, probe.rows * blocks * step);
        buffer.tensor.row_stride = blocks * step;
        buffer.tensor.column_stride = step;
    } else if (layout != "strided") {
        buffer.lay_out(probe.code_layout, probe.rows * divided_up(probe.columns * bits, 8));
    }
    return buffer;
}

Buffer scales_buffer(const Probe& probe) {
    const std::string axis = probe.operation.axis, layout = probe.scale_layout;
    const std::int64_t block = probe.operation.block_size;
    const Extent grid{axis == "row" ? probe.rows : divided_up(probe.rows, block),
                      axis == "col" ? probe.columns : divided_up(probe.columns, block)};
    Buffer buffer("e8m0", grid);
    const Extent tile = padding_of(layout);
    if (layout != "strided")
        buffer.lay_out(probe.scale_layout, divided_up(grid.rows, tile.rows) * tile.rows *
                                               divided_up(grid.columns, tile.columns) *
                                               tile.columns);
    return buffer;
}

// Of axis both its rows and its columns.
std::vector<Probe> sides_of(const Probe& probe) {
    const char* axis = probe.operation.axis;
    if (axis == nullptr || std::string_view(axis) != "both") return {probe};
    std::vector<Probe> sides{probe, probe};
    sides[0].operation.axis = "row";
    sides[1].operation.axis = "col";
    return sides;
}

struct Buffers {
    std::vector<Buffer> inputs, outputs;
};

Buffers buffers_for(const Probe& probe, const Codes& call) {
    const std::string action = probe.operation.name;
    const bool is_inline = std::string_view(probe.code_layout) == "inline";
    const Buffer values(probe.value_type, {probe.rows, probe.columns}, probe.row_gap);
    Buffers buffers;
    if (action == "dequantize") {
        buffers = {{codes_buffer(probe)}, {values}};
        if (!is_inline) buffers.inputs.push_back(scales_buffer(probe));
        if (!is_inline) buffers.inputs[1].fill(probe.scales);
    } else if (action == "encode_scale") {
        buffers = {{values}, {Buffer("e8m0", {probe.rows, probe.columns})}};
    } else {
        buffers = {{values}, {}};
        for (const Probe& side : sides_of(probe)) {
            buffers.outputs.push_back(codes_buffer(side));
            if (action == "quantize" && !is_inline) buffers.outputs.push_back(scales_buffer(side));
        }
    }
    if (!probe.words.empty()) {
        const auto words = static_cast<std::int64_t>(probe.words.size());
        buffers.inputs.push_back(Buffer("u32", {probe.rows, words / probe.rows}, probe.row_gap));
        buffers.inputs[1].fill(probe.words);
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

Probe row_probe(std::string_view name, Question question, const Codes& values) {
    Probe probe{name,     {}, question.value_type, 1, static_cast<std::int64_t>(values.size()),
                {values}, {}};
    probe.operation = block_operation("quantize", question.format, question.dialect, "row");
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

Probe dequantize_row(std::string_view name, Question question, const Codes& codes,
                     const Codes& scales) {
    Probe probe = row_probe(name, question, codes);
    probe.operation.name = "dequantize";
    probe.scales = scales;
    return probe;
}

Probe shaped(Probe probe, Extent extent, const char* axis) {
    probe.rows = extent.rows;
    probe.columns = extent.columns;
    if (probe.operation.axis != nullptr) probe.operation.axis = axis;
    return probe;
}

Probe in_blocks_of(Probe probe, std::int64_t block_size) {
    probe.operation.block_size = block_size;
    return probe;
}

Probe rounded(Probe probe, const char* rounding, const Codes& words) {
    probe.operation.rounding = rounding;
    probe.words = words;
    return probe;
}

Probe stored(Probe probe, const char* code_layout, const char* scale_layout) {
    probe.code_layout = code_layout;
    probe.scale_layout = scale_layout;
    return probe;
}

std::vector<unsigned char> play(const Planted& planted, const Probe& probe) {
    std::vector<unsigned char> seen;
    const OpenBug device(planted);
    if (device.status() != MX_OK) return seen;
    for (const Codes& call : probe.calls) {
        Buffers buffers = buffers_for(probe, call);
        seen.push_back(
            static_cast<unsigned char>(run(*planted.api, device.handle(), probe, buffers)));
        for (const Buffer& buffer : buffers.outputs)
            seen.insert(seen.end(), buffer.bytes.begin(), buffer.bytes.end());
        for (const Buffer& buffer : buffers.inputs)
            seen.insert(seen.end(), buffer.bytes.begin(), buffer.bytes.end());
    }
    return seen;
}

Outputs outputs_of(const Planted& planted, const Probe& probe) {
    const OpenBug device(planted);
    Outputs outputs{device.status(), {}, {}};
    if (outputs.status != MX_OK) return outputs;
    Buffers buffers = buffers_for(probe, probe.calls[0]);
    outputs.status = run(*planted.api, device.handle(), probe, buffers);
    outputs.first = buffers.outputs[0].codes();
    if (buffers.outputs.size() > 1) outputs.second = buffers.outputs[1].codes();
    return outputs;
}

}  // namespace mx::mutants
