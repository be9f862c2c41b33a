// Dequantizing every element code under every scale to every type, against doubles; and large,
// strided and partial outputs against the scalar arithmetic.
#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

// With the Inf and NaN of FP8.
double value_of_code(std::uint32_t code, const ElementFacts& facts) {
    const std::uint32_t magnitude = code & (facts.sign - 1);
    const bool has_nan = facts.sign == 0x80 && !is_integer(facts);
    const double value = element_value(facts, code);
    if (!has_nan || magnitude <= facts.code_max) return value;
    const bool infinite = magnitude == facts.overflow && facts.overflow != facts.nan;
    return infinite ? std::copysign(HUGE_VAL, value) : std::nan("");
}

struct Precision {
    int mantissa_bits;
    int exponent_min;
    int exponent_max;
};

Precision precision_of(std::string_view type) {
    if (type == "f32") return {23, -126, 127};
    return type == "bf16" ? Precision{7, -126, 127} : Precision{10, -14, 15};
}

// The bits of a finite or infinite value in a type, to nearest even.
std::uint32_t bits_in(std::string_view type, double value) {
    const Precision p = precision_of(type);
    const std::uint32_t sign_position = type == "f32" ? 31 : 15;
    const std::uint32_t sign = (std::signbit(value) ? 1u : 0u) << sign_position;
    const auto all_ones = static_cast<std::uint32_t>(p.exponent_max - p.exponent_min + 2);
    const std::uint32_t infinity = all_ones << p.mantissa_bits;
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return sign | infinity;
    const int binade =
        magnitude == 0 ? p.exponent_min : std::max(std::ilogb(magnitude), p.exponent_min);
    const double units = std::nearbyint(std::ldexp(magnitude, p.mantissa_bits - binade));
    const auto above = static_cast<std::uint32_t>(binade - p.exponent_min);
    const std::uint64_t code =
        static_cast<std::uint64_t>(units) + (std::uint64_t{above} << p.mantissa_bits);
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(code, infinity));
}

bool is_nan_in(std::string_view type, std::uint32_t bits) {
    const std::uint32_t magnitude = type == "f32" ? bits & 0x7FFFFFFFu : bits & 0x7FFFu;
    return magnitude > bits_in(type, HUGE_VAL);
}

TEST(Dequantize, EveryCodeUnderEveryScaleInEveryType) {
    for (const char* format : format_names) {
        const std::string element = element_of(format);
        const ElementFacts& facts = facts_of(element);
        Tensor codes(element, 256, 256);
        Tensor scales("e8m0", 256, 8);
        std::uint32_t next = 0;
        codes.fill([&] { return next++ & (2 * facts.sign - 1); });
        next = 0;
        scales.fill([&] { return next++ >> 3; });
        for (const char* type : value_type_names) {
            on_every_target([&](const std::string& target) {
                const auto operation = operation_of("dequantize", format, nullptr, "row");
                Tensor values = dequantize(codes, scales, operation, type);
                for (std::int64_t row = 0; row < 256; ++row) {
                    for (std::int64_t column = 0; column < 256; ++column) {
                        const std::uint32_t actual = values.bits(row, column);
                        const double exact =
                            std::ldexp(value_of_code(codes.bits(row, column), facts),
                                       static_cast<int>(row) - 127);
                        const std::string where = target + " " + format + " " + type + " scale " +
                                                  std::to_string(row) + " code " +
                                                  std::to_string(column);
                        if (row == 255 || std::isnan(exact)) {
                            ASSERT_TRUE(is_nan_in(type, actual)) << where;
                        } else {
                            ASSERT_EQ(actual, bits_in(type, exact)) << where;
                        }
                    }
                }
            });
        }
    }
}

bool same_values(Tensor& a, Tensor& b) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (std::int64_t column = 0; column < a.columns; ++column) {
            const std::uint32_t left = a.bits(row, column);
            const std::uint32_t right = b.bits(row, column);
            if (left == right) continue;
            if (!is_nan_in(a.type, left) || !is_nan_in(a.type, right)) return false;
        }
    }
    return true;
}

struct Shape {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t lead;
    std::int64_t gap;
};

void expect_targets_agree(const Shape& shape, const mx_operation& operation, const char* type) {
    const bool row = std::string_view(operation.axis) == "row";
    const std::string element = element_of(operation.format);
    Tensor codes(element, shape.rows, shape.columns, shape.lead, shape.gap);
    Tensor scales("e8m0", row ? shape.rows : (shape.rows + 31) / 32,
                  row ? (shape.columns + 31) / 32 : shape.columns, shape.lead, shape.gap);
    const std::uint32_t mask = 2 * facts_of(element).sign - 1;
    codes.fill([next = random_bits(71), mask] { return next() & mask; });
    scales.fill(random_bits(72));
    std::vector<Tensor> outcomes;
    on_every_target([&](const std::string&) {
        outcomes.push_back(dequantize(codes, scales, operation, type));
    });
    for (Tensor& outcome : outcomes) {
        ASSERT_TRUE(same_values(outcome, outcomes.back()))
            << operation.axis << " " << type << " " << shape.rows << "x" << shape.columns;
        // What lies around the values was not written.
        for (std::int64_t i = 0; i < shape.lead; ++i)
            ASSERT_EQ(outcome.bytes[static_cast<std::size_t>(i)], 0xA5);
        ASSERT_EQ(outcome.bytes.back(), 0xA5);
        if (shape.gap > 0) {
            ASSERT_EQ(*outcome.at(0, shape.columns), 0xA5);
        }
    }
}

TEST(Dequantize, TailsAxesAndStrides) {
    for (std::int64_t tail = 1; tail < 32; ++tail) {
        for (const char* type : value_type_names) {
            for (const char* axis : {"row", "col"}) {
                for (const char* format : format_names) {
                    const auto operation = operation_of("dequantize", format, "nv", axis);
                    expect_targets_agree({5, 64 + tail, tail % 3, tail % 4}, operation, type);
                    expect_targets_agree({32 + tail, 33, tail % 3, tail % 4}, operation, type);
                }
            }
        }
    }
}

TEST(Dequantize, LargeOutputsAtAnyAddress) {
    for (const std::int64_t lead : {0, 1, 5}) {
        expect_targets_agree({1, (std::int64_t{2} << 20) + 95, lead, 0},
                             operation_of("dequantize", "mxfp8-e4m3", nullptr, "row"), "f32");
    }
    for (const char* format : format_names)
        expect_targets_agree({1, (std::int64_t{4} << 20) + 95, 3, 0},
                             operation_of("dequantize", format, nullptr, "row"), "bf16");
}

// Every block of a tile grid, through the scales of the rows that it covers.
TEST(Dequantize, TilesAreRowsThatShareScales) {
    Tensor codes("e2m3", 70, 75);
    codes.fill([next = random_bits(91)] { return next() & 0x3F; });
    Tensor tiles("e8m0", 5, 5);
    tiles.fill([next = random_bits(92)] { return 100 + next() % 50; });
    Tensor lanes("e8m0", 70, 5);
    for (std::int64_t row = 0; row < 70; ++row)
        for (std::int64_t block = 0; block < 5; ++block)
            lanes.set_bits(row, block, tiles.bits(row / 16, block));
    mx_operation operation = operation_of("dequantize", "mxfp6-e2m3", "ocp", "tile");
    operation.block_size = 16;
    Tensor actual = dequantize(codes, tiles, operation, "f32");
    operation.axis = "row";
    Tensor expected = dequantize(codes, lanes, operation, "f32");
    EXPECT_EQ(actual.bytes, expected.bytes);
}

TEST(Dequantize, GivesBackWhatQuantizeTook) {
    Tensor values("f32", 4, 128);
    std::uint32_t next = 0;
    values.fill([&] { return bits_of(static_cast<float>(next++ % 16) - 8.0f); });
    on_every_target([&](const std::string& target) {
        Quantized out = quantize(values, operation_of("quantize", "mxfp8-e4m3", "ocp", "row"));
        Tensor back = dequantize(out.codes, out.scales,
                                 operation_of("dequantize", "mxfp8-e4m3", "ocp", "row"), "f32");
        EXPECT_TRUE(same_values(values, back)) << target;
    });
}

}  // namespace
}  // namespace mx::cpu::test
