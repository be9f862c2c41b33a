// The planted bugs that relations alone catch, in the order of the tables, with the first relation
// that each breaks. Read by the test that runs them all.
#pragma once

#include <array>
#include <string_view>

namespace mx::relation {

inline constexpr std::array<std::string_view, 61> killed_blocks{
    "canary",                             // powers_of_two_move_scales
    "ties_up",                            // signs_pass_through
    "mantissa_carry_lost",                // codes_keep_order
    "no_saturation",                      // twice_is_once
    "saturates_at_240",                   // twice_is_once
    "floor_log2f",                        // powers_of_two_move_scales
    "scale_plus_one",                     // twice_is_once
    "scale_minus_one",                    // twice_is_once
    "emax_forgotten",                     // twice_is_once
    "nv_floor_for_ceil",                  // signs_pass_through
    "nv_power_of_two_up",                 // twice_is_once
    "amax_ignores_lane_31",               // lanes_change_places
    "amax_signed",                        // powers_of_two_move_scales
    "scale_from_previous_block",          // blocks_stand_alone
    "partial_block_padding_read",         // lanes_change_places
    "last_block_unwritten",               // repeated
    "col_strides_swapped",                // lanes_change_places
    "stale_output",                       // repeated
    "input_modified",                     // repeated
    "random_flake",                       // repeated
    "scale_overwrites_red_zone",          // repeated
    "crash_on_nan",                       // repeated
    "hang_on_zero_block",                 // both_are_rows_and_columns
    "dequantize_fp4_signless",            // values_have_mirrors
    "dequantize_int8_unsigned",           // twice_is_once
    "dequantize_tile_scales_transposed",  // code_and_scale_decide
    "dequantize_block_16_as_32",          // code_and_scale_decide
    "dequantize_nibbles_exchanged",       // layouts_agree
    "dequantize_fp6_straddle_lost",       // layouts_agree
    "dequantize_128x4_linear",            // layouts_agree
    "te_pads_read",                       // layouts_agree
    "f16_subnormals_lost",                // types_agree
    "input_taken_for_dense",              // layouts_agree
    "both_columns_scaled_as_rows",        // both_are_rows_and_columns
    "both_last_columns_unwritten",        // both_are_rows_and_columns
    "nan_spreads_in_columns",             // columns_are_rows
    "log2_cut_toward_zero",               // powers_of_two_move_scales
    "amax_ignores_short_vector",          // zeros_fill_up
    "nan_payload_lost",                   // types_agree
    "fp6_formats_exchanged",              // twice_is_once
    "e3m2_emax_3",                        // twice_is_once
    "int8_wraps",                         // codes_keep_order
    "int8_sign_magnitude",                // codes_keep_order
    "int8_quantum_halved",                // signs_pass_through
    "block_16_as_32",                     // blocks_stand_alone
    "block_64_half_seen",                 // lanes_change_places
    "tile_scale_of_first_row",            // lanes_change_places
    "nibbles_exchanged",                  // layouts_agree
    "fp6_bits_reversed",                  // layouts_agree
    "packed_rows_run_on",                 // layouts_agree
    "packed_tail_unwritten",              // layouts_agree
    "inline_scale_first",                 // layouts_agree
    "inline_tail_unwritten",              // layouts_agree
    "inline_64_scale_amid",               // layouts_agree
    "swizzle_quarters_unshuffled",        // layouts_agree
    "swizzle_8x4_linear",                 // layouts_agree
    "swizzle_pads_unwritten",             // layouts_agree
    "col_swizzle_as_row",                 // layouts_agree
    "shuffle_32x8_linear",                // layouts_agree
    "shuffle_32x8_pairs_exchanged",       // layouts_agree
    "te_rows_not_padded",                 // layouts_agree
};

inline constexpr std::array<std::string_view, 42> killed_products{
    "canary",                     // k_splits
    "scales_exchanged",           // rows_change_places
    "scale_slice_reused",         // k_changes_places
    "block_index_off_by_one",     // zeros_add_nothing
    "scales_transposed",          // rows_change_places
    "swizzle_read_linearly",      // layouts_agree
    "tensor_scale_forgotten",     // factors_change_places
    "b_format_of_a",              // factors_change_places
    "b_transposed",               // columns_change_places
    "b_of_first_batch",           // batches_stand_alone
    "scales_of_first_batch",      // batches_stand_alone
    "c_of_first_batch",           // batches_stand_alone
    "c_read_after_d",             // columns_change_places
    "k_tail_dropped",             // zeros_add_nothing
    "last_k_doubled",             // zeros_add_nothing
    "split_halves_overlap",       // zeros_add_nothing
    "stale_accumulator",          // rows_change_places
    "fraction_bit_short",         // zeros_add_nothing
    "floor_for_truncation",       // signs_pass_through
    "accumulator_kept_whole",     // zeros_add_nothing
    "last_chunk_joined",          // zeros_add_nothing
    "rest_of_chunk_first",        // zeros_add_nothing
    "rest_of_step_first",         // zeros_add_nothing
    "minus_zero_element_as_nan",  // signs_pass_through
    "half_of_k_missing",          // zeros_add_nothing
    "one_k_dropped",              // zeros_add_nothing
    "alpha_on_c",                 // c_is_added
    "alpha_lost_beside_whole_c",  // bias_is_a_row_of_c
    "c_through_bf16",             // c_is_added
    "beta_c_through_bf16",        // c_is_added
    "single_row_without_c",       // rows_stand_alone
    "adds_to_old_d",              // factors_change_places
    "nan_of_c_lost",              // c_is_added
    "minus_zero_kept",            // alpha_takes_the_sign
    "bias_before_alpha",          // bias_is_a_row_of_c
    "bias_along_rows",            // columns_change_places
    "bias_tail_missing",          // columns_change_places
    "relu_before_bias",           // relu_comes_last
    "relu_loses_nan",             // relu_comes_last
    "last_row_missing",           // repeated
    "second_batch_untouched",     // rows_change_places
    "d_transposed",               // rows_change_places
};

}  // namespace mx::relation
