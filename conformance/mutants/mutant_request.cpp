// Names and shapes of a call; see the header.
#include "conformance/mutants/mutant_request.hpp"

#include <string>

namespace mx::mutants {
namespace {

struct RoundingName {
    Rounding rounding;
    RandomWords random;
};

constexpr kit::Named<Action> actions[] = {{"convert", Action::convert},
                                          {"encode_scale", Action::encode_scale},
                                          {"quantize", Action::quantize},
                                          {"dequantize", Action::dequantize}};
constexpr kit::Named<Format> block_elements[] = {{"mxfp8-e4m3", e4m3},
                                                 {"mxfp8-e5m2", e5m2},
                                                 {"mxfp6-e3m2", e3m2},
                                                 {"mxfp6-e2m3", e2m3},
                                                 {"mxfp4-e2m1", e2m1},
                                                 {"mxint8", int8},
                                                 {"mxint8-symmetric", int8_symmetric}};
constexpr kit::Named<Format> elements[] = {{"e4m3", e4m3},
                                           {"e5m2", e5m2},
                                           {"e3m2", e3m2},
                                           {"e2m3", e2m3},
                                           {"e2m1", e2m1},
                                           {"int8", int8},
                                           {"int8-symmetric", int8_symmetric}};
constexpr kit::Named<Dialect> dialects[] = {{"ocp", Dialect::ocp}, {"nv", Dialect::nv}};
constexpr kit::Named<Overflow> overflows[] = {{"saturate", Overflow::saturate},
                                              {"overflow", Overflow::overflow}};
constexpr kit::Named<Subnormals> subnormal_rules[] = {
    {"honoured", Subnormals::honoured},
    {"inputs_flushed", Subnormals::inputs_flushed},
    {"outputs_flushed", Subnormals::outputs_flushed}};
constexpr kit::Named<RoundingName> roundings[] = {
    {"nearest_even", {Rounding::nearest_even, {}}},
    {"nearest_away", {Rounding::nearest_away, {}}},
    {"nearest_toward_zero", {Rounding::nearest_toward_zero, {}}},
    {"toward_zero", {Rounding::toward_zero, {}}},
    {"toward_positive", {Rounding::toward_positive, {}}},
    {"toward_negative", {Rounding::toward_negative, {}}},
    {"away_from_zero", {Rounding::away_from_zero, {}}},
    {"to_odd", {Rounding::to_odd, {}}},
    {"stochastic8", {Rounding::stochastic, {8, 1}}},
    {"stochastic16", {Rounding::stochastic, {16, 1}}},
    {"stochastic32", {Rounding::stochastic, {32, 1}}},
    {"stochastic-x4", {Rounding::stochastic, {16, 4}}}};
// Bits of the codes that a layout is for; those asked for where it takes any.
int bits_of(Layout layout, int asked) {
    if (layout == Layout::packed_low || layout == Layout::packed_high) return 4;
    return layout == Layout::packed_6 ? 6 : asked;
}

std::string_view name_of(const Format& element) {
    for (const kit::Named<Format>& row : elements)
        if (row.value == element) return row.name;
    return "";
}

class Reader {
public:
    Reader(const kit::Arguments& arguments, kit::Buffers buffers) : call_(arguments, buffers) {}

    Request read() {
        call_.expect_host();
        read_names();
        if (has_blocks()) read_blocks();
        if (request_.action == Action::convert) read_element_rules();
        read_tensors();
        call_.expect_no_more();
        return request_;
    }

private:
    bool has_blocks() const {
        return request_.action == Action::quantize || request_.action == Action::dequantize;
    }

    void read_names() {
        const mx_operation& asked = call_.operation();
        request_.action = kit::choose(actions, asked.name, "operation");
        const bool converts = request_.action == Action::convert;
        if (converts && kit::text_of(asked.format) == "e8m0")
            request_.action = Action::cast_to_scale;
        else
            request_.element = converts ? kit::choose(elements, asked.format, "element format")
                                        : kit::choose(block_elements, asked.format, "format");
        // An element conversion is the same in both dialects, so it may come without one.
        if (request_.action == Action::convert && asked.dialect == nullptr) return;
        request_.dialect = kit::choose(dialects, asked.dialect, "dialect");
    }

    void read_blocks() {
        const kit::Blocks blocks = kit::blocks_of(call_.operation());
        if (blocks.size != 16 && blocks.size != 32 && blocks.size != 64)
            kit::not_supported("the mutants do not know blocks of " + std::to_string(blocks.size) +
                               " elements");
        request_.axis = blocks.axis;
        request_.block = blocks.size;
    }

    void read_element_rules() {
        const mx_operation& asked = call_.operation();
        const RoundingName rounding = kit::choose(roundings, asked.rounding, "rounding");
        request_.rounding = rounding.rounding;
        request_.random = rounding.random;
        request_.overflow = kit::choose(overflows, asked.overflow, "overflow");
        if (asked.subnormals != nullptr)
            request_.subnormals =
                kit::choose(subnormal_rules, asked.subnormals, "rule for subnormals");
    }

    void read_tensors() {
        if (request_.action == Action::dequantize) {
            const kit::Shape whole = read_encoded(true);
            request_.outputs[0] = values_of(call_.output("the values"), whole);
            return;
        }
        const kit::Tensor values = call_.input("the values");
        const kit::Shape whole = values.shape();
        request_.inputs[0] = values_of(values, whole);
        if (request_.action == Action::quantize) {
            codes_shape_ = whole;
            read_encoded(false);
        } else if (request_.action == Action::convert) {
            if (request_.rounding == Rounding::stochastic) request_.inputs[1] = words_of(whole);
            request_.outputs[0] = codes_of(call_.output("the codes"), whole);
        } else {
            request_.outputs[0] = scales_of(call_.output("the scales"), whole);
        }
    }

    Tensor words_of(kit::Shape whole) {
        const kit::Tensor words = call_.input("the random bits");
        words.expect_type("u32");
        words.expect_strided();
        const std::int64_t shared = request_.random.values_per_word;
        Tensor tensor = placed(words, {whole.rows, (whole.columns + shared - 1) / shared});
        tensor.bits = 32;
        return tensor;
    }

    // Codes and the scales that belong to them. Returns the shape of the codes.
    kit::Shape read_encoded(bool are_inputs) {
        const auto next = [&](const char* role) {
            return are_inputs ? call_.input(role) : call_.output(role);
        };
        Tensor* tensors = are_inputs ? request_.inputs : request_.outputs;
        const kit::Tensor codes = next("the codes");
        const kit::Shape whole = are_inputs ? codes.shape() : codes_shape_;
        const kit::Shape grid = kit::Blocks{request_.axis, request_.block}.grid(whole);
        tensors[0] = codes_of(codes, whole);
        if (codes.layout() != "inline") {
            tensors[1] = scales_of(next("the scales"), grid);
            return whole;
        }
        if (request_.axis != Axis::row)
            kit::not_supported("layout \"inline\" is for axis \"row\" only");
        const std::int64_t step = request_.block * tensors[0].bits / 8 + 1;
        if (!tensors[0].empty() && codes.raw().column_stride != step)
            kit::invalid("inline blocks are " + std::to_string(step) + " bytes apart, not " +
                         std::to_string(codes.raw().column_stride));
        tensors[1] = tensors[0];
        tensors[1].bits = 8;
        tensors[1].layout = Layout::inline_scales;
        tensors[1].rows = grid.rows;
        tensors[1].columns = grid.columns;
        return whole;
    }

    Tensor codes_of(const kit::Tensor& asked, kit::Shape wanted) const {
        asked.expect_type(name_of(request_.element));
        Tensor tensor = in_blocks(asked, wanted);
        tensor.format = request_.element;
        tensor.layout = asked.layout_in(code_layouts);
        tensor.bits = tensor.format.bits;
        if (tensor.bits != bits_of(tensor.layout, tensor.bits))
            kit::invalid(asked.role() + ": layout " + kit::in_double_quotes(asked.layout()) +
                         " is not for codes of " + std::to_string(tensor.bits) + " bits");
        return tensor;
    }
    Tensor scales_of(const kit::Tensor& asked, kit::Shape wanted) const {
        asked.expect_type("e8m0");
        Tensor tensor = in_blocks(asked, wanted);
        tensor.layout = request_.axis == Axis::column ? asked.layout_in(col_scale_layouts)
                                                      : asked.layout_in(row_scale_layouts);
        return tensor;
    }

    // With the blocks that the scales belong to.
    Tensor in_blocks(const kit::Tensor& asked, kit::Shape wanted) const {
        Tensor tensor = placed(asked, wanted);
        tensor.axis = request_.axis;
        tensor.block = request_.block;
        return tensor;
    }

    kit::Call call_;
    Request request_;
    kit::Shape codes_shape_;  // of quantize: that of the values
};

}  // namespace

Request read_request(const kit::Arguments& arguments, kit::Buffers buffers) {
    return Reader(arguments, buffers).read();
}

}  // namespace mx::mutants
