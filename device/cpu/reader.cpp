// See reader.hpp.
#include "device/cpu/reader.hpp"

#include <string>

#include "device/cpu/real_scale_rules.hpp"

namespace mx::cpu {
namespace {

using kit::in_double_quotes;
using kit::invalid;
using kit::not_supported;
using kit::text_of;

int code_bits(ElementType element) {
    return element_of(element).sign_place + 1;
}

std::string_view name_of(kit::Axis axis) {
    for (const kit::Named<kit::Axis>& row : kit::axes)
        if (row.value == axis) return row.name;
    return "tensor";
}

// What the table found, or a refusal of that name.
template <typename T>
T found(const std::optional<T>& value, const std::string& kind, const char* name) {
    if (!value) not_supported(kind + " " + in_double_quotes(name));
    return *value;
}

void check_tensor(const std::string& what, const mx_tensor& tensor) {
    const auto layout = find_layout(text_of(tensor.layout));
    if (!layout) not_supported(what + " has layout " + in_double_quotes(tensor.layout));
    const bool has_strides = tensor.row_stride != 0 || tensor.column_stride != 0;
    const bool may_have_strides =
        layout->kind == LayoutKind::strided || layout->kind == LayoutKind::inline_scales;
    if (has_strides && !may_have_strides)
        invalid(what + " has strides, and layout " + in_double_quotes(tensor.layout) + " has none");
    const bool is_empty = tensor.rows == 0 || tensor.columns == 0;
    if (!is_empty && !fits_address_space(*layout, tensor))
        invalid(what + " of " + kit::text_of(kit::Shape{tensor.rows, tensor.columns}) +
                " in layout " + in_double_quotes(tensor.layout) +
                " is larger than an address space");
}

}  // namespace

void check_tensors(const kit::Call& call) {
    call.expect_host();
    call.for_each_tensor(check_tensor);
}

ElementType element_format(const mx_operation& operation) {
    return found(find_element_type(text_of(operation.format)), "element format", operation.format);
}
ElementType block_format(const mx_operation& operation) {
    return found(find_block_format(text_of(operation.format)), "block format", operation.format);
}

DialectRule dialect_rule(const mx_operation& operation, ElementType element) {
    const std::string_view dialect = text_of(operation.dialect);
    const auto rule = find_dialect_rule(dialect, element);
    if (!rule && (knows_dialect(dialect) || find_real_scale_rule(dialect) != nullptr))
        not_supported("dialect " + in_double_quotes(dialect) + " has no format " +
                      in_double_quotes(operation.format));
    return found(rule, "dialect", operation.dialect);
}

ScaleRule cast_rule(const mx_operation& operation) {
    return found(find_cast_rule(text_of(operation.dialect)), "dialect", operation.dialect);
}
void check_dialect(const mx_operation& operation) {
    if (operation.dialect != nullptr) cast_rule(operation);
}
RoundingName rounding(const mx_operation& operation) {
    return found(find_rounding(text_of(operation.rounding)), "rounding", operation.rounding);
}
OverflowMode overflow(const mx_operation& operation) {
    return found(find_overflow(text_of(operation.overflow)), "overflow mode", operation.overflow);
}
Subnormals subnormals(const mx_operation& operation) {
    if (operation.subnormals == nullptr) return Subnormals::honoured;
    return found(find_subnormals(operation.subnormals), "subnormals", operation.subnormals);
}

ValueType value_type(const kit::Tensor& tensor) {
    const ValueType type =
        found(find_value_type(tensor.type()), tensor.role() + ": type", tensor.raw().type);
    tensor.expect_strided();
    return type;
}

Layout layout_of_codes(const kit::Tensor& tensor, ElementType element) {
    const auto layout = find_layout(tensor.layout());
    if (!layout || layout->kind == LayoutKind::scales)
        not_supported("element codes in layout " + in_double_quotes(tensor.layout()));
    if (layout->kind == LayoutKind::codes && layout->code_bits != code_bits(element))
        invalid("layout " + in_double_quotes(tensor.layout()) + " does not hold codes of type " +
                in_double_quotes(tensor.type()));
    return *layout;
}

Layout layout_of_scales(const kit::Tensor& tensor, kit::Axis axis) {
    const auto layout = find_layout(tensor.layout());
    if (layout && layout->kind == LayoutKind::strided) return *layout;
    const bool is_along = axis == kit::Axis::row || axis == kit::Axis::column;
    if (!layout || layout->kind != LayoutKind::scales || !is_along)
        not_supported("scales in layout " + in_double_quotes(tensor.layout()) + " along axis " +
                      in_double_quotes(name_of(axis)));
    if (layout->axis != name_of(axis))
        invalid("layout " + in_double_quotes(tensor.layout()) + " is not for scales along axis " +
                in_double_quotes(name_of(axis)));
    return *layout;
}

// Strides are those that mx_device.h says: a block is its codes and a byte.
void check_inline(const kit::Tensor& codes, const kit::Blocks& blocks, ElementType element) {
    if (blocks.axis != kit::Axis::row) invalid("layout \"inline\" is for axis \"row\" only");
    const mx_tensor& tensor = codes.raw();
    const std::int64_t bytes = (blocks.size * code_bits(element) + 7) / 8 + 1;
    std::int64_t row_bytes = 0;
    const bool huge = __builtin_mul_overflow(blocks.grid(codes.shape()).columns, bytes, &row_bytes);
    if (huge || tensor.column_stride != bytes || tensor.row_stride < row_bytes)
        invalid("inline blocks of " + std::to_string(bytes) + " bytes with strides " +
                std::to_string(tensor.row_stride) + " and " + std::to_string(tensor.column_stride));
}

}  // namespace mx::cpu
