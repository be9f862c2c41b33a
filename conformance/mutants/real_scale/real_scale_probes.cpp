// See real_scale_probes.hpp.
#include "conformance/mutants/real_scale/real_scale_probes.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace mx::mutants::real_scale {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// The same words every time, from a multiplicative generator.
Codes words(std::int64_t count, std::uint32_t state) {
    Codes codes;
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        codes.push_back(state >> 16 | state << 16);
    }
    return codes;
}

// Numbers of both signs in eight binades.
Codes spread(std::int64_t count) {
    Codes codes = words(count, 1);
    for (std::uint32_t& code : codes) code = (code & 0x83FFFFFF) | 0x3C000000;
    return codes;
}

Codes bf16_of(Codes codes) {
    for (std::uint32_t& code : codes) code >>= 16;
    return codes;
}

Codes with_last(std::size_t count, float all, float last) {
    std::vector<float> values(count, all);
    values.back() = last;
    return bits_of(values);
}

Codes bytes_below(std::int64_t count, std::uint32_t limit) {
    Codes codes = words(count, 2);
    for (std::uint32_t& code : codes) code = code % limit;
    return codes;
}

float moved(double value, int ulps) {
    const float nearest = static_cast<float>(value);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) +
                                static_cast<std::uint32_t>(ulps));
}

constexpr double pi = 0x1.921fb6p+1, range = 2688;

// Blocks whose ratio lies next to a tie of E4M3, where the amax of the tensor is pi.
Codes next_to_ties_of_scales() {
    std::vector<float> values;
    for (int tie = 17; tie < 32; tie += 2)
        for (int binade = 0; binade < 8; ++binade)
            for (int ulps = -2; ulps <= 2; ++ulps) {
                values.push_back(moved(std::ldexp(tie, binade - 4) * 6 * pi / range, ulps));
                values.insert(values.end(), 15, 0.0f);
            }
    return bits_of(values);
}

// Elements next to ties of E2M1 under every mantissa of a scale, where the amax of the tensor is
// pi.
Codes next_to_ties_of_elements() {
    constexpr double ties[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
    std::vector<float> values;
    for (int mantissa = 8; mantissa < 16; ++mantissa)
        for (int binade = 0; binade < 8; ++binade)
            for (int side = 0; side < 2; ++side) {
                const double unit = std::ldexp(mantissa, binade - 3) * pi / range;
                values.push_back(moved(6 * unit, 0));
                for (const double tie : ties) {
                    values.push_back(moved(tie * unit, side == 0 ? 0 : 2));
                    values.push_back(moved(tie * unit, side == 0 ? -1 : 1));
                }
                values.push_back(0);
            }
    return bits_of(values);
}

std::vector<Probe> nvfp4_probes() {
    const Codes one = bits_of({1}), whole = bits_of({2688}), given_pi = {0x40490FDB};
    const std::vector<float> sixteen(16, 1.0f);
    std::vector<float> ties{6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, -0.0f, -0.25f};
    std::vector<float> holds_nan = sixteen, zeros_beside(32, 0.0f), small_beside(32, 1000.0f);
    holds_nan[3] = nan_value;
    zeros_beside[0] = 1;
    small_beside[16] = 1e-4f;
    for (std::size_t i = 17; i < 32; ++i) small_beside[i] = 0;
    const auto blocks = [](const Codes& values) {
        return static_cast<std::int64_t>(values.size()) / 16;
    };
    const Codes scales = next_to_ties_of_scales(), elements = next_to_ties_of_elements();
    return {
        {.name = "spread", .rows = 9, .columns = 67, .values = spread(9 * 67)},
        {.name = "corner", .rows = 3, .columns = 17, .values = with_last(51, 1, -100)},
        {.name = "amax 0", .values = bits_of(sixteen), .number = {0}},
        {.name = "amax Inf", .values = bits_of(sixteen), .number = bits_of({infinity})},
        {.name = "amax subnormal", .values = bits_of(sixteen), .number = {0x00400000}},
        {.name = "too large", .values = bits_of(std::vector<float>(16, 3000.0f)), .number = whole},
        {.name = "zeros", .columns = 32, .values = bits_of(zeros_beside)},
        {.name = "NaN", .values = bits_of(holds_nan)},
        {.name = "ties", .columns = 10, .values = bits_of(ties), .number = whole},
        {.name = "next to ties of scales",
         .rows = blocks(scales),
         .values = scales,
         .number = given_pi},
        {.name = "next to ties", .rows = blocks(elements), .values = elements, .number = given_pi},
        {.name = "NaN of torchao", .dialect = "torchao-nvfp4", .values = bits_of(holds_nan)},
        {.name = "small block",
         .dialect = "torchao-nvfp4",
         .columns = 32,
         .values = bits_of(small_beside)},
        {.name = "tie of scales",
         .dialect = "torchao-nvfp4-single",
         .values = bits_of(std::vector<float>(16, 6.375f))},
        {.name = "next to a tie of scales",
         .dialect = "torchao-nvfp4-single",
         .values = bits_of(std::vector<float>(16, 6.375f + 0x1p-18f))},
        {.name = "rotated",
         .dialect = "te-nvfp4-rht",
         .type = "bf16",
         .rows = 64,
         .columns = 64,
         .values = bf16_of(spread(4096))},
        {.name = "four over six",
         .dialect = "te-nvfp4-4over6-mae",
         .rows = 9,
         .columns = 67,
         .values = spread(9 * 67)},
        {.name = "four over six of zeros",
         .dialect = "te-nvfp4-4over6-mae",
         .columns = 32,
         .values = bits_of(zeros_beside)},
        {.name = "stochastic",
         .dialect = "te-nvfp4-sr",
         .rows = 9,
         .columns = 67,
         .values = spread(9 * 67),
         .random = words(9 * 67, 3)},
        // 1.125 has the digits 64.
        {.name = "one short of a carry",
         .dialect = "te-nvfp4-sr",
         .columns = 2,
         .values = bits_of({6, 1.125f}),
         .number = whole,
         .random = {0, 191}},
    };
}

std::vector<Probe> place_probes() {
    return {
        {.name = "tiles",
         .format = "nvfp4-16x16",
         .rows = 20,
         .columns = 35,
         .values = spread(700),
         .axis = "tile"},
        {.name = "corner of a tile",
         .format = "nvfp4-16x16",
         .rows = 3,
         .columns = 16,
         .values = with_last(48, 1, 100),
         .axis = "tile"},
        {.name = "columns", .rows = 20, .columns = 35, .values = spread(700), .axis = "col"},
        {.name = "both", .rows = 20, .columns = 35, .values = spread(700), .axis = "both"},
        {.name = "packed",
         .rows = 3,
         .columns = 17,
         .values = spread(51),
         .code_layout = "packed-low"},
        {.name = "128x4",
         .rows = 130,
         .columns = 96,
         .values = spread(130 * 96),
         .scale_layout = "128x4"},
        {.name = "dequantize",
         .rows = 8,
         .columns = 16,
         .values = bytes_below(128, 16),
         .scales = {0x38, 0x40, 0x28, 0x12, 0x7F, 0x01, 0x66, 0x39},
         .number = bits_of({5})},
        {.name = "dequantize tiles",
         .format = "nvfp4-16x16",
         .rows = 32,
         .columns = 32,
         .values = bytes_below(1024, 16),
         .scales = {0x38, 0x40, 0x48, 0x50},
         .number = bits_of({5}),
         .axis = "tile"},
    };
}

std::vector<Probe> fp8_probes() {
    const auto block_of = [](std::string_view name, float value) {
        return Probe{.name = name,
                     .format = "fp8-e4m3-1x128",
                     .dialect = "te-fp8-block",
                     .columns = 128,
                     .values = bits_of(std::vector<float>(128, value))};
    };
    Probe tiny = block_of("tiny", 0x1p-130f);
    tiny.type = "bf16";
    tiny.values = bf16_of(tiny.values);
    Probe small = block_of("small", 1e-6f);
    small.dialect = "deepgemm-fp8";
    return {
        block_of("plain", 448),
        block_of("FP8 zeros", 0),
        block_of("FP8 infinity", infinity),
        tiny,
        small,
        {.name = "E5M2",
         .format = "fp8-e5m2-1x128",
         .dialect = "te-fp8-block",
         .rows = 2,
         .columns = 130,
         .values = spread(260)},
        {.name = "power of two",
         .format = "fp8-e4m3-1x128",
         .dialect = "te-fp8-block-pow2",
         .rows = 2,
         .columns = 130,
         .values = spread(260)},
        {.name = "history",
         .format = "fp8-e4m3-tensor",
         .dialect = "te-fp8-delayed",
         .columns = 2,
         .values = bits_of({1, 1000}),
         .number = bits_of({2.5f}),
         .axis = "tensor"},
    };
}

// A tensor of the ABI over its own bytes.
struct Buffer {
    std::vector<unsigned char> bytes;
    mx_tensor tensor;

    Buffer(const char* type, std::int64_t rows, std::int64_t columns) {
        const std::string_view name = type;
        width_ = name == "f32" || name == "u32" ? 4 : name == "bf16" || name == "f16" ? 2 : 1;
        bytes.assign(static_cast<std::size_t>(rows * columns) * width_, 0x43);
        tensor = {sizeof(mx_tensor), nullptr, type, "host", "strided", rows, columns, columns, 1};
    }
    void fill(const Codes& codes) {
        for (std::size_t i = 0; i < codes.size(); ++i)
            std::memcpy(&bytes[i * width_], &codes[i], width_);
    }
    void lay_out(const char* layout, std::int64_t size) {
        if (std::string_view(layout) == "strided") return;
        tensor.layout = layout;
        tensor.row_stride = tensor.column_stride = 0;
        bytes.assign(static_cast<std::size_t>(size), 0x43);
    }
    mx_tensor view() {
        mx_tensor with_data = tensor;
        with_data.data = bytes.data();
        return with_data;
    }

private:
    std::size_t width_;
};

std::int64_t divided_up(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

std::int64_t block_of(std::string_view format) {
    if (format.starts_with("nvfp4")) return 16;
    return format.ends_with("tensor") ? 0 : 128;
}

Buffer codes_buffer(const Probe& probe) {
    const std::string_view format = probe.format;
    const char* type = format.starts_with("nvfp4")    ? "e2m1"
                       : format.starts_with("fp8-e4") ? "e4m3"
                                                      : "e5m2";
    Buffer buffer(type, probe.rows, probe.columns);
    buffer.lay_out(probe.code_layout, probe.rows * divided_up(probe.columns, 2));
    return buffer;
}

Buffer scales_buffer(const Probe& probe, std::string_view axis) {
    const std::int64_t size = block_of(probe.format);
    const char* type = size == 16 ? "ue4m3" : "f32";
    if (axis == "tensor") return {type, 1, 1};
    const std::int64_t rows = axis == "row" ? probe.rows : divided_up(probe.rows, size);
    const std::int64_t columns = axis == "col" ? probe.columns : divided_up(probe.columns, size);
    Buffer buffer(type, rows, columns);
    buffer.lay_out(probe.scale_layout, divided_up(rows, 128) * divided_up(columns, 4) * 512);
    return buffer;
}

bool has_number(std::string_view dialect) {
    return dialect == "te-fp8-delayed" ||
           (dialect.find("nvfp4") != std::string_view::npos && dialect != "torchao-nvfp4-single");
}

struct Buffers {
    std::vector<Buffer> inputs, outputs;
};

Buffers buffers_of(const Probe& probe) {
    Buffers buffers;
    const Buffer values(probe.type, probe.rows, probe.columns);
    const auto add_input = [&](Buffer buffer, const Codes& codes) {
        if (codes.empty()) return;
        buffer.fill(codes);
        buffers.inputs.push_back(std::move(buffer));
    };
    const std::string_view axis = probe.axis;
    if (!probe.scales.empty()) {
        add_input(codes_buffer(probe), probe.values);
        add_input(scales_buffer(probe, axis), probe.scales);
        add_input({"f32", 1, 1}, probe.number);
        buffers.outputs.push_back(values);
        return buffers;
    }
    add_input(values, probe.values);
    add_input({"f32", 1, 1}, probe.number);
    add_input({"u32", probe.rows, probe.columns}, probe.random);
    std::vector<std::string_view> sides{axis};
    if (axis == "both") sides = {"row", "col"};
    for (const std::string_view side : sides) {
        buffers.outputs.push_back(codes_buffer(probe));
        buffers.outputs.push_back(scales_buffer(probe, side));
        if (has_number(probe.dialect)) buffers.outputs.push_back({"f32", 1, 1});
    }
    return buffers;
}

}  // namespace

Codes bits_of(const std::vector<float>& values) {
    Codes codes;
    for (const float value : values) codes.push_back(std::bit_cast<std::uint32_t>(value));
    return codes;
}

const std::vector<Probe>& probes() {
    static const std::vector<Probe> list = [] {
        std::vector<Probe> all = nvfp4_probes();
        for (const auto& more : {place_probes(), fp8_probes()})
            all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return list;
}

Answer answer_of(const Planted& planted, const Probe& probe) {
    const OpenBug device(planted);
    if (device.status() != MX_OK) return {device.status(), {}};
    mx_operation operation{};
    operation.struct_size = sizeof(mx_operation);
    operation.name = probe.scales.empty() ? "quantize" : "dequantize";
    operation.format = probe.format;
    operation.dialect = probe.dialect;
    operation.axis = probe.axis;
    operation.block_size = block_of(probe.format);
    if (has_number(probe.dialect))
        operation.tensor_scale = probe.number.empty() ? "derived" : "given";
    Buffers buffers = buffers_of(probe);
    std::vector<mx_tensor> inputs, outputs;
    for (Buffer& buffer : buffers.inputs) inputs.push_back(buffer.view());
    for (Buffer& buffer : buffers.outputs) outputs.push_back(buffer.view());
    Answer answer{planted.api->run(device.handle(), &operation, inputs.data(), inputs.size(),
                                   outputs.data(), outputs.size(), nullptr),
                  {}};
    for (const Buffer& buffer : buffers.outputs)
        answer.bytes.insert(answer.bytes.end(), buffer.bytes.begin(), buffer.bytes.end());
    return answer;
}

}  // namespace mx::mutants::real_scale
