// What becomes of the exact sum of a GEMM, in integers: one value with digits enough for every
// rounding that follows, and blocks of such values.
// Proved by reference/proof/prove_gemm_output.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/block.hpp"
#include "reference/fast/dot.hpp"
#include "reference/fast/real_scale.hpp"
#include "reference/spec/gemm_output.hpp"

namespace mx::fast {

struct OutputFactors {
    Affine affine;
    TensorFactor a;
    TensorFactor b;
};

// The sum over a whole number, cut as leading_bits cuts: its lowest bit also stands for the
// remainder. No quotient that is asked for has its leading 61 bits below the wide sum's last one:
// what is divided is a multiple of 2^-480, for NVFP4 is one of the factors, and beside it there are
// at most three numbers of binary32.
MX_HOST_DEVICE constexpr Unpacked leading_quotient(const WideSum& sum, std::uint32_t divisor) {
    WideSum quotient = magnitude_of(sum);
    std::uint64_t remainder = 0;
    for (int i = WideSum::limb_count; i-- > 0;) {
        const Uint128 dividend = Uint128{remainder} << 64 | quotient.limbs[i];
        quotient.limbs[i] = static_cast<std::uint64_t>(dividend / divisor);
        remainder = static_cast<std::uint64_t>(dividend % divisor);
    }
    Unpacked value = leading_bits(quotient);
    value.negative = is_negative(sum);
    value.significand |= remainder == 0 ? 0 : 1;
    return value;
}

MX_HOST_DEVICE constexpr Total times_number(const TensorFactor& factor, const Total& total) {
    constexpr ElementFormat f32 = formats::f32;
    if (factor.number == TensorFactor{}.number) return total;
    return combine({unpack(f32, factor.number), Unpacked{}}, total, Unpacked{});
}

// As exact::output_value, but for the digits below the first 61, of which one says whether they are
// all 0. What is divided at the end is C, too, so it is multiplied before.
MX_HOST_DEVICE constexpr Unpacked output_value(const OutputFactors& factors, const Total& dot,
                                               Unpacked c) {
    const std::uint32_t divisor = factors.a.divisor * factors.b.divisor;
    c.significand *= divisor;
    const Total total =
        combine(factors.affine, times_number(factors.b, times_number(factors.a, dot)), c);
    const Kind kind = kind_of(total);
    if (kind != Kind::finite)
        return {kind, kind == Kind::infinity && total.negative_infinity, 0, 0};
    return divisor == 1 ? leading_bits(total.sum) : leading_quotient(total.sum, divisor);
}

// The amax in the 24 bits that a scale is made of, which lose nothing that a scale hangs on. Where
// the quantizer computes in binary32, that is the rounding it starts with. Elsewhere it compares
// with binary32 numbers and with halves between powers of two, or rounds to seven bits and fewer,
// never finer than the last place of binary32; and rounding to odd keeps every order against what
// is at least two places coarser, and every equality. There is no largest exponent.
MX_HOST_DEVICE constexpr Unpacked seen_by_scale(const Quantizer& quantizer, const Unpacked& amax) {
    constexpr ElementFormat f32 = formats::f32;
    if (reads_amax_in_f32(quantizer)) return rounded_in(f32, amax);
    if (amax.kind != Kind::finite || amax.significand == 0) return amax;
    const Units units = round_to_units(f32, Rounding::to_odd, amax);
    return {Kind::finite, false, units.quantum, units.count};
}

MX_HOST_DEVICE constexpr Code quantize_under_e8m0(const Quantizer& quantizer,
                                                  const BlockFormat& format, const Unpacked* lanes,
                                                  int count, std::uint8_t* elements) {
    const Unpacked amax = amax_of_values(quantizer, lanes, count);
    const Code scale = encode_scale(quantizer, format, seen_by_scale(quantizer, amax));
    constexpr ElementFormat f32 = formats::f32;
    for (int lane = 0; lane < count; ++lane) {
        const Unpacked read =
            reads_lanes_in_f32(quantizer) ? rounded_in(f32, lanes[lane]) : lanes[lane];
        elements[lane] =
            static_cast<std::uint8_t>(quantize_element(quantizer, format, scale, read).bits);
    }
    return scale;
}

// As exact::quantize_exact_block, of values with at most 62 digits; writes one element code a lane
// and returns the scale.
MX_HOST_DEVICE constexpr Code quantize_exact_block(const Quantizer& quantizer,
                                                   const BlockFormat& format, const Unpacked* lanes,
                                                   int count, std::uint8_t* elements) {
    if (quantizer.has_e8m0_scales())
        return quantize_under_e8m0(quantizer, format, lanes, count, elements);
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked amax = rounded_in(f32, amax_of_values(quantizer, lanes, count));
    const BlockQuestion question{quantizer, format, f32, tensor_numbers(quantizer, format, {})};
    const BlockScale scale = block_scale(question, amax);
    for (int lane = 0; lane < count; ++lane) {
        const Unpacked number = unpack(f32, Code{f32_code(lanes[lane])});
        elements[lane] = static_cast<std::uint8_t>(quantize_lane(question, scale, number).bits);
    }
    return scale.stored;
}

}  // namespace mx::fast
