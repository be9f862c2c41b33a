// model=bounded and bounded:ROW: no machine that the table knows is accused, whatever the data.
#include <gtest/gtest.h>

#include "conformance/data/gemm_inputs.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

// Factors that some row multiplies, and what may come after the sum.
constexpr const char* factors[] = {
    "a=mxfp8-e4m3 b=mxfp8-e5m2",
    "a=mxfp6-e3m2 b=mxfp6-e2m3",
    "a=mxfp4-e2m1 b=mxfp4-e2m1",
    "a=nvfp4 b=nvfp4",
    "a=e4m3:tensor b=e4m3:tensor",
    "a=e5m2:row b=e4m3:row",
    "a=e4m3:1x128 b=e4m3:1x128",
    "a=e4m3:1x128 b=e4m3:128x128",
    "a=e5m2 b=e5m2",
    "a=bf16 b=bf16",
    "a=f16 b=f16",
    "a=f32 b=f32",
};
constexpr const char* fields[] = {
    "shape=6x5x64 output=f32",
    "shape=5x6x160 output=f16",
    "shape=5x6x160 output=bf16 alpha=-1.23 beta=0.77",
    "shape=3x4x544 output=f16 alpha=0.001 beta=2 epilogue=bias-relu",
};

struct Counts {
    std::size_t cases = 0, passes = 0, half = 0;
};

// Both kinds of bound on one row as a device.
void expect_no_blame(const GemmModel& row, const std::string& text, Counts& counts) {
    for (const bool is_named : {false, true}) {
        const std::string asked =
            text + " model=bounded" + (is_named ? ":" + std::string(row.name) : "");
        const auto c = parse_case(asked);
        if (!c || !check_combination(c.value()) || !check_gemm_data(c.value())) continue;
        const bool ends_in_half = row.accumulator.exponent_bits < 8;
        if (ends_in_half && c.value().gemm.output.element != formats::f16) continue;
        const CaseResult result = run(asked, {.model = &row});
        EXPECT_TRUE(result.mismatches.empty()) << row.name << ": " << told(result);
        ++counts.cases;
        counts.passes += result.verdict == Verdict::pass_bounded ? 1 : 0;
        counts.half += ends_in_half && result.verdict == Verdict::pass_bounded ? 1 : 0;
    }
}

TEST(GemmBound, NoRowOfTheTableIsAccusedOnAnyData) {
    Counts counts;
    for (const GemmModel& row : gemm_models)
        for (const char* pair : factors)
            for (const char* more : fields) {
                const std::string text = std::string("gemm ") + pair + " " + more;
                auto named = parse_case(text + " data=gemm.zeros model=" + std::string(row.name));
                if (!named || !check_combination(named.value())) continue;
                for (const GemmFamily& family : gemm_data_families())
                    expect_no_blame(row, text + " data=" + std::string(family.name), counts);
            }
    EXPECT_GT(counts.cases, 3000u);
    EXPECT_GT(counts.passes, 1000u);
    EXPECT_GT(counts.half, 20u);
    RecordProperty("cases", static_cast<int>(counts.cases));
    std::printf("%zu cases, %zu of them pass, %zu with a binary16 accumulator\n", counts.cases,
                counts.passes, counts.half);
}

}  // namespace
}  // namespace mx
