// The unmutated base against published numbers: what each dialect makes of the blocks on which
// quantizers differ, and float to E8M0 edge by edge. A wrong base would hide bugs in every mutant.
#include <string>

#include "conformance/mutants/mutant_base.hpp"

namespace mx::mutants {

Planted clean_base() {
    return planted_bug(MX_MUTANT_DIRECTORY "/mutants.so", "none");
}

namespace {

constexpr std::uint32_t f32_negative_infinity = 0xFF800000, f32_max = 0x7F7FFFFF;

// One block and what two dialects make of it.
struct Example {
    Codes values;
    std::uint32_t ocp_scale;
    Codes ocp_codes;
    std::uint32_t nv_scale;
    Codes nv_codes;
};

TEST_F(Base, MakesOfDisputedBlocksWhatEachDialectSays) {
    const Example examples[] = {
        {bits_of({480}), 127, {0x7E}, 128, {0x77}},
        {bits_of({448}), 127, {0x7E}, 127, {0x7E}},
        {bits_of({496}), 127, {0x7E}, 128, {0x78}},
        {bits_of({1}), 119, {0x78}, 119, {0x78}},
        {bits_of({2.8f, -1.2f}), 120, {0x7B, 0xF2}, 120, {0x7B, 0xF2}},
        {bits_of({256, 17}), 127, {0x78, 0x58}, 127, {0x78, 0x58}},
        {bits_of({0x1p-120f}), 0, {0x70}, 0, {0x70}},
        {bits_of({0, -0.0f}), 0, {0x00, 0x80}, 0, {0x00, 0x80}},
        {{bits_of({1})[0], f32_nan}, 0xFF, {0x7F, 0x7F}, 119, {0x78, 0x7F}},
        {{bits_of({1})[0], f32_negative_nan}, 0xFF, {0x7F, 0x7F}, 119, {0x78, 0x7F}},
        {{bits_of({1})[0], f32_infinity}, 0xFF, {0x7F, 0x7F}, 254, {0x00, 0x7E}},
        {{f32_max, f32_negative_infinity}, 0xFF, {0x7F, 0x7F}, 254, {0x40, 0xFE}},
        {{0x40600001}, 120, {0x7E}, 121, {0x76}},
        {{0x43FFFFFF}, 127, {0x7E}, 128, {0x78}},
        {{0x437FFFFF}, 126, {0x7E}, 127, {0x78}},
        {{f32_max}, 246, {0x7E}, 247, {0x78}},
        {bits_of({256, 0x1p-8f}), 127, {0x78, 0x02}, 127, {0x78, 0x02}},
        {bits_of({0x1p-130f}), 0, {0x20}, 0, {0x20}},
        {{0x47E00001}, 135, {0x7E}, 136, {0x76}},  // 114688.008: the ratio is just above 2^8
    };
    for (const Example& example : examples) {
        expect_block(ocp, example.values, example.ocp_scale, example.ocp_codes);
        expect_block(nv, example.values, example.nv_scale, example.nv_codes);
    }
}

TEST_F(Base, QuantizesE5m2AndHalfInputs) {
    expect_block({"mxfp8-e5m2", "ocp", "f32"}, bits_of({57344, -3}), 127, {0x7B, 0xC2});
    expect_block({"mxfp8-e5m2", "nv", "f32"}, bits_of({61440}), 128, {0x78});
    expect_block({"mxfp8-e4m3", "ocp", "f16"}, {0x3C00, 0x8001}, 119, {0x78, 0x80});
    expect_block({"mxfp8-e4m3", "nv", "bf16"}, {0x43F0}, 128, {0x77});  // 480
}

// 0, 2^-149, 2^-127 and the next, 2^127, the largest, Inf, NaN.
TEST_F(Base, EncodesScalesEdgeByEdge) {
    const Codes amax{0, 1, 0x00400000, 0x00400001, 0x7F000000, f32_max, f32_infinity, f32_nan};
    EXPECT_EQ(scales_of(ocp, amax), (Codes{0, 0, 0, 0, 246, 246, 255, 255}));
    EXPECT_EQ(scales_of(nv, amax), (Codes{0, 0, 0, 0, 246, 247, 254, 255}));
    // 448 * 2^-127 and the next two: a ratio that small is a multiple of 2^-149, so the first of
    // them still rounds to 2^-127 and the second to the next.
    EXPECT_EQ(scales_of(nv, {0x04600000, 0x04600001, 0x04600002}), (Codes{0, 0, 1}));
    EXPECT_EQ(scales_of({"mxfp8-e5m2", "nv", "f32"}, bits_of({57344, 57345})), (Codes{127, 128}));
    EXPECT_EQ(scales_of({"mxfp8-e5m2", "ocp", "f32"}, bits_of({32768, 65535})), (Codes{127, 127}));
}

TEST_F(Base, ConvertsWithAndWithoutSaturation) {
    const Codes values{bits_of({464})[0], bits_of({464.0001f})[0], bits_of({-500})[0],
                       f32_infinity,      f32_negative_nan,        bits_of({-0x1p-10f})[0]};
    EXPECT_EQ(converted({"e4m3", "ocp", "f32"}, "saturate", values),
              (Codes{0x7E, 0x7E, 0xFE, 0x7E, 0x7F, 0x80}));
    EXPECT_EQ(converted({"e4m3", nullptr, "f32"}, "overflow", values),
              (Codes{0x7E, 0x7F, 0xFF, 0x7F, 0x7F, 0x80}));
    EXPECT_EQ(converted({"e5m2", "nv", "f32"}, "overflow", bits_of({61439.996f, 61440})),
              (Codes{0x7B, 0x7C}));
}

TEST_F(Base, DequantizesEveryKindOfCode) {
    Probe probe = quantize_row("dequantize", {"mxfp8-e5m2", "ocp", "f32"}, {});
    probe.operation.name = "dequantize";
    probe.calls = {{0x3C, 0x80, 0x01, 0x7C, 0x7D}};
    probe.columns = 5;
    probe.scales = {0};
    const Codes values = outputs_of(base_, probe).first;
    EXPECT_EQ((Codes{values.begin(), values.end() - 1}),
              (Codes{bits_of({0x1p-127f})[0], 0x80000000, bits_of({0x1p-143f})[0], f32_infinity}));
    EXPECT_GT(values[4] & 0x7FFFFFFF, f32_infinity);
    probe.scales = {0xFF};
    for (std::uint32_t value : outputs_of(base_, probe).first)
        EXPECT_GT(value & 0x7FFFFFFF, f32_infinity);
    probe.scales = {254};
    EXPECT_EQ(outputs_of(base_, probe).first[0], bits_of({0x1p127f})[0]);
}

TEST_F(Base, DequantizesTheNanOfE4m3) {
    Probe probe = quantize_row("dequantize", {"mxfp8-e4m3", "ocp", "f32"}, {});
    probe.operation.name = "dequantize";
    probe.calls = {{0x7E, 0x7F, 0xFF}};
    probe.columns = 3;
    probe.scales = {127};
    const Codes values = outputs_of(base_, probe).first;
    EXPECT_EQ(values[0], bits_of({448})[0]);
    EXPECT_GT(values[1] & 0x7FFFFFFF, f32_infinity);
    EXPECT_GT(values[2] & 0x7FFFFFFF, f32_infinity);
}

// 33 x 2: the amax in lane 31 of one column, and a last block of one lane.
TEST_F(Base, TakesEachBlockOfAColumnAlone) {
    std::vector<float> values(33 * 2, 1.0f);
    values[2 * 31 + 1] = 300;
    values[2 * 32] = 2;
    Probe probe = quantize_row("columns", ocp, bits_of(values));
    probe.operation.axis = "col";
    probe.rows = 33;
    probe.columns = 2;
    const Outputs outputs = outputs_of(base_, probe);
    EXPECT_EQ(outputs.second, (Codes{119, 127, 120, 119}));
    EXPECT_EQ(outputs.first[0], 0x78u);
    EXPECT_EQ(outputs.first[1], 0x38u);
    EXPECT_EQ(outputs.first[2 * 31 + 1], 0x79u);
    EXPECT_EQ(outputs.first[2 * 32], 0x78u);
    EXPECT_EQ(outputs.first[2 * 32 + 1], 0x78u);
}

// Two calls: status, codes, scales and input of each, with sixteen poisoned bytes behind a tensor.
TEST_F(Base, WritesItsOutputsAndNothingElse) {
    Probe probe = quantize_row("two calls", ocp, bits_of({1}));
    probe.calls.push_back(bits_of({-2}));
    const std::vector<unsigned char> red_zone(16, 0xA5);
    std::vector<unsigned char> expected;
    const auto append = [&](std::vector<unsigned char> bytes) {
        expected.insert(expected.end(), bytes.begin(), bytes.end());
        expected.insert(expected.end(), red_zone.begin(), red_zone.end());
    };
    append({MX_OK, 0x78});
    append({119});
    append({0x00, 0x00, 0x80, 0x3F});
    append({MX_OK, 0xF8});
    append({120});
    append({0x00, 0x00, 0x00, 0xC0});
    EXPECT_EQ(play(base_, probe), expected);
}

TEST_F(Base, RefusesWhatItDoesNotKnow) {
    const auto status = [this](Question question) {
        return outputs_of(base_, quantize_row("refused", question, {0})).status;
    };
    EXPECT_EQ(status({"mxfp8-e4m3", "torchao-floor", "f32"}), MX_NOT_SUPPORTED);
    EXPECT_EQ(status({"mxfp8-e4m3", nullptr, "f32"}), MX_NOT_SUPPORTED);
    EXPECT_EQ(status({"nvfp4", "ocp", "f32"}), MX_NOT_SUPPORTED);
    EXPECT_EQ(status({"mxfp8-e4m3", "ocp", "f64"}), MX_NOT_SUPPORTED);
    const auto answer = [this](const Probe& probe) { return outputs_of(base_, probe).status; };
    const Probe row = quantize_row("refused", ocp, {0, 0});
    EXPECT_EQ(answer(row), MX_OK);
    EXPECT_EQ(answer(in_blocks_of(row, 48)), MX_NOT_SUPPORTED);
    EXPECT_EQ(answer(shaped(row, {1, 2}, "diagonal")), MX_NOT_SUPPORTED);
    EXPECT_EQ(answer(stored(row, "packed-low")), MX_INVALID);                  // of codes of 8 bits
    EXPECT_EQ(answer(stored(row, "strided", "128x4-col")), MX_NOT_SUPPORTED);  // in rows
    const Probe element = convert_row("refused", {"e4m3", "ocp", "f32"}, "saturate", {0});
    EXPECT_EQ(answer(rounded(element, "to_even")), MX_NOT_SUPPORTED);
    EXPECT_EQ(answer(rounded(element, "stochastic8")), MX_INVALID);  // without random bits
}

TEST_F(Base, OpensWithABugThatThereIsAndWithoutOne) {
    const auto sentence_of = [this](const char* configuration) {
        std::string text(200, '\0');
        mx_message message{sizeof(mx_message), text.data(), text.size()};
        void* device = nullptr;
        const mx_status status = base_.api->open_configured(&device, configuration, &message);
        EXPECT_EQ(status, text[0] == '\0' ? MX_OK : MX_INVALID);
        if (status == MX_OK) base_.api->close(device);
        return std::string(text.c_str());
    };
    EXPECT_EQ(sentence_of("bug=none"), "");
    EXPECT_EQ(sentence_of("bug=ties_away"), "");
    EXPECT_EQ(sentence_of("bug=ties_awry"),
              "there is no planted bug \"ties_awry\" in this library; mxcheck selftest lists them");
    EXPECT_EQ(sentence_of("bog=ties_away"),
              "there is nothing called \"bog\" to configure; this device knows bug");
    EXPECT_EQ(sentence_of("bug=none,bug=none"), "configuration \"bug\" twice");
    EXPECT_EQ(sentence_of("ties_away"), "configuration \"ties_away\" is not KEY=VALUE");
    void* device = nullptr;
    ASSERT_EQ(base_.api->open(&device, nullptr), MX_OK);
    const mx_fact* facts = nullptr;
    ASSERT_EQ(base_.api->describe(device, &facts), 3u);
    EXPECT_EQ(std::string(facts[0].value), "mutants:bug=none");
    base_.api->close(device);
}

}  // namespace
}  // namespace mx::mutants
