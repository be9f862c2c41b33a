// Histograms as runs: nothing is lost, unless there are too many runs; then what holds least.
#include "conformance/results/histogram.hpp"

#include <gtest/gtest.h>

#include "conformance/results/record_json.hpp"
#include "conformance/results/test/sample_run.hpp"

namespace mx::results::test {
namespace {

TEST(Histogram, ThereAndBack) {
    const std::vector<std::uint64_t> counts{0, 2, 2, 2, 1, 0, 1, 7};
    const Histogram runs = histogram_of(counts, 8);
    EXPECT_EQ(runs, (Histogram{{1, 3, 2}, {4, 1, 1}, {6, 1, 1}, {7, 1, 7}}));
    EXPECT_EQ(total_of(runs), 15u);
    std::vector<std::uint64_t> again(counts.size());
    add_to(again, runs);
    EXPECT_EQ(again, counts);
    EXPECT_TRUE(histogram_of({}, 8).empty());
}

TEST(Histogram, OfTooManyRunsThoseThatHoldMostAreKept) {
    const std::vector<std::uint64_t> counts{1, 5, 5, 2, 0, 7, 0, 1};
    EXPECT_EQ(histogram_of(counts, 2), (Histogram{{1, 2, 5}, {5, 1, 7}}));
}

TEST(Histogram, WhatLiesBeyondTheEndIsLeftOut) {
    std::vector<std::uint64_t> counts(4);
    add_to(counts, {{2, 65534, 3}});
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{0, 0, 3, 3}));
}

TEST(Histogram, ALineWithRunsThatCannotBeIsRefused) {
    const std::string line = line_of(sample_case(0, Verdict::fail));
    const std::string good = "[16256,1,2,65535,1,1]";
    ASSERT_NE(line.find(good), std::string::npos);
    for (const char* wrong : {"[16256,1]", "[16256,0,2]", "[65536,1,2]", "[65535,2,1]",
                              "[1,18446744073709551615,1]", "[5,2,1,6,1,1]", "[5,1,1,4,1,1]"}) {
        std::string broken = line;
        broken.replace(broken.find(good), good.size(), wrong);
        const auto read = record_of(broken);
        ASSERT_FALSE(read.ok()) << wrong;
        EXPECT_NE(read.error().message.find("input_cells"), std::string::npos) << wrong;
    }
}

}  // namespace
}  // namespace mx::results::test
