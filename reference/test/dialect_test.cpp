// Every dialect, in both oracles, against the bytes that its source, its run or its documents name;
// and the borders that were measured on hardware.
#include <gtest/gtest.h>

#include <set>

#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"
#include "reference/spec/verification.hpp"
#include "reference/spec/words.hpp"
#include "reference/test/dialect_examples.hpp"

namespace mx {
namespace {

// Scale, then elements. Both oracles must agree.
Codes quantized(const Quantizer& dialect, const BlockFormat& format, const Codes& f32_bits) {
    std::vector<exact::Value> values;
    for (const std::uint32_t bits : f32_bits)
        values.push_back(exact::read_input(dialect.subnormals, formats::f32, Code{bits}));
    const exact::Block block = exact::quantize_block(dialect, format, values);
    Codes result{block.scale.bits};
    for (const Code element : block.elements) result.push_back(element.bits);

    std::vector<std::uint8_t> elements(f32_bits.size());
    Codes fast{fast::quantize_block(dialect, format, formats::f32, f32_bits.data(),
                                    static_cast<int>(f32_bits.size()), elements.data())
                   .bits};
    fast.insert(fast.end(), elements.begin(), elements.end());
    EXPECT_EQ(fast, result) << dialect.name;
    return result;
}

void expect_all(const std::vector<BlockExample>& examples) {
    for (const BlockExample& example : examples)
        for (const std::string_view name : words_in(example.dialects)) {
            const Quantizer* dialect = find_quantizer(name);
            ASSERT_NE(dialect, nullptr) << name;
            const BlockFormat& format = *find_block_format(example.format);
            EXPECT_TRUE(dialect->quantizes(format)) << name << " " << format.name;
            Codes codes = quantized(*dialect, format, example.input);
            codes.resize(example.expected.size());
            EXPECT_EQ(codes, example.expected)
                << name << " " << format.name << " of " << std::hex << example.input[0];
        }
}

TEST(Dialects, ScalesPartAsPublished) {
    expect_all(examples_of_scales());
}
TEST(Dialects, SpecialBlocksPartAsPublished) {
    expect_all(examples_of_special_blocks());
}
TEST(Dialects, ElementsPartAsPublished) {
    expect_all(examples_of_elements());
}
TEST(Dialects, LibrariesThatWereRunPart) {
    expect_all(examples_of_gguf_mlx_and_aiter());
}

TEST(Verification, EveryRowHasOneEntryAndEveryEntryNamesRows) {
    for (const Quantizer& row : quantizers) {
        int entries = 0;
        for (const Verification& entry : verifications) entries += lists(entry.rows, row.name);
        EXPECT_EQ(entries, 1) << row.name;
    }
    for (const Verification& entry : verifications)
        for (const std::string_view name : words_in(entry.rows))
            EXPECT_NE(find_quantizer(name), nullptr) << name;
}

TEST(Verification, SaysWhatRanAndWhatWasOnlyRead) {
    EXPECT_EQ(text_of(*find_verification("torchao-rceil-legacy")),
              "run: torchao 0.18.0, valid until 0.18.0, CPU, 2026-11-21; compared: 18.3 MB, "
              "and recorded cases; to_mx, 5 formats, f32 and bf16, blocks along rows; differed: "
              "nothing; answers kept: torchao-0.18");
    EXPECT_EQ(text_of(*find_verification("deepgemm-fp4-legacy")), "read, valid before #364");
    EXPECT_EQ(find_verification("cuda-e8m0-rp")->known, Known::hardware);
    EXPECT_EQ(find_verification("torchao"), nullptr);
    EXPECT_EQ(known_by("torchao"), "not said");
    EXPECT_EQ(known_by("deepgemm-fp4-legacy"), "read, valid before #364");
}

// Fields that the oracles do not read under a row's type of scale hold what says nothing: a row
// that sets one would be answered as if it had not, by both oracles alike.
TEST(Dialects, SetNoFieldThatTheirScaleIgnores) {
    for (const Quantizer& row : quantizers) {
        SCOPED_TRACE(row.name);
        if (row.has_e8m0_scales()) {
            EXPECT_EQ(row.transform, LaneTransform::none);
            EXPECT_EQ(row.tensor_scale, TensorScale::none);
            EXPECT_EQ(row.scale_max, 0);
            EXPECT_EQ(row.useless_amax, UselessAmax::as_computed);
            EXPECT_EQ(row.encode_overflow, EncodeOverflow::infinity);
            EXPECT_EQ(row.candidate_error, CandidateError::none);
            EXPECT_EQ(row.way_back, WayBack::times_scale);
        } else if (!row.has_scales()) {
            Quantizer nothing = conversions[0];
            nothing.name = row.name, nothing.title = row.title, nothing.source = row.source;
            nothing.formats = row.formats, nothing.inputs = row.inputs;
            nothing.nan_code = row.nan_code, nothing.sign_of_zero = row.sign_of_zero;
            nothing.open = row.open;
            EXPECT_EQ(row, nothing);
        } else {
            EXPECT_EQ(row.amax_rounding, AmaxRounding::none);
            EXPECT_EQ(row.zero_block, ZeroBlock::as_cast);
            EXPECT_EQ(row.scale_cast, not_e8m0);
        }
    }
}

TEST(Dialects, EveryRowThatQuantizesHasAnExample) {
    std::set<std::string_view> named;
    for (const BlockExample& example : all_examples())
        for (const std::string_view name : words_in(example.dialects)) named.insert(name);
    for (const Quantizer& dialect : e8m0_quantizers) {
        const bool answers = dialect.formats != 0 && dialect.is_known();
        EXPECT_TRUE(!answers || named.contains(dialect.name)) << dialect.name;
    }
}

std::uint32_t e4m3_scale(std::string_view name, std::uint32_t amax_bits) {
    const Quantizer& dialect = *find_quantizer(name);
    const BlockFormat& format = *find_block_format(e4m3);
    const Code fast =
        fast::encode_scale(dialect, format, fast::unpack(formats::f32, Code{amax_bits}));
    const Code exact =
        exact::encode_scale(dialect, format, exact::decode(formats::f32, Code{amax_bits}));
    EXPECT_EQ(fast, exact) << name << " " << std::hex << amax_bits;
    return fast.bits;
}

// Around 448 * 2^k an inverse that is one ulp off would flip the byte.
TEST(Dialects, RoundUpRatioPartsExactlyAboveTheLargestElement) {
    for (const std::string_view name : words_in("nv torchao-rceil cudnn cublaslt aiter-roundup"))
        for (std::uint32_t byte = 8; byte <= 246; ++byte) {
            const std::uint32_t amax = (byte + 8) << 23 | 0x600000;
            EXPECT_EQ(e4m3_scale(name, amax - 1), byte) << name;
            EXPECT_EQ(e4m3_scale(name, amax), byte) << name;
            EXPECT_EQ(e4m3_scale(name, amax + 1), byte + 1) << name;
        }
}

// Over all mantissas of a binade, the product with fl32(1 / max) and the quotient lead to the same
// byte where it is rounded up; where it is rounded down, for one amax they do not, but for FP4.
TEST(Dialects, ProductAndQuotientGiveTheSameByteRoundedUp) {
    for (const BlockFormat& format : mx_block_formats) {
        if (format.element().exponent_bits == 0) continue;
        const ScaleCast up{.rounding = ScaleRounding::toward_positive};
        const ScaleCast down{.rounding = ScaleRounding::toward_zero};
        int parted_up = 0, parted_down = 0;
        for (std::uint32_t bits = 0x3F800000; bits < 0x40000000; ++bits) {
            const fast::Unpacked amax = fast::unpack(formats::f32, Code{bits});
            const fast::Unpacked product =
                fast::ratio_of(ScaleRatio::times_reciprocal, format.element(), amax);
            const fast::Unpacked quotient =
                fast::ratio_of(ScaleRatio::divided, format.element(), amax);
            parted_up += fast::cast_to_scale(up, product) != fast::cast_to_scale(up, quotient);
            parted_down +=
                fast::cast_to_scale(down, product) != fast::cast_to_scale(down, quotient);
        }
        EXPECT_EQ(parted_up, 0) << format.name;
        EXPECT_EQ(parted_down, format.name == e2m1 ? 0 : 1) << format.name;
    }
}

// The last amax of some bytes is 448 * 2^(byte - 127) and so many ulp more where log2 is rounded to
// binary32: measured over all amaxes with PyTorch 2.11 on a CPU and on sm_90.
TEST(Dialects, CeilOfRoundedLog2HasTheMeasuredBorders) {
    struct Border {
        std::uint32_t byte, ulps_on_cpu, ulps_on_gpu;
    };
    constexpr std::array borders{
        Border{1, 39, 38}, Border{62, 39, 38},  Border{63, 20, 19},  Border{94, 20, 19},
        Border{95, 9, 8},  Border{111, 4, 3},   Border{118, 4, 3},   Border{119, 2, 1},
        Border{123, 0, 0}, Border{130, 0, 0},   Border{131, 2, 1},   Border{135, 4, 3},
        Border{143, 9, 8}, Border{159, 20, 19}, Border{191, 39, 38}, Border{245, 39, 38}};
    for (const Border& border : borders) {
        const std::uint32_t amax = (border.byte + 8) << 23 | 0x600000;
        for (const std::string_view name : words_in("model-optimizer torchao-rceil-legacy")) {
            EXPECT_EQ(e4m3_scale(name, amax + border.ulps_on_cpu), border.byte);
            EXPECT_EQ(e4m3_scale(name, amax + border.ulps_on_cpu + 1), border.byte + 1);
        }
        for (const std::string_view name :
             words_in("model-optimizer-cuda torchao-rceil-legacy-cuda")) {
            EXPECT_EQ(e4m3_scale(name, amax + border.ulps_on_gpu), border.byte);
            EXPECT_EQ(e4m3_scale(name, amax + border.ulps_on_gpu + 1), border.byte + 1);
        }
    }
    EXPECT_EQ(e4m3_scale("model-optimizer", 0x7F600027), 246u);
    EXPECT_EQ(e4m3_scale("model-optimizer-cuda", 0x7F600027), 247u);
}

TEST(Dialects, FloorOfRoundedLog2HasTheMeasuredBorders) {
    struct Border {
        int power;
        std::uint32_t ulps_below;  // so many values below 2^power are taken for it
    };
    constexpr std::array borders{Border{1, 0},    Border{2, 0},    Border{3, 1},    Border{5, 2},
                                 Border{9, 5},    Border{17, 11},  Border{33, 22},  Border{65, 44},
                                 Border{127, 44}, Border{-2, 1},   Border{-4, 2},   Border{-8, 5},
                                 Border{-16, 11}, Border{-32, 22}, Border{-64, 44}, Border{-1, 0}};
    for (const Border& border : borders) {
        const std::uint32_t power = static_cast<std::uint32_t>(border.power + 127) << 23;
        const std::uint32_t byte = static_cast<std::uint32_t>(border.power - 8 + 127);
        EXPECT_EQ(e4m3_scale("microxcaling", power - border.ulps_below), byte) << border.power;
        EXPECT_EQ(e4m3_scale("microxcaling", power - border.ulps_below - 1), byte - 1)
            << border.power;
    }
}

TEST(Dialects, ProductsOnTheGpuGiveTheMeasuredBytes) {
    // The one amax for which the exact quotient would give byte 0.
    EXPECT_EQ(e4m3_scale("megatron-round-up", 0x000000E0), 1u);
    EXPECT_EQ(e4m3_scale("cudnn", 0x000000E0), 0u);
    // Just below 448 the product rounds to 1.
    EXPECT_EQ(e4m3_scale("triton-round-down-legacy", 0x43DFFFFF), 127u);
    EXPECT_EQ(e4m3_scale("triton-round-down-legacy", 0x43DFFFFE), 126u);
    // Where the product is flushed.
    EXPECT_EQ(e4m3_scale("flashinfer", 0x04DFFFFE), 0u);
    EXPECT_EQ(e4m3_scale("flashinfer", 0x04DFFFFF), 1u);
    EXPECT_EQ(e4m3_scale("flashinfer", 0x04E00000), 1u);
    EXPECT_EQ(e4m3_scale("flashinfer", 0x04E00001), 2u);
    EXPECT_EQ(e4m3_scale("nv", 0x04600001), 0u);
    EXPECT_EQ(e4m3_scale("nv", 0x04600002), 1u);
}

// From the documentation: the exponent of S goes up where its mantissa is not 0, that of a
// subnormal S where it lies above half of 2^-126, and none above 254.
TEST(Dialects, CublasltGivesTheDocumentedBytes) {
    EXPECT_EQ(e4m3_scale("cublaslt", 0x04E00000), 1u);  // S = 2^-126
    EXPECT_EQ(e4m3_scale("cublaslt", 0x04E00001), 2u);
    EXPECT_EQ(e4m3_scale("cublaslt", 0x04600000), 0u);  // S = 2^-127, a half
    EXPECT_EQ(e4m3_scale("cublaslt", 0x04600002), 1u);
    EXPECT_EQ(e4m3_scale("cublaslt", 0x7F7FFFFF), 247u);
}

TEST(Dialects, RowsAreComplete) {
    for (const Quantizer& dialect : e8m0_quantizers) {
        EXPECT_FALSE(dialect.title.empty()) << dialect.name;
        EXPECT_FALSE(dialect.source.empty()) << dialect.name;
        EXPECT_NE(dialect.inputs, 0u) << dialect.name;
        EXPECT_EQ(find_quantizer(dialect.name), &dialect)
            << "a name stands twice: " << dialect.name;
    }
}

// A row that waits is not silently one that answers.
TEST(Dialects, OnlyTheseRowsWait) {
    for (const Quantizer& dialect : e8m0_quantizers)
        EXPECT_EQ(dialect.is_known(), dialect.name != "fbgemm-nearest") << dialect.name;
}

}  // namespace
}  // namespace mx
