// Names, then tensors; see request.hpp.
#include "device/nvhost/request.hpp"

#include <string>

namespace mx::nvhost {
namespace {

using kit::Named;

constexpr Named<Action> actions[] = {{"convert", Action::convert},
                                     {"encode_scale", Action::encode_scale},
                                     {"quantize", Action::quantize},
                                     {"dequantize", Action::dequantize}};
constexpr Named<Element> elements[] = {{"e4m3", Element::e4m3},
                                       {"e5m2", Element::e5m2},
                                       {"e3m2", Element::e3m2},
                                       {"e2m3", Element::e2m3},
                                       {"e2m1", Element::e2m1}};
constexpr Named<Element> block_formats[] = {{"mxfp8-e4m3", Element::e4m3},
                                            {"mxfp8-e5m2", Element::e5m2},
                                            {"mxfp6-e3m2", Element::e3m2},
                                            {"mxfp6-e2m3", Element::e2m3},
                                            {"mxfp4-e2m1", Element::e2m1}};
constexpr Named<ValueType> value_types[] = {
    {"f32", ValueType::f32}, {"bf16", ValueType::bf16}, {"f16", ValueType::f16}};
constexpr Named<Saturation> overflows[] = {{"saturate", Saturation::satfinite},
                                           {"overflow", Saturation::nosat}};

std::string_view name_of(Element element) {
    for (const Named<Element>& row : elements)
        if (row.value == element) return row.name;
    return "";
}

// The casts to E8M0 that the header offers, and the dialects whose scales are such a cast.
struct ScaleName {
    const char* dialect;
    Conversion how;
    bool is_quantizer;  // elements and scales of blocks are determined too
};
constexpr Conversion up_satfinite{Saturation::satfinite, Rounding::toward_positive};
constexpr Conversion up{Saturation::nosat, Rounding::toward_positive};
constexpr ScaleName scale_names[] = {
    {"nv", up_satfinite, true},
    {"torchao-rceil", up, false},
    {"cuda-e8m0-rp-satfinite", up_satfinite, false},
    {"cuda-e8m0-rp", up, false},
    {"cuda-e8m0-rz-satfinite", {Saturation::satfinite, Rounding::toward_zero}, false},
    {"cuda-e8m0-rz", {Saturation::nosat, Rounding::toward_zero}, false},
};

class Reader {
public:
    Reader(const kit::Arguments& arguments, kit::Buffers buffers) : call_(arguments, buffers) {}

    Request read() {
        const mx_operation& operation = call_.operation();
        call_.expect_host();
        request_.action = kit::choose(actions, operation.name, "operation");
        read_format(operation.format);
        read_dialect(operation.dialect);
        if (request_.action == Action::convert) read_conversion(operation);
        if (has_blocks()) read_blocks(operation);
        read_tensors();
        call_.expect_no_more();
        return request_;
    }

private:
    bool has_blocks() const {
        return request_.action == Action::quantize || request_.action == Action::dequantize;
    }

    void read_format(const char* name) {
        if (request_.action != Action::convert)
            request_.element = kit::choose(block_formats, name, "format");
        else if (kit::text_of(name) == "e8m0")
            request_.action = Action::cast_to_scale;
        else
            request_.element = kit::choose(elements, name, "element format");
    }

    // Elements are converted, and dequantized, in one way only, so that these need no dialect and
    // serve ocp as well. A scale is another matter: the headers hold the round-up of nv, and
    // without saturation that of torchao-rceil; how torchao then converts elements they do not say.
    void read_dialect(const char* asked) {
        const std::string_view name = kit::text_of(asked);
        const bool has_no_choice =
            request_.action == Action::convert || request_.action == Action::dequantize;
        if (has_no_choice && (asked == nullptr || name == "ocp" || name == "nv")) return;
        const bool is_cast = request_.action == Action::cast_to_scale;
        for (const ScaleName& row : scale_names) {
            if (has_no_choice || name != row.dialect) continue;
            const bool is_amax_rule = row.is_quantizer || name == "torchao-rceil";
            request_.scales_cast = row.how;
            if (is_cast || row.is_quantizer) return;
            if (request_.action == Action::encode_scale && is_amax_rule) return;
        }
        const std::string what = has_no_choice ? "this operation" : "scale and elements";
        kit::not_supported("NVIDIA's headers do not determine " + what + " of dialect " +
                           kit::in_double_quotes(asked));
    }

    void read_conversion(const mx_operation& operation) {
        const bool fp8 = request_.element == Element::e4m3 || request_.element == Element::e5m2;
        const std::string_view rounding = kit::text_of(operation.rounding);
        if (rounding == "toward_zero" && !fp8)
            request_.elements.rounding = Rounding::toward_zero;
        else if (rounding != "nearest_even")
            kit::not_supported("NVIDIA's headers have no conversion to " +
                               std::string(name_of(request_.element)) + " by rounding " +
                               kit::in_double_quotes(operation.rounding));
        request_.elements.saturation = kit::choose(overflows, operation.overflow, "overflow");
        if (operation.subnormals != nullptr && kit::text_of(operation.subnormals) != "honoured")
            kit::not_supported("NVIDIA's headers honour subnormals, they do not know " +
                               kit::in_double_quotes(operation.subnormals));
    }

    void read_blocks(const mx_operation& operation) {
        request_.blocks = kit::blocks_of(operation);
        if (request_.blocks.axis == kit::Axis::tile)
            kit::not_supported("nvhost has no axis \"tile\"");
    }

    void read_tensors() {
        if (request_.action == Action::dequantize) {
            const kit::Tensor codes = call_.input("the codes");
            request_.codes = codes_of(codes, codes.shape());
            request_.scales =
                scales_of(call_.input("the scales"), request_.blocks.grid(codes.shape()));
            request_.values = values_of(call_.output("the values"), codes.shape());
            return;
        }
        const kit::Tensor values = call_.input("the values");
        const kit::Shape whole = values.shape();
        request_.values = values_of(values, whole);
        const bool writes_codes =
            request_.action == Action::convert || request_.action == Action::quantize;
        if (writes_codes) request_.codes = codes_of(call_.output("the codes"), whole);
        if (request_.action == Action::convert) return;
        request_.scales = scales_of(call_.output("the scales"),
                                    has_blocks() ? request_.blocks.grid(whole) : whole);
    }

    kit::Strided values_of(const kit::Tensor& asked, kit::Shape wanted) {
        request_.value_type = asked.type_in(value_types);
        asked.expect_shape(wanted);
        return asked.strided(request_.value_type == ValueType::f32 ? 4 : 2);
    }
    kit::Strided codes_of(const kit::Tensor& asked, kit::Shape wanted) const {
        const kit::Strided codes = asked.strided(1);
        asked.expect_type(name_of(request_.element));
        asked.expect_shape(wanted);
        return codes;
    }
    static kit::Strided scales_of(const kit::Tensor& asked, kit::Shape wanted) {
        const kit::Strided scales = asked.strided(1);
        asked.expect_type("e8m0");
        asked.expect_shape(wanted);
        return scales;
    }

    kit::Call call_;
    Request request_;
};

}  // namespace

Request read_request(const kit::Arguments& arguments, kit::Buffers buffers) {
    return Reader(arguments, buffers).read();
}

}  // namespace mx::nvhost
