// Tests of cases of axis both: rows and columns are judged apart, each mismatch says of which it
// is, and its repro line asks for the tile that shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "conformance/run/runner.hpp"

// The embedded device's one door. This room may not include device/cpu; linking it is enough here.
const mx_device_api* mx_cpu_device_api(void);

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

DeviceSource mutant(const std::string& name) {
    return {.name = "mutants.so:bug=" + name,
            .path = MX_MUTANT_DIRECTORY "/mutants.so",
            .configuration = "bug=" + name};
}

DeviceSource embedded() {
    return {.name = "cpu", .get_api = [](std::uint32_t) { return mx_cpu_device_api(); }};
}

const std::string device_argument = " --device ./mine.so";

CaseResult judged(const DeviceSource& source, const std::string& text) {
    auto device = open_client(source);
    if (!device) throw std::runtime_error(device.error().message);
    Sources sources;
    Runner runner(device.value(), sources, {device_argument});
    auto result = runner.run({"test", parse_case(text).value()});
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(result).value();
}

std::string both(const std::string& rest) {
    return "quantize format=mxfp8-e4m3 axis=both " + rest;
}

std::set<std::string> axes_of(const CaseResult& result) {
    std::set<std::string> axes;
    for (const Mismatch& m : result.mismatches) axes.insert(m.axis);
    return axes;
}

std::string case_in(const std::string& repro) {
    const std::string open = "mxcheck replay '", close = "'" + device_argument;
    EXPECT_TRUE(repro.starts_with(open) && repro.ends_with(close)) << repro;
    return repro.substr(open.size(), repro.size() - open.size() - close.size());
}

// Each cluster's line shows the cluster again; that of the largest is of one tile, or of two.
void expect_repros_of_tiles(const DeviceSource& source, const CaseResult& result) {
    for (const Mismatch& m : result.mismatches) {
        const std::string text = case_in(m.repro);
        const Case c = parse_case(text).value();
        if (&m == &result.mismatches.front()) {
            EXPECT_LE(c.rows, 2 * c.block) << text;
            EXPECT_LE(c.columns, c.block) << text;
        }
        const CaseResult again = judged(source, text);
        const bool is_shown = std::ranges::any_of(again.mismatches, [&](const Mismatch& other) {
            return other.mismatch_class == m.mismatch_class && other.axis == m.axis &&
                   other.direction == m.direction;
        });
        EXPECT_TRUE(is_shown) << m.mismatch_class << " of axis " << m.axis << " in " << text;
    }
}

TEST(Both, TheEmbeddedDeviceAndTheBasePassInEveryShapeAndLayout) {
    for (const std::string rest :
         {"shape=70x41 data=random.spread", "shape=64x96 data=edge.mixed",
          "shape=33x67 block=16 data=edge.special layout=padded", "shape=1x1 data=edge.tie",
          "shape=129x129 scales=128x4 data=random.spread", "shape=0x32 data=edge.tie",
          "shape=130x70 scales=te-padded block=64 data=random.spread"})
        for (const DeviceSource& source : {embedded(), mutant("none")}) {
            const CaseResult result = judged(source, both(rest));
            EXPECT_EQ(result.verdict, Verdict::pass_exact) << result.reason << " in " << rest;
        }
    const CaseResult packed = judged(embedded(),
                                     "quantize format=mxfp4-e2m1 axis=both shape=5x33 "
                                     "packing=low_first data=random.spread");
    EXPECT_EQ(packed.verdict, Verdict::pass_exact) << packed.reason;
}

TEST(Both, WhatIsComparedIsCountedOnceForEachSide) {
    const CaseResult result = judged(embedded(), both("shape=70x41 data=random.spread"));
    EXPECT_EQ(result.elements, 2u * 70 * 41);
    EXPECT_EQ(result.scales, 70u * 2 + 3u * 41);
}

TEST(Both, ColumnsUnderTheScalesOfRowsAreMismatchesOfColumnsAlone) {
    const DeviceSource source = mutant("both_columns_scaled_as_rows");
    const CaseResult result = judged(source, both("shape=64x48 data=random.spread"));
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(axes_of(result), std::set<std::string>{"col"});
    EXPECT_GT(result.mismatched_scales, 0u);
    EXPECT_LE(result.mismatched_scales, 2u * 48);
    EXPECT_EQ(results::total_of(result.expected_scale_codes), result.scales);
    EXPECT_EQ(results::total_of(result.actual_scale_codes), result.scales);
    expect_repros_of_tiles(source, result);
}

TEST(Both, ColumnsLeftOfACutOffTileAreCountedAndNamed) {
    const DeviceSource source = mutant("both_last_columns_unwritten");
    const CaseResult result = judged(source, both("shape=70x41 data=random.spread"));
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(axes_of(result), std::set<std::string>{"col"});
    EXPECT_EQ(result.mismatched_elements, 70u * 9);
    EXPECT_EQ(result.mismatched_scales, 3u * 9);
    for (const Mismatch& m : result.mismatches) {
        EXPECT_EQ(m.mismatch_class, "unwritten");
        EXPECT_GE(m.block % 41, 32u);         // of the grid of the columns' scales
        EXPECT_EQ(m.of, 70u * 41 + 3u * 41);  // elements and scales alike
    }
    expect_repros_of_tiles(source, result);
    EXPECT_EQ(judged(source, both("shape=70x64 data=random.spread")).verdict, Verdict::pass_exact);
    // The tile of this one column of tiles would need 32 rows before it.
    const CaseResult flat = judged(source, both("shape=1x40 data=random.spread"));
    EXPECT_NE(flat.mismatches.at(0).repro.find("shape=1x40"), std::string::npos);
}

TEST(Both, ABugOfEitherSideIsToldOfEach) {
    const DeviceSource source = mutant("ties_away");
    const CaseResult result = judged(source, both("shape=128x128 data=edge.tie index=4000"));
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(axes_of(result), (std::set<std::string>{"col", "row"}));
    expect_repros_of_tiles(source, result);
    const CaseResult rows = judged(
        source, "quantize format=mxfp8-e4m3 shape=128x128 data=edge.tie index=4000 axis=row");
    EXPECT_EQ(axes_of(rows), std::set<std::string>{""});
}

TEST(Both, PadsOfEitherTensorOfScalesAreLookedAt) {
    const CaseResult result = judged(mutant("swizzle_pads_unwritten"),
                                     both("shape=33x33 scales=128x4 data=random.spread"));
    std::set<std::string> outputs;
    for (const Mismatch& m : result.mismatches)
        if (m.mismatch_class == "padding")
            outputs.insert(m.note.substr(m.note.find("output"), sizeof "output 1" - 1));
    EXPECT_EQ(outputs, (std::set<std::string>{"output 1", "output 3"}));
}

// Its last tile, as that one stands in the whole.
TEST(SingleTile, HoldsTheBlockAsTheWholeDoes) {
    for (const std::string shape : {"70x41", "64x64", "5x100", "100x5"}) {
        const Case c = parse_case(both("shape=" + shape + " data=random.bits index=4")).value();
        Sources sources;
        const auto source = sources.open(c).value();
        const CodeTensor whole = make_inputs(c, *source)[0];
        for (const BlockAxis axis : axes_of(c)) {
            const Case side = along(c, axis);
            for (std::int64_t block = 0; block < block_grid(side).count(); ++block) {
                const Case narrow = single_tile(c, {side.axis, block});
                EXPECT_EQ(parse_case(print(narrow)).value(), narrow);
                const CodeTensor tile = make_inputs(narrow, *source)[0];
                const BlockPlace place = place_of(blocking_of(side), block);
                const auto first = static_cast<std::int64_t>(place.first);
                const std::int64_t row = first / c.columns % 32 + (narrow.rows > 32 ? 32 : 0);
                const std::int64_t column = first % c.columns % 32;
                for (int lane = 0; lane < place.count; ++lane) {
                    const std::int64_t at = side.axis == BlockAxis::row
                                                ? row * narrow.columns + column + lane
                                                : (row + lane) * narrow.columns + column;
                    ASSERT_EQ(tile.at(static_cast<std::size_t>(at)), whole.at(place.element(lane)))
                        << print(narrow) << " " << name_of(axis) << " " << block;
                }
            }
        }
    }
}

}  // namespace
}  // namespace mx
