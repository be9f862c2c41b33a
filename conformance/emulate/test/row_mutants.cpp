// See row_mutants.hpp.
#include "conformance/emulate/test/row_mutants.hpp"

#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"

namespace mx {
namespace {

using Mutants = std::vector<Mutant>;

// Every other value of one field.
template <typename Field, typename Value>
void add(Mutants& mutants, const Quantizer& row, const std::string& decision, const Field& field,
         std::initializer_list<Value> values) {
    for (const Value value : values) {
        Mutant mutant{decision, row};
        if (field(mutant.row) == value) continue;
        field(mutant.row) = value;
        mutants.push_back(mutant);
    }
}

void add_cast_mutants(Mutants& all, const Quantizer& row) {
    using U = ScaleUnderflow;
    using R = ScaleRounding;
    add(all, row, "scale rounding", [](Quantizer& q) -> R& { return q.scale_cast.rounding; },
        {R::toward_zero, R::toward_positive, R::nearest_even, R::nearest_away, R::nearest_log2,
         R::nearest_log2f, R::ceil_log2f});
    if (!row.leaves_open(Decision::scale_underflow))
        add(all, row, "scale underflow", [](Quantizer& q) -> U& { return q.scale_cast.underflow; },
            {U::clamp, U::above_2tom127, U::any_bit_counts});
    using Byte = std::uint8_t;
    const auto add_byte = [&](const char* name, Byte ScaleCast::*byte,
                              std::initializer_list<Byte> values) {
        add(
            all, row, name, [byte](Quantizer& q) -> Byte& { return q.scale_cast.*byte; }, values);
    };
    if (!row.leaves_open(Decision::scale_underflow))
        add_byte("smallest byte", &ScaleCast::byte_min, {Byte{0}, Byte{1}});
    add_byte("largest byte", &ScaleCast::byte_max, {Byte{0xFC}, Byte{0xFD}, Byte{0xFE}});
    add_byte("byte of overflow", &ScaleCast::overflow, {Byte{0xFE}, Byte{0xFF}});
    if (!row.leaves_open(Decision::infinity_in_block))
        add_byte("byte of infinity", &ScaleCast::infinity, {Byte{0}, Byte{0xFE}, Byte{0xFF}});
    if (!row.leaves_open(Decision::nan_in_block))
        add_byte("byte of NaN", &ScaleCast::nan, {Byte{0}, Byte{0x7F}, Byte{0xFE}, Byte{0xFF}});
    if (!row.leaves_open(Decision::zero_block))
        add_byte("byte of zero", &ScaleCast::zero, {Byte{0}, Byte{1}, Byte{0x7F}, Byte{0xFF}});
    using N = NegativeScale;
    if (row.formats == FormatSet{})
        add(all, row, "negative", [](Quantizer& q) -> N& { return q.scale_cast.negative; },
            {N::magnitude, N::zero_byte, N::zero_byte_if_finite, N::nan_byte});
}

void add_amax_mutants(Mutants& all, const Quantizer& row) {
    add(all, row, "subnormals", [](Quantizer& q) -> Subnormals& { return q.subnormals; },
        {Subnormals::honoured, Subnormals::inputs_flushed});
    if (!row.leaves_open(Decision::nan_in_block))
        add(all, row, "NaN in a block", [](Quantizer& q) -> NanInBlock& { return q.nan_in_block; },
            {NanInBlock::poisons_amax, NanInBlock::own_lane_only, NanInBlock::own_lane_unless_all,
             NanInBlock::own_lane_only_in_blocks});
    if (!row.leaves_open(Decision::infinity_in_block))
        add(all, row, "infinity in a block",
            [](Quantizer& q) -> InfinityInBlock& { return q.infinity_in_block; },
            {InfinityInBlock::is_amax, InfinityInBlock::own_lane_only,
             InfinityInBlock::counts_as_2to128});
    add(all, row, "smallest amax", [](Quantizer& q) -> std::uint32_t& { return q.amax_min; },
        {0u, 0x38D1B717u});
}

void add_scale_mutants(Mutants& all, const Quantizer& row) {
    add(all, row, "amax rounding", [](Quantizer& q) -> AmaxRounding& { return q.amax_rounding; },
        {AmaxRounding::none, AmaxRounding::nearest_away, AmaxRounding::nearest_away_to_2to128,
         AmaxRounding::nearest_toward_zero, AmaxRounding::one_bit_away, AmaxRounding::whole_log2f,
         AmaxRounding::whole_log2f_to_2to127});
    if (!row.leaves_open(Decision::zero_block))
        add(all, row, "zero block", [](Quantizer& q) -> ZeroBlock& { return q.zero_block; },
            {ZeroBlock::as_cast, ZeroBlock::one_over_emax, ZeroBlock::as_2tom126});
    add(all, row, "ratio", [](Quantizer& q) -> ScaleRatio& { return q.scale_ratio; },
        {ScaleRatio::over_emax, ScaleRatio::over_emax_f32, ScaleRatio::times_reciprocal,
         ScaleRatio::times_reciprocal_flushed, ScaleRatio::divided, ScaleRatio::none});
    add(all, row, "smallest ratio", [](Quantizer& q) -> std::uint32_t& { return q.ratio_min; },
        {0u, 0x2B8CBCCCu});
    add(all, row, "inverse", [](Quantizer& q) -> Inverse& { return q.inverse; },
        {Inverse::exact_power, Inverse::one_for_byte_zero, Inverse::zero_for_byte_zero,
         Inverse::zero_at_both_ends, Inverse::of_scale_bits, Inverse::over_scale_bits});
    add(all, row, "quotient", [](Quantizer& q) -> Quotient& { return q.quotient; },
        {Quotient::exact, Quotient::to_f16, Quotient::plus_half_in_f32});
}

void add_element_mutants(Mutants& all, const Quantizer& row) {
    if (row.element_rounding != Rounding::stochastic)
        add(all, row, "element rounding",
            [](Quantizer& q) -> Rounding& { return q.element_rounding; },
            {Rounding::nearest_even, Rounding::nearest_away, Rounding::nearest_toward_zero,
             Rounding::toward_zero});
    add(all, row, "overflow", [](Quantizer& q) -> Overflow& { return q.element_overflow; },
        {Overflow::saturate, Overflow::overflow, Overflow::to_infinity});
    if (!row.leaves_open(Decision::nan_code))
        add(all, row, "code of NaN", [](Quantizer& q) -> NanCode& { return q.nan_code; },
            {NanCode::positive_all_ones, NanCode::sign_kept, NanCode::largest, NanCode::as_number,
             NanCode::zero});
}

// A case of convert names how it rounds; the row says what becomes of NaNs and zeros.
void add_conversion_mutants(Mutants& all, const Quantizer& row) {
    using N = NanCode;
    using S = SignOfZero;
    if (!row.leaves_open(Decision::nan_code))
        add(all, row, "code of NaN", [](Quantizer& q) -> N& { return q.nan_code; },
            {N::positive_all_ones, N::sign_kept, N::largest, N::as_number, N::zero, N::quiet_bit,
             N::payload_kept, N::of_overflow_too});
    if (!row.leaves_open(Decision::sign_of_zero))
        add(all, row, "sign of zero", [](Quantizer& q) -> S& { return q.sign_of_zero; },
            {S::kept, S::dropped, S::input_dropped, S::underflow_dropped});
}

void add_zero_mutants(Mutants& all, const Quantizer& row) {
    if (row.leaves_open(Decision::sign_of_zero)) return;
    const auto field = [](Quantizer& q) -> SignOfZero& { return q.sign_of_zero; };
    using S = SignOfZero;
    if (row.has_e8m0_scales())
        add(all, row, "sign of zero", field,
            {S::kept, S::dropped, S::input_dropped, S::underflow_dropped});
    else
        add(all, row, "sign of zero", field, {S::kept, S::input_dropped});
}

// Values that stand for each other: the others would not fit the row's other fields.
template <typename Field, typename Value>
void add_within(Mutants& all, const Quantizer& row, const std::string& decision, const Field& field,
                std::initializer_list<std::initializer_list<Value>> groups) {
    Quantizer own = row;
    for (const auto& group : groups)
        for (const Value value : group)
            if (value == field(own)) add(all, row, decision, field, group);
}

// From the tensor's amax to the scale of a block that has a mantissa.
void add_real_scale_mutants(Mutants& all, const Quantizer& row) {
    using T = TensorScale;
    add_within<>(all, row, "tensor scale", [](Quantizer& q) -> T& { return q.tensor_scale; },
                 {{T::decode_divided, T::decode_times_reciprocal, T::decode_from_1em30}});
    if (row.tensor_scale != T::none && row.tensor_scale != T::history)
        add(all, row, "largest scale", [](Quantizer& q) -> int& { return q.scale_max; },
            {448, 256, 114688});
    using R = ScaleRatio;
    add_within<>(all, row, "ratio", [](Quantizer& q) -> R& { return q.scale_ratio; },
                 {{R::divided, R::times_reciprocal},
                  {R::divided_over_tensor, R::times_reciprocal_over_tensor, R::over_tensor_divided},
                  {R::divided_times_tensor, R::times_scaled_tensor}});
    if (row.scale_ratio == R::max_over_amax) {
        add(all, row, "useless amax", [](Quantizer& q) -> UselessAmax& { return q.useless_amax; },
            {UselessAmax::as_computed, UselessAmax::one});
        add(all, row, "encode overflow",
            [](Quantizer& q) -> EncodeOverflow& { return q.encode_overflow; },
            {EncodeOverflow::infinity, EncodeOverflow::largest_f32, EncodeOverflow::largest_input});
    }
    // A power of two below is that of an encode scale, which is never zero.
    using S = ScaleRule;
    const auto rule = [](Quantizer& q) -> S& { return q.scale_rule; };
    if (row.scale_rule == S::nearest)
        add(all, row, "smallest ratio", [](Quantizer& q) -> std::uint32_t& { return q.ratio_min; },
            {0u, 0x3C800000u, 0x37000000u});
    if (row.scale_type == ScaleType::f32 && row.useless_amax == UselessAmax::one)
        add(all, row, "scale rule", rule, {S::f32, S::power_of_two_below});
    else if (row.scale_type == ScaleType::f32)
        add(all, row, "scale rule", rule, {S::f32, S::power_of_two_above});
    using C = CandidateError;
    add_within<>(all, row, "error", [](Quantizer& q) -> C& { return q.candidate_error; },
                 {{C::absolute, C::square}});
    using I = Inverse;
    add_within<>(all, row, "inverse", [](Quantizer& q) -> I& { return q.inverse; },
                 {{I::reciprocal, I::divided, I::divided_by_product},
                  {I::reciprocal_of_product, I::bf16_quotient}});
    if (row.inverse == I::divided_if_finite)
        add(all, row, "inverse", [](Quantizer& q) -> I& { return q.inverse; },
            {I::reciprocal, I::divided});
}

// The same values with one candidate for the scale in place of two.
void add_single_candidate(Mutants& all, const Quantizer& row) {
    if (row.scale_rule != ScaleRule::best_of_two) return;
    Mutant mutant{"one candidate", row};
    mutant.row.scale_rule = ScaleRule::nearest;
    mutant.row.candidate_error = CandidateError::none;
    all.push_back(mutant);
}

void add_difference(std::string& text, std::string_view name, const std::string& now,
                    const std::string& before) {
    if (now != before) text += (text.empty() ? "" : " ") + std::string(name) + "=" + now;
}

// The fields that the mutant has otherwise; the decision where no list of fields says so.
std::string change_of(const Mutant& mutant, const Quantizer& row) {
    std::string text;
    for (const emulate::DialectField& field : emulate::dialect_fields())
        add_difference(text, field.name, field.value_of(mutant.row), field.value_of(row));
    if (!text.empty() || row.has_e8m0_scales()) return text.empty() ? mutant.change : text;
    const auto before = emulate::recipe_fields(row), now = emulate::recipe_fields(mutant.row);
    for (std::size_t i = 0; i < before.size(); ++i)
        add_difference(text, now[i].first, now[i].second, before[i].second);
    return text.empty() ? mutant.change : text;
}

}  // namespace

std::vector<Mutant> mutants_of(const Quantizer& row) {
    Mutants all;
    if (row.has_e8m0_scales()) add_cast_mutants(all, row);
    if (!row.has_scales()) {
        add_conversion_mutants(all, row);
    } else if (row.formats != FormatSet{}) {
        add_amax_mutants(all, row);
        if (row.has_e8m0_scales()) {
            add_scale_mutants(all, row);
            add(all, row, "subnormals", [](Quantizer& q) -> Subnormals& { return q.subnormals; },
                {Subnormals::outputs_flushed});
        } else {
            add_real_scale_mutants(all, row);
            add_single_candidate(all, row);
        }
        add_element_mutants(all, row);
        add_zero_mutants(all, row);
    }
    for (Mutant& mutant : all) mutant.change = change_of(mutant, row);
    return all;
}

}  // namespace mx
