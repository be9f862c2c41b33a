// Heat maps and scale histograms: every cell at its place, nothing lost.
#include "reports/model/heat.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "reports/render/png.hpp"
#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

using results::Verdict;

TEST(HeatMap, EveryBfloat16HasAPixelOfItsOwn) {
    std::set<std::uint32_t> codes;
    for (std::size_t cell = 0; cell < 65536; ++cell) codes.insert(bfloat16_at(cell));
    EXPECT_EQ(codes.size(), 65536u);
    EXPECT_EQ(bfloat16_at(0), 0xFFFFu);            // negative NaN, top left
    EXPECT_EQ(bfloat16_at(127), 0xFF80u);          // -Inf
    EXPECT_EQ(bfloat16_at(128), 0x7F80u);          // Inf
    EXPECT_EQ(bfloat16_at(65535 - 127), 0x0000u);  // 0
    EXPECT_EQ(bfloat16_at(65535), 0x007Fu);        // the largest subnormal, bottom right
}

TEST(HeatMap, CountsAddUp) {
    const results::Run run = heated_run();
    const HeatMap map = input_map(run);
    std::uint64_t recorded = 0;
    for (const results::CaseResult& result : run.cases)
        recorded += results::total_of(result.input_cells);
    EXPECT_EQ(map.placed, recorded);
    EXPECT_EQ(std::accumulate(map.counts.begin(), map.counts.end(), std::uint64_t{0}), recorded);
    const auto top = hottest(map, 1);
    ASSERT_EQ(top.size(), 1u);
    EXPECT_EQ(bfloat16_text(bfloat16_at(top[0])), "0xc188 = -17");
    const HeatMap lanes = lane_map(run);
    const auto hit = hottest(lanes, 9);
    ASSERT_EQ(hit.size(), 3u);
    EXPECT_EQ(hit[0], 255u * 32 + 31);          // lane 31, exponent field 0: the last row
    EXPECT_EQ(hit[1], (255u - 131) * 32 + 17);  // lane 17, exponent field 131
}

TEST(HeatMap, ScalesOfTheDeviceAreTheOraclesWhereNoneIsWrong) {
    results::Run run = empty_run();
    add_case(run, Verdict::pass_exact).expected_scale_codes = {{127, 1, 5}};
    auto& wrong = add_case(run, Verdict::fail);
    wrong.expected_scale_codes = {{127, 1, 2}};
    wrong.actual_scale_codes = {{128, 1, 2}};
    add_case(run, Verdict::pass_exact);
    const ScaleCounts scales = scale_counts(run);
    EXPECT_EQ(scales.expected[127], 7u);
    EXPECT_EQ(scales.actual[127], 5u);
    EXPECT_EQ(scales.actual[128], 2u);
    EXPECT_EQ(scales.counted, 7u);
    EXPECT_EQ(scales.of, 3u);
}

// A file of one pixel whose chunks were checked by hand, and the stored blocks of a large one.
TEST(Png, ChunksAndBlocks) {
    const std::string one = png_of({1, 1, {1}, {{255, 0, 0}}});
    EXPECT_EQ(one.substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(one.substr(one.size() - 8), "IEND\xae\x42\x60\x82");
    const std::string large = png_of({256, 256, std::vector<std::uint8_t>(65536), {}});
    EXPECT_EQ(large.size(),
              png_of({256, 1, std::vector<std::uint8_t>(256), {}}).size() + 255 * 257 + 5);
}

}  // namespace
}  // namespace mx::reports::test
