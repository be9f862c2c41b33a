// See hypotheses.hpp.
#include "conformance/identify/hypotheses.hpp"

#include <algorithm>

#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

// A row for every enumerator that a device could follow, whether a dialect of the table does or
// not. Stochastic rounding is left out: its bits are not the device's to choose.
std::vector<Quantizer> rows_of_enumerators() {
    std::vector<Quantizer> rows;
    const auto add = [&rows](auto member, auto... values) {
        for (const auto value : {values...}) {
            rows.push_back(plain_rules());
            rows.back().*member = value;
        }
    };
    for (const auto& [name, rounding] : roundings)
        if (rounding != Rounding::stochastic) add(&Quantizer::element_rounding, rounding);
    for (const auto& [name, overflow] : overflows) add(&Quantizer::element_overflow, overflow);
    for (const auto& [name, subnormals] : subnormal_rules) add(&Quantizer::subnormals, subnormals);
    add(&Quantizer::nan_code, NanCode::positive_all_ones, NanCode::sign_kept, NanCode::largest,
        NanCode::as_number, NanCode::zero);
    add(&Quantizer::sign_of_zero, SignOfZero::kept, SignOfZero::dropped, SignOfZero::input_dropped,
        SignOfZero::underflow_dropped);
    add(&Quantizer::inverse, Inverse::exact_power, Inverse::one_for_byte_zero,
        Inverse::zero_for_byte_zero, Inverse::over_scale_bits);
    return rows;
}

// Rows whose fields of bytes hold what the device answered.
std::vector<Quantizer> rows_of_bytes(const BytesSeen& seen) {
    std::vector<Quantizer> rows(1, plain_rules());
    rows[0].scale_cast.zero = seen.zero;
    rows[0].scale_cast.overflow = rows[0].scale_cast.byte_max = seen.huge;
    for (const std::uint8_t byte : seen.special) {
        rows.push_back(rows[0]);
        rows.back().scale_cast.nan = rows.back().scale_cast.infinity = byte;
    }
    return rows;
}

bool is_answered_byte(std::string_view field) {
    return field == "scale_zero" || field == "scale_nan" || field == "scale_infinity" ||
           field == "scale_overflow";
}

}  // namespace

Quantizer plain_rules() {
    Quantizer rules = e8m0_quantizers[0];
    rules.name = rules.title = rules.source = {};
    rules.open = 0;
    return rules;
}

const emulate::DialectField& field_named(std::string_view name) {
    for (const emulate::DialectField& field : emulate::dialect_fields())
        if (field.name == name) return field;
    MX_ASSERT(false && "a dialect has no field of that name");
    return emulate::dialect_fields()[0];
}

std::vector<Quantizer> values_of(std::string_view field_name, const Quantizer& base,
                                 const BytesSeen& seen) {
    const emulate::DialectField& field = field_named(field_name);
    std::vector<Quantizer> found{base};
    std::vector<std::string> texts{field.value_of(base)};
    const auto take = [&](const Quantizer& row) {
        const std::string text = field.value_of(row);
        if (std::find(texts.begin(), texts.end(), text) != texts.end()) return;
        texts.push_back(text);
        found.push_back(base);
        field.copy(found.back(), row);
    };
    if (!is_answered_byte(field_name))
        for (const Quantizer& row : e8m0_quantizers) take(row);
    for (const Quantizer& row : rows_of_enumerators()) take(row);
    for (const Quantizer& row : rows_of_bytes(seen)) take(row);
    return found;
}

std::vector<Quantizer> combinations(std::span<const std::string_view> fields, const Quantizer& base,
                                    const BytesSeen& seen) {
    std::vector<Quantizer> all{base};
    for (const std::string_view field : fields) {
        std::vector<Quantizer> wider;
        for (const Quantizer& dialect : all)
            for (const Quantizer& value : values_of(field, dialect, seen)) wider.push_back(value);
        all = std::move(wider);
    }
    return all;
}

}  // namespace mx::identify
