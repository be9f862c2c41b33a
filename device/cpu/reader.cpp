// See reader.hpp.
#include "device/cpu/reader.hpp"

#include <utility>

namespace mx::cpu {
namespace {

std::string shape_text(const mx_tensor& tensor) {
    return std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns);
}

// True when the offset in bytes of every element, and their number, fit 64 bits.
bool addressable(const mx_tensor& tensor) {
    std::int64_t down = 0;
    std::int64_t across = 0;
    std::int64_t offset = 0;
    std::int64_t count = 0;
    constexpr std::int64_t widest = 4;
    return !__builtin_mul_overflow(tensor.rows, tensor.row_stride, &down) &&
           !__builtin_mul_overflow(tensor.columns, tensor.column_stride, &across) &&
           !__builtin_add_overflow(down, across, &offset) &&
           !__builtin_mul_overflow(offset, widest, &offset) &&
           !__builtin_mul_overflow(down, widest, &down) &&
           !__builtin_mul_overflow(across, widest, &across) &&
           !__builtin_mul_overflow(tensor.rows, tensor.columns, &count) &&
           !__builtin_mul_overflow(count, widest, &count);
}

int code_bits(ElementType element) {
    return element_of(element).sign_place + 1;
}

std::int64_t blocks_in(std::int64_t length, std::int64_t block) {
    return length / block + (length % block != 0 ? 1 : 0);
}

}  // namespace

std::string quoted(const char* text) {
    if (text == nullptr) return "NULL";
    std::string quote = "\"";
    quote.append(text).append("\"");
    return quote;
}
std::string_view text_of(const char* text) {
    return text == nullptr ? "" : text;
}
Refusal invalid(std::string reason) {
    return {MX_INVALID, std::move(reason)};
}
Refusal not_supported(std::string reason) {
    return {MX_NOT_SUPPORTED, std::move(reason)};
}

void Reader::refuse(Refusal refusal) {
    if (!refused()) refusal_ = std::move(refusal);
}

void Reader::check_structs() {
    if (call_.operation == nullptr) return refuse(invalid("the operation is NULL"));
    if (call_.operation->struct_size < sizeof(mx_operation))
        return refuse(invalid("mx_operation.struct_size is smaller than this ABI's struct"));
    check_array("input", call_.inputs, call_.input_count);
    check_array("output", call_.outputs, call_.output_count);
}

void Reader::expect_count(const std::string& what, Counts counts) {
    if (refused() || counts.given == counts.wanted) return;
    refuse(invalid("operation " + quoted(operation().name) + " takes " +
                   std::to_string(counts.wanted) + " " + what + ", not " +
                   std::to_string(counts.given)));
}

ValueType Reader::value_type(const mx_tensor& tensor) {
    const auto type = find_value_type(text_of(tensor.type));
    if (!type) refuse(not_supported("values of type " + quoted(tensor.type)));
    expect_strided(tensor);
    return type.value_or(ValueType::f32);
}

void Reader::expect_type(const mx_tensor& tensor, std::string_view type) {
    if (text_of(tensor.type) == type) return;
    refuse(invalid("a tensor of type " + quoted(tensor.type) + " where " + std::string(type) +
                   " belongs"));
}

void Reader::expect_strided(const mx_tensor& tensor) {
    if (text_of(tensor.layout) == "strided") return;
    refuse(not_supported("a tensor of type " + quoted(tensor.type) + " in layout " +
                         quoted(tensor.layout) + ", here it must be strided"));
}

ElementType Reader::element_format() {
    const auto type = find_element_type(text_of(operation().format));
    if (!type) refuse(not_supported("element format " + quoted(operation().format)));
    return type.value_or(ElementType::e4m3);
}

ElementType Reader::block_format() {
    const auto type = find_block_format(text_of(operation().format));
    if (!type) refuse(not_supported("block format " + quoted(operation().format)));
    return type.value_or(ElementType::e4m3);
}

DialectRule Reader::dialect_rule(ElementType element) {
    const auto rule = find_dialect_rule(text_of(operation().dialect), element);
    const bool known = knows_dialect(text_of(operation().dialect));
    if (!rule)
        refuse(not_supported("dialect " + quoted(operation().dialect) +
                             (known ? " has no format " + quoted(operation().format) : "")));
    return rule.value_or(DialectRule{});
}

ScaleRule Reader::cast_rule() {
    const auto rule = find_cast_rule(text_of(operation().dialect));
    if (!rule) refuse(not_supported("dialect " + quoted(operation().dialect)));
    return rule.value_or(ScaleRule{});
}

void Reader::check_dialect() {
    if (operation().dialect != nullptr) cast_rule();
}

RoundingName Reader::rounding() {
    const auto name = find_rounding(text_of(operation().rounding));
    if (!name) refuse(not_supported("rounding " + quoted(operation().rounding)));
    return name.value_or(RoundingName{});
}

OverflowMode Reader::overflow() {
    const auto mode = find_overflow(text_of(operation().overflow));
    if (!mode) refuse(not_supported("overflow mode " + quoted(operation().overflow)));
    return mode.value_or(OverflowMode::saturate);
}

Subnormals Reader::subnormals() {
    if (operation().subnormals == nullptr) return Subnormals::honoured;
    const auto subnormals = find_subnormals(operation().subnormals);
    if (!subnormals) refuse(not_supported("subnormals " + quoted(operation().subnormals)));
    return subnormals.value_or(Subnormals::honoured);
}

Blocks Reader::blocks() {
    const std::string_view name = text_of(operation().axis);
    if (name != "row" && name != "col" && name != "tile")
        refuse(not_supported("axis " + quoted(operation().axis)));
    const Axis axis = name == "col" ? Axis::column : name == "tile" ? Axis::tile : Axis::row;
    const std::int64_t size = operation().block_size == 0 ? 32 : operation().block_size;
    // The bound keeps every product of sizes far from overflow.
    if (size < 1 || size > 65536)
        refuse(not_supported("blocks of " + std::to_string(size) + " lanes"));
    return {axis, refused() ? 1 : size};
}

Layout Reader::layout_of_codes(const mx_tensor& tensor, ElementType element) {
    const auto layout = find_layout(text_of(tensor.layout));
    const bool known = layout && layout->kind != LayoutKind::scales;
    if (!known) refuse(not_supported("element codes in layout " + quoted(tensor.layout)));
    if (known && layout->kind == LayoutKind::codes && layout->code_bits != code_bits(element))
        refuse(invalid("layout " + quoted(tensor.layout) + " does not hold codes of type " +
                       quoted(tensor.type)));
    return layout.value_or(Layout{});
}

Layout Reader::layout_of_scales(const mx_tensor& tensor, const Blocks& b) {
    const auto layout = find_layout(text_of(tensor.layout));
    const bool strided = layout && layout->kind == LayoutKind::strided;
    const std::string_view axis = text_of(operation().axis);
    if (strided) return *layout;
    if (!layout || layout->kind != LayoutKind::scales || b.axis == Axis::tile)
        refuse(not_supported("scales in layout " + quoted(tensor.layout) + " along axis " +
                             quoted(operation().axis)));
    else if (layout->axis != axis)
        refuse(invalid("layout " + quoted(tensor.layout) + " is not for scales along axis " +
                       quoted(operation().axis)));
    return layout.value_or(Layout{});
}

// Strides are those that mx_device.h says: a block is its codes and a byte.
void Reader::check_inline(const mx_tensor& codes, const Blocks& b, ElementType element) {
    if (b.axis != Axis::row) return refuse(invalid("layout \"inline\" is for axis \"row\" only"));
    const std::int64_t bytes = (b.size * code_bits(element) + 7) / 8 + 1;
    const std::int64_t blocks = blocks_in(codes.columns, b.size);
    std::int64_t row_bytes = 0;
    const bool huge = __builtin_mul_overflow(blocks, bytes, &row_bytes);
    if (huge || codes.column_stride != bytes || codes.row_stride < row_bytes)
        refuse(invalid("inline blocks of " + std::to_string(bytes) + " bytes with strides " +
                       std::to_string(codes.row_stride) + " and " +
                       std::to_string(codes.column_stride)));
}

void Reader::expect_shape(const mx_tensor& tensor, Shape wanted) {
    if (tensor.rows == wanted.rows && tensor.columns == wanted.columns) return;
    refuse(invalid("a tensor of type " + quoted(tensor.type) + " is " + shape_text(tensor) +
                   " and should be of one shape with the other, " + std::to_string(wanted.rows) +
                   " x " + std::to_string(wanted.columns)));
}

void Reader::expect_scale_shape(const mx_tensor& elements, const mx_tensor& scales,
                                const Blocks& b) {
    if (scales.rows == blocks_in(elements.rows, b.rows()) &&
        scales.columns == blocks_in(elements.columns, b.columns()))
        return;
    refuse(invalid("scales of " + shape_text(scales) + " do not belong to elements of " +
                   shape_text(elements) + " along axis " + quoted(operation().axis) +
                   " in blocks of " + std::to_string(b.size)));
}

const mx_tensor& Reader::at(const mx_tensor* first, std::size_t index) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(first);
    return *reinterpret_cast<const mx_tensor*>(bytes + index * first->struct_size);
}

void Reader::check_array(const std::string& what, const mx_tensor* tensors, std::size_t count) {
    if (refused() || count == 0) return;
    if (tensors == nullptr) return refuse(invalid("the " + what + " tensors are NULL"));
    if (tensors->struct_size < sizeof(mx_tensor) || tensors->struct_size % alignof(mx_tensor) != 0)
        return refuse(invalid("mx_tensor.struct_size of the first " + what +
                              " is not that of this ABI's struct"));
    for (std::size_t i = 0; i < count && !refused(); ++i) {
        check_tensor(what + " " + std::to_string(i), at(tensors, i));
    }
}

void Reader::check_tensor(const std::string& what, const mx_tensor& tensor) {
    if (text_of(tensor.place) != "host")
        return refuse(not_supported(what + " lies in " + quoted(tensor.place) +
                                    ", and this device reads host memory only"));
    const auto layout = find_layout(text_of(tensor.layout));
    if (!layout) return refuse(not_supported(what + " has layout " + quoted(tensor.layout)));
    if (tensor.rows < 0 || tensor.columns < 0)
        return refuse(invalid(what + " has a negative shape, " + shape_text(tensor)));
    const bool has_strides = tensor.row_stride != 0 || tensor.column_stride != 0;
    const bool may_have_strides =
        layout->kind == LayoutKind::strided || layout->kind == LayoutKind::inline_scales;
    if (has_strides && !may_have_strides)
        return refuse(
            invalid(what + " has strides, and layout " + quoted(tensor.layout) + " has none"));
    if (tensor.rows == 0 || tensor.columns == 0) return;
    if (!addressable(tensor) || !fits_address_space(*layout, tensor))
        return refuse(invalid(what + " of " + shape_text(tensor) + " with strides " +
                              std::to_string(tensor.row_stride) + " and " +
                              std::to_string(tensor.column_stride) +
                              " is larger than an address space"));
    if (buffers_ == Buffers::present && tensor.data == nullptr)
        refuse(invalid(what + " has no data"));
}

}  // namespace mx::cpu
