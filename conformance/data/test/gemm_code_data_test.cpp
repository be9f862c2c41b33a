// Data that walk codes must meet them all: what no output shows, no device fails by.
#include <gtest/gtest.h>

#include <set>

#include "conformance/data/gemm_inputs.hpp"

namespace mx {
namespace {

struct Factors {
    Case c;
    std::vector<CodeTensor> inputs;  // A, its scales, B, its scales

    const CodeTensor& codes(bool is_hot) const {
        return inputs[(c.index % 2 == 0) == is_hot ? 0 : 2];
    }
    const CodeTensor& scales_of_hot() const { return inputs[c.index % 2 == 0 ? 1 : 3]; }
    // Where the row of the side with one element a row has it.
    std::int64_t hot(std::int64_t row) const {
        const CodeTensor& a = codes(true);
        std::int64_t k = 0;
        while (k + 1 < a.columns && a.at(static_cast<std::size_t>(row * a.columns + k)) == 0) ++k;
        return k;
    }
};

Factors factors_of(const std::string& fields) {
    const auto c = parse_case("gemm output=f32 " + fields);
    EXPECT_TRUE(c.ok()) << fields << ": " << (c ? "" : c.error().message);
    return {c.value(), make_gemm_inputs(c.value())};
}

// The codes that are one factor of an output.
std::set<std::uint32_t> codes_met(const Factors& factors) {
    std::set<std::uint32_t> met;
    const CodeTensor& walked = factors.codes(false);
    for (std::int64_t row = 0; row < factors.codes(true).rows; ++row)
        for (std::int64_t other = 0; other < walked.rows; ++other)
            met.insert(
                walked.at(static_cast<std::size_t>(other * walked.columns + factors.hot(row))));
    return met;
}

std::set<std::uint32_t> scales_met(const Factors& factors, std::int64_t block) {
    std::set<std::uint32_t> met;
    const CodeTensor& scales = factors.scales_of_hot();
    for (std::int64_t row = 0; row < scales.rows; ++row)
        met.insert(
            scales.at(static_cast<std::size_t>(row * scales.columns + factors.hot(row) / block)));
    return met;
}

TEST(GemmCodeData, EveryFiniteElementIsAFactorOfAnOutput) {
    struct Row {
        const char* format;
        std::size_t finite;
    };
    for (const Row& row : {Row{"mxfp8-e4m3", 254}, Row{"mxfp8-e5m2", 248}, Row{"mxfp6-e3m2", 64},
                           Row{"mxfp6-e2m3", 64}, Row{"mxfp4-e2m1", 16}, Row{"mxint8", 256},
                           Row{"mxint8-symmetric", 255}, Row{"nvfp4", 16}})
        for (const char* index : {"0", "1"}) {
            const std::string name = row.format;
            const Factors factors =
                factors_of("a=" + name + " b=" + name +
                           " shape=40x48x96 data=gemm.element-codes index=" + index);
            EXPECT_EQ(codes_met(factors).size(), row.finite) << name << " index " << index;
        }
}

TEST(GemmCodeData, ScalesReachBothEndsOfTheirCodes) {
    const std::string shape = " shape=32x32x96 data=gemm.scale-codes index=";
    for (const char* index : {"0", "1"}) {
        const auto met = scales_met(factors_of("a=mxfp8-e4m3 b=mxfp8-e4m3" + shape + index), 32);
        EXPECT_TRUE(met.contains(254)) << index;
        EXPECT_FALSE(met.contains(255)) << index;
        const auto small = scales_met(factors_of("a=nvfp4 b=nvfp4" + shape + index), 16);
        EXPECT_TRUE(small.contains(1) && small.contains(126)) << index;
        EXPECT_FALSE(small.contains(0) || small.contains(127)) << index;
    }
    for (const char* index : {"2", "3"}) {
        const auto met = scales_met(factors_of("a=mxfp8-e4m3 b=mxfp8-e4m3" + shape + index), 32);
        EXPECT_TRUE(met.contains(1)) << index;
        EXPECT_FALSE(met.contains(0)) << index;
    }
}

TEST(GemmCodeData, NanScalesStandOverZerosAndOverOnes) {
    const Factors factors =
        factors_of("a=mxfp8-e5m2 b=mxfp8-e4m3 shape=16x16x96 data=gemm.nonfinite");
    const CodeTensor &a = factors.inputs[0], &scales = factors.inputs[1];
    std::set<bool> zeros;
    std::set<std::uint32_t> elements;
    for (std::size_t i = 0; i < a.count(); ++i) elements.insert(a.at(i));
    for (std::int64_t row = 0; row < scales.rows; ++row)
        for (std::int64_t block = 0; block < scales.columns; ++block)
            if (scales.at(static_cast<std::size_t>(row * scales.columns + block)) == 255)
                zeros.insert(a.at(static_cast<std::size_t>(row * a.columns + block * 32)) == 0);
    EXPECT_EQ(zeros.size(), 2u);
    for (const std::uint32_t code : {0x7Fu, 0x7Cu, 0xFCu}) EXPECT_TRUE(elements.contains(code));
}

}  // namespace
}  // namespace mx
