// The list of probes; see mutant_probes.hpp.
#include <cmath>

#include "conformance/mutants/mutant_probes.hpp"

namespace mx::mutants {
namespace {

constexpr std::uint32_t f32_narrow_nan = 0x7F800001;

constexpr Question ocp_e5m2{"mxfp8-e5m2", "ocp", "f32"};

Probe quantize(std::string_view name, Question question, const std::vector<float>& values) {
    return quantize_row(name, question, bits_of(values));
}

std::vector<float> ones_with(std::size_t count, std::size_t lane, float value) {
    std::vector<float> values(count, 1.0f);
    values[lane] = value;
    return values;
}

// A matrix in which rows, and blocks of 32 lanes of a row, have scales of their own.
Probe terraces(std::string_view name, Question question, Extent extent) {
    std::vector<float> values;
    for (std::int64_t row = 0; row < extent.rows; ++row)
        for (std::int64_t column = 0; column < extent.columns; ++column)
            values.push_back(std::ldexp(1.0f, static_cast<int>((row * 7 + column / 32 * 3) % 20)));
    return shaped(quantize(name, question, values), extent);
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

std::vector<Probe> more_block_probes() {
    const Codes one_and_nan{bits_of({1})[0], f32_nan};
    Probe apart = shaped(quantize("rows apart", ocp, {1, 2, 4, 8}), {2, 2});
    apart.row_gap = 3;
    std::vector<float> halves(32, 1.0f);
    for (std::size_t lane = 0; lane < 16; ++lane) halves[lane] = 300.0f;
    return {
        quantize("0.3", ocp, {0.3f}),
        quantize("nine lanes", ocp, ones_with(9, 8, 300)),
        quantize_row("f16 subnormal", {"mxfp8-e4m3", "ocp", "f16"}, {0x0200}),
        quantize_row("narrow NaN", nv, {bits_of({1})[0], f32_narrow_nan}),
        shaped(quantize_row("nv NaN in a column", nv, one_and_nan), {2, 1}, "col"),
        apart,
        shaped(quantize("65537 rows", ocp, std::vector<float>(65537, 1.0f)), {65537, 1}),
        shaped(terraces("both axes", ocp, {33, 40}), {33, 40}, "both"),
        in_blocks_of(quantize("blocks of 16", ocp, halves), 16),
        in_blocks_of(quantize("block of 64", ocp, ones_with(64, 40, 300)), 64),
        in_blocks_of(shaped(quantize("tile", ocp, {1, 1, 300, 1}), {2, 2}, "tile"), 16),
        quantize("e3m2", fp6, {28, 0.0625f, 7}),
        quantize("e2m1", fp4, {4, 2.5f}),
        quantize_row("nv e2m1 NaN", {"mxfp4-e2m1", "nv", "f32"}, one_and_nan),
        quantize("int8", {"mxint8", "ocp", "f32"}, {1.999f, -1.999f, 0.31f, -0.31f}),
        quantize("int8-symmetric", {"mxint8-symmetric", "ocp", "f32"}, {-1.999f}),
        quantize_row("nv just off a power", {"mxint8", "nv", "f32"}, {0x3F7E0001, 0x3FFE0001}),
    };
}

Probe convert(std::string_view name, const char* rounding, const std::vector<float>& values,
              const Codes& words = {}) {
    return rounded(convert_row(name, {"e4m3", "ocp", "f32"}, "overflow", bits_of(values)), rounding,
                   words);
}

Probe flushed(std::string_view name, Question question, const char* subnormals,
              const Codes& values) {
    Probe probe = convert_row(name, question, "saturate", values);
    probe.operation.subnormals = subnormals;
    return probe;
}

// 17 and 19 are ties: 16, 18 and 20 are elements.
std::vector<Probe> convert_probes() {
    const std::vector<float> values{17, 19, -17, -19, 16.5f, -16.5f, 1000, -1000, -0x1p-20f};
    const Probe odd_rows =
        convert("odd rows", "stochastic-x4", std::vector<float>(6, 17), {0, ~0u});
    std::vector<float> long_ramp((1 << 20) + 1, 1.0f);
    long_ramp.back() = 2.0f;
    Probe words_apart = convert("words apart", "stochastic8", {17, 17, 17, 17}, {0, 255, 255, 0});
    words_apart.row_gap = 1;
    return {
        convert_row("convert 500", {"e4m3", "ocp", "f32"}, "overflow", bits_of({500, -500})),
        convert_row("convert 4 / 3", {"e4m3", "ocp", "f32"}, "overflow", {0x3FAAAAAA}),
        convert("convert 2^20 + 1", "nearest_even", long_ramp),
        convert("nearest_away", "nearest_away", values),
        convert("nearest_toward_zero", "nearest_toward_zero", values),
        convert("toward_zero", "toward_zero", values),
        convert("toward_positive", "toward_positive", values),
        convert("to_odd", "to_odd", values),
        convert("random bits", "stochastic8", {17, 17, 17.005859375f, -17},
                {0xFF000000, 127, 127, 0}),
        convert("32 random bits", "stochastic32", {17 + 0x1p-16f}, {0x7FFF8000}),
        convert("four values", "stochastic-x4", {17, 17, 17, 17}, {0xFFFF0000}),
        shaped(odd_rows, {2, 3}),
        shaped(words_apart, {2, 2}),
        flushed("f16 subnormals flushed", {"e5m2", "ocp", "f16"}, "inputs_flushed",
                {0x0200, 0x8200}),
        flushed("subnormal results flushed", {"e4m3", "ocp", "f32"}, "outputs_flushed",
                bits_of({0x1p-8f, 0x1.fp-7f})),
        convert_row("cast nv", {"e8m0", "nv", "f32"}, nullptr, bits_of({1.5f})),
        convert_row("cast ocp", {"e8m0", "ocp", "f32"}, nullptr, bits_of({-2, 0x1p-130f})),
    };
}

// Every code under every scale of the list.
Probe dequantize_all(std::string_view name, Question question, const Codes& scales) {
    Codes codes, of_blocks;
    for (std::uint32_t scale : scales) {
        for (std::uint32_t code = 0; code < 256; ++code) codes.push_back(code);
        of_blocks.insert(of_blocks.end(), 256 / 32, scale);
    }
    return shaped(dequantize_row(name, question, codes, of_blocks),
                  {static_cast<std::int64_t>(scales.size()), 256});
}

std::vector<Probe> dequantize_probes() {
    Codes all_e2m1, swizzled(512, 0), te_padded(128 * 8, 0);
    for (std::uint32_t code = 0; code < 16; ++code) all_e2m1.push_back(code);
    swizzled[0] = 127;
    swizzled[16] = 130;  // the scale of row 1 lies here
    for (std::size_t block = 0; block < 5; ++block) te_padded[block] = 127;
    const Probe tiles =
        dequantize_row("dequantize tiles", ocp, Codes(20 * 20, 0x38), {120, 121, 122, 123});
    const Codes ones(32, 0x38);
    return {
        dequantize_all("dequantize e4m3", ocp, {127}),
        dequantize_all("dequantize e5m2", ocp_e5m2, {127}),
        dequantize_all("dequantize scale 0", ocp, {0}),
        dequantize_all("dequantize scale 254", ocp, {254}),
        dequantize_all("dequantize scale 255", ocp, {255}),
        dequantize_all("dequantize to f16", {"mxfp8-e4m3", "ocp", "f16"}, {104}),
        dequantize_all("dequantize int8", {"mxint8", "ocp", "f32"}, {127}),
        dequantize_row("dequantize e2m1", fp4, all_e2m1, {127}),
        in_blocks_of(shaped(tiles, {20, 20}, "tile"), 16),
        in_blocks_of(dequantize_row("dequantize blocks of 16", ocp, ones, {127, 130}), 16),
        stored(shaped(dequantize_row("dequantize nibbles", fp4, {0x21, 0x43}, {127}), {1, 4}),
               "packed-low"),
        stored(shaped(dequantize_row("dequantize six", fp6, {0xFF, 0x12, 0x34}, {127}), {1, 4}),
               "packed-6"),
        stored(shaped(dequantize_row("dequantize 128x4", ocp, {0x38, 0x38}, swizzled), {2, 1}),
               "strided", "128x4"),
        stored(shaped(dequantize_row("dequantize te-padded", ocp, Codes(160, 0x38), te_padded),
                      {1, 160}),
               "strided", "te-padded"),
    };
}

std::vector<Probe> layout_probes() {
    const auto scales_in = [](std::string_view name, Extent extent, const char* layout) {
        return stored(terraces(name, ocp, extent), "strided", layout);
    };
    const std::vector<float> six{1, 2, 4, 8, 16, 28};
    return {
        stored(shaped(quantize("nibbles", fp4, {1, 2, 3, 4, 6, 1.5f}), {2, 3}), "packed-low"),
        stored(quantize("six", fp6, six), "packed-6"),
        in_blocks_of(stored(quantize("inline", fp4, {1, 2, 3, 4, 6}), "inline"), 16),
        in_blocks_of(stored(terraces("inline 64", fp4, {1, 64}), "inline"), 64),
        scales_in("128x4", {129, 160}, "128x4"),
        scales_in("128x4 of 65537 rows", {65537, 1}, "128x4"),
        in_blocks_of(scales_in("128x4 of 16", {129, 160}, "128x4"), 16),
        scales_in("8x4", {2, 160}, "8x4"),
        scales_in("32x8", {2, 160}, "32x8"),
        scales_in("te-padded", {2, 32}, "te-padded"),
        stored(shaped(terraces("128x4-col", ocp, {33, 2}), {33, 2}, "col"), "strided", "128x4-col"),
    };
}

std::vector<Probe> make_probes() {
    std::vector<Probe> list = quantize_probes();
    list.push_back(encode_scales("nv tiny amax", nv, bits_of({0x1p-140f, 0})));
    for (const auto& more :
         {more_block_probes(), convert_probes(), dequantize_probes(), layout_probes()})
        list.insert(list.end(), more.begin(), more.end());
    return list;
}

}  // namespace

const std::vector<Probe>& probes() {
    static const std::vector<Probe> list = make_probes();
    return list;
}

}  // namespace mx::mutants
