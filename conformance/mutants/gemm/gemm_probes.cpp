// See gemm_probes.hpp.
#include "conformance/mutants/gemm/gemm_probes.hpp"

#include <bit>
#include <cstring>

namespace mx::mutants::gemm {
namespace {

constexpr std::uint32_t two = 0x40, largest = 0x7E;  // of E4M3

// The same words every time, from a multiplicative generator.
class Words {
public:
    explicit Words(std::uint32_t seed) : state_(seed * 2654435761u + 12345) {}
    std::uint32_t below(std::uint32_t limit) {
        state_ = state_ * 1664525u + 1013904223u;
        return (state_ >> 8) % limit;
    }

private:
    std::uint32_t state_;
};

struct Range {
    std::uint32_t first, count;
};

Codes drawn(std::int64_t count, Range range, std::uint32_t seed) {
    Words words(seed);
    Codes codes;
    for (std::int64_t i = 0; i < count; ++i)
        codes.push_back(range.first + words.below(range.count));
    return codes;
}

// Magnitudes in a range, with either sign.
Codes signed_codes(std::int64_t count, Range range, std::uint32_t seed) {
    Codes codes = drawn(count, range, seed);
    Words words(seed + 77);
    for (std::uint32_t& code : codes) code |= words.below(2) << 7;
    return codes;
}

Codes floats(std::int64_t count, std::uint32_t seed) {
    Words words(seed);
    Codes codes;
    for (std::int64_t i = 0; i < count; ++i)
        codes.push_back(words.below(2) << 31 | (120 + words.below(8)) << 23 |
                        words.below(1u << 23));
    return codes;
}

constexpr Range middle{0x20, 0x48};  // of E4M3: 2^-3 to 2^5 and some

Probe fp8(std::string_view name, const ProbeShape& shape) {
    Probe probe{name, shape, {"e4m3", {}}, {"e4m3", {}}};
    probe.a.codes = signed_codes(shape.batches * shape.rows * shape.depth, middle, 1);
    probe.b.codes = signed_codes(shape.batches * shape.columns * shape.depth, middle, 2);
    return probe;
}

Probe mx(std::string_view name, const ProbeShape& shape, Range scales = {120, 9}) {
    Probe probe = fp8(name, shape);
    probe.scaling = "1x32";
    const std::int64_t blocks = (shape.depth + 31) / 32;
    probe.a.scales = drawn(shape.batches * shape.rows * blocks, scales, 3);
    probe.b.scales = drawn(shape.batches * shape.columns * blocks, scales, 4);
    return probe;
}

Probe with_c(Probe probe, float alpha, float beta) {
    probe.alpha = std::bit_cast<std::uint32_t>(alpha);
    probe.beta = std::bit_cast<std::uint32_t>(beta);
    probe.c = floats(probe.shape.batches * probe.shape.rows * probe.shape.columns, 5);
    return probe;
}

Probe with_bias(Probe probe, const char* epilogue) {
    probe.epilogue = epilogue;
    for (const std::uint32_t code : floats(probe.shape.columns, 6))
        probe.bias.push_back(std::string_view(probe.d_type) == "f32" ? code : code >> 16);
    return probe;
}

Probe to(Probe probe, const char* d_type) {
    probe.d_type = d_type;
    return probe;
}

// Most sums lie near ties of E4M3 as often as chance has it: many of them.
Probe in_blocks(Probe probe) {
    probe.d_type = "e4m3";
    probe.dialect = "nv";
    return probe;
}

Probe in_nvfp4(Probe probe) {
    probe.d_type = "e2m1";
    probe.dialect = "cublaslt-nvfp4";
    probe.scale_d = {0x3EC00000};  // 0.375
    return probe;
}

std::vector<Probe> scale_probes() {
    Probe swizzled = mx("128x4", {130, 3, 160});
    swizzled.scale_layout = "128x4";
    swizzled.a.scales = drawn(256 * 8, {120, 9}, 3);
    swizzled.b.scales = drawn(128 * 8, {120, 9}, 4);
    Probe nan = mx("NaN scale", {2, 3, 64});
    nan.a.scales[1] = 255;
    Probe nan_of_ones = mx("NaN scale over ones", {1, 1, 32}, {255, 1});
    nan_of_ones.a.codes = nan_of_ones.b.codes = Codes(32, one);
    nan_of_ones.b.scales = {127};
    Probe nan_of_zeros = nan_of_ones;
    nan_of_zeros.name = "NaN scale over zeros";
    nan_of_zeros.a.codes = Codes(32, 0);
    Probe tiles = mx("128x4 batches", {4, 3, 64, 2});
    tiles.scale_layout = "128x4";
    tiles.a.scales = drawn(128 * 4, {120, 9}, 3);
    tiles.b.scales = drawn(128 * 4, {120, 9}, 4);
    Probe zero_byte = mx("scale 0", {2, 3, 32});
    zero_byte.a.scales = {0, 127};
    zero_byte.b.scales = {254, 254, 127};
    Probe far = mx("scales far apart", {2, 2, 32});
    far.a.scales = {0, 0};
    far.b.scales = {100, 104};
    Probe packed = mx("packed", {1, 130, 32});
    packed.a = {"e2m1", drawn(16, {0, 256}, 1), packed.a.scales, "packed-low"};
    packed.b = {"e2m1", drawn(130 * 16, {0, 256}, 2), packed.b.scales, "packed-low"};
    Probe tensor = fp8("tensor scales", {3, 4, 64});
    tensor.scaling = "tensor";
    tensor.alpha = 0x3F9D70A4;
    tensor.a.scales = {0x3FB55555};
    tensor.b.scales = {0x40490FDB};
    return {mx("mx", {20, 7, 300}),
            fp8("fp8", {20, 7, 300}),
            mx("two batches", {4, 3, 64, 2}),
            mx("three batches", {4, 3, 64, 3}),
            mx("long rows", {2, 2, 4200}),
            fp8("many batches", {1, 2, 32, 66}),
            fp8("many rows", {260, 2, 32}),
            fp8("133 tiles", {133 * 128, 1, 32}),
            mx("133 tiles of mx", {133 * 128, 1, 32}),
            packed,
            swizzled,
            tiles,
            nan,
            nan_of_ones,
            nan_of_zeros,
            zero_byte,
            far,
            tensor};
}

std::vector<Probe> element_probes() {
    Probe zeros = fp8("zero times large", {1, 1, 32});
    zeros.a.codes = zeros.b.codes = Codes(32, 0x09);  // just above 2^-6
    zeros.a.codes[31] = 0;
    zeros.b.codes[31] = largest;
    Probe mixed = fp8("mixed", {2, 3, 32});
    mixed.b.type = "e5m2";
    Probe infinity = fp8("Inf and 0", {1, 2, 32});
    infinity.b.type = "e5m2";
    infinity.b.codes[0] = 0x7C;
    infinity.a.codes[0] = 0;
    infinity.b.codes[33] = 0x7C;
    Probe nan = fp8("NaN element", {2, 2, 32});
    nan.a.codes[3] = 0x7F;
    Probe subnormal = fp8("subnormal elements", {2, 2, 32});
    subnormal.a.codes = signed_codes(64, {0, 8}, 9);
    Probe minus_zero = uniform("minus zero", {1, 1, 32}, 0x80, one);
    return {zeros,
            mixed,
            infinity,
            nan,
            subnormal,
            minus_zero,
            uniform("largest", {1, 1, 32}, largest, one)};
}

Probe bf16(std::string_view name, const ProbeShape& shape) {
    Probe probe{name, shape, {"bf16", floats(shape.rows * shape.depth, 1)}, {"bf16", {}}};
    probe.b.codes = floats(shape.columns * shape.depth, 2);
    for (Codes* codes : {&probe.a.codes, &probe.b.codes})
        for (std::uint32_t& code : *codes) code >>= 16;
    return probe;
}

std::vector<Probe> cdna_probes() {
    Probe fnuz = fp8("fnuz", {20, 7, 99});
    fnuz.a.type = fnuz.b.type = "e4m3fnuz";
    Probe special = fnuz;
    special.name = "fnuz NaN and largest";
    special.a.codes[3] = 0x80;
    special.a.codes[104] = 0x7F;
    Probe subnormal = bf16("bf16 subnormal", {1, 1, 8});
    subnormal.a.codes = Codes(8, 0x0040);
    subnormal.b.codes = Codes(8, 0x7E80);  // 2^126
    Probe far = fp8("fnuz far apart", {20, 7, 48});
    far.a = {"e5m2fnuz", signed_codes(20 * 48, {1, 0x7B}, 1)};
    far.b = {"e5m2fnuz", signed_codes(7 * 48, {1, 0x7B}, 2)};
    return {fnuz,      special,
            far,       bf16("bf16 tree", {20, 7, 96}),
            subnormal, bf16("bf16 of three", {40, 20, 3})};
}

std::vector<Probe> output_probes() {
    Probe nan_c = with_c(mx("NaN in C", {2, 3, 32}), 1, 1);
    nan_c.c[1] = 0x7FC00000;
    Probe zero = uniform("zero sums", {2, 2, 32}, 0, one);
    zero.alpha = 0xBF800000;
    Probe relu_nan = fp8("relu of NaN", {2, 2, 32});
    relu_nan.a.codes[3] = 0x7F;
    relu_nan.epilogue = "relu";
    Probe bias = with_bias(mx("bias", {3, 4, 32}), "bias");
    bias.alpha = 0x3F9D70A4;
    Probe gelu = with_bias(fp8("gelu", {64, 64, 32}), "bias-gelu");
    gelu.alpha = 0x3E000000;
    Probe overflow = to(uniform("overflow", {2, 2, 32}, largest, largest), "f16");
    Probe tiny = mx("tiny", {2, 2, 32}, {40, 9});
    tiny.a.scales = {10, 12};
    tiny.b.scales = {107, 100};
    Probe padded = with_c(mx("C with pads", {5, 3, 64}), 1, 1);
    padded.pitch_of_c = 7;
    padded.c = floats(5 * 7, 8);
    Probe relu_of_c = with_c(fp8("C and relu", {6, 5, 32}), 1, 1);
    relu_of_c.epilogue = "relu";
    Probe scaled = to(fp8("bf16 alpha", {20, 20, 32}), "bf16");
    scaled.alpha = 0x3F9D70A4;
    return {relu_of_c,
            scaled,
            in_nvfp4(mx("large nvfp4", {4, 40, 64}, {130, 3})),
            with_c(mx("C", {5, 3, 64}), 1, 1),
            with_c(mx("C of one row", {1, 3, 32}), 1, 1),
            with_c(mx("alpha beside C", {2, 3, 32}), 1.23f, 1),
            padded,
            with_c(mx("alpha and beta", {5, 3, 64, 2}), 1.23f, -0.77f),
            nan_c,
            zero,
            relu_nan,
            bias,
            with_bias(fp8("bias and relu", {6, 5, 32}), "bias-relu"),
            gelu,
            with_bias(to(mx("bf16 bias", {6, 5, 64}), "bf16"), "bias"),
            to(mx("bf16", {40, 30, 64}), "bf16"),
            in_blocks(mx("blocks", {60, 70, 64})),
            in_nvfp4(mx("nvfp4", {20, 40, 64})),
            overflow,
            tiny,
            fp8("square", {4, 4, 32})};
}

// Four groups, the second without rows, and rows beyond the last one.
Probe grouped(std::string_view name) {
    Probe probe = mx(name, {44, 3, 64});
    probe.offsets = {0, 5, 5, 21, 40};
    probe.b.codes = signed_codes(probe.rows_of_b() * 64, middle, 2);
    probe.b.scales = drawn(probe.rows_of_b() * 2, {120, 9}, 4);
    return probe;
}

std::vector<Probe> group_probes() {
    Probe tiles = grouped("groups in tiles");
    tiles.scale_layout = "128x4";
    tiles.a.scale_rows = 3 * 128;
    tiles.b.scale_rows = 4 * 128;
    tiles.a.scales = drawn(3 * 128 * 4, {120, 9}, 3);
    tiles.b.scales = drawn(4 * 128 * 4, {120, 9}, 4);
    return {grouped("groups"), tiles};
}

// A tensor of the ABI over its own bytes.
struct Buffer {
    std::vector<unsigned char> bytes;
    mx_tensor tensor;

    Buffer(const char* type, std::int64_t rows, std::int64_t columns, const Codes& codes,
           const char* layout = "strided") {
        const std::string_view name = type;
        const bool is_word = name == "f32" || name == "i32";
        const std::size_t width = is_word ? 4 : name == "bf16" || name == "f16" ? 2 : 1;
        const bool is_strided = std::string_view(layout) == "strided";
        bytes.resize(codes.size() * width);
        for (std::size_t i = 0; i < codes.size(); ++i)
            std::memcpy(&bytes[i * width], &codes[i], width);
        tensor = {sizeof(mx_tensor),        nullptr,           type, "host", layout, rows, columns,
                  is_strided ? columns : 0, is_strided ? 1 : 0};
    }
    mx_tensor view() {
        mx_tensor with_data = tensor;
        with_data.data = bytes.data();
        return with_data;
    }
};

std::vector<Buffer> inputs_of(const Probe& probe) {
    const ProbeShape& s = probe.shape;
    std::vector<Buffer> inputs;
    const auto add = [&](const ProbeFactor& factor, std::int64_t rows) {
        inputs.emplace_back(factor.type, rows, s.depth, factor.codes, factor.layout);
        if (probe.scaling == nullptr) return;
        const bool is_mx = std::string_view(probe.scaling) == "1x32";
        const std::int64_t scale_rows = factor.scale_rows == 0 ? rows : factor.scale_rows;
        inputs.emplace_back(is_mx ? "e8m0" : "f32", is_mx ? scale_rows : 1,
                            is_mx ? (s.depth + 31) / 32 : 1, factor.scales, probe.scale_layout);
    };
    add(probe.a, s.batches * s.rows);
    add(probe.b, probe.rows_of_b());
    if (!probe.c.empty()) inputs.emplace_back(probe.d_type, s.batches * s.rows, s.columns, probe.c);
    if (probe.pitch_of_c != 0) inputs.back().tensor.row_stride = probe.pitch_of_c;
    if (!probe.bias.empty()) inputs.emplace_back(probe.d_type, 1, s.columns, probe.bias);
    if (!probe.scale_d.empty()) inputs.emplace_back("f32", 1, 1, probe.scale_d);
    if (!probe.offsets.empty())
        inputs.emplace_back("i32", 1, static_cast<std::int64_t>(probe.offsets.size()),
                            probe.offsets);
    return inputs;
}

}  // namespace

Probe uniform(std::string_view name, const ProbeShape& shape, std::uint32_t a, std::uint32_t b) {
    Probe probe{name, shape, {"e4m3", {}}, {"e4m3", {}}};
    probe.a.codes.assign(static_cast<std::size_t>(shape.batches * shape.rows * shape.depth), a);
    probe.b.codes.assign(static_cast<std::size_t>(shape.batches * shape.columns * shape.depth), b);
    return probe;
}

const std::vector<Probe>& probes() {
    static const std::vector<Probe> list = [] {
        std::vector<Probe> all{uniform("ones", {3, 5, 32}, one, one),
                               uniform("twos", {17, 2, 40}, two, one)};
        for (const auto& more :
             {scale_probes(), element_probes(), cdna_probes(), output_probes(), group_probes()})
            all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return list;
}

Answer answer_of(const Planted& planted, const Probe& probe) {
    const OpenBug device(planted);
    if (device.status() != MX_OK) return {device.status(), {}};
    const ProbeShape& s = probe.shape;
    std::vector<Buffer> buffers = inputs_of(probe);
    std::vector<mx_tensor> inputs;
    for (Buffer& buffer : buffers) inputs.push_back(buffer.view());
    // Not 0, so that what is not written, or added to, shows.
    const auto outputs = static_cast<std::size_t>(s.batches * s.rows * s.columns);
    const bool is_nvfp4 = !probe.scale_d.empty();
    Buffer d(probe.d_type, s.batches * s.rows, s.columns, Codes(outputs, 0x43214321),
             is_nvfp4 ? "packed-low" : "strided");
    const mx_tensor output = d.view();
    const bool has_blocks = probe.dialect != nullptr;
    const mx_gemm gemm{
        sizeof(mx_gemm),
        s.batches,
        probe.alpha,
        probe.beta,
        probe.scaling,
        probe.scaling,
        is_nvfp4     ? "1x16"
        : has_blocks ? "1x32"
                     : nullptr,
        probe.epilogue,
        probe.accumulation,
        nullptr,
        probe.offsets.empty() ? 0 : static_cast<std::int64_t>(probe.offsets.size()) - 1};
    const std::int64_t size = is_nvfp4 ? 16 : 32, blocks = (s.columns + size - 1) / size;
    Buffer scales(is_nvfp4 ? "ue4m3" : "e8m0", s.batches * s.rows, blocks,
                  Codes(static_cast<std::size_t>(s.batches * s.rows * blocks), 0x43));
    mx_operation operation{};
    operation.struct_size = sizeof(mx_operation);
    operation.name = "gemm";
    operation.gemm = &gemm;
    operation.dialect = probe.dialect;
    const mx_tensor both[] = {output, scales.view()};
    Answer answer{planted.api->run(device.handle(), &operation, inputs.data(), inputs.size(), both,
                                   has_blocks ? 2 : 1, nullptr),
                  Codes(outputs)};
    const std::size_t width = d.bytes.size() / outputs;
    for (std::size_t i = 0; i < outputs; ++i) std::memcpy(&answer.d[i], &d.bytes[i * width], width);
    if (has_blocks) answer.d.insert(answer.d.end(), scales.bytes.begin(), scales.bytes.end());
    return answer;
}

}  // namespace mx::mutants::gemm
