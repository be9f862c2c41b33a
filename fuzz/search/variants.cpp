// See variants.hpp.
#include "fuzz/search/variants.hpp"

#include <algorithm>

#include "reference/spec/quantizers.hpp"

namespace mx::fuzz {
namespace {

using fast::Unpacked;

// The rules alone: no names and no choices left open.
Quantizer arithmetic_of(Quantizer row) {
    row.name = row.title = row.source = row.waits = {};
    row.formats = row.inputs = row.open = 0;
    return row;
}

struct Maker {
    const Rules& rules;
    std::vector<Variant> variants = {};

    void add(Variant variant) {
        variant.dialect = arithmetic_of(variant.dialect);
        if (variant.slip == Slip::none && variant.dialect == arithmetic_of(rules.dialect)) return;
        const bool is_known = std::ranges::any_of(variants, [&](const Variant& other) {
            return other.slip == variant.slip && other.dialect == variant.dialect;
        });
        if (!is_known) variants.push_back(std::move(variant));
    }

    template <typename Value>
    void add_values(const std::string& field, Value Quantizer::*member, int count) {
        for (int value = 0; value < count; ++value) {
            Quantizer dialect = rules.dialect;
            dialect.*member = static_cast<Value>(value);
            add({field + " " + std::to_string(value), dialect});
        }
    }
    template <typename Value>
    void add_cast_values(const std::string& field, Value ScaleCast::*member, int count) {
        for (int value = 0; value < count; ++value) {
            Quantizer dialect = rules.dialect;
            dialect.scale_cast.*member = static_cast<Value>(value);
            add({field + " " + std::to_string(value), dialect});
        }
    }
};

// The values that a scale without a mantissa knows stand first.
static_assert(static_cast<int>(ScaleRatio::none) == 5);
static_assert(static_cast<int>(Inverse::over_scale_bits) == 5);

void add_scale_values(Maker& maker) {
    maker.add_values("amax_rounding", &Quantizer::amax_rounding, 7);
    maker.add_values("scale_ratio", &Quantizer::scale_ratio, 6);
    maker.add_values("zero_block", &Quantizer::zero_block, 3);
    maker.add_cast_values("scale_rounding", &ScaleCast::rounding, 7);
    maker.add_cast_values("scale_underflow", &ScaleCast::underflow, 3);
    maker.add_cast_values("byte_min", &ScaleCast::byte_min, 2);
    maker.add({"amax through bf16", maker.rules.dialect, Slip::amax_through_bf16});
}

void add_element_values(Maker& maker) {
    maker.add_values("element_rounding", &Quantizer::element_rounding, 8);
    maker.add_values("element_overflow", &Quantizer::element_overflow, 2);
    maker.add_values("quotient", &Quantizer::quotient, 3);
    maker.add_values("nan_code", &Quantizer::nan_code, 5);
    maker.add_values("sign_of_zero", &Quantizer::sign_of_zero, 4);
    maker.add({"values through bf16", maker.rules.dialect, Slip::values_through_bf16});
    maker.add({"values cut to bf16", maker.rules.dialect, Slip::values_cut_to_bf16});
}

Unpacked through_bf16(const Unpacked& value, Rounding rounding) {
    if (value.kind != fast::Kind::finite || value.significand == 0) return value;
    constexpr ElementFormat bf16 = formats::bf16;
    return fast::unpack(bf16, fast::round(bf16, rounding, Overflow::overflow, value));
}

Unpacked slipped(Slip slip, const Unpacked& value) {
    if (slip == Slip::values_through_bf16) return through_bf16(value, Rounding::nearest_even);
    if (slip == Slip::values_cut_to_bf16) return through_bf16(value, Rounding::toward_zero);
    return value;
}

Code scale_of(const Rules& rules, const Variant& variant, const Unpacked& amax) {
    const Unpacked seen =
        variant.slip == Slip::amax_through_bf16 ? through_bf16(amax, Rounding::nearest_even) : amax;
    if (rules.is_cast) return fast::cast_to_scale(variant.dialect.scale_cast, seen);
    return fast::encode_scale(variant.dialect, rules.format, seen);
}

Unpacked read(const Rules& rules, const Quantizer& dialect, std::uint32_t lane) {
    return fast::read_input(dialect.subnormals, rules.values, Code{lane});
}

bool parts_block(const Rules& rules, const Variant& variant, std::span<const std::uint32_t> lanes) {
    const int count = static_cast<int>(lanes.size());
    const Unpacked amax = fast::amax_of(rules.dialect, rules.values, lanes.data(), count);
    const Unpacked seen = fast::amax_of(variant.dialect, rules.values, lanes.data(), count);
    const Code scale = fast::encode_scale(rules.dialect, rules.format, amax);
    if (!(scale_of(rules, variant, seen) == scale)) return true;
    for (const std::uint32_t lane : lanes) {
        const Code right = fast::quantize_element(rules.dialect, rules.format, scale,
                                                  read(rules, rules.dialect, lane));
        const Code other =
            fast::quantize_element(variant.dialect, rules.format, scale,
                                   slipped(variant.slip, read(rules, variant.dialect, lane)));
        if (!(right == other)) return true;
    }
    return false;
}

bool parts_lane(const Rules& rules, const Variant& variant, std::uint32_t lane) {
    const Unpacked right = read(rules, rules.dialect, lane);
    const Unpacked other = slipped(variant.slip, read(rules, variant.dialect, lane));
    if (rules.kind == OperationKind::convert && !rules.is_cast)
        return !(fast::round_element(rules.dialect, rules.element, right) ==
                 fast::round_element(variant.dialect, rules.element, other));
    const Variant same{"", rules.dialect};
    return !(scale_of(rules, same, right) == scale_of(rules, variant, other));
}

}  // namespace

std::vector<Variant> variants_of(const Rules& rules) {
    Maker maker{rules};
    const bool is_conversion = rules.kind == OperationKind::convert && !rules.is_cast;
    // Those of a scale with a mantissa are not listed yet.
    if (rules.kind == OperationKind::dequantize || rules.has_real_scales()) return {};
    if (!is_conversion)
        for (const Quantizer& row : e8m0_quantizers)
            if (row.is_known() && (rules.is_cast || row.quantizes(rules.format)))
                maker.add({"dialect " + std::string(row.name), row});
    if (!is_conversion) add_scale_values(maker);
    maker.add_values("subnormals", &Quantizer::subnormals, 3);
    if (rules.kind == OperationKind::quantize) {
        maker.add_values("nan_in_block", &Quantizer::nan_in_block, 3);
        maker.add_values("infinity_in_block", &Quantizer::infinity_in_block, 3);
        maker.add_values("inverse", &Quantizer::inverse, 6);
    }
    if (rules.kind == OperationKind::quantize || is_conversion) add_element_values(maker);
    return std::move(maker.variants);
}

bool parts(const Rules& rules, const Variant& variant, std::span<const std::uint32_t> lanes) {
    if (rules.kind == OperationKind::quantize) return parts_block(rules, variant, lanes);
    return std::ranges::any_of(
        lanes, [&](std::uint32_t lane) { return parts_lane(rules, variant, lane); });
}

}  // namespace mx::fuzz
