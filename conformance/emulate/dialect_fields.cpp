// See dialect_fields.hpp.
#include "conformance/emulate/dialect_fields.hpp"

#include <array>

#include "conformance/emulate/number_text.hpp"

namespace mx::emulate {
namespace {

// No switch has a default: a new enumerator without a name must not compile.
#define MX_NAMED(enumerator) \
    case enumerator:         \
        return #enumerator;

std::string text_of(AmaxRounding amax_rounding) {
    using enum AmaxRounding;
    switch (amax_rounding) {
        MX_NAMED(none)
        MX_NAMED(nearest_away)
        MX_NAMED(nearest_toward_zero)
        MX_NAMED(one_bit_away)
        MX_NAMED(nearest_away_to_2to128)
        MX_NAMED(whole_log2f)
        MX_NAMED(whole_log2f_to_2to127)
    }
    return {};
}

std::string text_of(ScaleRatio ratio) {
    using enum ScaleRatio;
    switch (ratio) {
        MX_NAMED(over_emax)
        MX_NAMED(over_emax_f32)
        MX_NAMED(times_reciprocal)
        MX_NAMED(times_reciprocal_flushed)
        MX_NAMED(divided)
        MX_NAMED(none)
        MX_NAMED(times_reciprocal_over_tensor)
        MX_NAMED(divided_over_tensor)
        MX_NAMED(over_tensor_divided)
        MX_NAMED(divided_times_tensor)
        MX_NAMED(times_scaled_tensor)
        MX_NAMED(max_over_amax)
        MX_NAMED(tensor)
    }
    return {};
}

std::string text_of(ScaleRounding rounding) {
    using enum ScaleRounding;
    switch (rounding) {
        MX_NAMED(toward_zero)
        MX_NAMED(toward_positive)
        MX_NAMED(nearest_even)
        MX_NAMED(nearest_away)
        MX_NAMED(nearest_log2)
        MX_NAMED(nearest_log2f)
        MX_NAMED(ceil_log2f)
    }
    return {};
}

std::string text_of(ScaleUnderflow underflow) {
    using enum ScaleUnderflow;
    switch (underflow) {
        MX_NAMED(clamp)
        MX_NAMED(above_2tom127)
        MX_NAMED(any_bit_counts)
    }
    return {};
}

std::string text_of(NegativeScale negative) {
    using enum NegativeScale;
    switch (negative) {
        MX_NAMED(magnitude)
        MX_NAMED(zero_byte)
        MX_NAMED(zero_byte_if_finite)
        MX_NAMED(nan_byte)
    }
    return {};
}

std::string text_of(ZeroBlock zero_block) {
    using enum ZeroBlock;
    switch (zero_block) {
        MX_NAMED(as_cast)
        MX_NAMED(one_over_emax)
        MX_NAMED(as_2tom126)
    }
    return {};
}

std::string text_of(NanInBlock nan_in_block) {
    using enum NanInBlock;
    switch (nan_in_block) {
        MX_NAMED(poisons_amax)
        MX_NAMED(own_lane_only)
        MX_NAMED(own_lane_unless_all)
        MX_NAMED(own_lane_only_in_blocks)
    }
    return {};
}

std::string text_of(InfinityInBlock infinity_in_block) {
    using enum InfinityInBlock;
    switch (infinity_in_block) {
        MX_NAMED(is_amax)
        MX_NAMED(own_lane_only)
        MX_NAMED(counts_as_2to128)
    }
    return {};
}

std::string text_of(Inverse inverse) {
    using enum Inverse;
    switch (inverse) {
        MX_NAMED(exact_power)
        MX_NAMED(one_for_byte_zero)
        MX_NAMED(zero_for_byte_zero)
        MX_NAMED(zero_at_both_ends)
        MX_NAMED(of_scale_bits)
        MX_NAMED(over_scale_bits)
        MX_NAMED(encode_scale)
        MX_NAMED(reciprocal)
        MX_NAMED(reciprocal_of_product)
        MX_NAMED(reciprocal_over_scale)
        MX_NAMED(bf16_quotient)
        MX_NAMED(divided)
        MX_NAMED(divided_by_product)
        MX_NAMED(divided_if_finite)
    }
    return {};
}

std::string text_of(NanCode nan_code) {
    using enum NanCode;
    switch (nan_code) {
        MX_NAMED(positive_all_ones)
        MX_NAMED(sign_kept)
        MX_NAMED(largest)
        MX_NAMED(as_number)
        MX_NAMED(zero)
        MX_NAMED(quiet_bit)
        MX_NAMED(payload_kept)
        MX_NAMED(of_overflow_too)
    }
    return {};
}

std::string text_of(SignOfZero sign_of_zero) {
    using enum SignOfZero;
    switch (sign_of_zero) {
        MX_NAMED(kept)
        MX_NAMED(dropped)
        MX_NAMED(input_dropped)
        MX_NAMED(underflow_dropped)
    }
    return {};
}

std::string text_of(Quotient quotient) {
    using enum Quotient;
    switch (quotient) {
        MX_NAMED(exact)
        MX_NAMED(to_f16)
        MX_NAMED(plus_half_in_f32)
    }
    return {};
}

std::string text_of(NanValue nan_value) {
    using enum NanValue;
    switch (nan_value) { MX_NAMED(any) }
    return {};
}

#undef MX_NAMED

template <typename Names, typename Value>
std::string name_among(const Names& names, Value wanted) {
    for (const auto& [name, value] : names)
        if (value == wanted) return std::string(name);
    return {};
}

std::string text_of(Rounding rounding) {
    return name_among(roundings, rounding);
}
std::string text_of(Overflow overflow) {
    return std::string(name_of(overflow));
}
std::string text_of(Subnormals subnormals) {
    return name_among(subnormal_rules, subnormals);
}

// A byte of the scale, and a binary32 code below which nothing counts.
std::string text_of(std::uint8_t byte) {
    return hex_code(formats::e8m0, Code{byte});
}
std::string text_of(std::uint32_t least) {
    return least == 0 ? "none" : hex_code(formats::f32, Code{least});
}

template <auto member>
constexpr DialectField field(std::string_view name) {
    return {name, [](const Quantizer& dialect) { return text_of(dialect.*member); },
            [](Quantizer& to, const Quantizer& from) { to.*member = from.*member; }};
}

template <auto member>
constexpr DialectField cast_field(std::string_view name) {
    return {name, [](const Quantizer& dialect) { return text_of(dialect.scale_cast.*member); },
            [](Quantizer& to, const Quantizer& from) {
                to.scale_cast.*member = from.scale_cast.*member;
            }};
}

constexpr std::array fields{
    field<&Quantizer::amax_rounding>("amax_rounding"),
    field<&Quantizer::amax_min>("amax_min"),
    field<&Quantizer::scale_ratio>("scale_ratio"),
    field<&Quantizer::ratio_min>("ratio_min"),
    cast_field<&ScaleCast::rounding>("scale_rounding"),
    cast_field<&ScaleCast::underflow>("scale_underflow"),
    cast_field<&ScaleCast::byte_min>("scale_byte_min"),
    cast_field<&ScaleCast::byte_max>("scale_byte_max"),
    cast_field<&ScaleCast::overflow>("scale_overflow"),
    cast_field<&ScaleCast::infinity>("scale_infinity"),
    cast_field<&ScaleCast::nan>("scale_nan"),
    cast_field<&ScaleCast::zero>("scale_zero"),
    cast_field<&ScaleCast::negative>("scale_negative"),
    field<&Quantizer::zero_block>("zero_block"),
    field<&Quantizer::nan_in_block>("nan_in_block"),
    field<&Quantizer::infinity_in_block>("infinity_in_block"),
    field<&Quantizer::inverse>("inverse"),
    field<&Quantizer::quotient>("quotient"),
    field<&Quantizer::element_rounding>("element_rounding"),
    field<&Quantizer::element_overflow>("element_overflow"),
    field<&Quantizer::subnormals>("subnormals"),
    field<&Quantizer::nan_code>("nan_code"),
    field<&Quantizer::sign_of_zero>("sign_of_zero"),
    field<&Quantizer::nan_value>("nan_value"),
};

// A member more or less in Quantizer or ScaleCast, and these no longer compile: `fields` must
// follow. Four texts, the type of the scale, two sets and `open` decide no bits; what only scales
// with a mantissa read is named apart, and scale_cast is the other struct.
[[maybe_unused]] constexpr std::size_t count_members(const Quantizer& dialect) {
    [[maybe_unused]] const auto& [name, title, source, waits, scale_type, formats, inputs,
                                  transform, f0, f1, f2, f3, f4, f5, tensor_scale, scale_max, f6,
                                  f7, useless_amax, encode_overflow, scale_rule, cast,
                                  candidate_error, f8, f9, f10, f11, f12, f13, way_back, f14,
                                  open] = dialect;
    return 32 - 9 - 8;
}
[[maybe_unused]] constexpr std::size_t count_members(const ScaleCast& cast) {
    [[maybe_unused]] const auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8] = cast;
    return 9;
}
static_assert(fields.size() == count_members(Quantizer{}) + count_members(ScaleCast{}));

}  // namespace

std::span<const DialectField> dialect_fields() {
    return fields;
}

std::string value_in(std::string_view field_name, const Quantizer& rules) {
    for (const DialectField& field : fields)
        if (field.name == field_name) return field.value_of(rules);
    MX_ASSERT(false && "no field has this name");
    return {};
}

std::string named_value(std::string_view field_name, const Quantizer& rules) {
    return std::string(field_name) + " = " + value_in(field_name, rules);
}

}  // namespace mx::emulate
