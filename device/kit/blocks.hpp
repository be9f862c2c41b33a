// How an operation falls into blocks: the axis, the block size, the grid of scales; and the call of
// axis "both" as the two calls that it is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "device/kit/call.hpp"

namespace mx::kit {

enum class Axis { row, column, tile, tensor };

inline constexpr Named<Axis> axes[] = {
    {"row", Axis::row}, {"col", Axis::column}, {"tile", Axis::tile}};

struct Blocks {
    Axis axis = Axis::row;
    std::int64_t size = 32;  // 0 where the block is the tensor

    std::int64_t rows() const { return axis == Axis::row ? 1 : size; }
    std::int64_t columns() const { return axis == Axis::column ? 1 : size; }
    // Of the scales that belong to elements of that shape.
    Shape grid(Shape elements) const {
        if (axis == Axis::tensor) return {1, 1};
        return {divided_up(elements.rows, rows()), divided_up(elements.columns, columns())};
    }

private:
    static std::int64_t divided_up(std::int64_t count, std::int64_t size) {
        return count / size + (count % size != 0 ? 1 : 0);
    }
};

// Of an operation that has blocks: `block_size` 0 says that there are none, so it contradicts the
// operation. For a device without axis "tensor".
inline Blocks blocks_of(const mx_operation& operation) {
    constexpr std::int64_t largest = 65536;  // keeps every product of sizes far from overflow
    const std::int64_t size = operation.block_size;
    if (size < 1)
        invalid("operation " + in_double_quotes(operation.name) +
                " has blocks, and block_size is " + std::to_string(size));
    if (size > largest) not_supported("blocks of " + std::to_string(size) + " elements");
    return {choose(axes, operation.axis, "axis"), size};
}

// The shape that a format's blocks have along any axis that is for it.
enum class BlockShape { line, tile, tensor };

// Of a device that knows axis "tensor", too.
inline Blocks blocks_or_tensor_of(const mx_operation& operation) {
    if (text_of(operation.axis) != "tensor") return blocks_of(operation);
    if (operation.block_size != 0)
        invalid("axis \"tensor\" has no blocks of " + std::to_string(operation.block_size) +
                " elements");
    return {Axis::tensor, 0};
}

// Of an operation on a format whose blocks have that shape and that edge; 0 where it is the tensor.
inline Blocks blocks_of(const mx_operation& operation, BlockShape shape, std::int64_t size) {
    const Blocks blocks = blocks_or_tensor_of(operation);
    const BlockShape asked = blocks.axis == Axis::tile     ? BlockShape::tile
                             : blocks.axis == Axis::tensor ? BlockShape::tensor
                                                           : BlockShape::line;
    const std::string format = "format " + in_double_quotes(operation.format);
    if (asked != shape) not_supported(format + " along axis " + in_double_quotes(operation.axis));
    if (blocks.size != size)
        not_supported(format + " in blocks of " + std::to_string(blocks.size) + " elements");
    return blocks;
}

// Of axis "both" the call for the rows and the one for the columns, which share the input; of any
// other call itself.
class Sides {
public:
    explicit Sides(const Arguments& call) : calls_{call, call} {
        const bool is_whole = call.operation != nullptr &&
                              call.operation->struct_size >= sizeof(mx_operation) &&
                              call.outputs != nullptr;
        if (!is_whole || text_of(call.operation->name) != "quantize" ||
            text_of(call.operation->axis) != "both")
            return;
        // The codes, the scales, and the tensor's number where there is one.
        const std::size_t each = call.operation->tensor_scale == nullptr ? 2 : 3;
        if (call.output_count != 2 * each)
            invalid("axis \"both\" has " + std::to_string(2 * each) + " outputs, not " +
                    std::to_string(call.output_count));
        count_ = 2;
        for (std::size_t i = 0; i < 2; ++i) {
            operations_[i] = *call.operation;
            operations_[i].struct_size = sizeof(mx_operation);
            operations_[i].axis = i == 0 ? "row" : "col";
            calls_[i].operation = &operations_[i];
            calls_[i].outputs = &tensor_at(call.outputs, i * each);
            calls_[i].output_count = each;
        }
    }
    Sides(const Sides&) = delete;
    Sides& operator=(const Sides&) = delete;

    const Arguments* begin() const { return calls_.data(); }
    const Arguments* end() const { return calls_.data() + count_; }

private:
    std::array<mx_operation, 2> operations_{};
    std::array<Arguments, 2> calls_;
    std::size_t count_ = 1;
};

}  // namespace mx::kit
