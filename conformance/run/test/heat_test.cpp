// Where the mismatches of a case are: the cell of every input type, and counts that add up.
#include "conformance/run/heat.hpp"

#include "conformance/run/test/evidence_of.hpp"

namespace mx {
namespace {

TEST(Heat, LeadingBitsOfEveryInputType) {
    EXPECT_EQ(leading_bfloat16(formats::f32, Code{0x3F80FFFF}), 0x3F80u);
    EXPECT_EQ(leading_bfloat16(formats::f32, Code{0xFF7FFFFF}), 0xFF7Fu);
    EXPECT_EQ(leading_bfloat16(formats::bf16, Code{0x8001}), 0x8001u);
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0x3C00}), 0x3F80u);  // 1
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0xBFFF}), 0xBFFFu);  // -1.9990234375
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0x0001}), 0x3380u);  // 2^-24
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0x7BFF}), 0x477Fu);  // 65504
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0x8000}), 0x8000u);
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0xFC00}), 0xFF80u);
    EXPECT_EQ(leading_bfloat16(formats::f16, Code{0x7E00}), 0x7FC0u);
}

TEST(Heat, EveryDifferenceIsCountedWhereItsInputIs) {
    Evidence e = quantized("ocp", f32_codes({448, 17, -17, 17}));
    for (const std::size_t lane : {1u, 2u, 3u}) e.actual[0].set(lane, e.expected[0].at(lane) + 1);
    Clusters clusters(e, 100);
    for_each_difference(e, [&](const Difference& d) { clusters.add(d); });
    results::CaseResult result;
    clusters.heat().write(result, 100);
    // 17 is 0x4188.0000, exponent field 131.
    EXPECT_EQ(result.input_cells, (results::Histogram{{0x4188, 1, 2}, {0xC188, 1, 1}}));
    EXPECT_EQ(
        result.lane_cells,
        (results::Histogram{{1 * 256 + 131, 1, 1}, {2 * 256 + 131, 1, 1}, {3 * 256 + 131, 1, 1}}));
}

TEST(Heat, ScalesOfBothSides) {
    Evidence e = quantized("ocp", f32_codes({448, 17}));
    results::CaseResult result;
    count_scales(e, result);
    EXPECT_EQ(result.expected_scale_codes, (results::Histogram{{127, 1, 1}}));
    EXPECT_TRUE(result.actual_scale_codes.empty());
    e.actual[1].set(0, 128);
    result.mismatched_scales = 1;
    count_scales(e, result);
    EXPECT_EQ(result.actual_scale_codes, (results::Histogram{{128, 1, 1}}));
}

}  // namespace
}  // namespace mx
