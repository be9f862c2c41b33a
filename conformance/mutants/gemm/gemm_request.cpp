// See gemm_request.hpp.
#include "conformance/mutants/gemm/gemm_request.hpp"

#include <string>

namespace mx::mutants::gemm {
namespace {

constexpr kit::Named<Format> elements[] = {
    {"e4m3", e4m3}, {"e5m2", e5m2}, {"e3m2", e3m2},         {"e2m3", e2m3},        {"e2m1", e2m1},
    {"bf16", bf16}, {"f16", f16},   {"e4m3fnuz", e4m3fnuz}, {"e5m2fnuz", e5m2fnuz}};
constexpr kit::Named<Format> block_elements[] = {{"e4m3", e4m3}, {"e5m2", e5m2}, {"e2m1", e2m1}};
constexpr kit::Named<Format> nvfp4_elements[] = {{"e2m1", e2m1}};
constexpr kit::Named<Dialect> dialects[] = {{"ocp", Dialect::ocp}, {"nv", Dialect::nv}};
constexpr kit::Named<Dialect> nvfp4_dialects[] = {{"cublaslt-nvfp4", Dialect::nv}};
constexpr kit::Named<Output> scalings_of_d[] = {
    {"", Output::values}, {"1x32", Output::mx}, {"1x16", Output::nvfp4}};
constexpr kit::Named<Layout> code_layouts[] = {{"strided", Layout::strided},
                                               {"packed-low", Layout::packed_low}};
constexpr kit::Named<Scaling> scalings[] = {
    {"", Scaling::none}, {"tensor", Scaling::tensor}, {"1x32", Scaling::blocks}};
constexpr kit::Named<Layout> scale_layouts[] = {{"strided", Layout::strided},
                                                {"128x4", Layout::tiles_128x4}};
constexpr kit::Named<Accumulation> accumulations[] = {{"", Accumulation::promoted},
                                                      {"fast", Accumulation::fast}};
struct Epilogue {
    bool adds_bias, has_relu, has_gelu;
};
constexpr kit::Named<Epilogue> epilogues[] = {
    {"", {false, false, false}},    {"bias", {true, false, false}},
    {"relu", {false, true, false}}, {"bias-relu", {true, true, false}},
    {"gelu", {false, false, true}}, {"bias-gelu", {true, false, true}}};

class Reader {
public:
    Reader(const kit::Arguments& arguments, kit::Buffers buffers) : call_(arguments, buffers) {}

    GemmRequest read() {
        call_.expect_host();
        read_names();
        read_factors();
        read_others();
        call_.expect_no_more();
        return request_;
    }

private:
    bool is_nvfp4() const { return request_.output == Output::nvfp4; }

    void read_names() {
        if (kit::text_of(call_.operation().name) != "gemm")
            kit::not_supported("the planted bugs of a GEMM do not know operation " +
                               kit::in_double_quotes(call_.operation().name));
        const mx_gemm& gemm = call_.maybe_grouped_gemm();
        request_.is_grouped = gemm.groups != 0;
        request_.batches = gemm.batches;
        request_.alpha = gemm.alpha;
        request_.beta = gemm.beta;
        request_.reads_c = (gemm.beta & 0x7FFFFFFFu) != 0;
        request_.scaling = kit::choose(scalings, gemm.scaling_a, "scaling");
        request_.accumulation = kit::choose(accumulations, gemm.accumulation, "accumulation");
        const Epilogue epilogue = kit::choose(epilogues, gemm.epilogue, "epilogue");
        request_.adds_bias = epilogue.adds_bias;
        request_.has_relu = epilogue.has_relu;
        request_.has_gelu = epilogue.has_gelu;
        if (gemm.batches < 1) kit::invalid("there are fewer than one batch");
        request_.output = kit::choose(scalings_of_d, gemm.scaling_out, "scaling of D");
        const char* dialect = call_.operation().dialect;
        if (request_.output == Output::mx)
            request_.dialect = kit::choose(dialects, dialect, "dialect");
        if (is_nvfp4()) request_.dialect = kit::choose(nvfp4_dialects, dialect, "dialect");
        if (kit::text_of(gemm.scaling_a) != kit::text_of(gemm.scaling_b))
            kit::not_supported("the planted bugs of a GEMM know factors of one scaling");
        if (gemm.algorithm != nullptr)
            kit::not_supported("the planted bugs of a GEMM have no algorithm " +
                               kit::in_double_quotes(gemm.algorithm));
    }

    void read_factors() {
        read_factor("A", request_.a);
        read_factor("B", request_.b);
        const Tensor &a = request_.a.codes, &b = request_.b.codes;
        const std::int64_t groups = call_.maybe_grouped_gemm().groups;
        const std::int64_t parts = request_.is_grouped ? groups : request_.batches;
        if (a.columns != b.columns || a.rows % request_.batches != 0 || b.rows % parts != 0)
            kit::invalid("factors of " + kit::text_of({a.rows, a.columns}) + " and " +
                         kit::text_of({b.rows, b.columns}) + " do not go together");
        request_.rows = a.rows / request_.batches;
        request_.columns = b.rows / parts;
        request_.depth = a.columns;
        const bool is_fp8 = a.format.bits == 8 && b.format.bits == 8;
        const bool is_half = is_half_format(a.format) && a.format == b.format;
        if (request_.scaling != Scaling::blocks && !is_fp8 && !is_half)
            kit::not_supported(
                "the planted bugs of a GEMM multiply only FP8, BF16 and F16 without block scales");
        const bool is_plain = is_half || is_fnuz(a.format) || is_fnuz(b.format);
        if (is_fnuz(a.format) != is_fnuz(b.format) ||
            (is_plain && request_.scaling == Scaling::blocks))
            kit::not_supported("FP8 of two kinds, or 16 bits or FNUZ under scales of blocks");
    }

    void read_factor(const std::string& name, Factor& factor) {
        const kit::Tensor codes = call_.input(name);
        factor.codes = placed(codes, codes.shape());
        factor.codes.format = codes.type_in(elements);
        factor.codes.bits = factor.codes.format.bits;
        factor.codes.layout = codes.layout_in(code_layouts);
        if (factor.codes.layout == Layout::packed_low && factor.codes.bits != 4)
            kit::invalid(name + " is packed and has codes of more than 4 bits");
        if (request_.scaling == Scaling::none) return;
        const bool is_whole = request_.scaling == Scaling::tensor;
        const kit::Tensor scales = call_.input("the scales of " + name);
        scales.expect_type(is_whole ? "f32" : "e8m0");
        // In tiles that begin anew with each group there are as many rows as that takes.
        const bool has_tiles = request_.is_grouped && !scales.is_strided();
        const kit::Shape shape = is_whole ? kit::Shape{1, 1} : grid_of(codes.shape(), 32);
        factor.scales =
            placed(scales, has_tiles ? kit::Shape{scales.shape().rows, shape.columns} : shape);
        factor.scales.bits = is_whole ? 32 : 8;
        factor.scales.layout = scales.layout_in(scale_layouts);
    }

    void read_others() {
        const kit::Shape whole{request_.batches * request_.rows, request_.columns};
        const kit::Tensor d = call_.output("D");
        if (quantizes_d(request_))
            read_blocks(d, whole);
        else
            request_.d = values_of(d, whole);
        const std::string_view type_of_c = quantizes_d(request_) ? "bf16" : d.type();
        if (request_.reads_c) {
            const kit::Tensor c = call_.input("C");
            request_.c = values_of(c, whole);
            if (c.type() != type_of_c)
                kit::not_supported("C is not of type " + std::string(type_of_c));
        }
        if (request_.adds_bias) {
            const kit::Tensor bias = call_.input("the bias");
            request_.bias = values_of(bias, {1, request_.columns});
            if (bias.type() != d.type() && bias.type() != "bf16")
                kit::not_supported("the bias has neither the type of D nor bf16");
        }
        if (is_nvfp4()) request_.scale_d = values_of(call_.input("the scale of D"), {1, 1});
        if (!request_.is_grouped) {
            request_.groups = kit::RowGroups::equal(request_.batches, request_.rows);
            return;
        }
        call_.input(kit::RowGroups::role);
        request_.groups = kit::RowGroups::read(call_, request_.a.codes.rows);
        request_.rows = request_.groups.end();
        if (quantizes_d(request_)) kit::invalid("a grouped gemm with a D in blocks");
    }

    // D as elements, and the scales of its blocks.
    void read_blocks(const kit::Tensor& d, kit::Shape whole) {
        request_.d = placed(d, whole);
        request_.d.format = is_nvfp4() ? d.type_in(nvfp4_elements) : d.type_in(block_elements);
        request_.d.layout = d.layout_in(code_layouts);
        request_.d.bits = request_.d.layout == Layout::packed_low ? 4 : 8;
        if (request_.d.bits < request_.d.format.bits)
            kit::invalid("D is packed and has codes of 8 bits");
        const kit::Tensor scales = call_.output("the scales of D");
        scales.expect_type(is_nvfp4() ? "ue4m3" : "e8m0");
        const auto size = static_cast<std::int64_t>(lanes_of_d(request_));
        request_.scales_d = placed(scales, grid_of(whole, size));
        request_.scales_d.layout = scales.layout_in(scale_layouts);
    }

    static kit::Shape grid_of(kit::Shape whole, std::int64_t size) {
        return kit::Blocks{Axis::row, size}.grid(whole);
    }

    kit::Call call_;
    GemmRequest request_;
};

}  // namespace

GemmRequest read_gemm(const kit::Arguments& arguments, kit::Buffers buffers) {
    return Reader(arguments, buffers).read();
}

}  // namespace mx::mutants::gemm
