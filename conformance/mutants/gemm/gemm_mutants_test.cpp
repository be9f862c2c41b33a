// Every planted bug of a GEMM must be real: on the probe named for it the device differs from
// the base, which gemm_base_test.cpp holds to the right bits.
#include "conformance/mutants/gemm/gemm_mutants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>

#include "conformance/mutants/gemm/gemm_probes.hpp"

namespace mx::mutants {

void PrintTo(const Mutant& mutant, std::ostream* stream);
void PrintTo(const Mutant& mutant, std::ostream* stream) {
    *stream << mutant.description;
}

namespace gemm {
namespace {

// A bug and the probe on which it shows. A bug without a line here fails the test.
struct ShownBy {
    std::string_view bug, probe;
};
constexpr ShownBy shown_by[] = {
    {"canary", "ones"},
    {"scales_exchanged", "mx"},
    {"scale_slice_reused", "mx"},
    {"block_index_off_by_one", "mx"},
    {"scales_transposed", "mx"},
    {"swizzle_read_linearly", "128x4"},
    {"nan_scale_ignored", "NaN scale"},
    {"scale_byte_0_as_zero", "scale 0"},
    {"nan_scale_as_infinity", "NaN scale over ones"},
    {"nan_scale_lost_over_zeros", "NaN scale over zeros"},
    {"largest_scale_halved", "scale 0"},
    {"scale_table_of_32", "long rows"},
    {"scales_of_padded_batches", "128x4 batches"},
    {"scale_product_in_f32", "scales far apart"},
    {"scale_sum_in_8_bits", "scales far apart"},
    {"tensor_scale_forgotten", "tensor scales"},
    {"scales_multiplied_first", "tensor scales"},
    {"b_format_of_a", "mixed"},
    {"b_transposed", "square"},
    {"b_of_first_batch", "two batches"},
    {"b_one_batch_late", "three batches"},
    {"batches_counted_to_64", "many batches"},
    {"rows_counted_to_256", "many rows"},
    {"second_wave", "133 tiles"},
    {"packed_rows_counted_to_128", "packed"},
    {"packed_rows_too_near", "packed"},
    {"second_wave_of_scales", "133 tiles of mx"},
    {"scales_of_first_tile", "packed"},
    {"scales_of_first_batch", "two batches"},
    {"c_of_first_batch", "alpha and beta"},
    {"c_taken_for_dense", "C with pads"},
    {"c_read_after_d", "C"},
    {"k_tail_dropped", "twos"},
    {"last_k_doubled", "twos"},
    {"k_counted_to_4096", "long rows"},
    {"split_halves_overlap", "mx"},
    {"stale_accumulator", "twos"},
    {"fraction_bit_short", "fp8"},
    {"floor_for_truncation", "fp8"},
    {"steps_of_16", "fp8"},
    {"sum_to_nearest", "fp8"},
    {"accumulator_kept_whole", "fp8"},
    {"exponents_normalised", "fp8"},
    {"zero_exponents_counted", "zero times large"},
    {"promoted_every_64", "fp8"},
    {"promoted_every_256", "fp8"},
    {"never_promoted", "fp8"},
    {"promoted_every_96", "fp8"},
    {"last_chunk_joined", "fp8"},
    {"rest_of_chunk_first", "fp8"},
    {"rest_of_step_first", "fp8"},
    {"half_of_k_missing", "fp8"},
    {"one_k_dropped", "fp8"},
    {"accumulator_of_6_bits", "mx"},
    {"bf16_accumulator", "mx"},
    {"fnuz_nan_as_minus_zero", "fnuz NaN and largest"},
    {"fnuz_bias_one_less", "fnuz"},
    {"fnuz_read_as_ocp", "fnuz"},
    {"fnuz_largest_as_nan", "fnuz NaN and largest"},
    {"halves_for_even_and_odd", "fnuz far apart"},
    {"odd_tree_pairs_late", "bf16 of three"},
    {"tree_as_chain", "bf16 tree"},
    {"accumulator_first_in_tree", "bf16 tree"},
    {"subnormals_not_flushed", "bf16 subnormal"},
    {"c_added_inside", "C"},
    {"f16_accumulator", "mx"},
    {"subnormal_elements_flushed", "subnormal elements"},
    {"nan_element_as_480", "NaN element"},
    {"minus_zero_element_as_nan", "minus zero"},
    {"largest_element_one_less", "largest"},
    {"infinity_times_zero_as_zero", "Inf and 0"},
    {"alpha_on_c", "alpha and beta"},
    {"alpha_through_bf16", "alpha and beta"},
    {"alpha_lost_beside_whole_c", "alpha beside C"},
    {"c_through_bf16", "C"},
    {"beta_c_through_bf16", "alpha and beta"},
    {"rounded_before_alpha", "bf16 alpha"},
    {"relu_before_c", "C and relu"},
    {"single_row_without_c", "C of one row"},
    {"other_operand_fused", "alpha and beta"},
    {"adds_to_old_d", "ones"},
    {"nan_of_c_lost", "NaN in C"},
    {"minus_zero_kept", "zero sums"},
    {"bias_before_alpha", "bias"},
    {"bias_along_rows", "bias"},
    {"bias_tail_missing", "bias"},
    {"relu_before_bias", "bias and relu"},
    {"relu_loses_nan", "relu of NaN"},
    {"gelu_before_bias", "gelu"},
    {"gelu_tanh_rounded", "gelu"},
    {"gelu_constant_rounded", "gelu"},
    {"rounded_before_bias", "bf16 bias"},
    {"bf16_rounded_twice", "bf16"},
    {"halves_truncated", "bf16"},
    {"saturates", "overflow"},
    {"subnormal_results_flushed", "tiny"},
    {"d_scale_one_up", "blocks"},
    {"d_scale_of_block_before", "blocks"},
    {"d_rounded_before_blocks", "blocks"},
    {"d_elements_unscaled", "blocks"},
    {"d_scales_untouched", "blocks"},
    {"nvfp4_d_scale_of_block_before", "nvfp4"},
    {"nvfp4_d_nibbles_exchanged", "nvfp4"},
    {"nvfp4_d_scaled_twice", "nvfp4"},
    {"nvfp4_d_scaled_late", "large nvfp4"},
    {"nvfp4_d_unscaled", "nvfp4"},
    {"nvfp4_d_scale_cut", "nvfp4"},
    {"last_row_missing", "ones"},
    {"odd_last_column_missing", "bf16 bias"},
    {"second_batch_untouched", "two batches"},
    {"d_transposed", "square"},
    {"group_takes_next_b", "groups"},
    {"empty_group_shifts_b", "groups"},
    {"group_boundary_rounded", "groups"},
    {"group_scales_not_padded", "groups in tiles"},
    {"last_group_tail_dropped", "groups"},
    {"rows_of_no_group_written", "groups"},
};

// Where else it may show: nowhere. Bugs of these names touch every probe.
bool is_loud(std::string_view name) {
    return name == "canary" || name == "adds_to_old_d" || name == "last_row_missing";
}

Planted load(std::string_view name) {
    return planted_bug(MX_MUTANT_DIRECTORY "/gemm_mutants.so", name);
}

const Probe& probe_named(std::string_view name) {
    for (const Probe& probe : probes())
        if (probe.name == name) return probe;
    ADD_FAILURE() << "there is no probe " << name;
    return probes()[0];
}

class PlantedGemmBug : public ::testing::TestWithParam<Mutant> {
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
        return right.d == wrong.d;
    }

    Planted base_, bug_;
};

TEST_P(PlantedGemmBug, ShowsOnItsProbe) {
    const auto row = std::ranges::find(shown_by, GetParam().name, &ShownBy::bug);
    ASSERT_NE(row, std::end(shown_by)) << "no probe is named for " << GetParam().name;
    EXPECT_FALSE(agrees_on(probe_named(row->probe))) << row->probe;
}

// A plug-in that is wrong everywhere would be caught for the wrong reason.
TEST_P(PlantedGemmBug, KeepsQuietElsewhere) {
    if (is_loud(GetParam().name)) return;
    EXPECT_TRUE(agrees_on(probe_named("ones")));
}

std::vector<Mutant> planted() {
    return {table.begin() + 1, table.end()};
}

INSTANTIATE_TEST_SUITE_P(GemmMutants, PlantedGemmBug, ::testing::ValuesIn(planted()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GemmMutantTable, OpensWithTheBaseAndHasAProbeForEachBug) {
    EXPECT_EQ(table[0].name, "none");
    EXPECT_EQ(table[1].name, "canary");
    EXPECT_EQ(std::size(shown_by), table.size() - 1);
}

}  // namespace
}  // namespace gemm
}  // namespace mx::mutants
