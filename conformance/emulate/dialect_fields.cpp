// See dialect_fields.hpp.
#include "conformance/emulate/dialect_fields.hpp"

#include <array>

namespace mx::emulate {

// No switch has a default: a new value without a name must not compile.
std::string_view name_of(ScaleRule rule) {
    switch (rule) {
        case ScaleRule::floor_amax: return "floor_amax";
        case ScaleRule::ceil_amax: return "ceil_amax";
        case ScaleRule::even_amax: return "even_amax";
        case ScaleRule::round_up_ratio: return "round_up_ratio";
    }
    return "";
}

std::string_view name_of(Rounding rounding) {
    for (const auto& [name, value] : roundings)
        if (value == rounding) return name;
    return "";
}

std::string_view name_of(Overflow overflow) {
    for (const auto& [name, value] : overflows)
        if (value == overflow) return name;
    return "";
}

namespace {

using mx::emulate::name_of;

std::string_view name_of(ScaleOverflow overflow) {
    switch (overflow) {
        case ScaleOverflow::nan: return "nan";
        case ScaleOverflow::saturate: return "saturate";
    }
    return "";
}

std::string_view name_of(ScaleUnderflow underflow) {
    switch (underflow) {
        case ScaleUnderflow::clamp: return "clamp";
    }
    return "";
}

std::string_view name_of(ZeroBlock zero_block) {
    switch (zero_block) {
        case ZeroBlock::scale_min: return "scale_min";
    }
    return "";
}

std::string_view name_of(NanInBlock nan_in_block) {
    switch (nan_in_block) {
        case NanInBlock::poisons_scale: return "poisons_scale";
        case NanInBlock::own_lane_only: return "own_lane_only";
    }
    return "";
}

std::string_view name_of(Subnormals subnormals) {
    switch (subnormals) {
        case Subnormals::honoured: return "honoured";
    }
    return "";
}

std::string_view name_of(NanCode nan_code) {
    switch (nan_code) {
        case NanCode::positive_all_ones: return "positive_all_ones";
        case NanCode::sign_kept: return "sign_kept";
    }
    return "";
}

std::string_view name_of(SignOfZero sign_of_zero) {
    switch (sign_of_zero) {
        case SignOfZero::kept: return "kept";
        case SignOfZero::dropped: return "dropped";
    }
    return "";
}

std::string_view name_of(NanValue nan_value) {
    switch (nan_value) {
        case NanValue::any: return "any";
    }
    return "";
}

template <auto member>
constexpr DialectField field(std::string_view name) {
    return {name,
            [](const Dialect& dialect) { return name_of(dialect.*member); },
            [](Dialect& to, const Dialect& from) { to.*member = from.*member; }};
}

constexpr std::array fields{
    field<&Dialect::scale_rule>("scale_rule"),
    field<&Dialect::scale_overflow>("scale_overflow"),
    field<&Dialect::scale_underflow>("scale_underflow"),
    field<&Dialect::zero_block>("zero_block"),
    field<&Dialect::nan_in_block>("nan_in_block"),
    field<&Dialect::element_rounding>("element_rounding"),
    field<&Dialect::element_overflow>("element_overflow"),
    field<&Dialect::subnormals>("subnormals"),
    field<&Dialect::nan_code>("nan_code"),
    field<&Dialect::sign_of_zero>("sign_of_zero"),
    field<&Dialect::nan_value>("nan_value"),
};

// A field more or less in Dialect, and this no longer compiles: `fields` must follow. Three texts
// and `open` decide no bits.
[[maybe_unused]] constexpr std::size_t count_members(const Dialect& dialect) {
    [[maybe_unused]] const auto& [name, title, source, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10,
                                  open] = dialect;
    return 15;
}
static_assert(fields.size() == count_members(Dialect{}) - 4);

}  // namespace

std::span<const DialectField> dialect_fields() { return fields; }

}  // namespace mx::emulate
