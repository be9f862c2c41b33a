// See tensors.hpp.
#include "device/cublaslt/tensors.hpp"

#include <array>

namespace mx::cublaslt {
namespace {

constexpr std::array types{
    Type{"f32", CUDA_R_32F, 32, {0, latest}},      Type{"bf16", CUDA_R_16BF, 16, {80, latest}},
    Type{"f16", CUDA_R_16F, 16, {0, latest}},      Type{"e4m3", CUDA_R_8F_E4M3, 8, {89, latest}},
    Type{"e5m2", CUDA_R_8F_E5M2, 8, {89, latest}}, Type{"e2m1", CUDA_R_4F_E2M1, 4, {100, latest}},
};

// Of a code that stands alone. Scales of 8 bits are no elements and so no row above.
std::int64_t width_of(const mx_tensor& tensor) {
    const Type* type = find_type(text_of(tensor.type));
    return type == nullptr || type->is_narrow() ? 1 : type->bits / 8;
}

}  // namespace

const Type* find_type(std::string_view name) {
    for (const Type& type : types)
        if (type.name == name) return &type;
    return nullptr;
}

std::string shape_text(const mx_tensor& tensor) {
    return std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns);
}
std::int64_t rounded_up(std::int64_t count, std::int64_t unit) {
    return (count + unit - 1) / unit * unit;
}

bool has_known_layout(const mx_tensor& tensor) {
    const std::string_view layout = text_of(tensor.layout);
    return layout == "strided" || layout == "packed-low" || layout == "128x4";
}

bool is_addressable(const mx_tensor& tensor) {
    constexpr std::int64_t longest = std::int64_t{1}
                                     << 58;  // so that rounding up overflows nothing
    constexpr std::int64_t widest = 4;
    if (tensor.rows > longest || tensor.columns > longest) return false;
    if (tensor.row_stride < 0 || tensor.column_stride < 0) return false;
    std::int64_t down = 0, across = 0, offset = 0, count = 0;
    const std::int64_t rows = rounded_up(tensor.rows, 128);
    const std::int64_t columns = rounded_up(tensor.columns, 4);
    return !__builtin_mul_overflow(tensor.rows, tensor.row_stride, &down) &&
           !__builtin_mul_overflow(tensor.columns, tensor.column_stride, &across) &&
           !__builtin_add_overflow(down, across, &offset) &&
           !__builtin_mul_overflow(offset, widest, &offset) &&
           !__builtin_mul_overflow(rows, columns, &count) &&
           !__builtin_mul_overflow(count, widest, &count);
}

std::int64_t byte_extent(const mx_tensor& tensor) {
    if (tensor.rows == 0 || tensor.columns == 0) return 0;
    const std::string_view layout = text_of(tensor.layout);
    if (layout == "128x4") return rounded_up(tensor.rows, 128) * rounded_up(tensor.columns, 4);
    if (layout == "packed-low") return tensor.rows * (rounded_up(tensor.columns, 2) / 2);
    const std::int64_t last =
        (tensor.rows - 1) * tensor.row_stride + (tensor.columns - 1) * tensor.column_stride;
    return (last + 1) * width_of(tensor);
}

bool is_on_gpu(const mx_tensor& tensor) {
    return text_of(tensor.place) == "cuda";
}

}  // namespace mx::cublaslt
