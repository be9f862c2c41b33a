// See request.hpp.
#include "device/hopper/request.hpp"

#include <bit>

namespace mx::hopper {
namespace {

using cublaslt::Call;
using cublaslt::invalid;
using cublaslt::not_supported;
using cublaslt::shape_text;
using cublaslt::tensor_at;
using cublaslt::text_of;
using kit::in_double_quotes;

bool adds_c(const mx_gemm& gemm) {
    return (gemm.beta & 0x7FFFFFFFu) != 0;
}

const mx_gemm& gemm_of(const Call& call, Buffers buffers) {
    const cublaslt::GemmChecks checks{.speaker = "this device"};
    const mx_gemm& gemm = cublaslt::checked_gemm(call, buffers, checks);
    if (text_of(gemm.scaling_a) != "1x32" || text_of(gemm.scaling_b) != "1x32")
        not_supported("this device multiplies MX factors, scaling \"1x32\" of both, not " +
                      in_double_quotes(gemm.scaling_a) + " and " +
                      in_double_quotes(gemm.scaling_b));
    if (gemm.scaling_out != nullptr)
        not_supported("scaling " + in_double_quotes(gemm.scaling_out) + " of D");
    if (gemm.epilogue != nullptr) not_supported("epilogue " + in_double_quotes(gemm.epilogue));
    if (gemm.accumulation != nullptr)
        not_supported("accumulation " + in_double_quotes(gemm.accumulation));
    if (gemm.batches < 1) invalid(std::to_string(gemm.batches) + " batches");
    const std::size_t inputs = adds_c(gemm) ? 5 : 4;
    if (call.input_count != inputs || call.output_count != 1)
        invalid("this gemm takes " + std::to_string(inputs) + " inputs and 1 output, not " +
                std::to_string(call.input_count) + " and " + std::to_string(call.output_count));
    return gemm;
}

Element element_of(const std::string& what, const mx_tensor& tensor) {
    if (text_of(tensor.type) == "e4m3") return Element::e4m3;
    if (text_of(tensor.type) == "e5m2") return Element::e5m2;
    not_supported(what + " is of type " + in_double_quotes(tensor.type) +
                  "; this device multiplies e4m3 and e5m2");
}

Output output_of(const mx_tensor& tensor) {
    if (text_of(tensor.type) == "f32") return Output::f32;
    if (text_of(tensor.type) == "bf16") return Output::bf16;
    not_supported("D is of type " + in_double_quotes(tensor.type) +
                  "; this device gives f32 and bf16");
}

// Elements of a row lie side by side, and rows do not overlap.
std::int64_t row_stride_of(const std::string& what, const mx_tensor& tensor) {
    if (text_of(tensor.layout) != "strided")
        not_supported(what + " has layout " + in_double_quotes(tensor.layout) +
                      ", and this device wants \"strided\"");
    if (tensor.columns > 1 && tensor.column_stride != 1)
        not_supported("the elements of a row of " + what + " lie " +
                      std::to_string(tensor.column_stride) + " apart, and should lie side by side");
    if (tensor.rows <= 1) return cublaslt::rounded_up(tensor.columns, 16);
    if (tensor.row_stride < tensor.columns)
        not_supported("the rows of " + what + " overlap: " + std::to_string(tensor.columns) +
                      " elements every " + std::to_string(tensor.row_stride));
    return tensor.row_stride;
}

Scales scales_of(const std::string& what, const mx_tensor& scales, const mx_tensor& elements) {
    if (text_of(scales.type) != "e8m0")
        invalid(what + ": type " + in_double_quotes(scales.type) + " where e8m0 belongs");
    const std::int64_t blocks = blocks_in(elements.columns);
    if (scales.rows != elements.rows || scales.columns != blocks)
        invalid(what + ": " + shape_text(scales) + " where " + std::to_string(elements.rows) +
                " x " + std::to_string(blocks) + " belongs");
    const bool is_tiled = text_of(scales.layout) == "128x4";
    if (!is_tiled && text_of(scales.layout) != "strided")
        not_supported(what + " have layout " + in_double_quotes(scales.layout) +
                      "; this device takes \"strided\" and \"128x4\"");
    return {static_cast<const std::uint8_t*>(scales.data), is_tiled, scales.row_stride,
            scales.column_stride, rounded_up(blocks, 4) / 4};
}

Factor factor_of(const std::string& what, const mx_tensor& elements, const mx_tensor& scales) {
    Factor factor;
    factor.codes = static_cast<const std::uint8_t*>(elements.data);
    factor.element = element_of(what, elements);
    factor.rows = elements.rows;
    factor.row_stride = row_stride_of(what, elements);
    factor.scales = scales_of("the scales of " + what, scales, elements);
    return factor;
}

void expect_shape(const std::string& what, const mx_tensor& tensor, std::int64_t rows,
                  std::int64_t columns) {
    if (tensor.rows == rows && tensor.columns == columns) return;
    invalid(what + ": " + shape_text(tensor) + " where " + std::to_string(rows) + " x " +
            std::to_string(columns) + " belongs");
}

Product whole_product(const Call& call, const mx_gemm& gemm) {
    const mx_tensor& a = tensor_at(call.inputs, 0);
    const mx_tensor& b = tensor_at(call.inputs, 2);
    const mx_tensor& d = tensor_at(call.outputs, 0);
    if (a.columns != b.columns)
        invalid("A is " + shape_text(a) + " and B is " + shape_text(b) +
                ": their columns, K, differ");
    if (a.rows % gemm.batches != 0 || b.rows % gemm.batches != 0)
        invalid("A is " + shape_text(a) + " and B is " + shape_text(b) +
                ": their rows do not divide into " + std::to_string(gemm.batches) + " batches");
    Product product;
    product.a = factor_of("A", a, tensor_at(call.inputs, 1));
    product.b = factor_of("B", b, tensor_at(call.inputs, 3));
    product.depth = a.columns;
    product.alpha = std::bit_cast<float>(gemm.alpha);
    product.beta = std::bit_cast<float>(gemm.beta);
    product.output = output_of(d);
    const std::int64_t columns = b.rows / gemm.batches;
    expect_shape("D", d, a.rows, columns);
    product.d = {d.data, row_stride_of("D", d)};
    if (!adds_c(gemm)) return product;
    const mx_tensor& c = tensor_at(call.inputs, 4);
    expect_shape("C", c, a.rows, columns);
    if (text_of(c.type) != text_of(d.type))
        not_supported("C is of type " + in_double_quotes(c.type) + " and D of " +
                      in_double_quotes(d.type));
    product.c = {c.data, row_stride_of("C", c)};
    return product;
}

// Scales of a batch in tiles begin with a whole tile.
void check_batch_scales(const std::string& what, const Factor& factor, std::int64_t batches) {
    if (batches > 1 && factor.scales.is_tiled && factor.rows / batches % 128 != 0)
        not_supported("the scales of " + what + " in layout \"128x4\": several batches of " +
                      std::to_string(factor.rows / batches) +
                      " rows, where a batch's tiles are whole only at multiples of 128");
}

Factor batch_of(const Factor& all, std::int64_t index, std::int64_t batches) {
    Factor one = all;
    one.rows = all.rows / batches;
    const std::int64_t first = one.rows * index;
    if (one.codes != nullptr) one.codes += first * all.row_stride;
    if (one.scales.data == nullptr) return one;
    one.scales.data += all.scales.is_tiled ? first / 128 * all.scales.tiles_along * 512
                                           : first * all.scales.row_stride;
    return one;
}

Values batch_of(const Values& all, std::int64_t first_row, std::int64_t bytes_each) {
    Values one = all;
    if (one.data == nullptr) return one;
    one.data = static_cast<std::uint8_t*>(one.data) + first_row * all.row_stride * bytes_each;
    return one;
}

Request batches_of(const Product& all, const mx_gemm& gemm) {
    check_batch_scales("A", all.a, gemm.batches);
    check_batch_scales("B", all.b, gemm.batches);
    const std::int64_t bytes_each = all.output == Output::f32 ? 4 : 2;
    Request request{{}, std::string(text_of(gemm.algorithm))};
    for (std::int64_t i = 0; i < gemm.batches; ++i) {
        Product one = all;
        one.a = batch_of(all.a, i, gemm.batches);
        one.b = batch_of(all.b, i, gemm.batches);
        one.c = batch_of(all.c, one.a.rows * i, bytes_each);
        one.d = batch_of(all.d, one.a.rows * i, bytes_each);
        request.batches.push_back(one);
        if (request.writes_nothing()) break;
    }
    return request;
}

}  // namespace

Request request_of(const Call& call, Buffers buffers) {
    const mx_gemm& gemm = gemm_of(call, buffers);
    const Product product = whole_product(call, gemm);
    if (product.depth == 0 && product.a.rows != 0 && product.b.rows != 0) not_supported("K is 0");
    return batches_of(product, gemm);
}

}  // namespace mx::hopper
