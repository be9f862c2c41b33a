// Whether the fields of a problem go together. See check_combination in case.hpp.
#include "conformance/case/case.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/case/names.hpp"
#include "reference/base/hex.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/cast_formats.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx {
namespace {

std::string name(const Problem& p) {
    return std::string(name_of(p.operation));
}

Status check_who_decides(const Problem& p) {
    if (has_element_rules(p) || !p.rules) return success();
    const std::string where = casts_to_scale(p) ? "convert format=e8m0" : name(p);
    return bad_input("rounding=, overflow= and subnormals= belong to convert to elements; in " +
                     where + " the dialect decides them");
}

// PTX 9.0 cvt.rs: what stochastic-x4 stands for is one instruction, and this is all it takes. For
// .e2m1x4 the text gives e and f the low bytes of both halves of the word and a and b the high
// ones, but not in which order the two bytes are put together.
Status check_x4(const Problem& p) {
    const StochasticForm* form = stochastic_form_of(p);
    if (form == nullptr || form->values_per_word == 1) return success();
    for (const ElementFormat& format : {formats::e4m3, formats::e5m2, formats::e3m2, formats::e2m3})
        if (element_format_of(p) == format) {
            if (p.type == formats::f32 && p.rules->overflow == Overflow::saturate) return success();
            return bad_input(
                "rounding=stochastic-x4 is PTX cvt.rs.satfinite: it takes input=f32 and "
                "overflow=saturate alone");
        }
    return bad_input("rounding=stochastic-x4 is defined for e4m3, e5m2, e3m2 and e2m3; for " +
                     format_name(p) + " no source says which random bits serve which value");
}

Status check_axis(const Problem& p) {
    if (p.axis != BlockAxis::both || p.operation == OperationKind::quantize) return success();
    const bool has_tiles = p.format == nullptr || p.format->has_e8m0_scales();
    return bad_input("axis=both makes two tensors of one, which " + name(p) +
                     " does not: it takes axis=" + (has_tiles ? "row, col or tile" : "row or col"));
}

// The shape of a block: what the format says, but for MX, whose blocks lie along any axis.
Status check_block_shape(const Problem& p) {
    if (!has_blocks(p)) return success();
    const BlockFormat& format = *p.format;
    const bool is_square = format.block_rows > 1, is_tensor = format.is_whole_tensor();
    const bool fits = is_tensor   ? p.axis == BlockAxis::tensor
                      : is_square ? p.axis == BlockAxis::tile
                      : format.has_e8m0_scales()
                          ? p.axis != BlockAxis::tensor
                          : p.axis != BlockAxis::tensor && p.axis != BlockAxis::tile;
    if (fits) return success();
    const std::string blocks = is_tensor ? "one block, the whole tensor"
                                         : "blocks of " + std::to_string(format.block_rows) + "x" +
                                               std::to_string(format.block_columns);
    return bad_input("format '" + std::string(format.name) + "' has " + blocks +
                     ", so it has no axis=" + std::string(name_of(p.axis)));
}

Status check_tensor_number(const Problem& p) {
    if (!p.tensor_number) return success();
    const Code number{*p.tensor_number};
    if (formats::f32.is_negative(number) && !formats::f32.is_nan(number))
        return bad_input("tensor=0x" + hex(number.bits, 8) +
                         " is negative, which no amax is, and no scale");
    if (has_tensor_number(p)) return success();
    if (!has_blocks(p)) return bad_input(name(p) + " has no blocks, so it has no tensor=");
    return bad_input("dialect '" + std::string(p.dialect->name) +
                     "' has no number for the whole tensor, so it has no tensor=");
}

// The rotation takes 16 elements that follow each other along each axis that is asked for.
Status check_transform(const Problem& p) {
    if (p.operation != OperationKind::quantize || p.dialect->transform == LaneTransform::none)
        return success();
    for (const BlockAxis axis : axes_of(p)) {
        const std::int64_t length = axis == BlockAxis::col ? p.rows : p.columns;
        if (length % hadamard_size != 0)
            return bad_input("dialect '" + std::string(p.dialect->name) +
                             "' rotates groups of 16 elements, but there are " +
                             std::to_string(length) + " along axis=" + std::string(name_of(axis)));
    }
    return success();
}

// Where block scales and elements lie: whether the format and the axis can have that.
Status check_storage(const Problem& p) {
    const bool is_linear = p.scales == ScaleStorage::linear;
    if (is_linear && p.packing == &packing_rows::bytes) return success();
    const std::string scales(name_of(p.scales)), packing(p.packing->name);
    if (!has_blocks(p))
        return bad_input(name(p) + " has no blocks, so it has no scales=" + scales +
                         " packing=" + packing);
    const int bits = element_format_of(p).code_bits();
    if (p.packing->code_bits != 0 && p.packing->code_bits != bits)
        return bad_input("packing=" + packing + " is for codes of " +
                         std::to_string(p.packing->code_bits) + " bits, and those of " +
                         format_name(p) + " have " + std::to_string(bits));
    if (!p.format->has_e8m0_scales() && is_inline(p))
        return bad_input("packing=inline is for scales of E8M0, and those of " + format_name(p) +
                         " are " + std::string(scale_format_of(p).name));
    if (!is_linear && scale_format_of(p).code_bytes() != 1)
        return bad_input("scales=" + scales + " is for scales of one byte, and those of " +
                         format_name(p) + " are " + std::string(scale_format_of(p).name));
    if (is_inline(p) && (p.axis != BlockAxis::row || !is_linear))
        return bad_input(
            "packing=inline puts each scale behind its block of a row, so it has no axis=" +
            std::string(name_of(p.axis)) + " with scales=" + scales);
    if (is_linear) return success();
    for (const BlockAxis axis : axes_of(p))
        if (scale_layout_for(p.scales, axis) == nullptr)
            return bad_input("no source puts the scales of axis=" + std::string(name_of(axis)) +
                             " in the order scales=" + scales);
    return success();
}

// Formats beyond MX have few dialects, which are worth a list.
std::string others_that_do(const BlockFormat& format) {
    if (format.has_e8m0_scales()) return "";
    return "; these do: " + joined(quantizer_names(format), ", ");
}

Status check_dialect(const Problem& p) {
    const Quantizer& dialect = *p.dialect;
    const std::string called = "dialect '" + std::string(dialect.name) + "'";
    const bool quantizes_any = dialect.formats != 0;
    if (!dialect.has_scales() && !has_element_rules(p))
        return bad_input(called + " has no scales: ask it to convert to elements");
    if (!casts_to_scale(p)) {
        if (!quantizes_any)
            return bad_input(called + " is a cast to a scale alone: ask it to convert format=e8m0");
        if (!makes_elements(dialect, *p.format))
            return bad_input(called + " does not quantize " + format_name(p) +
                             others_that_do(*p.format));
    }
    const bool reads_values = p.operation != OperationKind::dequantize;
    if (reads_values && !dialect.reads(p.type.name))
        return bad_input(called + " does not read input=" + type_name(p));
    return success();
}

}  // namespace

Status check_combination(const Problem& p) {
    if (is_gemm(p)) return check_gemm(p);
    for (const auto check : {check_who_decides, check_block_shape, check_axis, check_x4,
                             check_storage, check_dialect, check_tensor_number, check_transform})
        if (const Status status = check(p); !status) return status;
    return success();
}

}  // namespace mx
