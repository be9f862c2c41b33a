// See arithmetic.hpp.
#include "conformance/accuracy/arithmetic.hpp"

#include <bit>
#include <cmath>

#include "conformance/accuracy/device_codes.hpp"
#include "conformance/accuracy/gemm_accuracy.hpp"
#include "conformance/case/case.hpp"
#include "reference/spec/assert.hpp"

namespace mx::accuracy {
namespace {

// Two rows of values that are summed over together.
std::vector<float> chained(const std::vector<float>& a, const std::vector<float>& b,
                           std::int64_t depth) {
    const auto k_end = static_cast<std::size_t>(depth);
    const std::size_t rows = a.size() / k_end, columns = b.size() / k_end;
    std::vector<float> turned(b.size());  // for loops along memory
    for (std::size_t column = 0; column < columns; ++column)
        for (std::size_t k = 0; k < k_end; ++k)
            turned[k * columns + column] = b[column * k_end + k];
    std::vector<float> product(rows * columns);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t k = 0; k < k_end; ++k) {
            const float factor = a[row * k_end + k];
            float* const sums = product.data() + row * columns;
            const float* const factors = turned.data() + k * columns;
            for (std::size_t column = 0; column < columns; ++column)
                sums[column] = std::fma(factor, factors[column], sums[column]);
        }
    return product;
}

template <typename Codes>
CodeTensor tensor_of(const ElementFormat& type, std::int64_t rows, const Codes& codes) {
    CodeTensor tensor =
        make_tensor(type.name, rows, static_cast<std::int64_t>(codes.size()) / rows);
    for (std::size_t i = 0; i < codes.size(); ++i) tensor.set(i, codes[i]);
    return tensor;
}

void add_factor(const Operand& operand, GemmFactors& factors) {
    const BlockCodes codes = encode(*operand.quantizer, operand.rows);
    const BlockFormat& format = operand.quantizer->format;
    factors.inputs.push_back(tensor_of(format.element(), operand.rows.count(), codes.elements));
    factors.inputs.push_back(tensor_of(format.scale(), operand.rows.count(), codes.scales));
}

// What machines and their models multiply.
Status check_mx_blocks(const Operand& operand) {
    const Quantization& quantizer = *operand.quantizer;
    if (quantizer.format.has_e8m0_scales()) return success();
    return bad_input("products of " + std::string(quantizer.format.name) + " in " +
                     std::string(quantizer.rules.name) +
                     " are made here alone: --gemm-device and --model multiply MX blocks");
}

}  // namespace

std::vector<float> through(const Operand& operand) {
    const Rows& rows = operand.rows;
    if (operand.quantizer == nullptr) return {rows.values.begin(), rows.values.end()};
    return decode(*operand.quantizer, encode(*operand.quantizer, rows), rows.columns);
}

Expected<std::vector<float>> PlainArithmetic::multiply(const Operand& a, const Operand& b) {
    MX_ASSERT_COMPARE(a.rows.columns, ==, b.rows.columns);
    return chained(through(a), through(b), a.rows.columns);
}

Expected<std::vector<float>> ModelArithmetic::multiply(const Operand& a, const Operand& b) {
    for (const Operand& operand : {a, b})
        if (const Status blocks = check_mx_blocks(operand); !blocks) return blocks.error();
    const auto c = read_case("gemm a=" + std::string(a.quantizer->format.name) +
                             " b=" + std::string(b.quantizer->format.name) +
                             " output=f32 shape=" + std::to_string(a.rows.count()) + "x" +
                             std::to_string(b.rows.count()) + "x" + std::to_string(a.rows.columns) +
                             " model=" + row_ + " data=gemm.uniform");
    if (!c) return c.error();
    if (const Status fits = check_combination(c.value()); !fits) return fits.error();
    GemmFactors factors;
    add_factor(a, factors);
    add_factor(b, factors);
    std::vector<float> product;
    for (const Code code : expected_outputs(c.value(), factors))
        product.push_back(std::bit_cast<float>(code.bits));
    return product;
}

Expected<BlockCodes> DeviceArithmetic::encoded(const Operand& operand) {
    if (parts_.quantizes == nullptr) return encode(*operand.quantizer, operand.rows);
    const std::lock_guard<std::mutex> lock(parts_.asking);
    return encode_on(*parts_.quantizes, *operand.quantizer, operand.rows);
}

Expected<std::vector<float>> DeviceArithmetic::multiply(const Operand& a, const Operand& b) {
    const auto left = encoded(a);
    if (!left) return left.error();
    const auto right = encoded(b);
    if (!right) return right.error();
    const std::int64_t depth = a.rows.columns;
    if (parts_.multiplies == nullptr)
        return chained(decode(*a.quantizer, left.value(), depth),
                       decode(*b.quantizer, right.value(), depth), depth);
    for (const Operand& operand : {a, b})
        if (const Status blocks = check_mx_blocks(operand); !blocks) return blocks.error();
    const std::lock_guard<std::mutex> lock(parts_.asking);
    return multiply_on(*parts_.multiplies, {{*a.quantizer, left.value(), a.rows.count()},
                                            {*b.quantizer, right.value(), b.rows.count()},
                                            depth,
                                            parts_.algorithm});
}

}  // namespace mx::accuracy
