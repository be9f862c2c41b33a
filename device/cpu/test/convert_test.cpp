// Conversion of every bfloat16 and binary16 pattern, and of binary32 at every border, against a
// search through the list of all element values, in doubles.
#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

// Non-negative finite values by code, and one more: what the next code would be worth.
std::vector<double> element_list(std::string_view element) {
    const int mantissa_bits = element == "e4m3" ? 3 : 2;
    const int bias = element == "e4m3" ? 7 : 15;
    const unsigned code_max = element == "e4m3" ? 0x7E : 0x7B;
    std::vector<double> list;
    for (unsigned code = 0; code <= code_max + 1; ++code) {
        const int field = static_cast<int>(code >> mantissa_bits);
        const double fraction = std::ldexp(code & ((1u << mantissa_bits) - 1), -mantissa_bits);
        list.push_back(field == 0 ? std::ldexp(fraction, 1 - bias)
                                  : std::ldexp(1 + fraction, field - bias));
    }
    return list;
}

// The nearest entry, ties to the even code.
unsigned nearest(const std::vector<double>& list, double magnitude) {
    if (magnitude >= list.back()) return static_cast<unsigned>(list.size() - 1);
    unsigned code = 0;
    while (list[code + 1] <= magnitude) ++code;
    const double below = magnitude - list[code];
    const double above = list[code + 1] - magnitude;
    if (below == above) return code + (code & 1);
    return below < above ? code : code + 1;
}

double value_of(std::string_view type, std::uint32_t bits) {
    if (type != "f16") return double{float_of(type == "f32" ? bits : bits << 16)};
    const int field = static_cast<int>(bits >> 10 & 31);
    const double mantissa = bits & 0x3FF;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (field == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    if (field == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, field - 25);
}

unsigned expected_code(const std::vector<double>& list, double value, std::string_view overflow) {
    if (std::isnan(value)) return 0x7F;
    const unsigned sign = std::signbit(value) ? 0x80 : 0;
    const unsigned code = nearest(list, std::fabs(value));
    const unsigned code_max = static_cast<unsigned>(list.size() - 2);
    return sign | (overflow == "saturate" && code > code_max ? code_max : code);
}

void expect_conversion(Tensor& values, const char* element, const char* overflow) {
    const std::vector<double> list = element_list(element);
    std::vector<unsigned> expected;
    for (std::int64_t i = 0; i < values.columns; ++i) {
        expected.push_back(expected_code(list, value_of(values.type, values.bits(0, i)), overflow));
    }
    const mx_operation operation{sizeof(mx_operation), "convert", element, nullptr,
                                 nullptr,              "nearest_even", overflow};
    on_every_target([&](const std::string& target) {
        Tensor codes(element, 1, values.columns, values.lead, values.gap);
        ASSERT_EQ(run(operation, {values.view()}, {codes.view()}).status, MX_OK);
        for (std::int64_t i = 0; i < values.columns; ++i) {
            ASSERT_EQ(codes.bits(0, i), expected[static_cast<std::size_t>(i)])
                << target << " " << values.type << " to " << element << " " << overflow
                << " bits " << std::hex << values.bits(0, i);
        }
    });
}

void expect_all_conversions(Tensor& values) {
    for (const char* element : {"e4m3", "e5m2"})
        for (const char* overflow : {"saturate", "overflow"})
            expect_conversion(values, element, overflow);
}

TEST(Convert, EveryHalfPattern) {
    for (const char* type : {"bf16", "f16"}) {
        Tensor values(type, 1, 65536, 1, 0);
        std::uint32_t next = 0;
        values.fill([&] { return next++; });
        expect_all_conversions(values);
    }
}

// Every element value and every midpoint, with their neighbours, of both signs.
TEST(Convert, EveryBorderOfBinary32) {
    std::vector<std::uint32_t> patterns;
    for (const char* element : {"e4m3", "e5m2"}) {
        const std::vector<double> list = element_list(element);
        for (std::size_t i = 0; i + 1 < list.size(); ++i) {
            for (const double value : {list[i], (list[i] + list[i + 1]) / 2, list[i + 1]}) {
                const std::uint32_t bits = bits_of(static_cast<float>(value));
                for (std::uint32_t near = bits - 2; near != bits + 3; ++near) {
                    patterns.push_back(near & 0x7FFFFFFFu);
                    patterns.push_back(near | 0x80000000u);
                }
            }
        }
    }
    Tensor values("f32", 1, static_cast<std::int64_t>(patterns.size()));
    std::size_t next = 0;
    values.fill([&] { return patterns[next++]; });
    expect_all_conversions(values);
}

TEST(Convert, RandomBitsOfBinary32) {
    Tensor values("f32", 1, 100003, 3, 0);
    values.fill(random_bits(7));
    expect_all_conversions(values);
}

TEST(Convert, StridedLines) {
    Tensor values("f32", 5, 77, 1, 9);
    values.fill(random_bits(8));
    const mx_operation operation{sizeof(mx_operation), "convert", "e4m3", "ocp",
                                 nullptr,              "nearest_even", "saturate"};
    on_every_target([&](const std::string& target) {
        Tensor codes("e4m3", 77, 5, 1, 2);
        mx_tensor transposed = codes.view();
        std::swap(transposed.rows, transposed.columns);
        std::swap(transposed.row_stride, transposed.column_stride);
        ASSERT_EQ(run(operation, {values.view()}, {transposed}).status, MX_OK);
        const std::vector<double> list = element_list("e4m3");
        for (std::int64_t row = 0; row < 5; ++row)
            for (std::int64_t column = 0; column < 77; ++column) {
                const double value = value_of("f32", values.bits(row, column));
                ASSERT_EQ(codes.bits(column, row), expected_code(list, value, "saturate"))
                    << target;
            }
    });
}

}  // namespace
}  // namespace mx::cpu::test
