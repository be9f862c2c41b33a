// Charts: a mark for each point that can be drawn, and a table with every number.
#include "reports/render/chart.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

Chart chart_of(std::vector<Point> points, Scaling scaling) {
    return {"c",   "Title & more", "What it says.",
            {"x"}, {"y", scaling}, {{"first", Mark::line, std::move(points)}}};
}

TEST(Chart, AMarkAndANumberForEachPoint) {
    const std::string figure = figure_of(chart_of({{1, 0.5}, {2, 1.5}, {3, 2.25}}, {}));
    EXPECT_EQ(occurrences(figure, "<circle "), 3u);
    for (const char* number : {">0.5</td>", ">1.5</td>", ">2.25</td>"})
        EXPECT_EQ(occurrences(figure, number), 1u) << number;
    EXPECT_NE(figure.find("aria-labelledby=\"c-t c-d\""), std::string::npos);
    EXPECT_NE(figure.find("Title &amp; more"), std::string::npos);
}

// 0 and infinity have no place on a scale of powers; the table still tells them.
TEST(Chart, WhatCannotBeDrawnStaysInTheTable) {
    const std::string figure =
        figure_of(chart_of({{1, 0}, {2, 10}, {3, HUGE_VAL}, {4, 1000}}, Scaling::log10));
    EXPECT_EQ(occurrences(figure, "<circle "), 2u);
    EXPECT_EQ(occurrences(figure, "<td class=\"right\">"), 4u);
    EXPECT_EQ(occurrences(figure, "nan"), 0u);
    EXPECT_EQ(figure_of(chart_of({{1, 0}, {2, std::nan("")}}, Scaling::log10)), "");
    EXPECT_EQ(figure_of(chart_of({}, Scaling::linear)), "");
}

TEST(Chart, TicksAreRoundNumbers) {
    const std::string figure = figure_of(chart_of({{0, 1e-3}, {10, 3e2}}, Scaling::log10));
    for (const char* tick : {">0.001<", ">1<", ">1000<"})
        EXPECT_NE(figure.find(tick), std::string::npos) << tick;
    EXPECT_EQ(figure.find(">-0<"), std::string::npos);
}

TEST(Chart, OneValueAloneIsDrawnInsideThePicture) {
    const std::string figure = figure_of(chart_of({{5, 5}}, Scaling::linear));
    EXPECT_EQ(occurrences(figure, "<circle "), 1u);
    EXPECT_EQ(occurrences(figure, "nan") + occurrences(figure, "inf"), 0u);
}

// A damaged file may hold any number: a picture of them must end, and be finite.
TEST(Chart, NumbersBeyondAllMeasureAreDrawnToo) {
    for (const double large : {9e18, 1e300}) {
        Chart chart = chart_of({{large, large}, {large, large}}, Scaling::linear);
        chart.x.step_min = 1;
        const std::string figure = figure_of(chart);
        EXPECT_EQ(occurrences(figure, "<circle "), 2u);
        EXPECT_EQ(occurrences(figure, "nan") + occurrences(figure, "inf"), 0u);
        EXPECT_LT(figure.size(), 20000u);
    }
    for (const double at_the_end : {1.7e308, 5e-324}) {
        const std::string figure = figure_of(
            chart_of({{1, at_the_end, 1, HUGE_VAL}, {2, at_the_end, 0, 2}}, Scaling::log10));
        EXPECT_EQ(occurrences(figure, "nan\"") + occurrences(figure, "inf\""), 0u);
    }
}

TEST(Chart, LongCurvesAreThinned) {
    std::vector<Point> points;
    for (int step = 0; step < 100000; ++step) points.push_back({1.0 * step, 1.0 + step % 7});
    const std::string figure = figure_of(chart_of(points, Scaling::linear));
    EXPECT_LT(figure.size(), 20000u);
    EXPECT_NE(figure.find("64 of 100000 rows"), std::string::npos);
}

TEST(Chart, Numbers) {
    EXPECT_EQ(short_number(0.125), "0.125");
    EXPECT_EQ(short_number(100000), "100000");
    EXPECT_EQ(short_number(1.5e-7), "1.5e-07");
    EXPECT_EQ(bytes_number(512), "512 B");
    EXPECT_EQ(bytes_number(1536), "1.5 KiB");
    EXPECT_EQ(bytes_number(std::ldexp(1.0, 34)), "16 GiB");
}

}  // namespace
}  // namespace mx::reports::test
