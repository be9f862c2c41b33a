// Each decision is reached by an input typed by hand, and no variant parts from itself.
#include "fuzz/search/decisions.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fuzz/search/block_maker.hpp"
#include "fuzz/search/coverage.hpp"
#include "fuzz/search/test/planted_judge.hpp"
#include "fuzz/search/variants.hpp"

namespace mx::fuzz {
namespace {

struct Example {
    std::string name;
    std::vector<std::uint32_t> lanes;  // f32, quantized to E4M3 by "ocp"
};

std::size_t number_of(const std::string& name) {
    for (std::size_t i = 0; i < decision_count; ++i)
        if (decision_names[i] == name) return i;
    ADD_FAILURE() << name;
    return 0;
}

// 448 = 0x43E00000 has scale 2^0 in E4M3; then lanes are elements as they are.
const std::vector<Example> examples{
    {"amax zero", {0, 0x80000000}},
    {"amax NaN", {0x7FC00000}},
    {"amax Inf", {0x7F800000}},
    {"amax subnormal", {1}},
    {"amax normal", {0x3F800000}},
    {"amax negative", {0xBF800000, 0}},
    {"amax in two lanes", {0x3F800000, 0xBF800000}},
    {"scale exact", {0x43800000}},
    {"scale rounded down", {0x43E00000}},
    {"scale half way", {0x43C00000}},
    {"amax just below a border of scales", {0x43FFFFFF}},
    {"amax just above a border of scales", {0x44000000}},
    {"scale byte 0", {0x00000001}},
    {"scale byte 1", {0x04800000}},
    {"scale byte 255", {0x7F800000}},
    {"element exact", {0x43E00000}},
    {"element below half way", {0x43E00000, 0x3F810000}},
    {"element above half way", {0x43E00000, 0x3F8F0000}},
    {"tie to the lower code", {0x43E00000, 0x3F880000}},
    {"tie to the upper code", {0x43E00000, 0x3F980000}},
    {"just below a tie", {0x43E00000, 0x3F87FFFF}},
    {"just above a tie", {0x43E00000, 0x3F880001}},
    {"carry into the next binade", {0x43E00000, 0x3FFF0000}},
    {"largest element", {0x43E00000}},
    {"saturated", {0x43F80000}},
    {"least element", {0x43E00000, 0x3B000000}},
    {"subnormal element", {0x43E00000, 0x3B800000}},
    {"underflow to +0", {0x43E00000, 0x30000000}},
    {"underflow to -0", {0x43E00000, 0xB0000000}},
    {"+0", {0x43E00000, 0}},
    {"-0", {0x43E00000, 0x80000000}},
    {"NaN, sign 0", {0x7FC00000}},
    {"NaN, sign 1", {0xFFC00000}},
    {"NaN of low bits alone", {0x7F800001}},
    {"+Inf", {0x7F800000}},
    {"-Inf", {0xFF800000}},
    {"subnormal input", {0x00000003}},
};

TEST(Decisions, AreReachedByInputsTypedByHand) {
    const Rules rules(row_of(32));
    for (const Example& example : examples)
        EXPECT_TRUE(reach_of(rules, example.lanes, 0)[number_of(example.name)]) << example.name;
}

TEST(Decisions, AreNotReachedByABlockOfOnes) {
    const Rules rules(row_of(32));
    const std::vector<std::uint32_t> ones(32, 0x3F800000);
    const Reach reach = reach_of(rules, ones, 0);
    const std::set<std::string> reached{"amax normal", "amax in two lanes", "scale exact",
                                        "amax just above a border of scales", "element exact"};
    for (std::size_t i = 0; i < decision_count; ++i)
        EXPECT_EQ(reach[i], reached.contains(std::string(decision_names[i]))) << decision_names[i];
}

TEST(Decisions, KnowTheLaneOfTheAmaxAndThePlaceOfTheLastBit) {
    const Rules rules(row_of(32));
    std::vector<std::uint32_t> lanes(32);
    lanes[31] = 0x43E00000;
    lanes[2] = 0x3F880001;  // 1 + 2^-4 + 2^-23: the last bit 20 places below the last kept one
    const Reach reach = reach_of(rules, lanes, 0);
    EXPECT_TRUE(reach[first_lane + 31]);
    EXPECT_FALSE(reach[first_lane + 2]);
    EXPECT_TRUE(reach[first_sticky + 19]);
}

TEST(Variants, PartFromTheRightRulesAndNotFromThemselves) {
    const Rules rules(row_of(32));
    const std::vector<std::uint32_t> block{0x43FF0000, 0x3F880000, 0x80000000, 0x30000000};
    std::set<std::string> parted;
    for (const Variant& variant : variants_of(rules))
        if (parts(rules, variant, block)) parted.insert(variant.name);
    EXPECT_TRUE(parted.contains("dialect nv"));
    EXPECT_TRUE(parted.contains("element_rounding 1"));  // nearest_away
    EXPECT_TRUE(parted.contains("sign_of_zero 1"));
    EXPECT_FALSE(parted.contains("nan_in_block 1"));
    EXPECT_FALSE(parts(rules, {"itself", rules.dialect}, block));
    for (const Variant& variant : variants_of(rules)) EXPECT_NE(variant.name, "dialect ocp");
}

// Ten thousand made blocks reach every decision but those that this dialect cannot reach.
TEST(BlockMaker, ReachesEveryDecision) {
    const Rules rules(row_of(32));
    Random random({2, 0, 0});
    Coverage coverage(row_of(32));
    BlockMaker maker(rules, coverage.kept, random);
    BlockData block{std::vector<std::uint32_t>(32), 0};
    for (int i = 0; i < 10'000; ++i) {
        maker.make(block);
        coverage.note(rules, block, Depth::variants, random);
    }
    const std::set<std::string> beyond{"scale byte 254", "overflow to Inf or NaN"};
    for (std::size_t i = 0; i < decision_count; ++i)
        EXPECT_EQ(coverage.reach[i], !beyond.contains(std::string(decision_names[i])))
            << decision_names[i];
    for (std::size_t lane = 0; lane < lane_places; ++lane)
        EXPECT_TRUE(coverage.reach[first_lane + lane]) << lane;
}

TEST(BlockMaker, SetsEveryBitOfALaneAndItsComplement) {
    const Rules rules(row_of(32));
    const std::vector<BlockData> none;
    Random random({2, 0, 0});
    BlockMaker maker(rules, none, random);
    BlockData block{std::vector<std::uint32_t>(32), 0};
    std::uint32_t ones = 0, zeros = 0;
    for (int i = 0; i < 100; ++i) {
        maker.make(block);
        for (const std::uint32_t lane : block.lanes) ones |= lane, zeros |= ~lane;
    }
    EXPECT_EQ(ones, ~0u);
    EXPECT_EQ(zeros, ~0u);
}

}  // namespace
}  // namespace mx::fuzz
