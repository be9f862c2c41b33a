// See combination.hpp, and check_combination in case.hpp.
#include "conformance/case/combination.hpp"

#include "conformance/case/names.hpp"
#include "conformance/case/rules.hpp"
#include "reference/spec/layouts.hpp"

namespace mx {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

Status check_blocks(const Case& c) {
    if (has_blocks(c)) return check_name("block", std::to_string(c.block), block_names());
    if (c.axis != "row") return bad(c.operation + " has no blocks, so it has no axis=" + c.axis);
    if (c.block != block_size)
        return bad(c.operation + " has no blocks, so it has no block=" + std::to_string(c.block));
    return success();
}

Status check_element_rule_names(const Case& c) {
    if (!has_element_rules(c)) return success();
    const auto names = {
        check_name("rounding", c.rounding, rounding_names()),
        check_name("overflow", c.overflow, overflow_names()),
        check_name("subnormals", c.subnormals, subnormal_names()),
    };
    for (const Status& status : names)
        if (!status) return status;
    return success();
}

Status check_who_decides(const Case& c) {
    if (has_element_rules(c)) return success();
    if (c.rounding.empty() && c.overflow.empty() && c.subnormals.empty()) return success();
    const std::string where = casts_to_scale(c) ? "convert format=e8m0" : c.operation;
    return bad("rounding=, overflow= and subnormals= belong to convert to elements; in " + where +
               " the dialect decides them");
}

// PTX 9.0 cvt.rs: what stochastic-x4 stands for is one instruction, and this is all it takes. For
// .e2m1x4 the text gives e and f the low bytes of both halves of the word and a and b the high
// ones, but not in which order the two bytes are put together.
Status check_x4(const Case& c) {
    const StochasticForm* form = stochastic_form_of(c);
    if (form == nullptr || form->values_per_word == 1) return success();
    for (const char* format : {"e4m3", "e5m2", "e3m2", "e2m3"})
        if (c.format == format) {
            if (c.type == "f32" && c.overflow == "saturate") return success();
            return bad(
                "rounding=stochastic-x4 is PTX cvt.rs.satfinite: it takes input=f32 and "
                "overflow=saturate alone");
        }
    return bad("rounding=stochastic-x4 is defined for e4m3, e5m2, e3m2 and e2m3; for " + c.format +
               " no source says which random bits serve which value");
}

Status check_axis(const Case& c) {
    if (c.axis != "both" || operation_of(c).kind == OperationKind::quantize) return success();
    return bad("axis=both makes two tensors of one, which " + c.operation +
               " does not: it takes axis=row, col or tile");
}

// Where block scales and elements lie: whether the format and the axis can have that.
Status check_storage(const Case& c) {
    if (c.scales == "linear" && c.packing == "bytes") return success();
    const std::string asked = "scales=" + c.scales + " packing=" + c.packing;
    if (!has_blocks(c)) return bad(c.operation + " has no blocks, so it has no " + asked);
    const int bits = element_format_of(c).code_bits();
    const Packing& packing = *find_packing(c.packing);
    if (packing.code_bits != 0 && packing.code_bits != bits)
        return bad("packing=" + c.packing + " is for codes of " +
                   std::to_string(packing.code_bits) + " bits, and those of " + c.format +
                   " have " + std::to_string(bits));
    if (c.packing == "inline" && (c.axis != "row" || c.scales != "linear"))
        return bad("packing=inline puts each scale behind its block of a row, so it has no axis=" +
                   c.axis + " with scales=" + c.scales);
    if (c.scales == "linear") return success();
    for (const Case& side : sides_of(c))
        if (find_scale_layout_of_case(c.scales, side.axis) == nullptr)
            return bad("no source puts the scales of axis=" + side.axis +
                       " in the order scales=" + c.scales);
    return success();
}

Status check_dialect(const Case& c) {
    const Quantizer& dialect = *find_quantizer(c.dialect);
    const std::string name = "dialect '" + c.dialect + "'";
    const bool quantizes_any = dialect.formats != 0;
    if (!casts_to_scale(c)) {
        if (!quantizes_any)
            return bad(name + " is a cast to a scale alone: ask it to convert format=e8m0");
        if (!dialect.quantizes(block_format_of(c)))
            return bad(name + " does not quantize " + c.format);
    }
    const bool reads_values = operation_of(c).kind != OperationKind::dequantize;
    if (reads_values && !dialect.reads(c.type)) return bad(name + " does not read input=" + c.type);
    return success();
}

}  // namespace

Status check_case_names(const Case& c) {
    if (const Status known = check_name("operation", c.operation, operation_names()); !known)
        return known;
    if (is_gemm(c)) return check_gemm_names(c);
    const auto names = {
        check_name("format", c.format, format_names(c.operation)),
        check_name("dialect", c.dialect, dialect_names()),
        check_name("type", c.type, type_names()),
        check_name("axis", c.axis, axis_names()),
        check_name("layout", c.layout, layout_names()),
        check_name("scales", c.scales, scales_names()),
        check_name("packing", c.packing, packing_names()),
        check_element_rule_names(c),
    };
    for (const Status& status : names)
        if (!status) return status;
    return check_blocks(c);
}

Status check_combination(const Case& c) {
    if (is_gemm(c)) return check_gemm(c);
    for (const auto check : {check_who_decides, check_axis, check_x4, check_storage, check_dialect})
        if (const Status status = check(c); !status) return status;
    return success();
}

}  // namespace mx
