// See real_scale_request.hpp.
#include "conformance/mutants/real_scale/real_scale_request.hpp"

#include <string>

#include "device/kit/tensor_number.hpp"

namespace mx::mutants::real_scale {
namespace {

enum class Family { nvfp4, fp8_blocks, fp8_tensor };
struct BlockFormat {
    Family family;
    Format element;
    bool is_tile;
    std::int64_t size;  // 0: the tensor
};
constexpr kit::Named<BlockFormat> formats[] = {
    {"nvfp4", {Family::nvfp4, e2m1, false, 16}},
    {"nvfp4-16x16", {Family::nvfp4, e2m1, true, 16}},
    {"fp8-e4m3-1x128", {Family::fp8_blocks, e4m3, false, 128}},
    {"fp8-e4m3-128x128", {Family::fp8_blocks, e4m3, true, 128}},
    {"fp8-e5m2-1x128", {Family::fp8_blocks, e5m2, false, 128}},
    {"fp8-e5m2-128x128", {Family::fp8_blocks, e5m2, true, 128}},
    {"fp8-e4m3-tensor", {Family::fp8_tensor, e4m3, false, 0}},
    {"fp8-e5m2-tensor", {Family::fp8_tensor, e5m2, false, 0}}};

struct Dialect {
    Family family;
    Rules rules;
};
constexpr Rules te_nvfp4{.library = Library::te_nvfp4, .has_number = true};
constexpr Rules torchao{.library = Library::torchao_nvfp4};
constexpr Rules te_fp8{.library = Library::te_fp8};
constexpr Rules with(Rules rules, bool Rules::*choice) {
    rules.*choice = true;
    return rules;
}
constexpr kit::Named<Dialect> dialects[] = {
    {"te-nvfp4", {Family::nvfp4, te_nvfp4}},
    {"te-nvfp4-sr", {Family::nvfp4, with(te_nvfp4, &Rules::is_stochastic)}},
    {"te-nvfp4-rht", {Family::nvfp4, with(te_nvfp4, &Rules::rotates)}},
    {"te-nvfp4-4over6-mae", {Family::nvfp4, with(te_nvfp4, &Rules::picks_four_or_six)}},
    {"torchao-nvfp4", {Family::nvfp4, with(torchao, &Rules::has_number)}},
    {"torchao-nvfp4-single", {Family::nvfp4, torchao}},
    {"te-fp8-block", {Family::fp8_blocks, te_fp8}},
    {"te-fp8-block-pow2", {Family::fp8_blocks, with(te_fp8, &Rules::is_power_of_two)}},
    {"deepgemm-fp8", {Family::fp8_blocks, {.library = Library::deepgemm}}},
    {"te-fp8-current", {Family::fp8_tensor, te_fp8}},
    {"te-fp8-delayed",
     {Family::fp8_tensor, with(with(te_fp8, &Rules::has_number), &Rules::has_history)}}};

constexpr kit::Named<bool> actions[] = {{"quantize", true}, {"dequantize", false}};

class Reader {
public:
    Reader(const kit::Arguments& arguments, kit::Buffers buffers) : call_(arguments, buffers) {}

    RealScaleRequest read() {
        call_.expect_host();
        read_names();
        if (request_.quantizes)
            read_quantize();
        else
            read_dequantize();
        call_.expect_no_more();
        return request_;
    }

private:
    void read_names() {
        const mx_operation& asked = call_.operation();
        request_.quantizes = kit::choose(actions, asked.name, "operation");
        const BlockFormat format = kit::choose(formats, asked.format, "format");
        const Dialect dialect = kit::choose(dialects, asked.dialect, "dialect");
        request_.element = format.element;
        request_.rules = dialect.rules;
        request_.blocks = kit::blocks_or_tensor_of(asked);
        number_ =
            kit::number_source(asked, !request_.rules.has_number   ? kit::KeptNumber::none
                                      : request_.rules.has_history ? kit::KeptNumber::of_history
                                                                   : kit::KeptNumber::of_tensor);
        const kit::Axis axis = request_.blocks.axis;
        const bool is_tile = axis == kit::Axis::tile, is_tensor = axis == kit::Axis::tensor;
        if (dialect.family != format.family || request_.blocks.size != format.size ||
            is_tile != format.is_tile || is_tensor != (format.size == 0))
            kit::not_supported("the planted bugs of real scales have no such blocks");
    }

    void read_quantize() {
        const kit::Tensor input = call_.input("the values");
        const kit::Shape shape = input.shape();
        request_.values = values_of(input, shape);
        if (number_ == kit::NumberSource::given)
            request_.given = words_of(call_.input("the number"), "f32", {1, 1});
        if (request_.rules.is_stochastic)
            request_.random = words_of(call_.input("the random bits"), "u32", shape);
        read_codes(call_.output("the codes"), shape);
        read_scales(call_.output("the scales"), shape);
        if (number_ != kit::NumberSource::none)
            request_.kept = words_of(call_.output("the kept number"), "f32", {1, 1});
        const bool is_column = request_.blocks.axis == kit::Axis::column;
        if (request_.rules.rotates && (is_column ? shape.rows : shape.columns) % 16 != 0)
            kit::not_supported("only whole groups of 16 elements are rotated");
    }

    void read_dequantize() {
        const kit::Tensor codes = call_.input("the codes");
        const kit::Shape shape = codes.shape();
        read_codes(codes, shape);
        read_scales(call_.input("the scales"), shape);
        if (number_ != kit::NumberSource::none)
            request_.kept = words_of(call_.input("the kept number"), "f32", {1, 1});
        request_.values = values_of(call_.output("the values"), shape);
    }

    void read_codes(const kit::Tensor& asked, kit::Shape shape) {
        request_.codes = placed(asked, shape);
        request_.codes.format = request_.element;
        request_.codes.bits = request_.element.bits;
        request_.codes.layout = asked.layout_in(code_layouts);
        const Layout layout = request_.codes.layout;
        const bool is_packed = layout == Layout::packed_low || layout == Layout::packed_high;
        if (layout != Layout::strided && !(is_packed && request_.codes.bits == 4))
            kit::not_supported("layout " + kit::in_double_quotes(asked.layout()));
    }

    void read_scales(const kit::Tensor& asked, kit::Shape shape) {
        const bool is_byte = request_.element == e2m1;
        asked.expect_type(is_byte ? "ue4m3" : "f32");
        request_.scales = placed(asked, request_.blocks.grid(shape));
        request_.scales.format = is_byte ? e4m3 : f32;
        request_.scales.bits = request_.scales.format.bits;
        request_.scales.axis = request_.blocks.axis;
        request_.scales.block = request_.blocks.size;
        request_.scales.layout = request_.blocks.axis == kit::Axis::column
                                     ? asked.layout_in(col_scale_layouts)
                                     : asked.layout_in(row_scale_layouts);
    }

    static Tensor words_of(const kit::Tensor& asked, std::string_view type, kit::Shape shape) {
        asked.expect_type(type);
        asked.expect_strided();
        Tensor tensor = placed(asked, shape);
        tensor.format = f32;
        tensor.bits = 32;
        return tensor;
    }

    kit::Call call_;
    RealScaleRequest request_;
    kit::NumberSource number_ = kit::NumberSource::none;
};

}  // namespace

RealScaleRequest read_real_scale(const kit::Arguments& arguments, kit::Buffers buffers) {
    return Reader(arguments, buffers).read();
}

}  // namespace mx::mutants::real_scale
