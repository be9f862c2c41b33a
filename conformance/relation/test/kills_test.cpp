// Which planted bugs the relations alone catch, by name: what the oracle is not needed for. The
// lists are what a run gives; a bug that is caught no longer, or newly, must be moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <utility>

#include "conformance/mutants/mutants.hpp"
#include "conformance/relation/suite.hpp"
#include "conformance/relation/test/killed.hpp"
#include "device/host/isolated_device.hpp"

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

Setting gemm_setting(const std::string& a, const std::string& b, const std::string& scaling) {
    Setting setting;
    setting.operation = "gemm";
    setting.elements = a;
    setting.elements_b = b;
    setting.scaling = scaling;
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
    return {gemm_setting("e4m3", "e5m2", "1x32"), gemm_setting("e4m3", "e4m3", "tensor")};
}

// The relations that break, each once; a device that crashes or hangs is caught by that.
std::set<std::string> broken_by(const std::string& path, const std::vector<Setting>& settings) {
    const DeviceSource source{.name = path, .path = std::string(MX_MUTANT_DIRECTORY "/") + path};
    auto device = IsolatedDevice::start(source, {.call = std::chrono::seconds(3)});
    if (!device) {
        ADD_FAILURE() << path << ": " << device.error().message;
        return {};
    }
    std::set<std::string> broken;
    for (const Setting& setting : settings) {
        Subject subject([&](const Question& question) { return device.value().ask(question); },
                        setting);
        for (const Relation& relation : relations()) {
            if (relation.operation != setting.operation || !broken.empty()) continue;
            for (std::uint64_t seed = 0; seed < 2 && broken.empty(); ++seed) {
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
void expect_kills(const Table& table, const std::string& prefix,
                  const std::vector<Setting>& settings, std::span<const std::string_view> listed) {
    std::vector<std::string> killed;
    std::string said;
    for (const auto& mutant : table) {
        const auto broken = broken_by(prefix + std::string(mutant.name) + ".so", settings);
        if (broken.empty()) continue;
        killed.emplace_back(mutant.name);
        said += "    \"" + killed.back() + "\",  // " + *broken.begin() + "\n";
    }
    EXPECT_FALSE(std::ranges::count(killed, "none")) << "the base breaks a relation";
    EXPECT_TRUE(std::ranges::equal(killed, listed)) << killed.size() << " are killed:\n" << said;
    std::printf("the relations alone kill %zu of %zu\n", killed.size(), table.size() - 1);
}

TEST(Kills, OfPlantedBugsAreThoseListed) {
    expect_kills(mutants::table, "mutant_", block_settings(), killed_blocks);
}

TEST(Kills, TheCleanProductBreaksNothingAndTheCanaryDoes) {
    EXPECT_TRUE(broken_by("gemm_none.so", gemm_settings()).empty());
    EXPECT_FALSE(broken_by("gemm_canary.so", gemm_settings()).empty());
}

// As cuBLASLt: FP8 factors whose rows are no multiple of 16 bytes are refused.
TEST(Relate, ADeviceOfWholeTilesIsAskedForWholeTiles) {
    const std::string path = "gemm_none.so";
    const DeviceSource source{.name = path, .path = std::string(MX_MUTANT_DIRECTORY "/") + path};
    auto device = IsolatedDevice::start(source, {.call = std::chrono::seconds(3)});
    ASSERT_TRUE(device) << device.error().message;
    const auto ask = [&](const Question& question) {
        if (question.inputs.front().spec.columns % 16 == 0) return device.value().ask(question);
        return DeviceAnswer{.kind = AnswerKind::not_supported, .reason = "short tiles"};
    };
    Subject subject(ask, gemm_setting("e4m3", "e4m3", "tensor"));
    const auto results = relate(subject, {.names = {"repeated", "rows_change_places"}});
    ASSERT_EQ(results.size(), 2u);
    for (const Result& result : results) {
        EXPECT_EQ(result.standing, Standing::held) << result.reason;
        EXPECT_EQ(result.samples, 4u);
    }
}

}  // namespace
}  // namespace mx::relation
