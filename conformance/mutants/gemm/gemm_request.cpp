// See gemm_request.hpp.
#include "conformance/mutants/gemm/gemm_request.hpp"

#include <cstdio>
#include <cstring>
#include <string>

namespace mx::mutants::gemm {
namespace {

template <typename T>
struct Named {
    const char* name;  // nullptr: not given
    T value;
};

constexpr Named<Format> elements[] = {
    {"e4m3", e4m3}, {"e5m2", e5m2}, {"e3m2", e3m2}, {"e2m3", e2m3}, {"e2m1", e2m1}};
constexpr Named<Format> values[] = {{"f32", f32}, {"bf16", bf16}, {"f16", f16}};
constexpr Named<Format> block_elements[] = {{"e4m3", e4m3}, {"e5m2", e5m2}, {"e2m1", e2m1}};
constexpr Named<Format> nvfp4_elements[] = {{"e2m1", e2m1}};
constexpr Named<Dialect> dialects[] = {{"ocp", Dialect::ocp}, {"nv", Dialect::nv}};
constexpr Named<Dialect> nvfp4_dialects[] = {{"cublaslt-nvfp4", Dialect::nv}};
constexpr Named<Output> scalings_of_d[] = {
    {nullptr, Output::values}, {"1x32", Output::mx}, {"1x16", Output::nvfp4}};
constexpr Named<Layout> code_layouts[] = {{"strided", Layout::strided},
                                          {"packed-low", Layout::packed_low}};
constexpr Named<Scaling> scalings[] = {
    {nullptr, Scaling::none}, {"tensor", Scaling::tensor}, {"1x32", Scaling::blocks}};
constexpr Named<Layout> scale_layouts[] = {{"strided", Layout::strided},
                                           {"128x4", Layout::tiles_128x4}};
constexpr Named<Accumulation> accumulations[] = {{nullptr, Accumulation::promoted},
                                                 {"fast", Accumulation::fast}};
struct Epilogue {
    bool adds_bias, has_relu, has_gelu;
};
constexpr Named<Epilogue> epilogues[] = {
    {nullptr, {false, false, false}}, {"bias", {true, false, false}},
    {"relu", {false, true, false}},   {"bias-relu", {true, true, false}},
    {"gelu", {false, false, true}},   {"bias-gelu", {true, false, true}}};

bool same(const char* left, const char* right) {
    return left == right || (left != nullptr && right != nullptr && std::strcmp(left, right) == 0);
}
std::string printable(const char* name) {
    return name == nullptr ? "(none)" : "'" + std::string(name) + "'";
}

struct Extent {
    std::int64_t rows, columns;
};
std::string text_of(const Extent& extent) {
    return std::to_string(extent.rows) + " x " + std::to_string(extent.columns);
}

class Reader {
public:
    Reader(const Call& call, GemmRequest& request) : call_(call), request_(request) {}

    mx_status read() {
        read_names();
        if (status_ == MX_OK) read_factors();
        if (status_ == MX_OK) read_others();
        return status_;
    }

private:
    bool is_nvfp4() const { return request_.output == Output::nvfp4; }

    // Keeps the first refusal.
    void refuse(mx_status status, const std::string& sentence) {
        if (status_ != MX_OK) return;
        status_ = status;
        if (call_.message != nullptr && call_.message->text != nullptr)
            std::snprintf(call_.message->text, call_.message->capacity, "%s", sentence.c_str());
    }

    // The row of that name; the first one, and a refusal, where there is none.
    template <typename T, std::size_t N>
    T choose(const Named<T> (&table)[N], const char* name, const char* kind) {
        for (const Named<T>& row : table)
            if (same(name, row.name)) return row.value;
        refuse(MX_NOT_SUPPORTED, "the planted bugs of a GEMM do not know " + std::string(kind) +
                                     " " + printable(name));
        return table[0].value;
    }

    void read_names() {
        const mx_operation& asked = *call_.operation;
        if (asked.struct_size < sizeof(mx_operation))
            return refuse(MX_INVALID, "mx_operation is smaller than this ABI's struct");
        if (!same(asked.name, "gemm"))
            return refuse(MX_NOT_SUPPORTED, "the planted bugs of a GEMM do not know operation " +
                                                printable(asked.name));
        if (asked.gemm == nullptr || asked.gemm->struct_size < sizeof(mx_gemm))
            return refuse(MX_INVALID, "operation gemm has no mx_gemm of this ABI");
        const mx_gemm& gemm = *asked.gemm;
        request_.batches = gemm.batches;
        request_.alpha = gemm.alpha;
        request_.beta = gemm.beta;
        request_.reads_c = (gemm.beta & 0x7FFFFFFFu) != 0;
        request_.scaling = choose(scalings, gemm.scaling_a, "scaling");
        request_.accumulation = choose(accumulations, gemm.accumulation, "accumulation");
        const Epilogue epilogue = choose(epilogues, gemm.epilogue, "epilogue");
        request_.adds_bias = epilogue.adds_bias;
        request_.has_relu = epilogue.has_relu;
        request_.has_gelu = epilogue.has_gelu;
        if (gemm.batches < 1) refuse(MX_INVALID, "there are fewer than one batch");
        request_.output = choose(scalings_of_d, gemm.scaling_out, "scaling of D");
        if (request_.output == Output::mx)
            request_.dialect = choose(dialects, asked.dialect, "dialect");
        if (is_nvfp4()) request_.dialect = choose(nvfp4_dialects, asked.dialect, "dialect");
        if (!same(gemm.scaling_a, gemm.scaling_b))
            refuse(MX_NOT_SUPPORTED, "the planted bugs of a GEMM know factors of one scaling");
        if (gemm.algorithm != nullptr)
            refuse(MX_NOT_SUPPORTED,
                   "the planted bugs of a GEMM have no algorithm " + printable(gemm.algorithm));
        const std::size_t scales = request_.scaling == Scaling::none ? 0 : 2;
        const std::size_t inputs = 2 + scales + (request_.reads_c ? 1 : 0) +
                                   (request_.adds_bias ? 1 : 0) + (is_nvfp4() ? 1 : 0);
        const std::size_t outputs = quantizes_d(request_) ? 2 : 1;
        if (call_.input_count != inputs || call_.output_count != outputs)
            refuse(MX_INVALID, "this gemm has " + std::to_string(inputs) + " inputs and " +
                                   std::to_string(outputs) + " outputs");
    }

    void read_factors() {
        const std::size_t step = request_.scaling == Scaling::none ? 1 : 2;
        read_factor(0, request_.a);
        if (status_ == MX_OK) read_factor(step, request_.b);
        next_ = 2 * step;
        const Tensor &a = request_.a.codes, &b = request_.b.codes;
        if (a.columns != b.columns || a.rows % request_.batches != 0 ||
            b.rows % request_.batches != 0)
            return refuse(MX_INVALID, "factors of " + text_of({a.rows, a.columns}) + " and " +
                                          text_of({b.rows, b.columns}) + " do not go together");
        request_.rows = a.rows / request_.batches;
        request_.columns = b.rows / request_.batches;
        request_.depth = a.columns;
        const bool is_fp8 = a.format.bits == 8 && b.format.bits == 8;
        if (request_.scaling != Scaling::blocks && !is_fp8)
            refuse(MX_NOT_SUPPORTED,
                   "the planted bugs of a GEMM multiply only E4M3 and E5M2 without block scales");
    }

    void read_factor(std::size_t index, Factor& factor) {
        const mx_tensor& codes = call_.inputs[index];
        factor.codes.format = choose(elements, codes.type, "element type");
        factor.codes.bits = factor.codes.format.bits;
        read_place(codes, factor.codes, {codes.rows, codes.columns}, "a factor");
        check_strided(codes);
        if (request_.scaling == Scaling::none) return;
        const mx_tensor& scales = call_.inputs[index + 1];
        const bool is_whole = request_.scaling == Scaling::tensor;
        if (!same(scales.type, is_whole ? "f32" : "e8m0"))
            refuse(MX_INVALID, "scales are of type " + printable(scales.type));
        factor.scales.bits = is_whole ? 32 : 8;
        factor.scales.layout = choose(scale_layouts, scales.layout, "layout of scales");
        const Extent extent =
            is_whole ? Extent{1, 1} : Extent{codes.rows, (codes.columns + 31) / 32};
        read_place(scales, factor.scales, extent, "a tensor of scales");
    }

    void read_others() {
        const std::int64_t rows = request_.batches * request_.rows, columns = request_.columns;
        const mx_tensor& d = call_.outputs[0];
        if (quantizes_d(request_))
            read_blocks();
        else
            read_values(d, request_.d, {rows, columns}, "D");
        const char* type_of_c = quantizes_d(request_) ? "bf16" : d.type;
        if (request_.reads_c) {
            const mx_tensor& c = call_.inputs[next_++];
            read_values(c, request_.c, {rows, columns}, "C");
            if (!same(c.type, type_of_c))
                refuse(MX_NOT_SUPPORTED, "C is not of type " + std::string(type_of_c));
        }
        if (request_.adds_bias) read_bias();
        if (is_nvfp4()) read_values(call_.inputs[next_++], request_.scale_d, {1, 1}, "D's scale");
    }

    void read_bias() {
        const mx_tensor& d = call_.outputs[0];
        const mx_tensor& bias = call_.inputs[next_++];
        read_values(bias, request_.bias, {1, request_.columns}, "the bias");
        if (!same(bias.type, d.type) && !same(bias.type, "bf16"))
            refuse(MX_NOT_SUPPORTED, "the bias has neither the type of D nor bf16");
    }

    // D as elements, and the scales of its blocks.
    void read_blocks() {
        const std::int64_t rows = request_.batches * request_.rows, columns = request_.columns;
        const mx_tensor &d = call_.outputs[0], &scales = call_.outputs[1];
        const char* kind = "type of a D with scales";
        request_.d.format = is_nvfp4() ? choose(nvfp4_elements, d.type, kind)
                                       : choose(block_elements, d.type, kind);
        request_.d.layout = choose(code_layouts, d.layout, "layout of D");
        request_.d.bits = request_.d.layout == Layout::packed_low ? 4 : 8;
        if (request_.d.bits < request_.d.format.bits)
            refuse(MX_INVALID, "D is packed and has codes of 8 bits");
        read_place(d, request_.d, {rows, columns}, "D");
        if (!same(scales.type, is_nvfp4() ? "ue4m3" : "e8m0"))
            refuse(MX_INVALID, "the scales of D are of type " + printable(scales.type));
        request_.scales_d.layout = choose(scale_layouts, scales.layout, "layout of scales");
        const auto size = static_cast<std::int64_t>(lanes_of_d(request_));
        read_place(scales, request_.scales_d, {rows, (columns + size - 1) / size},
                   "the scales of D");
    }

    void read_values(const mx_tensor& asked, Tensor& tensor, const Extent& extent,
                     const char* what) {
        tensor.format = choose(values, asked.type, "value type");
        tensor.bits = tensor.format.bits;
        read_place(asked, tensor, extent, what);
        check_strided(asked);
    }

    void check_strided(const mx_tensor& asked) {
        if (!same(asked.layout, "strided"))
            refuse(MX_NOT_SUPPORTED, "the planted bugs of a GEMM do not know layout " +
                                         printable(asked.layout) + " of values");
    }

    void read_place(const mx_tensor& asked, Tensor& tensor, const Extent& extent,
                    const std::string& what) {
        if (asked.struct_size < sizeof(mx_tensor))
            return refuse(MX_INVALID, "mx_tensor is smaller than this ABI's struct");
        if (!same(asked.place, "host"))
            refuse(MX_NOT_SUPPORTED,
                   "the planted bugs do not know place " + printable(asked.place));
        if (asked.rows != extent.rows || asked.columns != extent.columns || asked.rows < 0 ||
            asked.columns < 0)
            refuse(MX_INVALID, what + " is " + text_of({asked.rows, asked.columns}) + ", not " +
                                   text_of(extent));
        tensor.data = static_cast<unsigned char*>(asked.data);
        tensor.block = 32;
        tensor.rows = asked.rows;
        tensor.columns = asked.columns;
        tensor.row_stride = asked.row_stride;
        tensor.column_stride = asked.column_stride;
    }

    const Call& call_;
    GemmRequest& request_;
    std::size_t next_ = 0;
    mx_status status_ = MX_OK;
};

}  // namespace

mx_status read_gemm(const Call& call, GemmRequest& request) {
    return Reader(call, request).read();
}

}  // namespace mx::mutants::gemm
