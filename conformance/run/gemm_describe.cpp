// See gemm_describe.hpp.
#include "conformance/run/gemm_describe.hpp"

#include "reference/base/hex.hpp"
#include "reference/exact/arithmetic.hpp"

namespace mx {

std::string hex(const ElementFormat& format, std::uint32_t bits) {
    return "0x" + hex(bits, 2 * format.code_bytes());
}

std::string fraction_text(const exact::Value& value) {
    return value.is_finite() ? exact::to_short_fraction(exact::with_sign(value))
                             : exact::to_text(value);
}

GemmKind gemm_kind_of(const ElementFormat& d, const Evidence& evidence,
                      const Difference& difference) {
    const Code expected{difference.expected}, actual{difference.actual};
    if ((difference.flags & flag_unwritten) != 0) return {"unwritten", "never written"};
    if ((difference.flags & flag_differs) != 0 && evidence.reads_pads)
        return {"padding", "changes with the pads of an input"};
    if ((difference.flags & flag_differs) != 0) return {"flaky", "differs between two runs"};
    if (d.is_nan(actual) || d.is_nan(expected))
        return {"special", !d.is_nan(expected) ? "NaN"
                           : d.is_nan(actual)  ? "another NaN"
                                               : "a number for NaN"};
    if (d.is_infinity(actual) || d.is_infinity(expected))
        return {"special", d.is_infinity(actual) ? "Inf" : "a number for Inf"};
    if (d.is_zero(actual) && d.is_zero(expected)) return {"sign_of_zero", "other sign"};
    if (d.is_negative(actual) != d.is_negative(expected)) return {"value", "other sign"};
    const std::int64_t distance =
        std::int64_t{d.magnitude(actual)} - std::int64_t{d.magnitude(expected)};
    if (distance == 1 || distance == -1) return {"rounding", distance == 1 ? "+1 code" : "-1 code"};
    return {"value", distance > 0 ? "several codes up" : "several codes down"};
}

namespace {

std::string_view standing_text(Standing standing) {
    switch (standing) {
        case Standing::verified_here:
            return "verified on hardware by this project";
        case Standing::verified_by_others:
            return "verified on hardware by others";
        case Standing::simulated:
            return "held to a simulator, not verified on hardware";
        case Standing::predicted:
            return "predicted, not verified on hardware";
    }
    return "";
}

}  // namespace

std::string model_text(const GemmModel& model) {
    return "model " + std::string(model.name) + ", " + std::string(standing_text(model.standing));
}

std::string place_text(const gemm::ProblemView& problem, const gemm::OutputPlace& place) {
    const std::int64_t group = problem.group_of(place.row);
    const std::int64_t row = place.row - problem.rows_of_group(group).first;
    std::string text = "row " + std::to_string(row) + ", column " + std::to_string(place.column);
    if (problem.is_grouped())
        text += " of group " + std::to_string(group);
    else if (problem.batches > 1)
        text += " of batch " + std::to_string(group);
    return text;
}

}  // namespace mx
