// Every planted bug of real scales must be real: on the probe named for it the device differs from
// the base, which real_scale_base_test.cpp and the self-test hold to the right bits.
#include "conformance/mutants/real_scale/real_scale_mutants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>

#include "conformance/mutants/real_scale/real_scale_probes.hpp"

namespace mx::mutants {

void PrintTo(const Mutant& mutant, std::ostream* stream);
void PrintTo(const Mutant& mutant, std::ostream* stream) {
    *stream << mutant.description;
}

namespace real_scale {
namespace {

// A bug and the probe on which it shows. A bug without a line here fails the test.
struct ShownBy {
    std::string_view bug, probe;
};
constexpr ShownBy shown_by[] = {
    {"canary", "plain"},
    {"number_inverted", "spread"},
    {"number_ignored", "spread"},
    {"number_applied_twice", "spread"},
    {"range_of_448_squared", "spread"},
    {"range_of_256_forgotten", "four over six"},
    {"zero_amax_unguarded", "amax 0"},
    {"infinite_amax_unguarded", "amax Inf"},
    {"subnormal_amax_flushed", "amax subnormal"},
    {"tensor_amax_signed", "corner"},
    {"tensor_amax_misses_last_row", "corner"},
    {"tensor_amax_misses_tail", "corner"},
    {"tensor_amax_before_rotation", "rotated"},
    {"scale_kept_for_amax", "spread"},
    {"number_of_columns_missing", "both"},
    {"history_scale_inverted", "history"},
    {"scale_toward_zero", "spread"},
    {"scale_ties_away", "tie of scales"},
    {"scale_overflows_to_nan", "too large"},
    {"ratio_through_bf16", "next to a tie of scales"},
    {"amax_divided_by_6", "next to ties of scales"},
    {"least_scale_forgotten", "small block"},
    {"zero_scale_unguarded", "zeros"},
    {"scale_has_sign", "corner"},
    {"nan_spreads", "NaN"},
    {"nan_passed_over", "NaN of torchao"},
    {"tile_scale_of_first_row", "tiles"},
    {"tile_amax_misses_last_column", "corner of a tile"},
    {"columns_scaled_as_rows", "columns"},
    {"short_block_reads_on", "spread"},
    {"e5m2_largest_of_e4m3", "E5M2"},
    {"power_of_two_above", "power of two"},
    {"amax_min_forgotten", "small"},
    {"encode_scale_stored", "history"},
    {"zero_block_unguarded", "FP8 zeros"},
    {"infinite_block_unguarded", "FP8 infinity"},
    {"largest_f32_for_input", "tiny"},
    {"elements_ties_away", "ties"},
    {"elements_ties_toward_zero", "ties"},
    {"elements_overflow", "history"},
    {"minus_zero_lost", "ties"},
    {"nan_as_zero", "NaN"},
    {"quotient_for_product", "next to ties"},
    {"product_not_rounded", "next to ties"},
    {"reciprocal_one_ulp_up", "next to ties"},
    {"random_high_byte", "stochastic"},
    {"random_carry_early", "one short of a carry"},
    {"random_word_of_pairs", "stochastic"},
    {"tie_goes_to_four", "four over six of zeros"},
    {"errors_with_signs", "four over six"},
    {"compared_before_rounding", "four over six"},
    {"rotation_sign_of_lane_7", "rotated"},
    {"rotation_not_halved_again", "rotated"},
    {"rotation_rounded_between", "rotated"},
    {"nibbles_exchanged", "packed"},
    {"odd_nibble_lost", "packed"},
    {"tiles_exchanged", "128x4"},
    {"swizzled_twice", "128x4"},
    {"pads_not_written", "128x4"},
    {"columns_of_quantized_rows", "both"},
    {"dequantize_forgets_number", "dequantize"},
    {"dequantize_amax_as_scale", "dequantize"},
    {"dequantize_nan_scale_as_480", "dequantize"},
    {"dequantize_tiles_transposed", "dequantize tiles"},
};

Planted load(std::string_view name) {
    return planted_bug(MX_MUTANT_DIRECTORY "/real_scale_mutants.so", name);
}

const Probe& probe_named(std::string_view name) {
    for (const Probe& probe : probes())
        if (probe.name == name) return probe;
    ADD_FAILURE() << "there is no probe " << name;
    return probes()[0];
}

class PlantedRealScaleBug : public ::testing::TestWithParam<Mutant> {
protected:
    void SetUp() override {
        base_ = load("none");
        bug_ = load(GetParam().name);
        ASSERT_NE(base_.api, nullptr);
        ASSERT_NE(bug_.api, nullptr);
    }
    bool agrees_on(const Probe& probe) const {
        const Answer right = answer_of(base_, probe), wrong = answer_of(bug_, probe);
        EXPECT_EQ(right.status, MX_OK) << probe.name;
        EXPECT_EQ(wrong.status, MX_OK) << probe.name;
        return right.bytes == wrong.bytes;
    }

    Planted base_, bug_;
};

TEST_P(PlantedRealScaleBug, ShowsOnItsProbe) {
    const auto row = std::ranges::find(shown_by, GetParam().name, &ShownBy::bug);
    ASSERT_NE(row, std::end(shown_by)) << "no probe is named for " << GetParam().name;
    EXPECT_FALSE(agrees_on(probe_named(row->probe))) << row->probe;
}

// A plug-in that is wrong everywhere would be caught for the wrong reason.
TEST_P(PlantedRealScaleBug, KeepsQuietElsewhere) {
    if (GetParam().name != "canary") {
        EXPECT_TRUE(agrees_on(probe_named("plain")));
    }
}

std::vector<Mutant> planted() {
    return {table.begin() + 1, table.end()};
}

INSTANTIATE_TEST_SUITE_P(RealScaleMutants, PlantedRealScaleBug, ::testing::ValuesIn(planted()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RealScaleMutantTable, OpensWithTheBaseAndHasAProbeForEachBug) {
    EXPECT_EQ(table[0].name, "none");
    EXPECT_EQ(table[1].name, "canary");
    EXPECT_EQ(std::size(shown_by), table.size() - 1);
}

}  // namespace
}  // namespace real_scale
}  // namespace mx::mutants
