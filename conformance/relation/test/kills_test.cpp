// Which planted bugs the relations alone catch, by name: what the oracle is not needed for. The
// lists are what a run gives; a bug that is caught no longer, or newly, must be moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <utility>

#include "conformance/mutants/gemm/gemm_mutants.hpp"
#include "conformance/mutants/mutants.hpp"
#include "conformance/relation/suite.hpp"
#include "conformance/relation/test/killed.hpp"
#include "device/host/client.hpp"

namespace mx::relation {
namespace {

Setting blocks_setting(const std::string& operation, const std::string& format,
                       const std::string& elements, const std::string& dialect) {
    Setting setting;
    setting.operation = operation;
    setting.format = format;
    setting.dialect = dialect;
    setting.elements = elements;
    return setting;
}

Setting gemm_setting(const std::string& b, const std::string& scaling, const std::string& d) {
    Setting setting;
    setting.operation = "gemm";
    setting.elements = "e4m3";
    setting.elements_b = b;
    setting.scaling = scaling;
    setting.values = d;
    return setting;
}

std::vector<Setting> block_settings() {
    constexpr std::pair<const char*, const char*> formats[] = {{"mxfp8-e4m3", "e4m3"},
                                                               {"mxfp8-e5m2", "e5m2"},
                                                               {"mxfp6-e3m2", "e3m2"},
                                                               {"mxfp4-e2m1", "e2m1"},
                                                               {"mxint8", "int8"}};
    std::vector<Setting> settings;
    for (const char* dialect : {"ocp", "nv"})
        for (const auto& [format, elements] : formats)
            for (const char* operation : {"quantize", "dequantize"})
                settings.push_back(blocks_setting(operation, format, elements, dialect));
    return settings;
}

std::vector<Setting> gemm_settings() {
    std::vector<Setting> settings;
    for (const char* d : {"f32", "bf16"})
        for (const auto& [b, scaling] : {std::pair{"e5m2", "1x32"}, std::pair{"e4m3", "tensor"}})
            settings.push_back(gemm_setting(b, scaling, d));
    return settings;
}

DeviceSource planted_bug(const std::string& library, std::string_view bug) {
    const std::string configuration = "bug=" + std::string(bug);
    return {.name = library + ":" + configuration,
            .path = MX_MUTANT_DIRECTORY "/" + library,
            .configuration = configuration};
}

// The relations that break, each once; a device that crashes or hangs is caught by that.
std::set<std::string> broken_by(const DeviceSource& source, const std::vector<Setting>& settings,
                                std::uint64_t seeds) {
    const auto client = open_client(source, {.call = std::chrono::seconds(3)});
    if (!client) {
        ADD_FAILURE() << source.name << ": " << client.error().message;
        return {};
    }
    std::set<std::string> broken;
    for (const Setting& setting : settings) {
        Subject subject(client.value(), setting);
        for (const Relation& relation : relations()) {
            if (relation.operation != setting.operation || !broken.empty()) continue;
            for (std::uint64_t seed = 0; seed < seeds && broken.empty(); ++seed) {
                const Result result =
                    relate_once(subject, relation, make_sample(relation, setting, seed));
                if (result.standing == Standing::broken || result.standing == Standing::faulty)
                    broken.insert(std::string(relation.name));
            }
        }
    }
    return broken;
}

template <typename Table>
void expect_kills(const Table& table, const std::string& library,
                  const std::vector<Setting>& settings, std::span<const std::string_view> listed) {
    std::vector<std::string> killed;
    std::string said;
    for (const auto& mutant : table) {
        // One that is listed may want a second sample; the others are asked one of each relation.
        const bool is_listed = std::ranges::find(listed, mutant.name) != listed.end();
        const auto broken =
            broken_by(planted_bug(library, mutant.name), settings, is_listed ? 2 : 1);
        if (broken.empty()) continue;
        killed.emplace_back(mutant.name);
        said += "    \"" + killed.back() + "\",  // " + *broken.begin() + "\n";
    }
    EXPECT_FALSE(std::ranges::count(killed, "none")) << "the base breaks a relation";
    EXPECT_TRUE(std::ranges::equal(killed, listed)) << killed.size() << " are killed:\n" << said;
    std::printf("the relations alone kill %zu of %zu\n", killed.size(), table.size() - 1);
}

TEST(Kills, OfPlantedBugsAreThoseListed) {
    expect_kills(mutants::table, "mutants.so", block_settings(), killed_blocks);
}

TEST(Kills, OfPlantedProductsAreThoseListed) {
    expect_kills(mutants::gemm::table, "gemm_mutants.so", gemm_settings(), killed_products);
}

// A device that takes A in tiles of 64 x 64 alone, which no sample has that was not made for it.
class WholeTiles : public testing::Test {
protected:
    Subject subject_of(std::string_view bug) {
        const auto client =
            open_client(planted_bug("gemm_mutants.so", bug), {.call = std::chrono::seconds(3)});
        const auto ask = [whole = client.value()](const Question& question) {
            const TensorSpec& a = question.inputs.front().spec;
            if (a.rows % 64 == 0 && a.columns % 64 == 0) return whole.ask(question);
            return DeviceAnswer{.kind = AnswerKind::not_supported, .reason = "short tiles"};
        };
        return {Client{.ask = ask}, gemm_setting("e4m3", "tensor", "f32")};
    }
};

TEST_F(WholeTiles, AreAskedForWhereShortOnesAreRefused) {
    Subject subject = subject_of("none");
    const auto results = relate(subject, {.names = {"repeated", "rows_change_places"}});
    ASSERT_EQ(results.size(), 2u);
    for (const Result& result : results) {
        EXPECT_EQ(result.standing, Standing::held) << result.reason;
        EXPECT_EQ(result.samples, 4u);
    }
}

TEST_F(WholeTiles, ThatBreakAreShrunkToOnesThatBreakAgain) {
    Subject subject = subject_of("d_transposed");
    const auto results = relate(subject, {.names = {"rows_change_places"}});
    ASSERT_EQ(results.size(), 1u);
    ASSERT_EQ(results[0].standing, Standing::broken) << results[0].reason;
    const Sample& smallest = results[0].sample;
    EXPECT_EQ(smallest.extents.k, whole_tiles.k);
    EXPECT_LT(smallest.extents.m * smallest.extents.n * smallest.extents.k,
              whole_tiles.m * whole_tiles.n * whole_tiles.k);
    // As the line does that it prints.
    Sample named = make_sample(*results[0].relation, subject.setting(), smallest.seed);
    named.extents = smallest.extents;
    const Result again = relate_once(subject, *results[0].relation, named);
    EXPECT_EQ(again.standing, Standing::broken);
    EXPECT_EQ(again.finding.broken, results[0].finding.broken);
    EXPECT_EQ(again.finding.first, results[0].finding.first);
}

}  // namespace
}  // namespace mx::relation
