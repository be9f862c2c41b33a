// Arithmetic on tensor shapes, with every overflow checked: shapes come from the command line.
// Used by device and isolated_device; knows nothing of values.
#include "device/host/operation.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include "device/host/layout.hpp"

namespace mx {

namespace {

// Reports overflow of a * b + c in int64. One flag for the whole chain keeps the callers plain.
class CheckedSum {
public:
    void add_product(std::int64_t a, std::int64_t b) {
        std::int64_t product = 0;
        overflow_ |= __builtin_mul_overflow(a, b, &product);
        overflow_ |= __builtin_add_overflow(sum_, product, &sum_);
    }
    bool overflow() const { return overflow_; }
    std::int64_t value() const { return sum_; }

private:
    std::int64_t sum_ = 0;
    bool overflow_ = false;
};

bool is_negative(const TensorSpec& spec) {
    return spec.rows < 0 || spec.columns < 0 || spec.row_stride < 0 || spec.column_stride < 0;
}

}  // namespace

int code_bits(std::string_view type) {
    struct Type {
        std::string_view name;
        int bits;
    };
    // "u8" is a byte of no further meaning, as a packed tensor is made of.
    constexpr std::array types{
        Type{"f32", 32},     Type{"bf16", 16},    Type{"f16", 16},           Type{"e4m3", 8},
        Type{"e5m2", 8},     Type{"e3m2", 6},     Type{"e2m3", 6},           Type{"e2m1", 4},
        Type{"int8", 8},     Type{"e8m0", 8},     Type{"int8-symmetric", 8}, Type{"u8", 8},
        Type{"u32", 32},     Type{"ue4m3", 8},    Type{"ue5m3", 8},          Type{"tf32", 32},
        Type{"e4m3fnuz", 8}, Type{"e5m2fnuz", 8}, Type{"i32", 32},
    };
    for (const Type& known : types) {
        if (known.name == type) return known.bits;
    }
    return 0;
}

std::size_t element_width(std::string_view type) {
    return static_cast<std::size_t>(code_bits(type) + 7) / 8;
}

TensorSpec dense(std::string_view type, Shape shape) {
    return {std::string(type), shape.rows, shape.columns, shape.columns, 1, "strided"};
}

bool is_dense(const TensorSpec& spec) {
    return is_strided(spec) && (spec.columns <= 1 || spec.column_stride == 1) &&
           (spec.rows <= 1 || spec.row_stride == spec.columns);
}

std::size_t element_count(const TensorSpec& spec) {
    return static_cast<std::size_t>(spec.rows) * static_cast<std::size_t>(spec.columns);
}

Expected<std::size_t> byte_extent(const TensorSpec& spec) {
    const auto width = static_cast<std::int64_t>(element_width(spec.type));
    if (width == 0) {
        return bad_input("tensor type \"" + spec.type + "\" is unknown");
    }
    if (!is_strided(spec)) return packed_extent(spec);
    if (is_negative(spec)) {
        return bad_input("tensor " + to_text(spec) + " has a negative size or stride");
    }
    if (spec.rows == 0 || spec.columns == 0) return std::size_t{0};
    CheckedSum last;
    last.add_product(spec.rows - 1, spec.row_stride);
    last.add_product(spec.columns - 1, spec.column_stride);
    last.add_product(1, 1);
    CheckedSum bytes;
    bytes.add_product(last.value(), width);
    // The dense copy of the elements must be addressable as well; stride 0 makes it the larger.
    CheckedSum elements;
    elements.add_product(spec.rows, spec.columns);
    CheckedSum dense_bytes;
    dense_bytes.add_product(elements.value(), width);
    if (last.overflow() || bytes.overflow() || elements.overflow() || dense_bytes.overflow() ||
        bytes.value() > std::numeric_limits<std::ptrdiff_t>::max()) {
        return bad_input("tensor " + to_text(spec) + " is larger than the address space");
    }
    return static_cast<std::size_t>(bytes.value());
}

bool has_separate_elements(const TensorSpec& spec) {
    if (!is_strided(spec) || spec.rows == 0 || spec.columns == 0) return true;
    const bool one_row = spec.rows == 1;
    const bool one_column = spec.columns == 1;
    const std::int64_t row_span = one_column ? 1 : (spec.columns - 1) * spec.column_stride + 1;
    const std::int64_t column_span = one_row ? 1 : (spec.rows - 1) * spec.row_stride + 1;
    if ((!one_column && spec.column_stride == 0) || (!one_row && spec.row_stride == 0)) {
        return false;
    }
    return one_row || one_column || spec.row_stride >= row_span ||
           spec.column_stride >= column_span;
}

TensorSpec storage_of(const TensorSpec& spec) {
    if (is_strided(spec)) return spec;
    return dense("u8", 1, static_cast<std::int64_t>(byte_extent(spec).value()));
}

std::string to_text(const TensorSpec& spec) {
    const std::string shape =
        spec.type + " " + std::to_string(spec.rows) + " x " + std::to_string(spec.columns);
    if (!is_strided(spec)) return shape + " in layout " + spec.layout;
    return shape + ", strides " + std::to_string(spec.row_stride) + " and " +
           std::to_string(spec.column_stride);
}

}  // namespace mx
