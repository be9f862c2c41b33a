// See hypotheses.hpp.
#include "conformance/identify/hypotheses.hpp"

#include <algorithm>

#include "reference/spec/dialects.hpp"

namespace mx::identify {
namespace {

// A row for every enumerator that a device could follow, whether a dialect of the table does or
// not. Stochastic rounding is left out: its bits are not the device's to choose.
std::vector<Dialect> rows_of_enumerators() {
    std::vector<Dialect> rows;
    const auto add = [&rows](auto member, auto... values) {
        for (const auto value : {values...}) {
            rows.push_back(common_rules);
            rows.back().*member = value;
        }
    };
    for (const auto& [name, rounding] : roundings)
        if (rounding != Rounding::stochastic) add(&Dialect::element_rounding, rounding);
    for (const auto& [name, overflow] : overflows) add(&Dialect::element_overflow, overflow);
    for (const auto& [name, subnormals] : subnormal_rules) add(&Dialect::subnormals, subnormals);
    add(&Dialect::nan_code, NanCode::positive_all_ones, NanCode::sign_kept, NanCode::largest,
        NanCode::as_number);
    add(&Dialect::sign_of_zero, SignOfZero::kept, SignOfZero::dropped, SignOfZero::input_dropped,
        SignOfZero::underflow_dropped);
    add(&Dialect::inverse, Inverse::exact_power, Inverse::one_for_byte_zero,
        Inverse::zero_for_byte_zero, Inverse::over_scale_bits);
    return rows;
}

// Rows whose fields of bytes hold what the device answered.
std::vector<Dialect> rows_of_bytes(const BytesSeen& seen) {
    std::vector<Dialect> rows(1, common_rules);
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

const emulate::DialectField& field_named(std::string_view name) {
    for (const emulate::DialectField& field : emulate::dialect_fields())
        if (field.name == name) return field;
    MX_ASSERT(false && "a dialect has no field of that name");
    return emulate::dialect_fields()[0];
}

std::vector<Dialect> values_of(std::string_view field_name, const Dialect& base,
                               const BytesSeen& seen) {
    const emulate::DialectField& field = field_named(field_name);
    std::vector<Dialect> found{base};
    std::vector<std::string> texts{field.value_of(base)};
    const auto take = [&](const Dialect& row) {
        const std::string text = field.value_of(row);
        if (std::find(texts.begin(), texts.end(), text) != texts.end()) return;
        texts.push_back(text);
        found.push_back(base);
        field.copy(found.back(), row);
    };
    if (!is_answered_byte(field_name))
        for (const Dialect& row : dialects) take(row);
    for (const Dialect& row : rows_of_enumerators()) take(row);
    for (const Dialect& row : rows_of_bytes(seen)) take(row);
    return found;
}

std::vector<Dialect> combinations(std::span<const std::string_view> fields, const Dialect& base,
                                  const BytesSeen& seen) {
    std::vector<Dialect> all{base};
    for (const std::string_view field : fields) {
        std::vector<Dialect> wider;
        for (const Dialect& dialect : all)
            for (const Dialect& value : values_of(field, dialect, seen)) wider.push_back(value);
        all = std::move(wider);
    }
    return all;
}

}  // namespace mx::identify
