// Tests of two benchmarks side by side: when a row is faster, slower, the same or uncertain, and
// when there is nothing to compare.
#include "reports/model/throughput.hpp"

#include <gtest/gtest.h>

namespace mx::reports {
namespace {

using results::Bench;
using results::BenchRow;

// Its spread and the distance of its quarters are shares of the median.
BenchRow row(const std::string& what, double seconds, double spread = 0.01, double noise = 0) {
    BenchRow row;
    row.what = what;
    row.shape = "64x4096";
    row.types = "f32";
    row.cache = "cold";
    row.samples = 20;
    row.seconds = seconds;
    row.low = seconds * (1 - spread);
    row.high = seconds * (1 + spread);
    row.batch = 1;
    row.quarters = {seconds, seconds, seconds, seconds * (1 + noise)};
    return row;
}

Bench bench(const std::vector<BenchRow>& rows) {
    Bench bench;
    bench.header.data = "realistic";
    bench.rows = rows;
    return bench;
}

Speed speed_of(const BenchRow& first, const BenchRow& second) {
    return compare(bench({first}), bench({second})).value().rows.front().speed;
}

TEST(Throughput, ARowIsFasterOnlyBeyondTheNoise) {
    EXPECT_EQ(speed_of(row("a", 1), row("a", 1)), Speed::same);
    EXPECT_EQ(speed_of(row("a", 1), row("a", 1.004)), Speed::same);
    EXPECT_EQ(speed_of(row("a", 1), row("a", 1.1)), Speed::slower);
    EXPECT_EQ(speed_of(row("a", 1), row("a", 0.9)), Speed::faster);
    // Between one and two floors, or with spreads that meet.
    EXPECT_EQ(speed_of(row("a", 1, 0.001), row("a", 1.008, 0.001)), Speed::uncertain);
    EXPECT_EQ(speed_of(row("a", 1, 0.2), row("a", 1.1, 0.2)), Speed::uncertain);
    // The noise of either run is the floor.
    EXPECT_EQ(speed_of(row("a", 1, 0.01, 0.12), row("a", 1.1)), Speed::same);
    EXPECT_EQ(speed_of(row("a", 1), row("a", 1.1, 0.01, 0.12)), Speed::same);
    EXPECT_EQ(speed_of(row("a", 1, 0.01, 0.08), row("a", 1.1)), Speed::uncertain);
}

TEST(Throughput, ANoisyRowDoesNotHideTheOthers) {
    const auto compared = compare(bench({row("a", 1), row("b", 1, 0.01, 0.5), row("c", 1)}),
                                  bench({row("a", 1.1), row("b", 1.1), row("c", 1)}));
    EXPECT_NEAR(compared.value().floor, 0.005, 1e-12);
    EXPECT_EQ(compared.value().rows[0].speed, Speed::slower);
    EXPECT_EQ(compared.value().rows[1].speed, Speed::same);
    EXPECT_NEAR(compared.value().rows[1].floor, 0.5, 1e-12);
    // Where most rows are noisy, so is the run.
    const auto noisy = compare(bench({row("a", 1), row("b", 1, 0.01, 0.2), row("c", 1, 0.01, 0.2)}),
                               bench({row("a", 1.1)}));
    EXPECT_NEAR(noisy.value().floor, 0.2, 1e-12);
    EXPECT_EQ(noisy.value().rows[0].speed, Speed::same);
    EXPECT_NEAR(compare(bench({}), bench({})).value().floor, 0.005, 1e-12);
}

// As between two runs of one GPU, the second of them warmer.
TEST(Throughput, WhatTheRoofMovedByIsNoise) {
    const Bench first = bench({row("plain gemm", 1), row("gemm", 3), row("copy", 1), row("a", 2)});
    Bench second =
        bench({row("plain gemm", 1.08), row("gemm", 3.06), row("copy", 1), row("a", 2.2)});
    const auto speeds = [&] {
        std::vector<Speed> speeds;
        for (const SpeedRow& pair : compare(first, second).value().rows)
            speeds.push_back(pair.speed);
        return speeds;
    };
    // The copy stood still: it excuses no other row.
    EXPECT_EQ(speeds(), (std::vector{Speed::uncertain, Speed::same, Speed::same, Speed::slower}));
    second.rows[1] = row("gemm", 3.8);
    EXPECT_EQ(speeds()[1], Speed::slower);
    // Of another shape, or on another machine, the roof says nothing.
    second.rows[1] = row("gemm", 3.15);
    EXPECT_EQ(speeds()[1], Speed::same);
    second.header.device_facts = {{"driver", "581"}};
    Bench older = first;
    older.header.device_facts = {{"driver", "580"}};
    EXPECT_EQ(compare(older, second).value().rows[1].speed, Speed::slower);
}

TEST(Throughput, WhatOneOfThemLacksIsNamed) {
    BenchRow refused = row("c", 0);
    refused.samples = 0;
    refused.reason = "not supported";
    const auto compared =
        compare(bench({row("a", 1), row("b", 1), refused}), bench({row("b", 1), row("d", 1)}));
    EXPECT_EQ(compared.value().rows.size(), 1u);
    EXPECT_EQ(compared.value().only_first, std::vector<std::string>{"a 64x4096 f32, cold"});
    EXPECT_EQ(compared.value().only_second, std::vector<std::string>{"d 64x4096 f32, cold"});
}

TEST(Throughput, AnotherThingIsNotCompared) {
    for (const auto change : {&results::BenchHeader::data, &results::BenchHeader::place,
                              &results::BenchHeader::clock}) {
        Bench other = bench({row("a", 1)});
        other.header.*change = "other";
        const auto compared = compare(bench({row("a", 1)}), other);
        ASSERT_FALSE(compared);
        EXPECT_NE(compared.error().message.find("do not measure the same thing"),
                  std::string::npos);
    }
    Bench newer = bench({row("a", 1)});
    newer.header.device_facts = {};
    Bench older = newer;
    older.header.device_facts = {{"driver", "580"}};
    EXPECT_EQ(compare(older, newer).value().differences,
              std::vector<std::string>{"driver: \"580\" and \"unknown\""});
}

}  // namespace
}  // namespace mx::reports
