// One call of the device ABI, read name by name; the first thing that is wrong becomes the answer.
// Used by request.cpp. Knows names and contradictions; must not compute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device/cpu/layouts.hpp"
#include "device/cpu/request.hpp"
#include "device/cpu/rules.hpp"

namespace mx::cpu {

std::string quoted(const char* text);
std::string_view text_of(const char* text);
Refusal invalid(std::string reason);
Refusal not_supported(std::string reason);

enum class Axis { row, column, tile };

// The shape of blocks, as the caller counts rows and columns.
struct Blocks {
    Axis axis;
    std::int64_t size;

    std::int64_t rows() const { return axis == Axis::row ? 1 : size; }
    std::int64_t columns() const { return axis == Axis::column ? 1 : size; }
};

class Reader {
public:
    Reader(const Call& call, Buffers buffers) : call_(call), buffers_(buffers) {}

    bool refused() const { return refusal_.has_value(); }
    Refusal refusal() const { return *refusal_; }
    void refuse(Refusal refusal);

    // Everything that is independent of the operation.
    void check_structs();
    void expect_inputs(std::size_t count) { expect_count("inputs", {call_.input_count, count}); }
    void expect_outputs(std::size_t count) { expect_count("outputs", {call_.output_count, count}); }

    Buffers buffers() const { return buffers_; }
    std::size_t input_count() const { return call_.input_count; }
    std::size_t output_count() const { return call_.output_count; }
    const mx_operation& operation() const { return *call_.operation; }
    const mx_tensor& input(std::size_t index) const { return at(call_.inputs, index); }
    const mx_tensor& output(std::size_t index) const { return at(call_.outputs, index); }

    ValueType value_type(const mx_tensor& tensor);
    void expect_type(const mx_tensor& tensor, std::string_view type);
    void expect_strided(const mx_tensor& tensor);
    ElementType element_format();
    ElementType block_format();
    DialectRule dialect_rule(ElementType element);
    ScaleRule cast_rule();
    // Where the dialect decides nothing it may be absent, but not unknown.
    void check_dialect();
    RoundingName rounding();
    OverflowMode overflow();
    Subnormals subnormals();
    Blocks blocks();

    // The layout of a tensor of codes or scales, known to suit its type and the blocks.
    Layout layout_of_codes(const mx_tensor& tensor, ElementType element);
    Layout layout_of_scales(const mx_tensor& tensor, const Blocks& blocks);
    void check_inline(const mx_tensor& codes, const Blocks& blocks, ElementType element);

    struct Shape {
        std::int64_t rows;
        std::int64_t columns;
    };
    void expect_shape(const mx_tensor& tensor, Shape wanted);
    void expect_scale_shape(const mx_tensor& elements, const mx_tensor& scales, const Blocks& b);

private:
    struct Counts {
        std::size_t given;
        std::size_t wanted;
    };
    // A newer host's tensors may be larger: their own size says where the next one begins.
    static const mx_tensor& at(const mx_tensor* first, std::size_t index);
    void expect_count(const std::string& what, Counts counts);
    void check_array(const std::string& what, const mx_tensor* tensors, std::size_t count);
    void check_tensor(const std::string& what, const mx_tensor& tensor);

    Call call_;
    Buffers buffers_;
    std::optional<Refusal> refusal_;
};

}  // namespace mx::cpu
