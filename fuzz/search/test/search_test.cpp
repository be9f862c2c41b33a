// The search over planted defects: that it finds them, finds the same again, and goes on where it
// stopped.
#include "fuzz/search/search.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fuzz/search/block_maker.hpp"
#include "fuzz/search/store.hpp"
#include "fuzz/search/test/planted_judge.hpp"

namespace mx::fuzz {
namespace {

std::vector<Case> some_themes() {
    return list_themes({{"quantize"}, {"mxfp8-*"}, {"ocp", "nv"}, {}});
}

// An amax two ulps above 448: rare at random, beside a border of nv.
Defect beside_a_border() {
    return on_code(0x43E00002);
}

auto rounds(std::uint64_t count) {
    return [count](const Search& search) { return search.counts().rounds >= count; };
}

TEST(Themes, AreSoundAndEachThere) {
    std::set<std::string> names;
    for (const Case& theme : list_themes({})) {
        EXPECT_TRUE(check_combination(theme)) << name_of_theme(theme);
        EXPECT_TRUE(names.insert(name_of_theme(theme)).second) << name_of_theme(theme);
    }
    EXPECT_TRUE(names.contains("quantize mxfp4-e2m1 nv bf16"));
    EXPECT_TRUE(names.contains("convert e8m0 nv f16"));
    EXPECT_TRUE(names.contains("dequantize mxint8-symmetric ocp f32"));
    EXPECT_TRUE(names.contains("quantize nvfp4 te-nvfp4-sr bf16"));
    EXPECT_TRUE(names.contains("dequantize fp8-e4m3-128x128 deepgemm-fp8 f16"));
    EXPECT_FALSE(names.contains("quantize nvfp4 te-nvfp4-rht bf16"));
    EXPECT_EQ(some_themes().size(), 12u);
    EXPECT_TRUE(list_themes({{}, {"mxfp9"}, {}, {}}).empty());
}

TEST(Themes, DrawnCasesAreSound) {
    Random random({1, 0, 0});
    std::set<std::string> axes, packings, scales, roundings;
    for (const Case& theme : list_themes({{}, {}, {"ocp"}, {}}))
        for (int i = 0; i < 40; ++i) {
            const Case c = draw_case(theme, 4096, random);
            ASSERT_TRUE(check_combination(c)) << print(c) << check_combination(c).error().message;
            ASSERT_EQ(parse_case(print(c)).value(), c);
            axes.emplace(name_of(c.axis));
            packings.emplace(c.packing->name);
            scales.emplace(name_of(c.scales));
            if (c.rules) roundings.emplace(rounding_name_of(*c.rules));
        }
    EXPECT_EQ(axes.size(), 4u);
    EXPECT_EQ(packings.size(), 5u);
    EXPECT_GE(scales.size(), 4u);
    EXPECT_GE(roundings.size(), 12u);
}

TEST(Themes, DrawnCasesOfRealScalesAreSound) {
    Random random({1, 0, 0});
    std::set<std::uint32_t> numbers;
    for (const Case& theme : list_themes({{}, {"nvfp4*", "fp8-*"}, {}, {}}))
        for (int i = 0; i < 20; ++i) {
            const Case c = draw_case(theme, 4096, random);
            ASSERT_TRUE(check_combination(c)) << print(c) << check_combination(c).error().message;
            ASSERT_TRUE(check_combination(plain_case(c))) << print(plain_case(c));
            ASSERT_EQ(parse_case(print(c)).value(), c);
            ASSERT_EQ(c.tensor_number.has_value(), has_tensor_number(c));
            if (c.tensor_number) numbers.insert(*c.tensor_number);
        }
    EXPECT_GT(numbers.size(), 100u);
}

// One ulp above a tie of two scales, of a dialect without a number for the tensor.
TEST(Search, FindsARareDefectBesideABorderOfRealScales) {
    PlantedJudge judge([](const Case& c, const CodeTensor& values) -> std::optional<std::size_t> {
        if (c.dialect->name != "torchao-nvfp4-single") return std::nullopt;
        return on_code(0x40CC0001)(c, values);  // 6 * 1.0625, the tie of 1 and 1.125, and an ulp
    });
    Search search(list_themes({{"quantize"}, {"nvfp4"}, {"torchao-nvfp4-single"}, {"f32"}}), {},
                  judge);
    search.run(
        [](const Search& now) { return !now.finds().empty() || now.counts().blocks > 400'000; });
    ASSERT_EQ(search.finds().size(), 1u);
    EXPECT_EQ(search.finds().begin()->second.find.cases.at(0).data, "bits:40cc0001");
}

TEST(Search, FindsAndShrinksARareDefect) {
    PlantedJudge judge(beside_a_border());
    Search search(list_themes({{"quantize"}, {"mxfp8-e4m3"}, {"nv"}, {"f32"}}), {}, judge);
    search.run(
        [](const Search& now) { return !now.finds().empty() || now.counts().blocks > 400'000; });
    ASSERT_EQ(search.finds().size(), 1u);
    const Find& find = search.finds().begin()->second.find;
    EXPECT_EQ(find.cases.at(0).data, "bits:43e00002");
}

// Blocks at random alone do not: this is what the oracle's borders are for.
TEST(Search, RandomBlocksWouldNotFindIt) {
    Random random({0, 0, 0});
    for (int i = 0; i < 400'000 * 32; ++i) ASSERT_NE(random.bits(), 0x43E00002u);
}

TEST(Search, TheSameRoundsFindTheSame) {
    const auto finds_of = [](std::uint64_t seed) {
        PlantedJudge judge([](const Case&, const CodeTensor& values) -> std::optional<std::size_t> {
            for (std::size_t i = 0; i < values.count(); ++i)
                if (values.at(i) % 5003 == 17) return i;
            return std::nullopt;
        });
        Search search(some_themes(), {seed, 0, 1}, judge);
        search.run(rounds(30));
        std::string text = std::to_string(search.counts().blocks) + " ";
        for (const auto& [kind, found] : search.finds())
            text += kind + ": " + print(found.find.cases.at(0)) + "\n";
        return text;
    };
    EXPECT_EQ(finds_of(3), finds_of(3));
    EXPECT_NE(finds_of(3), finds_of(4));
}

TEST(Search, GivesUpOnADeviceThatDoesNothing) {
    PlantedJudge judge(never());
    Search search(list_themes({{"dequantize"}, {"mxfp8-e4m3"}, {}, {}}), {}, judge);
    search.run([](const Search&) { return false; });
    EXPECT_EQ(search.counts().blocks, 0u);
    EXPECT_FALSE(search.given_up().empty());
}

// Or where nothing can be asked, for want of memory.
TEST(Search, GivesUpOnADeviceThatOnlyErrs) {
    class Broken : public PlantedJudge {
    public:
        explicit Broken(Outcome outcome) : PlantedJudge(never()), outcome_(outcome) {}
        Judgement judge(const Case&, const std::vector<CodeTensor>&) override {
            return {outcome_, "out of order", {}};
        }

    private:
        Outcome outcome_;
    };
    for (const Outcome outcome : {Outcome::error, Outcome::unasked}) {
        Broken judge(outcome);
        Search search(some_themes(), {}, judge);
        search.run([](const Search& so_far) { return so_far.counts().calls > 1000; });
        EXPECT_NE(search.given_up().find("out of order"), std::string::npos);
    }
}

// A search that is stored and restored does what an uninterrupted one does.
TEST(Store, GoesOnWhereItStopped) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "mx_fuzz";
    std::filesystem::create_directories(folder / "finds");
    const std::string path = state_path(folder.string(), 0);
    PlantedJudge judge(on_code(0x43E00002));
    Search whole(some_themes(), {9, 0, 1}, judge);
    whole.run(rounds(60));
    Search first(some_themes(), {9, 0, 1}, judge);
    first.run(rounds(25));
    ASSERT_TRUE(store_state(path, "this", first).ok());
    Search second(some_themes(), {9, 0, 1}, judge);
    ASSERT_TRUE(restore_state(path, "this", second).ok());
    second.run(rounds(60));
    EXPECT_EQ(second.counts().blocks, whole.counts().blocks);
    EXPECT_EQ(second.finds().size(), whole.finds().size());
    for (std::size_t i = 0; i < whole.coverage().size(); ++i) {
        EXPECT_EQ(second.coverage()[i].reach, whole.coverage()[i].reach);
        EXPECT_EQ(second.coverage()[i].parted, whole.coverage()[i].parted);
        EXPECT_EQ(second.coverage()[i].kept.size(), whole.coverage()[i].kept.size());
    }
    EXPECT_FALSE(restore_state(path, "another", second).ok());
    std::ofstream(path) << "{\"mxcheck_fuzz\":1,\"scope\":3}";
    EXPECT_FALSE(restore_state(path, "this", second).ok());
    std::ofstream(path) << "not a state";
    EXPECT_FALSE(restore_state(path, "this", second).ok());
    std::filesystem::remove_all(folder);
}

TEST(Store, AFindReadsBack) {
    Found found;
    found.find.kind = "quantize mxfp8-e4m3 tie, +1 code";
    found.find.cases = {row_of(32), row_of(33)};
    const std::string path = find_path(testing::TempDir(), found.find);
    EXPECT_TRUE(path.ends_with("finds/quantize-mxfp8-e4m3-tie-p1-code.case")) << path;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(store_find(path, found).ok());
    EXPECT_EQ(read_find(path).value(), found.find.cases);
    std::ofstream(path) << "# a remark\nquantise format=mxfp8-e4m3\n";
    const auto bad = read_find(path);
    ASSERT_FALSE(bad.ok());
    EXPECT_NE(bad.error().message.find(":2"), std::string::npos) << bad.error().message;
}

}  // namespace
}  // namespace mx::fuzz
