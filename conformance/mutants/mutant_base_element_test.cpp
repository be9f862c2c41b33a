// The unmutated base against the value tables of OCP MX v1.0 section 5.3 and against the roundings
// as device/abi/mx_device.h words them, worked by hand.
#include <utility>

#include "conformance/mutants/mutant_base.hpp"

namespace mx::mutants {
namespace {

constexpr Question e4m3_element{"e4m3", "ocp", "f32"};
constexpr Question e5m2_of_f16{"e5m2", "ocp", "f16"};

// A code and the value that the specification prints for it.
struct Printed {
    const char* format;
    std::uint32_t code;
    float value;
};

TEST_F(Base, ReadsAndWritesTheValuesThatTheSpecificationPrints) {
    const Printed table[] = {
        {"mxfp6-e3m2", 0x1F, 28},
        {"mxfp6-e3m2", 0x3F, -28},
        {"mxfp6-e3m2", 0x04, 0.25f},
        {"mxfp6-e3m2", 0x03, 0.1875f},
        {"mxfp6-e3m2", 0x01, 0.0625f},
        {"mxfp6-e2m3", 0x1F, 7.5f},
        {"mxfp6-e2m3", 0x08, 1},
        {"mxfp6-e2m3", 0x07, 0.875f},
        {"mxfp6-e2m3", 0x21, -0.125f},
        {"mxfp4-e2m1", 0x00, 0},
        {"mxfp4-e2m1", 0x01, 0.5f},
        {"mxfp4-e2m1", 0x02, 1},
        {"mxfp4-e2m1", 0x03, 1.5f},
        {"mxfp4-e2m1", 0x04, 2},
        {"mxfp4-e2m1", 0x05, 3},
        {"mxfp4-e2m1", 0x06, 4},
        {"mxfp4-e2m1", 0x07, 6},
        {"mxfp4-e2m1", 0x0F, -6},
        {"mxint8", 0x7F, 1.984375f},
        {"mxint8", 0x01, 0.015625f},
        {"mxint8", 0xC0, -1},
        {"mxint8", 0x80, -2},
        {"mxint8-symmetric", 0x81, -1.984375f},
    };
    for (const Printed& row : table) {
        SCOPED_TRACE(::testing::Message() << row.format << " code " << row.code);
        const Question question{row.format, "ocp", "f32"};
        const Probe reading = dequantize_row("value", question, {row.code}, {127});
        EXPECT_EQ(outputs_of(base_, reading).first, bits_of({row.value}));
        const bool is_integer = std::string_view(row.format).starts_with("mxint8");
        const Question element{row.format + (is_integer ? 2 : 6), "ocp", "f32"};
        EXPECT_EQ(converted(element, "overflow", bits_of({row.value})), Codes{row.code});
    }
}

// Negative zero, NaN, overflow and infinity where the format has none of them.
TEST_F(Base, HasTheElementsThatThereAre) {
    const Codes values{bits_of({-0.0f})[0], f32_nan, bits_of({1000})[0], bits_of({-1000})[0],
                       f32_infinity};
    for (const char* overflow : {"saturate", "overflow"}) {
        EXPECT_EQ(converted({"e3m2", "nv", "f32"}, overflow, values),
                  (Codes{0x20, 0x1F, 0x1F, 0x3F, 0x1F}));
        EXPECT_EQ(converted({"e2m1", "nv", "f32"}, overflow, values), (Codes{8, 7, 7, 15, 7}));
        EXPECT_EQ(converted({"int8", "nv", "f32"}, overflow, values),
                  (Codes{0, 0x7F, 0x7F, 0x80, 0x7F}));
        EXPECT_EQ(converted({"int8-symmetric", "nv", "f32"}, overflow, values),
                  (Codes{0, 0x7F, 0x7F, 0x81, 0x7F}));
    }
}

TEST_F(Base, ScalesTheOtherFormats) {
    const Question e2m1{"mxfp4-e2m1", "ocp", "f32"};
    expect_block(e2m1, bits_of({6, 2.5f, -5}), 127, {7, 4, 14});  // ties: 2.5 to 2, 5 to 4
    expect_block(e2m1, bits_of({4}), 127, {6});
    expect_block({"mxfp4-e2m1", "nv", "f32"}, bits_of({6.5f}), 128, {5});  // 3.25
    expect_block({"mxfp6-e3m2", "ocp", "f32"}, bits_of({28, -0.0625f}), 127, {0x1F, 0x21});
    expect_block({"mxfp6-e2m3", "nv", "f32"}, bits_of({7.5f, 0.125f}), 127, {0x1F, 1});
    expect_block({"mxint8", "ocp", "f32"}, bits_of({1.5f, -1.999f}), 127, {0x60, 0x80});
    expect_block({"mxint8-symmetric", "ocp", "f32"}, bits_of({-1.999f, 1.999f}), 127, {0x81, 0x7F});
    expect_block({"mxfp4-e2m1", "nv", "f32"}, {bits_of({6})[0], f32_nan}, 127, {7, 7});
}

// E4M3 between 16 (0x58) and 20 (0x5A): 17 and 19 are ties, 18 is an odd code.
TEST_F(Base, RoundsInEveryDirection) {
    const Codes values = bits_of({17, 19, 16.5f, -17, -19, -16.5f});
    const std::pair<const char*, Codes> table[] = {
        {"nearest_even", {0x58, 0x5A, 0x58, 0xD8, 0xDA, 0xD8}},
        {"nearest_away", {0x59, 0x5A, 0x58, 0xD9, 0xDA, 0xD8}},
        {"nearest_toward_zero", {0x58, 0x59, 0x58, 0xD8, 0xD9, 0xD8}},
        {"toward_zero", {0x58, 0x59, 0x58, 0xD8, 0xD9, 0xD8}},
        {"toward_positive", {0x59, 0x5A, 0x59, 0xD8, 0xD9, 0xD8}},
        {"toward_negative", {0x58, 0x59, 0x58, 0xD9, 0xDA, 0xD9}},
        {"away_from_zero", {0x59, 0x5A, 0x59, 0xD9, 0xDA, 0xD9}},
        {"to_odd", {0x59, 0x59, 0x59, 0xD9, 0xD9, 0xD9}},
    };
    for (const auto& [rounding, codes] : table)
        EXPECT_EQ(rounded_codes(rounding, e4m3_element, values), codes) << rounding;
}

// A direction that cannot leave the range stops at its end; infinity always overflows.
TEST_F(Base, OverflowsOnlyWhereTheDirectionLeads) {
    const Codes values{bits_of({1000})[0], bits_of({-1000})[0], f32_infinity};
    const std::pair<const char*, Codes> table[] = {
        {"toward_zero", {0x7E, 0xFE, 0x7F}},     {"to_odd", {0x7E, 0xFE, 0x7F}},
        {"toward_positive", {0x7F, 0xFE, 0x7F}}, {"toward_negative", {0x7E, 0xFF, 0x7F}},
        {"away_from_zero", {0x7F, 0xFF, 0x7F}},
    };
    for (const auto& [rounding, codes] : table)
        EXPECT_EQ(rounded_codes(rounding, e4m3_element, values), codes) << rounding;
}

// 17 lies half way: digits 1000..., so that the random bits 0111... do not carry and 1000... do.
TEST_F(Base, RoundsByTheRandomBits) {
    const Codes seventeens = bits_of({17, 17, -17, 16});
    EXPECT_EQ(rounded_codes("stochastic8", e4m3_element, seventeens, {127, 128, 0xFFF80, 255}),
              (Codes{0x58, 0x59, 0xD9, 0x58}));
    EXPECT_EQ(rounded_codes("stochastic16", e4m3_element, seventeens, {0x7FFF, 0x8000, 0x18000, 0}),
              (Codes{0x58, 0x59, 0xD9, 0x58}));
    EXPECT_EQ(
        rounded_codes("stochastic32", e4m3_element, bits_of({17, 17}), {0x7FFFFFFF, 0x80000000}),
        (Codes{0x58, 0x59}));
    // Digits beyond the eighth never matter.
    EXPECT_EQ(rounded_codes("stochastic8", e4m3_element, bits_of({17.0078f}), {127}), Codes{0x58});
    // One word for four values of a row: the low half for two, then the high half.
    const Codes five = bits_of({17, 17, 17, 17, 17});
    EXPECT_EQ(rounded_codes("stochastic-x4", e4m3_element, five, {0x80007FFF, 0x00008000}),
              (Codes{0x58, 0x58, 0x59, 0x59, 0x59}));
}

// 2^-15 is subnormal in f16 and in e5m2; 0x1.fp-7 is below the smallest normal e4m3, 2^-6, and
// becomes it.
TEST_F(Base, FlushesSubnormals) {
    Probe inputs = convert_row("flushed", e5m2_of_f16, "saturate", {0x0200, 0x8200, 0x0400});
    EXPECT_EQ(outputs_of(base_, inputs).first, (Codes{0x02, 0x82, 0x04}));
    inputs.operation.subnormals = "inputs_flushed";
    EXPECT_EQ(outputs_of(base_, inputs).first, (Codes{0x00, 0x80, 0x04}));
    Probe results =
        convert_row("flushed", e4m3_element, "saturate", bits_of({0x1p-8f, -0x1p-8f, 0x1.fp-7f}));
    EXPECT_EQ(outputs_of(base_, results).first, (Codes{0x02, 0x82, 0x08}));
    results.operation.subnormals = "outputs_flushed";
    EXPECT_EQ(outputs_of(base_, results).first, (Codes{0x00, 0x80, 0x08}));
}

// ocp rounds down, nv up; 2^-127 is byte 0 and NaN is 255. Neither looks at the sign.
TEST_F(Base, CastsToScales) {
    const Codes values{bits_of({1})[0],
                       bits_of({1.5f})[0],
                       bits_of({-3})[0],
                       0x00400000,
                       bits_of({0x1p-130f})[0],
                       f32_nan,
                       f32_infinity,
                       0};
    const auto cast = [&](const char* dialect) {
        return outputs_of(base_, convert_row("cast", {"e8m0", dialect, "f32"}, nullptr, values))
            .first;
    };
    EXPECT_EQ(cast("ocp"), (Codes{127, 127, 128, 0, 0, 255, 255, 0}));
    EXPECT_EQ(cast("nv"), (Codes{127, 128, 129, 0, 0, 255, 254, 0}));
}

}  // namespace
}  // namespace mx::mutants
