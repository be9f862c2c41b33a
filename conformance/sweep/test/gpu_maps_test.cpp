// Tests of what a GPU is asked, without one: the exact side of the maps, and the comparison of
// runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/gpu_maps.hpp"
#include "conformance/sweep/gpu_sweep.hpp"
#include "reference/proof/digests.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::sweep {
namespace {

const NamedMap& map_named(const std::string& name) {
    static const std::vector<NamedMap> maps = gpu_maps();
    for (const NamedMap& map : maps)
        if (map.name == name) return map;
    throw std::out_of_range(name);
}

std::uint64_t result_at(const std::vector<exact::Run>& runs, std::uint32_t input) {
    for (const exact::Run& run : runs)
        if (run.first <= input && input <= run.last) return run.result;
    throw std::out_of_range("no run");
}

TEST(GpuMaps, HaveTheAnswersOfTheProofsWhoseNamesTheyBear) {
    std::size_t compared = 0;
    for (const proof::Digest& digest : proof::checked_in_digests()) {
        const bool is_map = digest.name.starts_with("round ") ||
                            digest.name.starts_with("scale mx") || digest.name.starts_with("cast ");
        const bool is_wide = digest.name.ends_with(" significands");  // of prove --all alone
        if (!is_map || is_wide || digest.name.find(" stochastic ") != std::string::npos) continue;
        const NamedMap& map = map_named(digest.name);  // every proof has its map
        const bool is_quick = digest.name.ends_with(" bf16");
        if (!is_quick && digest.name != "round e4m3 nearest_even f32") continue;
        ++compared;
        const std::vector<exact::Run> runs = map.exact_runs();
        EXPECT_EQ(inputs_of(runs), digest.count) << map.name;
        EXPECT_EQ(proof::digest_of(runs), digest.digest) << map.name;
    }
    EXPECT_GT(compared, 90u);
}

// What an H200 answered, by digest.
TEST(GpuMaps, OfInstructionsGiveWhatTheHardwareGave) {
    std::ifstream file(MX_RECORDED_INSTRUCTIONS);
    std::stringstream text;
    text << file.rdbuf();
    const proof::DigestList recorded = proof::parse_digests(text.str());
    EXPECT_EQ(recorded.bad_line, 0u);
    EXPECT_EQ(recorded.digests.size(), 24u);
    for (const proof::Digest& digest : recorded.digests) {
        const std::vector<exact::Run> runs = map_named(digest.name).exact_runs();
        EXPECT_EQ(inputs_of(runs), digest.count) << digest.name;
        EXPECT_EQ(proof::digest_of(runs), digest.digest) << digest.name;
    }
}

TEST(GpuMaps, HaveNamesOfTheirOwn) {
    std::set<std::string> names;
    for (const NamedMap& map : gpu_maps()) EXPECT_TRUE(names.insert(map.name).second) << map.name;
    EXPECT_GT(names.size(), 400u);
}

TEST(DeviceElements, AreAskedOnceForEachFormatAndSetOfRules) {
    const std::vector<DeviceElements> sweeps = device_elements();
    const auto covering = [&sweeps](const Quantizer& dialect, const BlockFormat& format) {
        return std::ranges::count_if(sweeps, [&](const DeviceElements& sweep) {
            return sweep.format.name == format.name &&
                   proof::element_rules(sweep.dialect) == proof::element_rules(dialect);
        });
    };
    for (const BlockFormat& format : mx_block_formats) {
        for (const char* name : {"ocp", "nv", "torchao-floor", "torchao-rceil"}) {
            const Quantizer& dialect = *find_quantizer(name);
            if (!dialect.quantizes(format)) continue;
            EXPECT_EQ(covering(dialect, format), 1) << format.name << " " << name;
        }
    }
    EXPECT_GE(sweeps.size(), 7u);
}

// PTX ISA, cvt: satfinite clamps to the largest finite value, relu makes what is negative +0, and
// NaN becomes the one canonical NaN.
TEST(GpuMaps, InstructionsAnswerAsTheirManualSays) {
    const auto plain = map_named("cvt.rn.satfinite.e4m3x2.f32 low lane").exact_runs();
    EXPECT_EQ(result_at(plain, 0x43E00000), 0x7Eu);  // 448
    EXPECT_EQ(result_at(plain, 0x7F800000), 0x7Eu);  // Inf
    EXPECT_EQ(result_at(plain, 0xC3E80001), 0xFEu);  // below -464
    EXPECT_EQ(result_at(plain, 0x80000000), 0x80u);
    EXPECT_EQ(result_at(plain, 0xFFC00000), 0x7Fu);  // NaN
    const auto relu = map_named("cvt.rn.satfinite.relu.e5m2x2.f16x2 high lane").exact_runs();
    EXPECT_EQ(result_at(relu, 0x3C00), 0x3Cu);
    EXPECT_EQ(result_at(relu, 0xBC00), 0x00u);
    EXPECT_EQ(result_at(relu, 0x8000), 0x00u);
    EXPECT_EQ(result_at(relu, 0x7E00), 0x7Fu);
    const auto back = map_named("cvt.rn.f16x2.e4m3x2 low lane").exact_runs();
    EXPECT_EQ(inputs_of(back), 256u);
    EXPECT_EQ(result_at(back, 0x38), 0x3C00u);
    EXPECT_EQ(result_at(back, 0x81), 0x9800u);  // -2^-9
    EXPECT_EQ(result_at(back, 0xFF), 0x7FFFu);
    const auto four = map_named("cvt.rn.satfinite.e2m1x2.f32 low lane").exact_runs();
    EXPECT_EQ(result_at(four, 0x7FC00000), 0x7u);  // no NaN: the largest
    EXPECT_EQ(result_at(four, 0xC0A00000), 0xEu);  // -5, a tie: -4
}

// Who is wrong about 0.5: the GPU, or the fast oracle compiled for it?
TEST(TanhSweep, AsksTheExactOracleBeforeItBlamesTheGpu) {
    const SweepAnswer right = answer_of(TanhDifferences{});
    EXPECT_EQ(right.inputs, 1ull << 32);
    EXPECT_EQ(right.differing, 0u);
    EXPECT_TRUE(right.first.empty());
    const SweepAnswer wrong = answer_of(TanhDifferences{7, 0x3F000000, 0x3EEC9A9E});
    EXPECT_EQ(wrong.differing, 7u);
    EXPECT_EQ(wrong.wrong_digest, "");
    ASSERT_EQ(wrong.first.size(), 1u);
    EXPECT_EQ(wrong.first[0].input, "0x3f000000");
    EXPECT_EQ(wrong.first[0].actual, "0x3eec9a9e");
    EXPECT_EQ(wrong.first[0].expected, "0x3eec9a50");
    const SweepAnswer oracle = answer_of(TanhDifferences{1, 0x3F000000, 0x3EEC9A50});
    EXPECT_NE(oracle.wrong_digest.find("of 0x3f000000: the exact oracle"), std::string::npos);
    EXPECT_TRUE(oracle.first.empty()) << "the GPU is right";
}

TEST(RunDifferences, CountEveryInputOnceHoweverTheRunsAreCut) {
    const std::vector<exact::Run> right{{0, 9, 1}, {10, 99, 2}};
    EXPECT_EQ(differences(right, right).count, 0u);
    EXPECT_EQ(differences({{0, 4, 1}, {5, 99, 2}}, right).count, 5u);
    EXPECT_EQ(differences({{0, 99, 1}}, right).count, 90u);
    EXPECT_EQ(differences({{0, 49, 3}, {50, 99, 2}}, right).count, 50u);
    const RunDifferences last = differences({{0, 9, 1}, {10, 98, 2}, {99, 99, 1}}, right);
    EXPECT_EQ(last.count, 1u);
    ASSERT_EQ(last.first.size(), 1u);
    EXPECT_EQ(last.first[0].input, 99u);
    EXPECT_EQ(last.first[0].actual, 1u);
    EXPECT_EQ(last.first[0].expected, 2u);
    // What was not answered is wrong too.
    EXPECT_EQ(differences({}, right).count, 100u);
    EXPECT_EQ(differences({{5, 99, 2}}, right).count, 10u);
    EXPECT_EQ(differences({{0, 9, 1}, {10, 20, 2}}, right).count, 79u);
    // The ends of the largest domain.
    EXPECT_EQ(differences({{0, 0xFFFFFFFF, 7}}, {{0, 0xFFFFFFFF, 8}}).count, 1ull << 32);
}

}  // namespace
}  // namespace mx::sweep
