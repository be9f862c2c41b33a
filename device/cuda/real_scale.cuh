// From the amax of a block to a scale with a mantissa, and from its elements to codes, by the steps
// of a RealScaleRule, on the GPU and on a host. Used by the kernels of such blocks; one that knows
// its rule when it is compiled pays for its own steps alone. Knows nothing of tensors.
#pragma once

#include <cstdint>

#include "device/cuda/element.cuh"
#include "device/cuda/real_scale.hpp"

namespace mx::cuda {

inline constexpr std::uint32_t f32_largest_bits = 0x7F7FFFFFu;
inline constexpr std::uint32_t bf16_largest_bits = 0x7F7F0000u;

MX_CUDA_BOTH constexpr float largest_of(Element element) {
    return element == Element::e2m1 ? 6.0f : element == Element::e4m3 ? 448.0f : 57344.0f;
}
MX_CUDA_BOTH constexpr float inverse_largest_of(Element element) {
    return element == Element::e2m1   ? 1.0f / 6.0f
           : element == Element::e4m3 ? 1.0f / 448.0f
                                      : 1.0f / 57344.0f;
}
MX_CUDA_BOTH inline float largest_of(ValueType type) {
    if (type == ValueType::f16) return 65504.0f;
    return float_of(type == ValueType::f32 ? f32_largest_bits : bf16_largest_bits);
}
MX_CUDA_BOTH constexpr float range_of(const RealScaleRule& rule, Element element) {
    return largest_of(element) * rule.scale_largest;  // exactly
}

MX_CUDA_BOTH inline float without_infinity(float x) {
    return is_infinite(x) ? float_of(f32_largest_bits) : x;
}

// The nearest E4M3 to what is not negative, at most 448, and back from any byte. On the GPU by the
// conversion instructions, which the fast kernels would not reach their speed without.
MX_CUDA_BOTH inline std::uint8_t e4m3_code(float x) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint8_t>(fp8_pair<Element::e4m3>(x, 0.0f));
#else
    return element_code({grid_of(Element::e4m3), 0x7F, Overflow::saturate}, x);
#endif
}
MX_CUDA_BOTH inline float e4m3_number(std::uint8_t code) {
#if defined(__CUDA_ARCH__)
    float number;
    asm("cvt.f32.f16 %0, %1;"
        : "=f"(number)
        : "h"(static_cast<std::uint16_t>(half_pair<Element::e4m3>(code))));
    return number;
#else
    return element_value(grid_of(Element::e4m3), code);
#endif
}

struct TensorNumbers {
    float amax;
    float scale;    // S
    float inverse;  // 1 / S
};

// `number` is the amax, or S where the rule is given that.
MX_CUDA_BOTH inline TensorNumbers tensor_numbers(const RealScaleRule& rule, Element element,
                                                 float number) {
    const float range = range_of(rule, element);
    float scale = 1.0f;
    switch (rule.number) {
        case TensorNumber::none:
            return {0, 1, 1};
        case TensorNumber::range_over_amax:
            scale = without_infinity(quotient(range, number));
            if (number == 0 || scale == 0) scale = 1.0f;
            break;
        case TensorNumber::amax_over_range:
            scale = quotient(number, range);
            break;
        case TensorNumber::amax_times_inverse_range:
            scale = product(number, inverse(range));
            break;
        case TensorNumber::given_as_scale:
            scale = number;
            break;
    }
    return {number, scale, inverse(scale)};
}

// What quantizing keeps for the way back.
MX_CUDA_BOTH inline float kept_number(const RealScaleRule& rule, const TensorNumbers& tensor) {
    return rule.way_back == WayBack::scale_and_amax ? tensor.amax : tensor.scale;
}

// What all blocks of a tensor have in common.
struct BlockSetting {
    RealScaleRule rule;
    Element element;
    ValueType value_type;
    TensorNumbers tensor;
};

MX_CUDA_BOTH inline float inverse_ratio_within(float amax, float largest,
                                               float instead_of_infinity) {
    if (amax == 0 || is_infinite(amax) || is_nan(amax)) return 1.0f;
    const float ratio = quotient(largest, amax);
    return is_infinite(ratio) ? instead_of_infinity : ratio;
}

MX_CUDA_BOTH inline float ratio_of(const BlockSetting& setting, float amax) {
    const float largest = largest_of(setting.element);
    const float inverse_largest = inverse_largest_of(setting.element);
    const float number = setting.tensor.scale;
    switch (setting.rule.ratio) {
        case Ratio::quotient:
            return quotient(amax, largest);
        case Ratio::product:
            return product(amax, inverse_largest);
        case Ratio::quotient_over_number:
            return quotient(quotient(amax, largest), number);
        case Ratio::product_over_number:
            return quotient(product(amax, inverse_largest), number);
        case Ratio::quotient_times_number:
            return product(quotient(amax, largest), number);
        case Ratio::times_scaled_number:
            return without_infinity(product(amax, product(number, inverse_largest)));
        case Ratio::inverse:
            return quotient(largest, amax);
        case Ratio::inverse_within_f32:
            return inverse_ratio_within(amax, largest, largest_of(ValueType::f32));
        case Ratio::inverse_within_input:
            return inverse_ratio_within(amax, largest, largest_of(setting.value_type));
        case Ratio::number:
            break;
    }
    return number;
}

MX_CUDA_BOTH inline float power_of_two_above(float x) {
    const std::uint32_t field = ((bits_of(x) & 0x7FFFFFFFu) + 0x007FFFFFu) >> 23;
    return float_of((field < 1 ? 1u : field > 254 ? 254u : field) << 23);
}

// The number of a block's scale, its byte where it is E4M3, and what elements are multiplied by.
struct BlockScale {
    float number;
    float factor;
    std::uint8_t code;
};

MX_CUDA_BOTH inline float factor_of(const BlockSetting& setting, float number) {
    const TensorNumbers& tensor = setting.tensor;
    switch (setting.rule.factor) {
        case Factor::scale:
            return number;
        case Factor::inverse:
            return inverse(number);
        case Factor::inverse_of_product:
            return without_infinity(inverse(product(number, tensor.inverse)));
        case Factor::inverse_number_over_scale:
            return quotient(tensor.inverse, number);
        case Factor::bf16_quotient: {
            const float factor = rounded_to_bf16(quotient(tensor.scale, number));
            return is_infinite(factor) ? float_of(bf16_largest_bits) : factor;
        }
        case Factor::none:
            break;
    }
    return 1.0f;
}

MX_CUDA_BOTH inline BlockScale scale_from_ratio(const BlockSetting& setting, float ratio) {
    BlockScale scale{ratio, 1.0f, 0};
    switch (setting.rule.scales) {
        case ScaleSet::f32:
            break;
        case ScaleSet::power_of_two_below:
            scale.number = float_of(bits_of(ratio) & 0x7F800000u);
            break;
        case ScaleSet::power_of_two_above:
            scale.number = power_of_two_above(ratio);
            break;
        case ScaleSet::e4m3_from_2tom6:
            scale.code = e4m3_code(at_least(ratio, 0x1p-6f));
            scale.number = e4m3_number(scale.code);
            break;
        case ScaleSet::e4m3:
        case ScaleSet::e4m3_absolute_of_two:
        case ScaleSet::e4m3_squares_of_two:
            scale.code = e4m3_code(ratio);
            scale.number = e4m3_number(scale.code);
            break;
    }
    scale.factor = factor_of(setting, scale.number);
    return scale;
}

MX_CUDA_BOTH inline float ratio_of_block(const BlockSetting& setting, float amax) {
    if (setting.rule.amax_least == 0) return ratio_of(setting, amax);
    return ratio_of(setting, at_least(amax, setting.rule.amax_least));
}

// What a binary32 scale is stored as.
MX_CUDA_BOTH inline float stored_number(const BlockSetting& setting, const BlockScale& scale) {
    return setting.rule.factor == Factor::scale ? inverse(scale.number) : scale.number;
}

MX_CUDA_BOTH inline Encoding encoding_of(const BlockSetting& setting) {
    const auto nan_code = setting.element == Element::e2m1 ? setting.rule.nan_of_e2m1
                                                           : static_cast<std::uint8_t>(0x7F);
    return {grid_of(setting.element), nan_code, setting.rule.overflow, setting.rule.rounding};
}

MX_CUDA_BOTH inline float scaled(const RealScaleRule& rule, const BlockScale& scale, float value) {
    if (rule.clears_minus_zero && value == 0) value = 0.0f;
    return rule.factor == Factor::none ? quotient(value, scale.number)
                                       : product(value, scale.factor);
}

MX_CUDA_BOTH inline bool compares_two_scales(const RealScaleRule& rule) {
    return rule.scales == ScaleSet::e4m3_absolute_of_two ||
           rule.scales == ScaleSet::e4m3_squares_of_two;
}

// What one element adds to the error of a block on its way back.
MX_CUDA_BOTH inline float error_of(const BlockSetting& setting, const BlockScale& scale,
                                   float value) {
    const Encoding how = encoding_of(setting);
    const float element =
        element_value(how.grid, element_code(how, scaled(setting.rule, scale, value)));
    const float back = quotient(product(product(element, scale.number), setting.tensor.amax),
                                range_of(setting.rule, setting.element));
    const float error = sum(back, -value);
    return setting.rule.scales == ScaleSet::e4m3_squares_of_two ? product(error, error)
                                                                : magnitude(error);
}

// What an element is multiplied by on its way back.
MX_CUDA_BOTH inline float factor_back(const RealScaleRule& rule, Element element, float scale,
                                      float kept) {
    switch (rule.way_back) {
        case WayBack::scale:
            break;
        case WayBack::scale_and_number:
            return product(kept, scale);
        case WayBack::scale_and_amax:
            return product(product(scale, kept), inverse(range_of(rule, element)));
    }
    return scale;
}

}  // namespace mx::cuda
