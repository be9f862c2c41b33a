// The whole line in every layout, with a device that lays out by walking: right answers pass, and
// each planted layout bug gets its class, its verdict and a note that names it.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "conformance/run/runner.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "conformance/run/test/layout_device.hpp"
#include "reference/exact/layout.hpp"
#include "reference/fast/pack.hpp"
#include "reference/spec/formats.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;
using test::LayoutDefect;

CaseResult run(LayoutDefect defect, const std::string& text) {
    test::set_layout_defect(defect);
    auto device = open_client(test::layout_device());
    if (!device) throw std::runtime_error(device.error().message);
    const auto c = parse_case(text);
    if (!c) throw std::runtime_error(c.error().message);
    Sources sources;
    Runner runner(device.value(), sources, {""});
    auto result = runner.run({"test", c.value()});
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(result).value();
}

std::string quantize(const std::string& rest) {
    return "quantize data=random.spread " + rest;
}
std::string dequantize(const std::string& rest) {
    return "dequantize data=codes.random " + rest;
}

// The one cluster there must be.
results::Mismatch only(const CaseResult& result) {
    EXPECT_EQ(result.mismatches.size(), 1u) << result.case_text;
    return result.mismatches.empty() ? results::Mismatch{} : result.mismatches[0];
}

TEST(TensorLayout, EveryLayoutPassesWithADeviceThatIsRight) {
    for (const std::string fields :
         {"format=mxfp8-e4m3 shape=130x161 scales=128x4",
          "format=mxfp8-e4m3 shape=9x161 scales=8x4", "format=mxfp8-e5m2 shape=33x290 scales=32x8",
          "format=mxfp8-e4m3 shape=3x65 scales=te-padded",
          "format=mxfp8-e4m3 shape=161x130 axis=col scales=128x4",
          "format=mxfp8-e4m3 shape=161x9 axis=col scales=8x4",
          "format=mxfp8-e4m3 shape=290x33 axis=col scales=32x8",
          "format=mxfp8-e4m3 shape=65x3 axis=col scales=te-padded",
          "format=mxfp4-e2m1 shape=5x33 packing=low_first",
          "format=mxfp4-e2m1 shape=5x33 packing=high_first scales=128x4",
          "format=mxfp4-e2m1 shape=33x5 axis=col packing=low_first",
          "format=mxfp6-e3m2 shape=3x67 packing=six", "format=mxfp6-e2m3 shape=3x66 packing=six",
          "format=mxfp4-e2m1 shape=3x65 packing=inline",
          "format=mxfp6-e3m2 shape=3x65 packing=inline",
          "format=mxfp8-e4m3 shape=3x65 packing=inline",
          "format=mxfp4-e2m1 shape=3x65 block=16 packing=inline",
          "format=mxfp4-e2m1 shape=0x32 packing=inline",
          "format=mxfp8-e4m3 shape=0x0 scales=8x4"}) {
        for (const std::string& text : {quantize(fields), dequantize(fields)}) {
            const CaseResult result = run(LayoutDefect::none, text);
            EXPECT_EQ(result.verdict, Verdict::pass_exact) << text << ": " << result.reason;
            EXPECT_TRUE(result.mismatches.empty()) << text;
        }
    }
}

TEST(TensorLayout, ASwappedNibbleIsPackingAndNotRounding) {
    for (const std::string packing : {"low_first", "high_first", "inline"}) {
        const std::string fields = "format=mxfp4-e2m1 shape=4x64 packing=" + packing;
        for (const std::string& text : {quantize(fields), dequantize(fields)}) {
            const CaseResult result = run(LayoutDefect::nibbles_swapped, text);
            EXPECT_EQ(result.verdict, Verdict::fail) << text;
            const results::Mismatch m = only(result);
            EXPECT_EQ(m.mismatch_class, "packing") << text;
            EXPECT_EQ(m.direction, "nibbles in the other order");
            EXPECT_EQ(m.note, "all " + std::to_string(m.count) +
                                  " differences are explained by nibbles in the other order");
            EXPECT_EQ(m.count, result.mismatched_elements);
        }
    }
}

TEST(TensorLayout, SwappedTilesAndMissingTilesAreLayout) {
    // Two by two whole tiles: no pads that a device could trip over.
    const std::string fields = "format=mxfp8-e4m3 shape=16x256 scales=8x4";
    for (const std::string& text : {quantize(fields), dequantize(fields)}) {
        const results::Mismatch swapped = only(run(LayoutDefect::tiles_swapped, text));
        EXPECT_EQ(swapped.mismatch_class, "layout") << text;
        EXPECT_EQ(swapped.direction, "scales of 8x4 with the tiles in the other order");
        const results::Mismatch linear = only(run(LayoutDefect::scales_linear, text));
        EXPECT_EQ(linear.mismatch_class, "layout") << text;
        // Without pads three layouts are the same.
        EXPECT_EQ(linear.direction,
                  "scales as in te-padded, or scales row by row without pads, or scales line by "
                  "line with the pads of whole tiles");
    }
    const CaseResult ragged =
        run(LayoutDefect::scales_linear, quantize("format=mxfp8-e4m3 shape=9x161 scales=8x4"));
    EXPECT_TRUE(std::ranges::any_of(ragged.mismatches, [](const results::Mismatch& m) {
        return m.direction == "scales row by row without pads";
    }));
}

// One more wrong code, and the swap no longer explains everything: then nothing is explained away.
TEST(TensorLayout, AnOrdinaryErrorIsNotExplainedAway) {
    const std::string text = quantize("format=mxfp4-e2m1 shape=4x64 packing=low_first scales=8x4");
    const results::Mismatch m = only(run(LayoutDefect::one_code_wrong, text));
    EXPECT_NE(m.mismatch_class, "packing");
    EXPECT_EQ(m.count, 1u);
}

TEST(TensorLayout, PadsOfAnOutputAreZeroWhereTheLayoutSaysSo) {
    const auto swizzled = quantize("format=mxfp8-e4m3 shape=9x161 scales=8x4");
    CaseResult result = run(LayoutDefect::pads_unwritten, swizzled);
    EXPECT_EQ(result.verdict, Verdict::fail);
    results::Mismatch m = only(result);
    EXPECT_EQ(m.mismatch_class, "padding");
    EXPECT_EQ(m.count, 16u * 8 - 9 * 6);
    EXPECT_EQ(m.note, "74 bytes of output 1, 74 of them never written, first at byte 34 with 165");
    m = only(run(LayoutDefect::pads_written, swizzled));
    EXPECT_EQ(m.note, "74 bytes of output 1, 0 of them never written, first at byte 34 with 127");
    for (const std::string scales : {"32x8", "te-padded"})
        EXPECT_EQ(run(LayoutDefect::pads_unwritten,
                      quantize("format=mxfp8-e4m3 shape=9x161 scales=" + scales))
                      .verdict,
                  Verdict::pass_exact);
    for (const std::string packing : {"low_first", "high_first"}) {
        m = only(run(LayoutDefect::pads_written,
                     quantize("format=mxfp4-e2m1 shape=2x33 packing=" + packing)));
        EXPECT_EQ(m.mismatch_class, "padding") << packing;
        EXPECT_EQ(m.count, 1u) << packing;
    }
}

TEST(TensorLayout, PadsOfAnInputMustNotMatter) {
    for (const std::string scales : {"128x4", "te-padded"}) {
        const std::string text = dequantize("format=mxfp8-e4m3 shape=9x161 scales=" + scales);
        const CaseResult result = run(LayoutDefect::reads_pads, text);
        EXPECT_EQ(result.verdict, Verdict::fail) << text;
        bool found = false;
        for (const results::Mismatch& m : result.mismatches)
            found = found || m.mismatch_class == "padding";
        EXPECT_TRUE(found) << text;
        const CaseResult flaky = run(LayoutDefect::flaky, text);
        EXPECT_EQ(only(flaky).mismatch_class, "flaky") << text;
        EXPECT_EQ(flaky.verdict, Verdict::flaky);
    }
}

// The host's table of sizes and the reference's table were typed twice; they must not part.
TEST(TensorLayout, HostAndReferenceAgreeOnEverySize) {
    for (const ScaleLayout& layout : scale_layouts)
        for (const GridShape shape : {GridShape{1, 1}, GridShape{129, 5}, GridShape{5, 129}}) {
            const TensorSpec spec{"e8m0", shape.rows, shape.columns,
                                  0,      0,          std::string(layout.name)};
            EXPECT_EQ(static_cast<std::int64_t>(byte_extent(spec).value()),
                      fast::scale_bytes(layout, shape))
                << layout.name;
        }
    for (const Packing& packing : packings)
        for (const ElementFormat& format : element_formats) {
            if (packing.code_bits == 0 || format.code_bits() != packing.code_bits) continue;
            const TensorSpec spec{std::string(format.name),   3, 7, 0, 0,
                                  std::string(packing.layout)};
            EXPECT_EQ(static_cast<std::int64_t>(byte_extent(spec).value()),
                      3 * fast::stream_bytes({packing.code_bits, packing.pairs}, 7))
                << format.name << " " << packing.layout;
        }
    for (const ElementFormat& format : element_formats) {
        const bool is_in_words =
            format == formats::tf32;  // 19 bits that stand in words of binary32
        EXPECT_EQ(code_bits(format.name), is_in_words ? 32 : format.code_bits()) << format.name;
    }
}

}  // namespace
}  // namespace mx
