// One tensor of a call by the role that it plays there ("the scales of A"), which every sentence
// about it names; and where the elements of a strided one lie. Knows no bits of any element.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "device/kit/names.hpp"

namespace mx::kit {

struct Shape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    friend constexpr bool operator==(const Shape&, const Shape&) = default;
    bool is_empty() const { return rows == 0 || columns == 0; }
};

inline std::string text_of(Shape shape) {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
}

// Bytes of an element of that type in a strided tensor.
constexpr std::int64_t width_of(std::string_view type) {
    if (type == "f32" || type == "tf32" || type == "u32" || type == "i32") return 4;
    return type == "bf16" || type == "f16" ? 2 : 1;
}

struct Cell {
    std::int64_t row;
    std::int64_t column;
};

// Elements of `width` bytes that lie anywhere, aligned or not, strides counted in elements.
struct Strided {
    unsigned char* data = nullptr;
    std::int64_t width = 1;
    std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    Shape shape() const { return {rows, columns}; }
    unsigned char* at(Cell cell) const {
        return data + (cell.row * row_stride + cell.column * column_stride) * width;
    }
    // The code of an element, in the host's order of bytes, which is little-endian.
    std::uint32_t read(Cell cell) const {
        std::uint32_t code = 0;
        std::memcpy(&code, at(cell), static_cast<std::size_t>(width));
        return code;
    }
    void write(Cell cell, std::uint32_t code) const {
        std::memcpy(at(cell), &code, static_cast<std::size_t>(width));
    }
};

template <typename Action>
void for_each_cell(Shape shape, Action&& action) {
    for (std::int64_t row = 0; row < shape.rows; ++row)
        for (std::int64_t column = 0; column < shape.columns; ++column) action(Cell{row, column});
}

class Tensor {
public:
    // The tensor must outlive this view of it.
    Tensor(std::string_view role, const mx_tensor& tensor) : role_(role), tensor_(&tensor) {}

    const mx_tensor& raw() const { return *tensor_; }
    const std::string& role() const { return role_; }
    Shape shape() const { return {tensor_->rows, tensor_->columns}; }
    std::string_view type() const { return text_of(tensor_->type); }
    std::string_view layout() const { return text_of(tensor_->layout); }
    bool is_strided() const { return layout() == "strided"; }

    void expect_type(std::string_view type_wanted) const {
        if (type() != type_wanted)
            invalid(role_ + ": type " + in_double_quotes(tensor_->type) + " where " +
                    std::string(type_wanted) + " belongs");
    }
    void expect_shape(Shape wanted) const {
        if (shape() != wanted)
            invalid(role_ + ": " + text_of(shape()) + " where " + text_of(wanted) + " belongs");
    }
    void expect_strided() const {
        if (!is_strided())
            not_supported(role_ + ": layout " + in_double_quotes(tensor_->layout) +
                          ", and this device reads and writes strided ones");
    }

    // What the table has for the name of the type, or of the layout.
    template <typename T, std::size_t count>
    const T& type_in(const Named<T> (&table)[count]) const {
        return choose(table, tensor_->type, "type of " + role_);
    }
    template <typename T, std::size_t count>
    const T& layout_in(const Named<T> (&table)[count]) const {
        return choose(table, tensor_->layout, "layout of " + role_);
    }

    // Of a strided tensor whose elements have that many bytes.
    Strided strided(std::int64_t width) const {
        expect_strided();
        return {static_cast<unsigned char*>(tensor_->data),
                width,
                tensor_->rows,
                tensor_->columns,
                tensor_->row_stride,
                tensor_->column_stride};
    }
    // Of a tensor whose type and shape the rest of the call implies: another one contradicts it.
    Strided implied(std::string_view type_wanted, Shape wanted) const {
        const Strided elements = strided(width_of(type_wanted));
        expect_type(type_wanted);
        expect_shape(wanted);
        return elements;
    }
    // Of a tensor whose type the caller chose: this device knows that one alone.
    Strided chosen(std::string_view type_known, Shape wanted) const {
        if (type() != type_known)
            not_supported(role_ + ": type " + in_double_quotes(tensor_->type) +
                          "; this device knows " + std::string(type_known));
        return implied(type_known, wanted);
    }

private:
    std::string role_;
    const mx_tensor* tensor_;
};

}  // namespace mx::kit
