// Blocks whose scale has a mantissa: every bit that is expected of them is confirmed by the exact
// oracle, the number of the tensor is judged, and what a source leaves open is a deviation.
#include <algorithm>

#include "conformance/run/test/evidence_of.hpp"

namespace mx {
namespace {

// One NaN is as good as any other, in values and in scales of binary32.
std::uint64_t parted(const Evidence& e) {
    std::uint64_t count = 0;
    for (const CodeTensor& output : e.expected) {
        const auto* type = std::ranges::find(input_types, output.type);
        for (std::size_t i = 0; i < output.count(); ++i) {
            const Code expected{output.at(i)}, actual{output.at(i) ^ 1};
            const bool are_nan = type != input_types.end() &&
                                 find_element_format(*type)->is_nan(expected) &&
                                 find_element_format(*type)->is_nan(actual);
            count += are_nan ? 0 : 1;
        }
    }
    return count;
}

void expect_confirmed(const std::string& text) {
    if (!parse_case(text)) return;  // the row does not do that
    const Evidence e = wrong_everywhere(text);
    const Classified result = classified(e, ~std::uint64_t{0});
    EXPECT_EQ(result.disagreement, "") << text;
    EXPECT_EQ(result.elements + result.scales, parted(e)) << text;
}

// Calls `ask` with "quantize format=F dialect=D" for every row of these.
template <typename Ask>
void for_each_row(const std::string& operation, const Ask& ask) {
    for (const Quantizer& row : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats)
            if (row.quantizes(format))
                ask(operation + " format=" + std::string(format.name) +
                    " dialect=" + std::string(row.name));
}

TEST(RealScale, QuantizeIsConfirmedWhereverItsBordersLie) {
    for_each_row("quantize", [](const std::string& row) {
        for (const std::string data : {"edge.tie", "edge.scale", "edge.special"})
            expect_confirmed(row + " input=bf16 shape=1x64 index=37 data=" + data);
    });
}

TEST(RealScale, QuantizeIsConfirmedUnderEveryNumberOfTheTensor) {
    for_each_row("quantize", [](const std::string& row) {
        for (const std::string number : {"0x00000000", "0x00000001", "0x007fffff", "0x3dcccccd",
                                         "0x45280000", "0x7f7fffff", "0x7f800000", "0x7fc00000"})
            for (const std::string data : {"edge.special", "random.spread"})
                expect_confirmed(row + " input=bf16 shape=1x32 index=3 tensor=" + number +
                                 " data=" + data);
    });
}

TEST(RealScale, ColumnsAreConfirmed) {
    for (const std::string dialect : {"te-nvfp4", "te-nvfp4-sr", "torchao-nvfp4"})
        expect_confirmed("quantize format=nvfp4 axis=col shape=19x13 data=random.spread dialect=" +
                         dialect);
}

TEST(RealScale, DequantizeIsConfirmed) {
    for_each_row("dequantize", [](const std::string& row) {
        for (const std::string type : {"f32", "bf16", "f16"})
            expect_confirmed(row + " output=" + type + " shape=5x67 data=codes.random");
        expect_confirmed(row + " tensor=0x40490fdb shape=5x67 data=codes.all");
    });
}

TEST(RealScale, AWrongNumberOfTheTensorIsAScaleAtNoPlace) {
    Evidence e = evidence_of("quantize format=nvfp4 dialect=torchao-nvfp4", f32_codes({6, 1}));
    ASSERT_EQ(e.actual.size(), 3u);
    e.actual[2].set(0, e.actual[2].at(0) + 1);
    const results::Mismatch m = only(e);
    EXPECT_EQ(m.mismatch_class, "scale");
    EXPECT_EQ(m.direction, "the number of the tensor, +1 code");
    EXPECT_EQ(m.expected_scale, "0x3b124925");  // 6 / 2688, rounded
    EXPECT_EQ(m.actual_scale, "0x3b124926");
    EXPECT_EQ(m.input_bits, "");
    EXPECT_EQ(m.open_decision, "");
    EXPECT_EQ(classified(e).scales, 1u);
}

std::uint64_t binding(Evidence e, std::uint32_t scale, const std::vector<std::uint32_t>& elements) {
    e.actual[1].set(0, scale);
    for (std::size_t i = 0; i < elements.size(); ++i) e.actual[0].set(i, elements[i]);
    std::uint64_t count = 0;
    for (const results::Mismatch& m : classified(e).mismatches)
        if (m.open_decision.empty()) count += m.count;
    return count;
}

// "amax / FP8max" is all that this source says of a scale: not its type, not its rounding.
TEST(RealScale, AnElementFollowsTheScaleWhosePrecisionIsOpen) {
    const Evidence e =
        evidence_of("quantize format=fp8-e4m3-1x16 dialect=nexus", f32_codes({448, 1}));
    ASSERT_EQ(e.expected[1].at(0), 0x3F800000u);
    EXPECT_EQ(binding(e, 0x3F800000, {0x7E, 0x38}), 0u);
    EXPECT_EQ(binding(e, 0x40000000, {0x76, 0x30}), 0u);
    EXPECT_EQ(binding(e, 0x40000000, {0x76, 0x31}), 1u);
    EXPECT_EQ(binding(e, 0x3F800000, {0x7E, 0x39}), 1u);
}

// The order of the 16 sums is open; where no order can matter, nothing is.
TEST(RealScale, ARotationIsOpenOnlyWhereTheOrderOfItsSumsCanMatter) {
    const auto rotated = [](std::uint32_t last) {
        CodeTensor input = make_tensor("bf16", 1, 16);
        input.set(0, 0x3F80);
        input.set(15, last);
        return right_answer(
            "quantize format=nvfp4 dialect=te-nvfp4-rht input=bf16 data=random.bits shape=1x16",
            {std::move(input)});
    };
    const auto binding_elements = [](Evidence e) {
        e.actual[0].set(3, e.expected[0].at(3) ^ 1);
        std::uint64_t count = 0;
        for (const results::Mismatch& m : classified(e).mismatches)
            if (m.open_decision.empty()) count += m.count;
        return count;
    };
    EXPECT_EQ(binding_elements(rotated(0x3F80)), 1u);
    EXPECT_EQ(binding_elements(rotated(0x2F80)), 0u);  // 2^-32
}

}  // namespace
}  // namespace mx
