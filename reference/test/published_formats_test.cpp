// Formats of p3109.hpp in both oracles: what gfloat gave for every code, and for every
// code of bf16 and f16 rounded to nearest even, was recorded as digests; and numbers typed by hand.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"
#include "reference/proof/sha256.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/cast_formats.hpp"
#include "reference/spec/p3109.hpp"

namespace mx {
namespace {

struct Recorded {
    std::string name;
    P3109 parameters;
    std::string input, overflow;  // "decode" and "" where every code of the format was decoded
    std::size_t count = 0;        // of codes, or of runs
    std::string digest;
};

// "p3109 8 4 signed bf16 saturate: 256 87aa..." or "p3109 8 4 signed decode: 256 87aa..."
std::vector<Recorded> recorded_formats() {
    std::ifstream file(MX_RECORDED_FORMATS);
    EXPECT_TRUE(file);
    std::vector<Recorded> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        Recorded row;
        std::string sign;
        words >> row.name >> row.parameters.width >> row.parameters.precision >> sign >> row.input;
        if (row.input != "decode:") words >> row.overflow;
        words >> row.count >> row.digest;
        EXPECT_TRUE(words) << line;
        std::string& last = row.input == "decode:" ? row.input : row.overflow;
        EXPECT_TRUE(last.ends_with(':')) << line;
        last.pop_back();
        row.parameters.is_signed = sign == "signed";
        rows.push_back(row);
    }
    return rows;
}

ElementFormat format_of(const Recorded& row) {
    return row.name == "ue5m3" ? formats::ue5m3 : finite_p3109(row.parameters);
}

// A line a code: "nan", or an integer over another without common factors.
std::string value_line(const exact::Value& value) {
    if (value.is_nan()) return "nan\n";
    const std::string fraction = exact::to_fraction(value.magnitude);
    const std::string over = fraction.find('/') == std::string::npos ? "/1\n" : "\n";
    return (value.negative ? "-" : "") + fraction + over;
}

exact::Value exact_of(const fast::Unpacked& unpacked) {
    if (unpacked.kind == fast::Kind::nan) return {exact::Value::Kind::nan, unpacked.negative, 0};
    return {exact::Value::Kind::finite, unpacked.negative,
            exact::Rational(exact::Integer(unpacked.significand)) *
                exact::power_of_two(unpacked.exponent)};
}

void expect_values(const Recorded& row, const std::string& called) {
    const ElementFormat format = format_of(row);
    std::string exact_text, fast_text;
    for (std::uint32_t bits = 0; bits < std::uint32_t{1} << format.code_bits(); ++bits) {
        exact_text += value_line(exact::decode(format, Code{bits}));
        fast_text += value_line(exact_of(fast::unpack(format, Code{bits})));
    }
    EXPECT_EQ(sha256(exact_text), row.digest) << called << ", exact";
    EXPECT_EQ(sha256(fast_text), row.digest) << called << ", fast";
}

// Of a format without sign only codes without sign are asked.
template <typename Function>
void expect_runs(const Recorded& row, const std::string& called, const Function& function,
                 proof::Asked asked) {
    const ElementFormat& input = *find_element_format(row.input);
    const std::vector<exact::Run> runs = row.parameters.is_signed
                                             ? proof::runs_of_codes(input, function, asked)
                                             : proof::runs_of_codes(input, 0, function, asked);
    EXPECT_EQ(runs.size(), row.count) << called;
    EXPECT_EQ(proof::digest_of(runs), row.digest) << called;
}

// The exact oracle is asked at the borders of its runs, fast for every code. Where a binade is one
// code long, and there is a zero, fast does not know which code is even: exact is asked alone.
void expect_casts(const Recorded& row, const std::string& called) {
    const ElementFormat format = format_of(row);
    const ElementFormat& input = *find_element_format(row.input);
    const Overflow overflow = row.overflow == "saturate" ? Overflow::saturate : Overflow::overflow;
    const auto exact_code = [&](std::uint32_t bits) {
        const exact::Value value = exact::decode(input, Code{bits});
        return exact::round(format, Rounding::nearest_even, overflow, value).bits;
    };
    const auto fast_code = [&](std::uint32_t bits) {
        const fast::Unpacked value = fast::unpack(input, Code{bits});
        return fast::round(format, Rounding::nearest_even, overflow, value).bits;
    };
    expect_runs(row, called + ", exact", exact_code, proof::Asked::at_borders);
    if (format.mantissa_bits > 0)
        expect_runs(row, called + ", fast", fast_code, proof::Asked::everywhere);
}

TEST(PublishedFormats, BothOraclesGiveWhatGfloatGave) {
    const std::vector<Recorded> rows = recorded_formats();
    EXPECT_EQ(rows.size(), 305u);
    for (const Recorded& row : rows) {
        const std::string called = row.name + " " + std::to_string(row.parameters.width) + " " +
                                   std::to_string(row.parameters.precision) +
                                   (row.parameters.is_signed ? " signed " : " unsigned ") +
                                   row.input + " " + row.overflow;
        row.input == "decode" ? expect_values(row, called) : expect_casts(row, called);
    }
}

// FNUZ has the codes of two of them.
TEST(PublishedFormats, FnuzIsP3109) {
    EXPECT_EQ(finite_p3109({8, 4, true}), formats::e4m3fnuz);
    EXPECT_EQ(finite_p3109({8, 3, true}), formats::e5m2fnuz);
}

// The table of LLVM's APFloat, and the codes 248 to 254, which one decoder gave as infinities
// (NVIDIA/cutlass#3602).
TEST(PublishedFormats, Ue5m3) {
    const auto value = [](std::uint32_t bits) {
        return exact::to_text(exact::decode(formats::ue5m3, Code{bits}));
    };
    EXPECT_EQ(value(0x00), "0");
    EXPECT_EQ(exact::decode(formats::ue5m3, Code{0x01}).magnitude, exact::power_of_two(-17));
    EXPECT_EQ(exact::decode(formats::ue5m3, Code{0x07}).magnitude, 7 * exact::power_of_two(-17));
    EXPECT_EQ(exact::decode(formats::ue5m3, Code{0x08}).magnitude, exact::power_of_two(-14));
    EXPECT_EQ(value(0x78), "1");
    EXPECT_EQ(value(0xF7), "61440");
    const char* const last_binade[] = {"65536", "73728",  "81920", "90112",
                                       "98304", "106496", "114688"};
    for (std::uint32_t i = 0; i < 7; ++i) EXPECT_EQ(value(0xF8 + i), last_binade[i]);
    EXPECT_EQ(value(0xFF), "nan");
}

}  // namespace
}  // namespace mx
