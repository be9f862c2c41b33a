// See layout.hpp.
#include "device/host/layout.hpp"

#include <array>
#include <limits>
#include <string>

namespace mx {

namespace {

constexpr std::array layouts{
    Layout{"128x4", 128, 4, 8},     Layout{"128x4-col", 4, 128, 8},
    Layout{"8x4", 8, 4, 8},         Layout{"8x4-col", 4, 8, 8},
    Layout{"32x8", 32, 8, 8},       Layout{"32x8-col", 8, 32, 8},
    Layout{"te-padded", 128, 4, 8}, Layout{"te-padded-col", 4, 128, 8},
    Layout{"packed-low", 1, 1, 4},  Layout{"packed-high", 1, 1, 4},
    Layout{"packed-6", 1, 1, 6},    Layout{"inline", 1, 1, 0},
};

// Says what keeps the tensor from having this layout; "" if nothing does.
std::string fault_of(const TensorSpec& spec, const Layout& layout) {
    const int bits = code_bits(spec.type);
    if (bits > 8 || (layout.code_bits != 0 && bits != layout.code_bits)) {
        return "holds codes of " + std::to_string(bits) + " bits, layout " + spec.layout +
               " is for " + (layout.code_bits == 0 ? "up to 8" : std::to_string(layout.code_bits));
    }
    if (spec.rows < 0 || spec.columns < 0 || spec.row_stride < 0 || spec.column_stride < 0) {
        return "has a negative size or stride";
    }
    const bool has_strides = spec.row_stride != 0 || spec.column_stride != 0;
    if (layout.code_bits != 0 && has_strides) {
        return "has strides, layout " + spec.layout + " has none";
    }
    if (layout.code_bits != 0 || spec.rows == 0 || spec.columns == 0) return "";
    const bool whole =
        spec.column_stride > 0 && spec.row_stride > 0 && spec.row_stride % spec.column_stride == 0;
    return whole ? "" : "has rows that are no whole number of inline blocks";
}

struct Length {
    std::int64_t count = 0;
    std::int64_t multiple = 1;
};

// False when the result does not fit.
bool round_up(Length length, std::int64_t& result) {
    if (__builtin_add_overflow(length.count, length.multiple - 1, &result)) return false;
    result = result / length.multiple * length.multiple;
    return true;
}

// Bytes from row to row; false when the number does not fit.
bool row_bytes(const TensorSpec& spec, const Layout& layout, std::int64_t& bytes) {
    if (layout.code_bits == 0) {
        bytes = spec.row_stride;
        return true;
    }
    std::int64_t columns = 0, bits = 0;
    if (!round_up({spec.columns, layout.column_multiple}, columns) ||
        __builtin_mul_overflow(columns, layout.code_bits, &bits) || !round_up({bits, 8}, bits)) {
        return false;
    }
    bytes = bits / 8;
    return true;
}

}  // namespace

const Layout* find_layout(std::string_view name) {
    for (const Layout& layout : layouts) {
        if (layout.name == name) return &layout;
    }
    return nullptr;
}

bool is_strided(const TensorSpec& spec) {
    return spec.layout == "strided";
}

Expected<std::size_t> packed_extent(const TensorSpec& spec) {
    const Layout* layout = find_layout(spec.layout);
    if (layout == nullptr) return bad_input("tensor layout \"" + spec.layout + "\" is unknown");
    if (const std::string fault = fault_of(spec, *layout); !fault.empty()) {
        return bad_input("tensor " + to_text(spec) + " " + fault);
    }
    if (spec.rows == 0 || spec.columns == 0) return std::size_t{0};
    std::int64_t rows = 0, row = 0, bytes = 0;
    if (!round_up({spec.rows, layout->row_multiple}, rows) || !row_bytes(spec, *layout, row) ||
        __builtin_mul_overflow(rows, row, &bytes) ||
        bytes > std::numeric_limits<std::ptrdiff_t>::max()) {
        return bad_input("tensor " + to_text(spec) + " is larger than the address space");
    }
    return static_cast<std::size_t>(bytes);
}

}  // namespace mx
