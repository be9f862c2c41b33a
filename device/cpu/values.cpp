// See values.hpp.
#include "device/cpu/values.hpp"

#include <bit>
#include <cmath>

#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

constexpr std::uint32_t all_ones_nan = 0x7FFFFFFF;
constexpr std::uint8_t scale_of_one = 127;  // of E8M0

std::uint8_t* place_of(const Values& values, std::ptrdiff_t line, std::ptrdiff_t lane) {
    const Plane& plane = values.plane;
    const std::ptrdiff_t place = line * plane.line_stride + lane * plane.lane_stride;
    return plane.data + place * width_of(values.type);
}

// Of a number that is no NaN, in bfloat16 or binary16.
std::uint32_t half_code(ValueType type, std::uint32_t f32_bits) {
    const std::uint32_t sign = f32_bits >> 31 << 15;
    const std::uint32_t magnitude = f32_bits & f32_magnitude_mask;
    const Grid grid = grid_of(type);
    return sign | (magnitude == f32_infinity ? grid.code_overflow
                                             : round_to_grid(magnitude_of(magnitude), grid));
}

}  // namespace

float value_at(const Values& values, std::ptrdiff_t line, std::ptrdiff_t lane) {
    return std::bit_cast<float>(load_f32_bits(values.type, place_of(values, line, lane)));
}

void store_value(const Values& values, std::ptrdiff_t line, std::ptrdiff_t lane, float x) {
    const bool is_half = values.type != ValueType::f32;
    std::uint32_t code = std::bit_cast<std::uint32_t>(x);
    if (is_half) code = half_code(values.type, code);
    if (std::isnan(x)) code = is_half ? all_ones_nan >> 16 : all_ones_nan;
    store_code(values.type, code, place_of(values, line, lane));
}

float rounded_to_bf16(float x) {
    if (std::isnan(x)) return x;
    const std::uint32_t code = half_code(ValueType::bf16, std::bit_cast<std::uint32_t>(x));
    return std::bit_cast<float>(code << 16);
}

float number_of(ElementType type, std::uint8_t code) {
    return std::bit_cast<float>(
        dequantized(element_of(type), {code, scale_of_one}, ValueType::f32));
}

}  // namespace mx::cpu
