// What the planted bugs declare that they do, in the words of conformance/cause, for the self-test
// to hold the causes against that were named. A bug that no hypothesis describes declares nothing,
// and whatever is named for it is wrong. Nobody else reads this: a cause is found without it.
#pragma once

#include <array>
#include <string_view>

namespace mx::mutants {

struct PlantedCause {
    std::string_view bug;   // with the prefix of its library, "real_scale_" or "gemm_"
    std::string_view does;  // "A | B" where each says the same
};

inline constexpr std::array planted_causes{
    // Elements.
    PlantedCause{"ties_up", "ties:up"},
    PlantedCause{"ties_away", "element_rounding:nearest_even->nearest_away"},
    PlantedCause{"truncation", "cut_before_range | element_rounding:nearest_even->toward_zero"},
    PlantedCause{"double_rounding_bf16", "value_through:bf16"},
    PlantedCause{"no_saturation", "element_overflow:saturate->overflow"},
    PlantedCause{"saturates_at_240", "code:top_binade_unused"},
    PlantedCause{"convert_always_saturates", "element_overflow:overflow->saturate"},
    PlantedCause{"subnormals_flushed_in",
                 "input:below_f32_normal_as_zero | subnormals:honoured->inputs_flushed"},
    PlantedCause{"subnormals_flushed_out",
                 "code:subnormal_as_zero | subnormals:honoured->outputs_flushed"},
    PlantedCause{"minus_zero_lost", "code:zero_unsigned | sign_of_zero:kept->dropped"},
    PlantedCause{"nan_sign_kept", "nan_code:positive_all_ones->sign_kept"},
    PlantedCause{"nan_spreads", "nan_in_block:own_lane_only->poisons_amax"},
    PlantedCause{"nan_spreads_in_columns", "nan_in_block:own_lane_only->poisons_amax"},
    PlantedCause{"nan_payload_lost", "input:nan_cut_to_bf16"},
    PlantedCause{"f16_subnormals_lost", "subnormals:honoured->inputs_flushed"},
    PlantedCause{"fp6_formats_exchanged",
                 "element_format:mxfp6-e3m2->mxfp6-e2m3 | element_format:mxfp6-e2m3->mxfp6-e3m2"},
    PlantedCause{"fp6_subnormals_lost",
                 "code:subnormal_as_zero | subnormals:honoured->outputs_flushed"},
    PlantedCause{"fp4_ties_away", "element_rounding:nearest_even->nearest_away"},
    PlantedCause{"fp4_nan_as_zero", "nan_code:positive_all_ones->zero | input:nan_as_zero"},
    PlantedCause{"int8_sign_magnitude", "code:sign_and_magnitude"},
    PlantedCause{"int8_truncates", "cut_before_range | element_rounding:nearest_even->toward_zero"},
    PlantedCause{"int8_quantum_halved", "value_exponent:+1"},
    PlantedCause{"int8_never_minus_128", "element_format:mxint8->mxint8-symmetric"},
    PlantedCause{"int8_symmetric_writes_128", "element_format:mxint8-symmetric->mxint8"},
    PlantedCause{"nan_ignored", "nan_code:positive_all_ones->largest"},
    // Scales.
    PlantedCause{"e3m2_emax_3", "scale_exponent:+1"},
    PlantedCause{"fp4_amax_over_6",
                 "scale_ratio:over_emax->divided | scale_ratio:over_emax->times_reciprocal"},
    PlantedCause{"inf_to_max", "amax_infinity_as_largest"},
    PlantedCause{"floor_log2f",
                 "amax_rounding:none->whole_log2f | scale_rounding:toward_positive->ceil_log2f"},
    PlantedCause{"scale_plus_one", "scale_exponent:+1"},
    PlantedCause{"scale_minus_one", "scale_exponent:-1"},
    PlantedCause{"emax_forgotten",
                 "scale_ratio:over_emax->none | "
                 "scale_ratio:times_reciprocal->none"},
    PlantedCause{"emax_of_e4m3_for_e5m2", "scale_format:mxfp8-e5m2->mxfp8-e4m3"},
    PlantedCause{"nv_floor_for_ceil", "scale_rounding:toward_positive->toward_zero"},
    PlantedCause{"nv_underflow_to_one", "scale_byte_min:0x00->0x01 | tiny_amax_byte:1"},
    PlantedCause{"nv_power_of_two_up", "exact_scale_up"},
    PlantedCause{"zero_block_scale_127", "scale_zero:0x00->0x7f | zero_amax_byte:127"},
    PlantedCause{"nv_ratio_divided", "scale_ratio:times_reciprocal->divided"},
    PlantedCause{"byte_254_reciprocal", "inverse:exact_power->zero_at_both_ends"},
    PlantedCause{"byte_0_reciprocal", "inverse:exact_power->one_for_byte_zero"},
    PlantedCause{"amax_ignores_lane_31", "amax_without:element_31"},
    PlantedCause{"amax_signed", "amax_without:negative_elements"},
    PlantedCause{"amax_through_bf16", "amax_through:bf16"},
    PlantedCause{"amax_ignores_short_vector", "amax_without:rest_of_8"},
    PlantedCause{"scale_from_previous_block",
                 "scale_of:block_before_or_0 | "
                 "scale_of:block_before"},
    PlantedCause{"partial_block_padding_read", "amax_reads_on"},
    PlantedCause{"block_16_as_32", "amax_of_pairs"},
    PlantedCause{"block_64_half_seen", "amax_without:second_half"},
    PlantedCause{"tile_scale_of_first_row", "amax_without:later_rows"},
    // Casts and conversions.
    PlantedCause{"cast_never_up", "scale_rounding:toward_positive->toward_zero"},
    PlantedCause{"cast_negative_as_zero", "scale_negative:magnitude->zero_byte"},
    PlantedCause{"nearest_away_as_even", "element_rounding:nearest_away->nearest_even"},
    PlantedCause{"ties_down_as_even", "element_rounding:nearest_toward_zero->nearest_even"},
    PlantedCause{"directed_exchanged", "directed:exchanged"},
    PlantedCause{"directed_ignores_sign", "directed:magnitude"},
    PlantedCause{"to_odd_as_truncation", "element_rounding:to_odd->toward_zero"},
    PlantedCause{"stochastic_high_bits", "random_bits:other_end"},
    PlantedCause{"stochastic_words_taken_for_dense", "dense:1"},
    PlantedCause{"directed_underflow_unsigned", "sign_of_zero:kept->underflow_dropped"},
    PlantedCause{"flush_in_ignored", "subnormals:inputs_flushed->honoured"},
    PlantedCause{"flush_in_loses_sign", "input:subnormal_as_plus_zero"},
    PlantedCause{"flush_out_ignored", "subnormals:outputs_flushed->honoured"},
    // The way back.
    PlantedCause{"e5m2_inf_to_nan", "read:infinity_as_nan"},
    PlantedCause{"e4m3_nan_as_480", "read:nan_as_number"},
    PlantedCause{"dequantize_scale_255_as_inf", "read:nan_scale_as_infinity"},
    PlantedCause{"dequantize_byte_0_as_zero", "read:scale_0_as_zero"},
    PlantedCause{"dequantize_flushes_subnormals", "code:subnormal_as_zero"},
    PlantedCause{"dequantize_minus_zero_lost", "code:zero_unsigned"},
    PlantedCause{"dequantize_saturates", "read:saturated"},
    PlantedCause{"dequantize_truncates", "read:rounding_toward_zero"},
    PlantedCause{"dequantize_fp4_signless", "read:sign_lost"},
    PlantedCause{"dequantize_int8_128_as_zero", "read:lowest_integer_as_zero"},
    PlantedCause{"dequantize_int8_unsigned", "read:integer_unsigned"},
    PlantedCause{"dequantize_tile_scales_transposed", "read:scales_exchanged"},
    PlantedCause{"dequantize_block_16_as_32", "read:blocks_twice_as_long"},
    PlantedCause{"dequantize_nibbles_exchanged", "packing:nibbles in the other order"},
    PlantedCause{"dequantize_128x4_linear", "layout:scales row by row without pads"},
    // Places, memory, the device itself.
    PlantedCause{"last_block_unwritten", "unwritten"},
    PlantedCause{"both_last_columns_unwritten", "unwritten"},
    PlantedCause{"rows_beyond_65535_unwritten", "unwritten"},
    PlantedCause{"packed_tail_unwritten", "padding"},
    PlantedCause{"inline_tail_unwritten", "padding"},
    PlantedCause{"swizzle_pads_unwritten", "padding"},
    PlantedCause{"te_pads_read", "flaky | padding"},
    PlantedCause{"col_strides_swapped", "exchanged:elements"},
    PlantedCause{"input_taken_for_dense", "dense:0"},
    PlantedCause{"stale_output", "stale_answer"},
    PlantedCause{"input_modified", "input_modified"},
    PlantedCause{"random_flake", "flaky"},
    PlantedCause{"scale_overwrites_red_zone", "red_zone"},
    PlantedCause{"crash_on_nan", "crash"},
    PlantedCause{"hang_on_zero_block", "timeout"},
    PlantedCause{"nibbles_exchanged", "packing:nibbles in the other order"},
    PlantedCause{"swizzle_tiles_exchanged",
                 "layout:scales of 128x4 with the tiles in the other order"},
    PlantedCause{"swizzle_8x4_linear", "layout:scales row by row without pads"},
    PlantedCause{"shuffle_32x8_linear", "layout:scales row by row without pads"},
    PlantedCause{"te_rows_not_padded", "layout:scales row by row without pads"},
    // Real scales.
    PlantedCause{"real_scale_range_of_256_forgotten", "scale_max:256->448"},
    PlantedCause{"real_scale_infinite_amax_unguarded", "useless_amax:one->as_computed"},
    PlantedCause{"real_scale_zero_amax_unguarded", "useless_amax:one->as_computed"},
    PlantedCause{"real_scale_least_scale_forgotten", "block_scale:e4m3_from_2tom6->e4m3"},
    PlantedCause{"real_scale_nan_spreads",
                 "nan_in_block:own_lane_only->poisons_amax | "
                 "nan_in_block:own_lane_unless_all->poisons_amax"},
    PlantedCause{"real_scale_nan_passed_over",
                 "nan_in_block:poisons_amax->own_lane_only | "
                 "nan_in_block:poisons_amax->own_lane_unless_all"},
    PlantedCause{"real_scale_tile_scale_of_first_row", "amax_without:later_rows"},
    PlantedCause{"real_scale_tile_amax_misses_last_column", "amax_without:last_column"},
    PlantedCause{"real_scale_e5m2_largest_of_e4m3",
                 "scale_format:fp8-e5m2-1x128->fp8-e4m3-1x128 | "
                 "scale_format:fp8-e5m2-128x128->fp8-e4m3-128x128 | "
                 "scale_format:fp8-e5m2-tensor->fp8-e4m3-tensor"},
    PlantedCause{"real_scale_power_of_two_above",
                 "block_scale:power_of_two_below->power_of_two_above"},
    PlantedCause{"real_scale_zero_block_unguarded", "useless_amax:one->as_computed"},
    PlantedCause{"real_scale_infinite_block_unguarded", "useless_amax:one->as_computed"},
    PlantedCause{"real_scale_largest_f32_for_input", "encode_overflow:largest_input->largest_f32"},
    PlantedCause{"real_scale_elements_ties_away", "element_rounding:nearest_even->nearest_away"},
    PlantedCause{"real_scale_elements_ties_toward_zero",
                 "element_rounding:nearest_even->nearest_toward_zero"},
    PlantedCause{"real_scale_elements_overflow", "element_overflow:saturate->overflow"},
    PlantedCause{"real_scale_minus_zero_lost", "code:zero_unsigned | sign_of_zero:kept->dropped"},
    PlantedCause{"real_scale_nan_as_zero",
                 "nan_code:positive_all_ones->zero | nan_code:as_number->zero | input:nan_as_zero"},
    PlantedCause{"real_scale_number_of_columns_missing", "unwritten"},
    PlantedCause{"real_scale_odd_nibble_lost", "unwritten | padding"},
    PlantedCause{"real_scale_nibbles_exchanged", "packing:nibbles in the other order"},
    PlantedCause{"real_scale_tiles_exchanged",
                 "layout:scales of 128x4 with the tiles in the other order"},
    PlantedCause{"real_scale_pads_not_written", "padding"},
    PlantedCause{"real_scale_amax_min_forgotten", "amax_min:0x38d1b717->none"},
    PlantedCause{"real_scale_tensor_amax_signed", "tensor_amax_without:negative"},
    PlantedCause{"real_scale_tensor_amax_misses_last_row", "tensor_amax_without:last_row"},
    PlantedCause{"real_scale_tensor_amax_misses_tail", "tensor_amax_without:last_columns"},
    PlantedCause{"real_scale_subnormal_amax_flushed", "tensor_amax_without:subnormal"},
    PlantedCause{"real_scale_random_high_byte", "random_bits:other_end"},
    // A GEMM.
    PlantedCause{"gemm_scale_byte_0_as_zero",
                 "gemm:scales of E#M# code #, which are #^-#, are flushed to #"},
    PlantedCause{"gemm_alpha_lost_beside_whole_c", "gemm:alpha is taken as #"},
    PlantedCause{"gemm_scales_exchanged", "gemm:A takes the scales of B, and B those of A"},
    PlantedCause{"gemm_last_row_missing", "unwritten"},
    PlantedCause{"gemm_odd_last_column_missing", "unwritten"},
    PlantedCause{"gemm_second_batch_untouched", "unwritten"},
    PlantedCause{"gemm_d_scales_untouched", "unwritten"},
    PlantedCause{"gemm_b_of_first_batch",
                 "gemm:the elements of B of later batches are those of the first"},
    PlantedCause{"gemm_scales_of_first_batch",
                 "gemm:later batches take the scales of A of the first"},
    PlantedCause{"gemm_c_of_first_batch", "gemm:later batches take C of the first"},
    PlantedCause{"gemm_tensor_scale_forgotten", "gemm:the scales of B are taken as #"},
    PlantedCause{"gemm_nvfp4_d_unscaled", "gemm:the scale of D is taken as #"},
    PlantedCause{"gemm_single_row_without_c", "gemm:C is not added"},
};

constexpr std::string_view planted_cause(std::string_view prefix, std::string_view name) {
    for (const PlantedCause& cause : planted_causes)
        if (cause.bug.size() == prefix.size() + name.size() && cause.bug.starts_with(prefix) &&
            cause.bug.ends_with(name))
            return cause.does;
    return "";
}

}  // namespace mx::mutants
