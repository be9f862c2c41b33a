// See facts.hpp.
#include "conformance/relation/facts.hpp"

#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::relation {
namespace {

std::string no_table(const std::string& word) {
    return "no table here has " + word + ", so nobody can say";
}

// Why what is claimed of dialects whose scales are powers of two is not claimed here; "" where it
// is.
std::string not_of_powers(const Setting& setting) {
    if (const std::string word = unmodelled(setting); !word.empty()) return no_table(word);
    const bool has_powers = find_block_format(setting.format)->has_e8m0_scales() &&
                            find_quantizer(setting.dialect)->has_e8m0_scales();
    return has_powers ? "" : "it is claimed of scales that are powers of two alone";
}

// Whether the scale is rounded up from the ratio to the largest element, so that none is cut off.
bool fits_under_its_scale(const Quantizer& d) {
    const bool is_of_largest =
        d.scale_ratio == ScaleRatio::times_reciprocal || d.scale_ratio == ScaleRatio::divided;
    return is_of_largest && d.scale_cast.rounding == ScaleRounding::toward_positive;
}

}  // namespace

std::string unmodelled(const Setting& setting) {
    if (setting.operation == "gemm") return "";
    if (find_block_format(setting.format) == nullptr) return "format '" + setting.format + "'";
    return find_quantizer(setting.dialect) != nullptr ? "" : "dialect '" + setting.dialect + "'";
}

std::string always(const Setting&) {
    return "";
}

std::string weighs_lanes_together(const Setting& setting) {
    const Quantizer* dialect = find_quantizer(setting.dialect);
    if (dialect == nullptr) return "";
    if (dialect->transform != LaneTransform::none)
        return "its lanes are rotated before anything else";
    return dialect->candidate_error == CandidateError::none
               ? ""
               : "the errors of its two scales are added in the order of the lanes";
}

std::string knows_binades(const Setting& setting) {
    if (const std::string why = not_of_powers(setting); !why.empty()) return why;
    const Quantizer& dialect = *find_quantizer(setting.dialect);
    // Numbers of 16 bits are never so close to a power of two that their logarithm is rounded to
    // it.
    if (takes_log2f(dialect) && setting.values == "f32")
        return "a logarithm in binary32 is the less exact the larger it is";
    if (dialect.scale_cast.rounding == ScaleRounding::nearest_even)
        return "a tie between two scales goes to the even byte, which is every other one";
    return "";
}

std::string treats_signs_unlike(const Setting& setting) {
    if (const std::string why = not_of_powers(setting); !why.empty()) return why;
    const ElementFormat& element = find_block_format(setting.format)->element();
    if (element.code_max_finite_negative() == element.code_max_finite()) return "";
    if (fits_under_its_scale(*find_quantizer(setting.dialect))) return "";
    return "the least number of " + setting.format + " has no positive fellow";
}

std::string rounds_up_and_down(const Setting& setting) {
    return not_of_powers(setting);
}

std::string loses_by_quantizing_twice(const Setting& setting) {
    if (const std::string why = not_of_powers(setting); !why.empty()) return why;
    const Quantizer& d = *find_quantizer(setting.dialect);
    const ElementFormat& element = find_block_format(setting.format)->element();
    const bool has_least = element.code_max_finite_negative() != element.code_max_finite();
    if (has_least && !fits_under_its_scale(d))
        return "the least number of " + setting.format + " has the exponent of a larger scale";
    // Of binary16 no sample spans enough binades to lose one to a larger scale.
    if (d.scale_ratio == ScaleRatio::none && setting.values != "f16")
        return "an amax that rounds up to a power of two comes back under a larger scale";
    if (d.scale_cast.rounding == ScaleRounding::nearest_log2)
        return "an amax that is cut off comes back on the other side of the root of 2";
    return "";
}

std::string has_no_mirror(const Setting& setting) {
    const ElementFormat* element = find_element_format(setting.elements);
    if (element == nullptr) return no_table("type '" + setting.elements + "'");
    if (!element->has_negative_zero())
        return "the least code of " + setting.elements + " has no positive fellow";
    return "";
}

std::string scales_are_no_e8m0(const Setting& setting) {
    if (setting.scales == "e8m0") return "";
    return "scales of type " + setting.scales + " need not be powers of two";
}

std::string knows_no_one(const Setting& setting) {
    for (const std::string& type : {setting.elements, setting.elements_b})
        if (find_element_format(type) == nullptr) return no_table("type '" + type + "'");
    return "";
}

std::string has_no_scales(const Setting& setting) {
    return setting.scaling.empty() ? "its factors have no scales" : "";
}

std::string has_no_block_scales(const Setting& setting) {
    return setting.scaling == "1x32" ? "" : "its factors have no scales of blocks";
}

std::string scales_round(const Setting& setting) {
    return setting.scaling == "tensor" ? "scales of many bits round the product before the bias"
                                       : "";
}

bool reads_as_f32(const Setting& setting, const std::string& type) {
    const Quantizer* dialect = find_quantizer(setting.dialect);
    if (dialect == nullptr) return true;
    // The largest value of the type is what an inverse beyond binary32 becomes.
    if (dialect->encode_overflow == EncodeOverflow::largest_input) return false;
    if (!dialect->reads(type) || !dialect->reads("f32")) return false;
    return dialect->subnormals == Subnormals::honoured || type != "f16";
}

}  // namespace mx::relation
