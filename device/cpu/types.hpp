// The plain types of the CPU device: which inputs, which elements, which rule, where the bytes lie.
// Used by every file of device/cpu. Knows nothing of the device ABI, of names or of the oracle.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mx::cpu {

inline constexpr int block_size = 32;

enum class ValueType { f32, bf16, f16 };
enum class ElementType { e4m3, e5m2 };

// What becomes of a value beyond the largest finite element.
enum class OverflowMode { saturate, overflow };

constexpr int width_of(ValueType type) { return type == ValueType::f32 ? 4 : 2; }

// binary32, the common currency of the device: every input is widened to it exactly.
inline constexpr std::uint32_t f32_magnitude_mask = 0x7FFFFFFFu;
inline constexpr std::uint32_t f32_infinity = 0x7F800000u;
inline constexpr std::uint32_t f32_nan = 0x7FC00000u;

inline constexpr std::uint8_t element_nan = 0x7F;
inline constexpr std::uint8_t scale_nan = 0xFF;

// A floating-point grid whose codes the device writes: elements, and the types it dequantizes to.
struct Grid {
    int mantissa_bits;
    int exponent_min;             // of the smallest normal value
    std::uint32_t code_max;       // largest finite magnitude
    std::uint32_t code_overflow;  // Inf, or NaN where there is no Inf
};
inline constexpr Grid e4m3_grid{3, -6, 0x7E, 0x7F};
inline constexpr Grid e5m2_grid{2, -14, 0x7B, 0x7C};
inline constexpr Grid f32_grid{23, -126, 0x7F7FFFFF, 0x7F800000};
inline constexpr Grid bf16_grid{7, -126, 0x7F7F, 0x7F80};
inline constexpr Grid f16_grid{10, -14, 0x7BFF, 0x7C00};

constexpr const Grid& grid_of(ElementType type) {
    return type == ElementType::e4m3 ? e4m3_grid : e5m2_grid;
}
constexpr const Grid& grid_of(ValueType type) {
    return type == ValueType::f32 ? f32_grid : type == ValueType::bf16 ? bf16_grid : f16_grid;
}

enum class NanPolicy {
    poisons_block,  // scale 0xFF and every element NaN; an Inf does the same
    own_lane,       // left out of amax; only its own lane becomes NaN; an Inf saturates
};

// From the bits of a block's amax (binary32, sign taken off) to its scale byte:
//     max(((amax + round_up - (amax == ratio_tie)) >> 23) - exponent_offset, 0)
// Adding below the exponent field carries into it when the mantissa is large enough, so each rule
// of rounding the exponent is one constant. Why that holds for each rule stands in rules.cpp.
struct ScaleRule {
    std::uint32_t round_up;
    std::uint32_t ratio_tie;
    std::uint32_t exponent_offset;
    std::uint32_t overflow_from;  // amax bits at or above: overflow_code
    std::uint8_t overflow_code;
    NanPolicy nan_policy;
};

// Bytes with two strides, both counted in elements. Always seen with the blocks lying along the
// lanes: what the caller calls columns of a columnwise tensor are the lines here.
template <typename Byte>
struct PlaneOf {
    Byte* data;
    std::ptrdiff_t line_stride;
    std::ptrdiff_t lane_stride;
};
using Plane = PlaneOf<std::uint8_t>;
using ConstPlane = PlaneOf<const std::uint8_t>;

struct Extent {
    std::ptrdiff_t lines;
    std::ptrdiff_t lanes;
};

enum class Stores {
    cached,
    streaming,  // past the caches
};

// Output larger than this goes past the caches: it would only push the input out of them.
inline constexpr std::size_t streaming_bytes = std::size_t{8} << 20;

}  // namespace mx::cpu
