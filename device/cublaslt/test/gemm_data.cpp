// See gemm_data.hpp.
#include "device/cublaslt/test/gemm_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "device/cublaslt/test/swizzle.hpp"

namespace mx::cublaslt::test {
namespace {

struct FloatFormat {
    std::string_view name;
    int exponent_bits;
    int mantissa_bits;
    int bias;
    int bytes;
};
constexpr std::array formats{
    FloatFormat{"f32", 8, 23, 127, 4}, FloatFormat{"bf16", 8, 7, 127, 2},
    FloatFormat{"f16", 5, 10, 15, 2},  FloatFormat{"e4m3", 4, 3, 7, 1},
    FloatFormat{"e5m2", 5, 2, 15, 1},  FloatFormat{"e2m1", 2, 1, 1, 1},
    FloatFormat{"e8m0", 8, 0, 127, 1}, FloatFormat{"ue4m3", 4, 3, 7, 1},
};

const FloatFormat& format_of(std::string_view type) {
    for (const FloatFormat& format : formats)
        if (format.name == type) return format;
    throw std::invalid_argument("no type " + std::string(type));
}

std::size_t offset_of(const mx_tensor& tensor, std::int64_t row, std::int64_t column) {
    if (std::string_view(tensor.layout) == "128x4")
        return static_cast<std::size_t>(swizzled({row, column}, tensor.columns));
    return static_cast<std::size_t>((row * tensor.row_stride + column * tensor.column_stride) *
                                    format_of(tensor.type).bytes);
}

// A fixed sequence of numbers that look like any.
class Sequence {
public:
    explicit Sequence(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
    std::uint64_t next(std::uint64_t count) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (state_ >> 33) % count;
    }

private:
    std::uint64_t state_;
};

Values draw(Extents shape, std::uint64_t seed, const std::vector<double>& from) {
    Values values{shape, {}};
    Sequence sequence(seed);
    for (std::int64_t i = 0; i < shape.rows * shape.columns; ++i)
        values.all.push_back(from[sequence.next(from.size())]);
    return values;
}

// Of a factor: its values times their scales.
Values scaled(const Values& values, const char* scaling, const Values& scales) {
    if (scaling == nullptr) return values;
    const Extents block = find_scaling(scaling)->block;
    Values products = values;
    for (std::int64_t r = 0; r < values.shape.rows; ++r)
        for (std::int64_t c = 0; c < values.shape.columns; ++c)
            products.all[static_cast<std::size_t>(r * values.shape.columns + c)] *=
                scales.at(block.rows == whole ? 0 : r / block.rows,
                          block.columns == whole ? 0 : c / block.columns);
    return products;
}

double alpha_of(const Asked& asked) {
    return decode("f32", asked.alpha);
}

}  // namespace

double decode(std::string_view type, std::uint32_t code) {
    const FloatFormat& format = format_of(type);
    const std::uint32_t mantissa_mask = (1u << format.mantissa_bits) - 1;
    const std::uint32_t exponent_mask = (1u << format.exponent_bits) - 1;
    const int exponent = static_cast<int>(code >> format.mantissa_bits & exponent_mask);
    const bool has_sign = type != "e8m0" && type != "ue4m3";
    const int sign_at = format.exponent_bits + format.mantissa_bits;
    const double sign = has_sign && (code >> sign_at & 1) != 0 ? -1.0 : 1.0;
    const bool is_subnormal = exponent == 0 && type != "e8m0";
    const double mantissa =
        (is_subnormal ? 0.0 : 1.0) + std::ldexp(code & mantissa_mask, -format.mantissa_bits);
    return sign * std::ldexp(mantissa, (is_subnormal ? 1 : exponent) - format.bias);
}

std::uint32_t encode(std::string_view type, double value) {
    const FloatFormat& format = format_of(type);
    if (value == 0) return 0;
    const int exponent = std::ilogb(value);
    const auto mantissa = static_cast<std::uint32_t>(
        std::ldexp(std::fabs(std::scalbn(value, -exponent)) - 1.0, format.mantissa_bits));
    const std::uint32_t sign = value < 0 ? 1u << (format.exponent_bits + format.mantissa_bits) : 0;
    const std::uint32_t code =
        sign | static_cast<std::uint32_t>(exponent + format.bias) << format.mantissa_bits |
        mantissa;
    if (decode(type, code) != value)
        throw std::invalid_argument(std::to_string(value) + " is no " + std::string(type));
    return code;
}

std::vector<std::uint8_t> bytes_of(const mx_tensor& tensor, const Values& values) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(byte_extent(tensor)), poison);
    // Pads of scales and halves of bytes are 0.
    if (std::string_view(tensor.layout) != "strided") std::fill(bytes.begin(), bytes.end(), 0);
    const bool is_packed = std::string_view(tensor.layout) == "packed-low";
    for (std::int64_t r = 0; r < tensor.rows; ++r)
        for (std::int64_t c = 0; c < tensor.columns; ++c) {
            const std::uint32_t code = encode(tensor.type, values.at(r, c));
            if (is_packed) {
                const auto at = static_cast<std::size_t>(r * (tensor.columns / 2) + c / 2);
                bytes[at] = static_cast<std::uint8_t>(bytes[at] | code << (c % 2 * 4));
                continue;
            }
            std::memcpy(&bytes[offset_of(tensor, r, c)], &code,
                        static_cast<std::size_t>(format_of(tensor.type).bytes));
        }
    return bytes;
}

Values values_of(const mx_tensor& tensor, const std::vector<std::uint8_t>& bytes) {
    Values values{{tensor.rows, tensor.columns}, {}};
    for (std::int64_t r = 0; r < tensor.rows; ++r)
        for (std::int64_t c = 0; c < tensor.columns; ++c) {
            std::uint32_t code = 0;
            std::memcpy(&code, &bytes[offset_of(tensor, r, c)],
                        static_cast<std::size_t>(format_of(tensor.type).bytes));
            values.all.push_back(decode(tensor.type, code));
        }
    return values;
}

std::int64_t spoiled(const mx_tensor& tensor, const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint8_t> rest = bytes;
    for (std::int64_t r = 0; r < tensor.rows; ++r)
        for (std::int64_t c = 0; c < tensor.columns; ++c)
            std::memset(&rest[offset_of(tensor, r, c)], poison,
                        static_cast<std::size_t>(format_of(tensor.type).bytes));
    return static_cast<std::int64_t>(rest.size()) - std::count(rest.begin(), rest.end(), poison);
}

Scene::Scene(const Asked& wish) : asked(wish), call(call_of(wish)) {
    const Extents a_shape{asked.batches * asked.m, asked.k};
    const Extents b_shape{asked.batches * asked.n, asked.k};
    const Extents d_shape{asked.batches * asked.m, asked.n};
    const std::vector<double> elements{0, 0, 0, 0, 0, 1, -1, 2}, powers{0.5, 1, 2};
    std::size_t next = 0;
    const auto add = [&](const Values& values) {
        inputs.push_back(bytes_of(call.inputs[next++], values));
        return values;
    };
    const auto factor = [&](Extents shape, const char* scaling, std::uint64_t seed) {
        const Values values = add(draw(shape, seed, elements));
        if (scaling == nullptr) return values;
        return scaled(values, scaling,
                      add(draw(grid_of(*find_scaling(scaling), shape), seed + 10, powers)));
    };
    const Values a = factor(a_shape, asked.scaling_a, 1), b = factor(b_shape, asked.scaling_b, 2);
    const Values c = has_c(asked) ? add(draw(d_shape, 3, {-4, 0, 1, 3})) : Values{};
    const Values bias = has_bias(asked) ? add(draw({1, asked.n}, 4, {-3, 0, 2, 5})) : Values{};
    const std::string_view out = asked.scaling_out == nullptr ? "" : asked.scaling_out;
    const double scale_d = out == "tensor" ? add(draw({1, 1}, 5, {0.5})).all[0] : 1.0;
    const bool is_relu = asked.epilogue != nullptr &&
                         std::string_view(asked.epilogue).find("relu") != std::string_view::npos;
    expected.shape = d_shape;
    for (std::int64_t r = 0; r < d_shape.rows; ++r)
        for (std::int64_t j = 0; j < d_shape.columns; ++j) {
            const std::int64_t row_of_b = r / asked.m * asked.n + j;
            double sum = 0;
            for (std::int64_t k = 0; k < asked.k; ++k) sum += a.at(r, k) * b.at(row_of_b, k);
            sum *= alpha_of(asked);
            if (has_c(asked)) sum += decode("f32", asked.beta) * c.at(r, j);
            if (has_bias(asked)) sum += bias.at(0, j);
            if (is_relu) sum = std::max(sum, 0.0);
            expected.all.push_back(sum * scale_d);
        }
    for (const mx_tensor& output : call.outputs)
        outputs.emplace_back(static_cast<std::size_t>(byte_extent(output)), poison);
}

void Scene::place_on_host() {
    for (std::size_t i = 0; i < inputs.size(); ++i) call.inputs[i].data = inputs[i].data();
    for (std::size_t i = 0; i < outputs.size(); ++i) call.outputs[i].data = outputs[i].data();
}

}  // namespace mx::cublaslt::test
