// Conversion of every bfloat16 and binary16 pattern, and of binary32 at every border, against a
// search through the list of all element values, in doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "device/abi/block_operation.hpp"
#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

// How a conversion is asked for.
struct How {
    const char* rounding = "nearest_even";
    const char* overflow = "saturate";
    const char* subnormals = "honoured";
};

// A value between two magnitude codes of an unbounded grid.
struct Between {
    unsigned below;
    double fraction;  // of the way to the next code
    bool negative;
};

bool goes_away(std::string_view rounding, const Between& between) {
    const double f = between.fraction;
    const bool odd = (between.below & 1) != 0;
    if (rounding == "nearest_even") return f > 0.5 || (f == 0.5 && odd);
    if (rounding == "nearest_away") return f >= 0.5;
    if (rounding == "nearest_toward_zero") return f > 0.5;
    if (rounding == "toward_positive") return f > 0 && !between.negative;
    if (rounding == "toward_negative") return f > 0 && between.negative;
    if (rounding == "away_from_zero") return f > 0;
    if (rounding == "to_odd") return f > 0 && !odd;
    EXPECT_EQ(rounding, "toward_zero");
    return false;
}

// Whether values beyond the last code stay there whatever the overflow mode.
bool stays_finite(std::string_view rounding, bool negative) {
    return rounding == "toward_zero" || rounding == "to_odd" ||
           rounding == (negative ? "toward_positive" : "toward_negative");
}

unsigned expected_code(const ElementFacts& facts, double value, const How& how) {
    if (std::isnan(value)) return facts.nan;
    const bool negative = std::signbit(value);
    const double magnitude = std::fabs(value);
    const unsigned code_max = negative ? facts.code_max_negative : facts.code_max;
    const bool overflows = std::string_view(how.overflow) == "overflow";
    const unsigned past = overflows ? std::max(facts.overflow, code_max) : code_max;
    if (std::isinf(value)) return code_of(facts, past, value);
    unsigned low = 0;
    unsigned high = code_max + 1;  // of which it is not known that it is not above
    while (low + 1 < high) {
        const unsigned middle = (low + high) / 2;
        (magnitude_value(facts, middle) <= magnitude ? low : high) = middle;
    }
    const double from = magnitude_value(facts, low);
    const double step = magnitude_value(facts, low + 1) - from;
    const Between between{low, (magnitude - from) / step, negative};
    const bool beyond = between.fraction >= 1 && !stays_finite(how.rounding, negative);
    unsigned code = low + (beyond || goes_away(how.rounding, between) ? 1 : 0);
    if (code > code_max) code = stays_finite(how.rounding, negative) ? code_max : past;
    const bool subnormal = !is_integer(facts) && code >> facts.mantissa_bits == 0;
    if (std::string_view(how.subnormals) == "outputs_flushed" && subnormal) code = 0;
    return code_of(facts, code, value);
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

mx_operation convert_operation(const char* element, const How& how) {
    mx_operation asked = block_operation("convert", element, "ocp", nullptr);
    asked.block_size = 0;
    asked.rounding = how.rounding;
    asked.overflow = how.overflow;
    asked.subnormals = how.subnormals;
    return asked;
}

void expect_conversion(Tensor& values, const char* element, const How& how) {
    const ElementFacts& facts = facts_of(element);
    std::vector<unsigned> expected;
    for (std::int64_t i = 0; i < values.columns; ++i) {
        double value = value_of(values.type, values.bits(0, i));
        const double normal_from = values.type == "f16" ? 0x1p-14 : 0x1p-126;
        const bool flushed =
            std::string_view(how.subnormals) == "inputs_flushed" && std::fabs(value) < normal_from;
        if (flushed) value = std::copysign(0.0, value);
        expected.push_back(expected_code(facts, value, how));
    }
    const mx_operation operation = convert_operation(element, how);
    on_every_target([&](const std::string& target) {
        Tensor codes(element, 1, values.columns, values.lead, values.gap);
        ASSERT_EQ(run(operation, {values.view()}, {codes.view()}).status, MX_OK);
        for (std::int64_t i = 0; i < values.columns; ++i) {
            ASSERT_EQ(codes.bits(0, i), expected[static_cast<std::size_t>(i)])
                << target << " " << values.type << " to " << element << " " << how.rounding << " "
                << how.overflow << " " << how.subnormals << " bits " << std::hex
                << values.bits(0, i);
        }
    });
}

constexpr const char* all_roundings[] = {"nearest_even",   "nearest_away",    "nearest_toward_zero",
                                         "toward_zero",    "toward_positive", "toward_negative",
                                         "away_from_zero", "to_odd"};

void expect_all_conversions(Tensor& values) {
    for (const ElementFacts& facts : element_facts) {
        for (const char* overflow : {"saturate", "overflow"})
            for (const char* rounding : all_roundings)
                expect_conversion(values, facts.name, {rounding, overflow, "honoured"});
        for (const char* subnormals : {"inputs_flushed", "outputs_flushed"})
            expect_conversion(values, facts.name, {"nearest_even", "saturate", subnormals});
    }
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
    for (const ElementFacts& facts : element_facts) {
        for (unsigned code = 0; code <= facts.code_max_negative; ++code) {
            const double low = magnitude_value(facts, code);
            const double high = magnitude_value(facts, code + 1);
            for (const double value : {low, (low + high) / 2, high}) {
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
    const mx_operation operation = convert_operation("e4m3", {});
    on_every_target([&](const std::string& target) {
        Tensor codes("e4m3", 77, 5, 1, 2);
        mx_tensor transposed = codes.view();
        std::swap(transposed.rows, transposed.columns);
        std::swap(transposed.row_stride, transposed.column_stride);
        ASSERT_EQ(run(operation, {values.view()}, {transposed}).status, MX_OK);
        for (std::int64_t row = 0; row < 5; ++row)
            for (std::int64_t column = 0; column < 77; ++column) {
                const double value = value_of("f32", values.bits(row, column));
                ASSERT_EQ(codes.bits(column, row), expected_code(facts_of("e4m3"), value, {}))
                    << target;
            }
    });
}

// Of a value 5/8 of the way from one code to the next, the share of random words that carry: all of
// them are asked where there are 256, some where there are more.
struct StochasticCase {
    const char* rounding;
    std::uint32_t first_carry;  // the least word that carries
    std::uint32_t last;
};

TEST(Convert, StochasticCarriesFromTheFirstDigits) {
    const StochasticCase cases[] = {{"stochastic8", 96, 0xFF},
                                    {"stochastic16", 96u << 8, 0xFFFF},
                                    {"stochastic32", 96u << 24, 0xFFFFFFFF}};
    for (const StochasticCase& each : cases) {
        const std::vector<std::uint32_t> words = {0, each.first_carry - 1, each.first_carry,
                                                  each.last};
        // E2M1: 4 and 6 are neighbours, 1.0 is a value, 6 the largest, 100 beyond everything; and
        // -4.5 with a digit that 8 and 16 bits do not see.
        for (const auto& [value, codes] :
             std::vector<std::pair<float, std::vector<unsigned>>>{{5.25f, {6, 6, 7, 7}},
                                                                  {-5.25f, {14, 14, 15, 15}},
                                                                  {1.0f, {2, 2, 2, 2}},
                                                                  {100.0f, {7, 7, 7, 7}},
                                                                  {0.0f, {0, 0, 0, 0}}}) {
            Tensor values("f32", 1, 4);
            values.fill([bits = bits_of(value)] { return bits; });
            Tensor random("u32", 1, 4);
            std::size_t next = 0;
            random.fill([&] { return words[next++]; });
            Tensor out("e2m1", 1, 4);
            const mx_operation operation =
                convert_operation("e2m1", {each.rounding, "saturate", "honoured"});
            ASSERT_EQ(run(operation, {values.view(), random.view()}, {out.view()}).status, MX_OK);
            for (std::int64_t i = 0; i < 4; ++i)
                EXPECT_EQ(out.bits(0, i), codes[static_cast<std::size_t>(i)])
                    << each.rounding << " " << value << " word "
                    << words[static_cast<std::size_t>(i)];
        }
    }
}

// Digits beyond the last that count never matter: a distance of 2^-9 never carries with 8 bits.
TEST(Convert, StochasticCutsDigits) {
    Tensor values("f32", 1, 1);
    values.set_bits(0, 0, bits_of(4.0f + 2 * 0x1p-9f));
    Tensor random("u32", 1, 1);
    random.set_bits(0, 0, 0xFFFFFFFF);
    Tensor out("e2m1", 1, 1);
    for (const auto& [rounding, code] :
         {std::pair{"stochastic8", 6u}, {"stochastic16", 7u}, {"stochastic32", 7u}}) {
        const mx_operation operation =
            convert_operation("e2m1", {rounding, "saturate", "honoured"});
        ASSERT_EQ(run(operation, {values.view(), random.view()}, {out.view()}).status, MX_OK);
        EXPECT_EQ(out.bits(0, 0), code) << rounding;
    }
}

// PTX cvt.rs of four values: the low half of a word serves the first two, the high half the others.
TEST(Convert, StochasticX4SharesWords) {
    Tensor values("f32", 1, 6);
    values.fill([] { return bits_of(17.0f); });  // half way between 16 and 18
    Tensor random("u32", 1, 2);
    random.set_bits(0, 0, 0x80007FFF);
    random.set_bits(0, 1, 0x00008000);
    Tensor out("e4m3", 1, 6);
    const mx_operation operation =
        convert_operation("e4m3", {"stochastic-x4", "saturate", "honoured"});
    ASSERT_EQ(run(operation, {values.view(), random.view()}, {out.view()}).status, MX_OK);
    const unsigned expected[] = {0x58, 0x58, 0x59, 0x59, 0x59, 0x59};
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(out.bits(0, i), expected[i]) << i;
}

TEST(Convert, NanInFormatsWithoutNanIsTheDialects) {
    struct Case {
        const char* element;
        const char* dialect;
        unsigned code;
    };
    for (const Case& each : {Case{"e2m1", "ocp", 7},
                             {"e2m1", "nv", 7},
                             {"e2m1", "torchao-ceil", 3},
                             {"e2m3", "torchao-rceil", 0x0C},
                             {"e3m2", "torchao-floor", 0x0E},
                             {"e3m2", "nv", 0x1F},
                             {"int8", "ocp", 0x7F},
                             {"e5m2", "nv", 0x7F}}) {
        for (const std::uint32_t nan : {0x7FC00000u, 0xFFC00000u, 0x7F800001u}) {
            Tensor values("f32", 1, 64);
            values.fill([nan] { return nan; });
            mx_operation operation = convert_operation(each.element, {});
            operation.dialect = each.dialect;
            on_every_target([&](const std::string& target) {
                Tensor out(each.element, 1, 64);
                ASSERT_EQ(run(operation, {values.view()}, {out.view()}).status, MX_OK);
                for (std::int64_t i = 0; i < 64; ++i)
                    ASSERT_EQ(out.bits(0, i), each.code) << target << each.element << each.dialect;
            });
        }
    }
}

TEST(Convert, CastsOfAnyValueToScales) {
    Tensor values("bf16", 1, 4);
    const std::uint32_t patterns[] = {0xBFC0, 0x8000, 0x7F80, 0xFFC0};  // -1.5, -0, Inf, -NaN
    for (std::int64_t i = 0; i < 4; ++i) values.set_bits(0, i, patterns[i]);
    for (const auto& [dialect, bytes] : {std::pair{"ocp", std::vector<unsigned>{127, 0, 255, 255}},
                                         {"nv", std::vector<unsigned>{128, 0, 254, 255}}}) {
        mx_operation operation = convert_operation("e8m0", {});
        operation.dialect = dialect;
        Tensor out("e8m0", 1, 4);
        ASSERT_EQ(run(operation, {values.view()}, {out.view()}).status, MX_OK);
        for (std::int64_t i = 0; i < 4; ++i)
            EXPECT_EQ(out.bits(0, i), bytes[static_cast<std::size_t>(i)]) << dialect << i;
    }
}

}  // namespace
}  // namespace mx::cpu::test
