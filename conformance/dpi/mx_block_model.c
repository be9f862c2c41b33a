/* See mx_block_model.h. Each function names the one of reference/fast that it is. A number is
 * significand * 2^exponent; its bits are cut by a shift whose width is bounded where it is made. */
#include <mx_block_model.h>

/* --- reference/spec/element_format.hpp --- */

typedef enum specials { NO_SPECIALS, NAN_ONLY, INFINITY_AND_NAN } specials;
typedef enum negatives { SIGN_BIT, TWOS_COMPLEMENT, TWOS_COMPLEMENT_SYMMETRIC } negatives;

typedef struct number_format {
    int exponent_bits, mantissa_bits, bias;
    specials specials;
    negatives negatives;
} number_format;

static number_format format_of(int exponent_bits, int mantissa_bits, int bias, specials specials) {
    number_format format;
    format.exponent_bits = exponent_bits;
    format.mantissa_bits = mantissa_bits;
    format.bias = bias;
    format.specials = specials;
    format.negatives = SIGN_BIT;
    return format;
}

static number_format f32_with(int mantissa_bits) {
    return format_of(8, mantissa_bits, 127, INFINITY_AND_NAN);
}

static number_format type_of(mx_block_type type) {
    if (type == MX_F16) return format_of(5, 10, 15, INFINITY_AND_NAN);
    return f32_with(type == MX_BF16 ? 7 : 23);
}

static number_format element_of(mx_block_format format) {
    number_format integer = format_of(0, 7, 0, NO_SPECIALS);
    switch (format) {
        case MX_E4M3:
            return format_of(4, 3, 7, NAN_ONLY);
        case MX_E5M2:
            return format_of(5, 2, 15, INFINITY_AND_NAN);
        case MX_E3M2:
            return format_of(3, 2, 3, NO_SPECIALS);
        case MX_E2M3:
            return format_of(2, 3, 1, NO_SPECIALS);
        case MX_E2M1:
            return format_of(2, 1, 1, NO_SPECIALS);
        case MX_INT8:
            integer.negatives = TWOS_COMPLEMENT;
            return integer;
        case MX_INT8_SYMMETRIC:
            integer.negatives = TWOS_COMPLEMENT_SYMMETRIC;
            return integer;
    }
    return integer;
}

static uint32_t magnitude_mask(number_format format) {
    return (UINT32_C(1) << (format.exponent_bits + format.mantissa_bits)) - 1;
}
static uint32_t sign_mask(number_format format) {
    return magnitude_mask(format) + 1;
}
static uint32_t mantissa_mask(number_format format) {
    return (UINT32_C(1) << format.mantissa_bits) - 1;
}
static uint32_t code_infinity(number_format format) {
    return magnitude_mask(format) - mantissa_mask(format);
}
static uint32_t code_max(number_format format) {
    if (format.specials == INFINITY_AND_NAN) return code_infinity(format) - 1;
    return magnitude_mask(format) - (format.specials == NAN_ONLY ? 1 : 0);
}
static uint32_t code_max_of_sign(number_format format, int negative) {
    return code_max(format) + (negative && format.negatives == TWOS_COMPLEMENT ? 1 : 0);
}
static int is_nan(number_format format, uint32_t code) {
    const uint32_t magnitude = code & magnitude_mask(format);
    if (format.specials == INFINITY_AND_NAN) return magnitude > code_infinity(format);
    return format.specials == NAN_ONLY && magnitude == magnitude_mask(format);
}
static int is_infinity(number_format format, uint32_t code) {
    return format.specials == INFINITY_AND_NAN &&
           (code & magnitude_mask(format)) == code_infinity(format);
}
static uint32_t magnitude_of(number_format format, uint32_t code) {
    if (format.negatives != SIGN_BIT && (code & sign_mask(format)) != 0)
        return (0 - code) & (sign_mask(format) | magnitude_mask(format));
    return code & magnitude_mask(format);
}
static uint32_t with_sign(number_format format, uint32_t magnitude, int negative) {
    if (!negative) return magnitude;
    if (format.negatives != SIGN_BIT)
        return (0 - magnitude) & (sign_mask(format) | magnitude_mask(format));
    return magnitude | sign_mask(format);
}
static int exponent_min(number_format format) {
    return 1 - format.bias;
}
static int quantum_min(number_format format) {
    return exponent_min(format) - format.mantissa_bits;
}
static int exponent_max(number_format format) {
    return (int)(code_max(format) >> format.mantissa_bits) - format.bias;
}
/* An integer format has no subnormals: its only exponent is that of all its codes. */
static int is_subnormal(number_format format, uint32_t code) {
    const uint32_t magnitude = magnitude_of(format, code);
    return format.exponent_bits > 0 && magnitude != 0 && magnitude <= mantissa_mask(format);
}

/* --- reference/fast/decode.hpp --- */

typedef enum kind { FINITE, INFINITE, NOT_A_NUMBER } kind;

typedef struct number {
    kind kind;
    int negative;
    int exponent;
    uint64_t significand; /* below 2^62 */
} number;

static number number_of(kind kind, int negative, int exponent, uint64_t significand) {
    number made;
    made.kind = kind;
    made.negative = negative;
    made.exponent = exponent;
    made.significand = significand;
    return made;
}
static number power_of_two(int exponent) {
    return number_of(FINITE, 0, exponent, 1);
}

static int is_zero(number value) {
    return value.kind == FINITE && value.significand == 0;
}

/* bit_width: of a significand that is not 0, by halves. */
static int width_of(uint64_t significand) {
    int width = 1, step = 32, i;
    for (i = 0; i < 6; ++i, step /= 2)
        if (significand >> step != 0) {
            significand >>= step;
            width += step;
        }
    return width;
}

/* unpack */
static number unpack(number_format format, uint32_t code) {
    const int negative = (code & sign_mask(format)) != 0;
    const uint32_t magnitude = magnitude_of(format, code);
    const uint32_t mantissa = magnitude & mantissa_mask(format);
    const int field = (int)(magnitude >> format.mantissa_bits);
    if (is_nan(format, code)) return number_of(NOT_A_NUMBER, negative, 0, 0);
    if (is_infinity(format, code)) return number_of(INFINITE, negative, 0, 0);
    if (field == 0) return number_of(FINITE, negative, quantum_min(format), mantissa);
    return number_of(FINITE, negative, field - format.bias - format.mantissa_bits,
                     (UINT32_C(1) << format.mantissa_bits) | mantissa);
}

/* read_input */
static number read_input(mx_subnormals subnormals, number_format input, uint32_t code) {
    number value = unpack(input, code);
    if (subnormals == MX_SUBNORMALS_INPUTS_FLUSHED && is_subnormal(input, code))
        value.significand = 0;
    return value;
}

/* --- reference/fast/round.hpp --- */

/* increments_of: what is added before `dropped` bits are cut, by whether the lowest kept bit is
 * even or odd. */
static uint64_t increment_of(mx_rounding rounding, int negative, int dropped, int is_odd) {
    const uint64_t all_but_one = dropped == 0 ? 0 : (UINT64_C(1) << dropped) - 1;
    const uint64_t half = dropped == 0 ? 0 : UINT64_C(1) << (dropped - 1);
    if (dropped == 0) return 0;
    switch (rounding) {
        case MX_NEAREST_EVEN:
            return is_odd ? half : half - 1;
        case MX_NEAREST_AWAY:
            return half;
        case MX_NEAREST_TOWARD_ZERO:
            return half - 1;
        case MX_TOWARD_ZERO:
            return 0;
        case MX_TOWARD_POSITIVE:
            return negative ? 0 : all_but_one;
        case MX_TOWARD_NEGATIVE:
            return negative ? all_but_one : 0;
        case MX_AWAY_FROM_ZERO:
            return all_but_one;
        case MX_TO_ODD:
            return is_odd ? 0 : all_but_one;
    }
    return 0;
}

/* round_to_units: count * 2^quantum, the range not checked. The value is finite and not 0. */
static number cut_to(number_format format, mx_rounding rounding, number value) {
    const int top = value.exponent + width_of(value.significand) - 1;
    const int least = quantum_min(format);
    const int quantum = top - format.mantissa_bits < least ? least : top - format.mantissa_bits;
    const int shift = quantum - value.exponent;
    const int dropped = shift < 0 ? 0 : shift < 63 ? shift : 63;
    const int appended = shift < 0 ? -shift : 0;
    const int is_odd = (int)(value.significand >> dropped & 1);
    const uint64_t more = increment_of(rounding, value.negative, dropped, is_odd);
    return number_of(FINITE, value.negative, quantum,
                     (value.significand + more) >> dropped << appended);
}

/* code_of_overflow */
static uint32_t code_of_overflow(number_format format, mx_overflow overflow, int negative) {
    const uint32_t largest = code_max_of_sign(format, negative);
    if (overflow == MX_SATURATE || format.specials == NO_SPECIALS) return largest;
    if (format.specials == INFINITY_AND_NAN) return code_infinity(format);
    return overflow == MX_TO_INFINITY ? largest : magnitude_mask(format);
}

/* leaves_range */
static int leaves_range(mx_rounding rounding, int negative) {
    if (rounding == MX_TOWARD_ZERO || rounding == MX_TO_ODD) return 0;
    if (rounding == MX_TOWARD_POSITIVE) return !negative;
    return rounding != MX_TOWARD_NEGATIVE || negative;
}

/* round: codes count quanta, and each binade above the lowest starts 2^mantissa_bits codes later,
 * so that a carry lands on the next binade's first code by itself. */
static uint32_t round_to(number_format format, mx_rounding rounding, mx_overflow overflow,
                         number value) {
    const int binade_last = 1 << format.exponent_bits;
    uint32_t magnitude, largest;
    number units;
    int binade;
    if (value.kind == NOT_A_NUMBER) return magnitude_mask(format);
    if (value.kind == INFINITE)
        return with_sign(format, code_of_overflow(format, overflow, value.negative),
                         value.negative);
    if (value.significand == 0) return with_sign(format, 0, value.negative);
    units = cut_to(format, rounding, value);
    binade = units.exponent - quantum_min(format);
    if (binade > binade_last) binade = binade_last;
    magnitude = ((uint32_t)binade << format.mantissa_bits) + (uint32_t)units.significand;
    largest = code_max_of_sign(format, value.negative);
    if (magnitude > largest)
        magnitude = leaves_range(rounding, value.negative)
                        ? code_of_overflow(format, overflow, value.negative)
                        : largest;
    return with_sign(format, magnitude, value.negative);
}

/* rounded_value */
static number rounded(number_format format, mx_rounding rounding, number value) {
    return unpack(format, round_to(format, rounding, MX_OVERFLOW, value));
}

/* code_of_nan */
static uint32_t code_of_nan(mx_nan_code rule, number_format format, int negative) {
    const uint32_t all_ones = magnitude_mask(format);
    const uint32_t field = (uint32_t)(128 + format.bias);
    switch (rule) {
        case MX_NAN_SIGN_KEPT:
            return with_sign(format, all_ones, negative);
        case MX_NAN_LARGEST:
            return code_max(format);
        case MX_NAN_AS_NUMBER: /* 1.5 * 2^128, of which the low bits are kept */
            if (format.specials != NO_SPECIALS) return all_ones;
            return (field << format.mantissa_bits | (UINT32_C(1) << format.mantissa_bits) / 2) &
                   all_ones;
        case MX_NAN_ZERO:
            return 0;
        case MX_NAN_POSITIVE_ALL_ONES:
            return all_ones;
    }
    return all_ones;
}

/* loses_sign */
static int loses_sign(mx_sign_of_zero rule, number value) {
    if (rule == MX_ZERO_SIGN_INPUT_DROPPED) return value.significand == 0;
    if (rule == MX_ZERO_SIGN_UNDERFLOW_DROPPED) return value.significand != 0;
    return rule == MX_ZERO_SIGN_DROPPED;
}

/* round_element */
static uint32_t round_element(mx_block_rules rules, number_format format, number value) {
    uint32_t code;
    if (value.kind == NOT_A_NUMBER) return code_of_nan(rules.nan_code, format, value.negative);
    code = round_to(format, rules.element_rounding, rules.element_overflow, value);
    if (rules.subnormals == MX_SUBNORMALS_OUTPUTS_FLUSHED && is_subnormal(format, code))
        code = with_sign(format, 0, value.negative);
    if (magnitude_of(format, code) == 0 && loses_sign(rules.sign_of_zero, value)) return 0;
    return code;
}

/* --- reference/fast/scale.hpp --- */

/* fl32(value), where the range is not checked. */
static number in_f32(number value) {
    number cut;
    if (value.kind != FINITE || value.significand == 0) return value;
    cut = cut_to(f32_with(23), MX_NEAREST_EVEN, value);
    cut.negative = 0;
    return cut;
}

/* reciprocal_of_largest: fl32(1 / largest), a constant of the format. A last bit stands for what
 * the division leaves. */
static number reciprocal_of_largest(number_format element) {
    const number largest = unpack(element, code_max(element));
    const uint64_t one = UINT64_C(1) << 60;
    const uint64_t sticky = one % largest.significand != 0 ? 1 : 0;
    return rounded(
        f32_with(23), MX_NEAREST_EVEN,
        number_of(FINITE, 0, -61 - largest.exponent, one / largest.significand * 2 + sticky));
}

/* ratio_to_largest: fl32(amax * fl32(1 / largest)) */
static number times_reciprocal(number_format element, number amax) {
    const number reciprocal = reciprocal_of_largest(element);
    if (amax.kind != FINITE) return amax;
    return in_f32(number_of(FINITE, 0, amax.exponent + reciprocal.exponent,
                            amax.significand * reciprocal.significand));
}

/* quotient_by_largest: fl32(amax / largest) */
static number over_largest(number_format element, number amax) {
    const number largest = unpack(element, code_max(element));
    int shift;
    uint64_t dividend, sticky;
    if (amax.kind != FINITE || amax.significand == 0) return amax;
    shift = 61 - width_of(amax.significand);
    dividend = amax.significand << shift;
    sticky = dividend % largest.significand != 0 ? 1 : 0;
    return in_f32(number_of(FINITE, 0, amax.exponent - shift - largest.exponent - 1,
                            dividend / largest.significand * 2 + sticky));
}

/* shortened */
static number shortened(mx_amax_rounding rounding, number_format element, number amax) {
    number cut;
    switch (rounding) {
        case MX_AMAX_AS_IT_IS:
            return amax;
        case MX_AMAX_NEAREST_AWAY:
            return rounded(f32_with(element.mantissa_bits), MX_NEAREST_AWAY, amax);
        case MX_AMAX_NEAREST_TOWARD_ZERO:
            return rounded(f32_with(element.mantissa_bits), MX_NEAREST_TOWARD_ZERO, amax);
        case MX_AMAX_ONE_BIT_AWAY:
            return rounded(f32_with(1), MX_NEAREST_AWAY, amax);
        case MX_AMAX_NEAREST_AWAY_TO_2TO128:
            cut = rounded(f32_with(element.mantissa_bits), MX_NEAREST_AWAY, amax);
            return cut.kind == INFINITE && amax.kind == FINITE ? power_of_two(128) : cut;
    }
    return amax;
}

/* at_least: the larger of a value and a positive binary32 number, 0 for none. */
static number at_least(number value, uint32_t f32_code) {
    const number least = unpack(f32_with(23), f32_code);
    int value_shift, least_shift, value_top, least_top, is_less;
    if (f32_code == 0 || value.kind != FINITE) return value;
    if (value.significand == 0) return least;
    value_shift = 62 - width_of(value.significand);
    least_shift = 62 - width_of(least.significand);
    value_top = value.exponent - value_shift;
    least_top = least.exponent - least_shift;
    is_less = value_top != least_top
                  ? value_top < least_top
                  : value.significand << value_shift < least.significand << least_shift;
    return is_less ? least : value;
}

/* ratio_of */
static number ratio_of(mx_scale_ratio ratio, number_format element, number amax) {
    number product, moved = amax;
    moved.exponent -= exponent_max(element);
    switch (ratio) {
        case MX_RATIO_OVER_EMAX:
            return moved;
        case MX_RATIO_OVER_EMAX_F32:
            return in_f32(moved);
        case MX_RATIO_TIMES_RECIPROCAL:
            return times_reciprocal(element, amax);
        case MX_RATIO_TIMES_RECIPROCAL_FLUSHED:
            product = times_reciprocal(element, amax);
            if (product.kind != FINITE || product.significand == 0) return product;
            return product.exponent + width_of(product.significand) - 1 < -126
                       ? number_of(FINITE, 0, 0, 0)
                       : product;
        case MX_RATIO_DIVIDED:
            return over_largest(element, amax);
        case MX_RATIO_NONE:
            return amax;
    }
    return amax;
}

/* rounded_exponent: the digits behind the first are compared with 0, a half, sqrt(2) - 1. */
static int rounded_exponent(mx_scale_rounding rounding, number ratio) {
    const int width = width_of(ratio.significand);
    const int top = ratio.exponent + width - 1;
    const uint64_t normal =
        width <= 24 ? ratio.significand << (24 - width) : ratio.significand >> (width - 24);
    const uint32_t mantissa = (uint32_t)normal & UINT32_C(0x7FFFFF);
    const uint32_t half = UINT32_C(0x400000);
    if (mantissa == 0) return top;
    switch (rounding) {
        case MX_SCALE_TOWARD_ZERO:
            return top;
        case MX_SCALE_TOWARD_POSITIVE:
            return top + 1;
        case MX_SCALE_NEAREST_EVEN:
            return mantissa > half || (mantissa == half && top % 2 == 0) ? top + 1 : top;
        case MX_SCALE_NEAREST_AWAY:
            return mantissa >= half ? top + 1 : top;
        case MX_SCALE_NEAREST_LOG2:
            return mantissa > UINT32_C(0x3504F3) ? top + 1 : top;
    }
    return top;
}

/* rounded_byte */
static int rounded_byte(mx_block_rules rules, number ratio) {
    const int top = ratio.exponent + width_of(ratio.significand) - 1;
    const int is_power = (ratio.significand & (ratio.significand - 1)) == 0;
    int byte;
    if (top < -126 && rules.scale_underflow == MX_UNDERFLOW_ANY_BIT_COUNTS) return 1;
    if (top < -126 && rules.scale_underflow == MX_UNDERFLOW_ABOVE_2TOM127)
        return top == -127 && !is_power ? 1 : 0;
    byte = rounded_exponent(rules.scale_rounding, ratio) + 127;
    return byte < 0 ? 0 : byte;
}

/* cast_to_scale, of what is not negative */
static uint8_t cast_to_scale(mx_block_rules rules, number ratio) {
    int byte;
    if (ratio.kind == NOT_A_NUMBER) return rules.byte_nan;
    if (ratio.kind == INFINITE) return rules.byte_infinity;
    if (ratio.significand == 0) return rules.byte_zero;
    byte = rounded_byte(rules, ratio);
    if (byte > rules.byte_max) return rules.byte_overflow;
    return byte < rules.byte_min ? rules.byte_min : (uint8_t)byte;
}

/* encode_scale, with scale_argument */
static uint8_t scale_of(mx_block_rules rules, number_format element, number amax) {
    number seen = amax;
    if (is_zero(amax) && rules.zero_block == MX_ZERO_BLOCK_ONE_OVER_EMAX)
        return cast_to_scale(rules, power_of_two(-exponent_max(element)));
    if (is_zero(amax) && rules.zero_block == MX_ZERO_BLOCK_AS_2TOM126) seen = power_of_two(-126);
    if (amax.kind == INFINITE && rules.infinity_in_block == MX_INFINITY_COUNTS_AS_2TO128)
        seen = power_of_two(128);
    seen = at_least(shortened(rules.amax_rounding, element, seen), rules.amax_min);
    return cast_to_scale(rules,
                         at_least(ratio_of(rules.scale_ratio, element, seen), rules.ratio_min));
}

/* --- reference/fast/block.hpp --- */

/* amax_of: magnitude codes of finite values, infinity and NaN stand in that order. */
static number amax_of(mx_block_rules rules, number_format input, mx_block_values values) {
    uint32_t amax = 0;
    int all_nan = 1, i;
    for (i = 0; i < MX_BLOCK_SIZE; ++i) {
        const uint32_t magnitude = values.value[i] & magnitude_mask(input);
        const int nan = is_nan(input, magnitude);
        const int passed_over =
            (nan && rules.nan_in_block != MX_NAN_POISONS_AMAX) ||
            (is_infinity(input, magnitude) && rules.infinity_in_block == MX_INFINITY_OWN_ELEMENT);
        if (!nan) all_nan = 0;
        if (!passed_over && magnitude > amax) amax = magnitude;
    }
    if (all_nan && rules.nan_in_block == MX_NAN_OWN_ELEMENT_UNLESS_ALL)
        return number_of(NOT_A_NUMBER, 0, 0, 0);
    return read_input(rules.subnormals, input, amax);
}

/* has_zero_inverse */
static int has_zero_inverse(mx_inverse inverse, uint8_t scale) {
    if (scale == 0xFF)
        return inverse == MX_INVERSE_OF_SCALE_BITS || inverse == MX_INVERSE_OVER_SCALE_BITS;
    if (scale == 0xFE) return inverse == MX_INVERSE_ZERO_AT_BOTH_ENDS;
    return scale == 0 &&
           (inverse == MX_INVERSE_ZERO_FOR_BYTE_ZERO || inverse == MX_INVERSE_ZERO_AT_BOTH_ENDS ||
            inverse == MX_INVERSE_OF_SCALE_BITS);
}

/* scaled */
static number scaled(mx_inverse inverse, uint8_t scale, number value) {
    const int one = inverse == MX_INVERSE_ONE_FOR_BYTE_ZERO && scale == 0;
    const int normal = inverse == MX_INVERSE_OVER_SCALE_BITS && scale == 0;
    if (has_zero_inverse(inverse, scale)) {
        if (value.kind == INFINITE) return number_of(NOT_A_NUMBER, 0, 0, 0);
        value.significand = 0;
        return value;
    }
    if (scale == 0xFF) return number_of(NOT_A_NUMBER, 0, 0, 0);
    value.exponent -= one ? 0 : normal ? -126 : (int)scale - 127;
    return value;
}

uint8_t mx_block_scale(mx_block_rules rules, mx_block_format format, mx_block_type type,
                       uint32_t amax) {
    return scale_of(rules, element_of(format), read_input(rules.subnormals, type_of(type), amax));
}

uint8_t mx_block_element(mx_block_rules rules, mx_block_format format, mx_block_type type,
                         uint8_t scale, uint32_t value) {
    const number read = read_input(rules.subnormals, type_of(type), value);
    return (uint8_t)round_element(rules, element_of(format), scaled(rules.inverse, scale, read));
}

mx_block_codes mx_block_quantize(mx_block_rules rules, mx_block_format format, mx_block_type type,
                                 mx_block_values values) {
    mx_block_codes made;
    int i;
    made.scale = scale_of(rules, element_of(format), amax_of(rules, type_of(type), values));
    for (i = 0; i < MX_BLOCK_SIZE; ++i)
        made.code[i] = mx_block_element(rules, format, type, made.scale, values.value[i]);
    return made;
}

/* dequantize */
uint32_t mx_block_value(mx_block_format format, uint8_t scale, uint8_t code) {
    number value = unpack(element_of(format), code);
    if (scale == 0xFF) value.kind = NOT_A_NUMBER;
    value.exponent += (int)scale - 127;
    return round_to(f32_with(23), MX_NEAREST_EVEN, MX_OVERFLOW, value);
}

/* --- rows of reference/spec --- */

mx_block_rules mx_block_rules_ocp(void) {
    mx_block_rules rules;
    rules.subnormals = MX_SUBNORMALS_HONOURED;
    rules.nan_in_block = MX_NAN_POISONS_AMAX;
    rules.infinity_in_block = MX_INFINITY_IS_AMAX;
    rules.amax_rounding = MX_AMAX_AS_IT_IS;
    rules.amax_min = 0;
    rules.zero_block = MX_ZERO_BLOCK_AS_CAST;
    rules.scale_ratio = MX_RATIO_OVER_EMAX;
    rules.ratio_min = 0;
    rules.scale_rounding = MX_SCALE_TOWARD_ZERO;
    rules.scale_underflow = MX_UNDERFLOW_CLAMP;
    rules.byte_min = 0x00;
    rules.byte_max = 0xFE;
    rules.byte_overflow = 0xFF;
    rules.byte_infinity = 0xFF;
    rules.byte_nan = 0xFF;
    rules.byte_zero = 0x00;
    rules.inverse = MX_INVERSE_EXACT_POWER;
    rules.element_rounding = MX_NEAREST_EVEN;
    rules.element_overflow = MX_SATURATE;
    rules.nan_code = MX_NAN_POSITIVE_ALL_ONES;
    rules.sign_of_zero = MX_ZERO_SIGN_KEPT;
    return rules;
}

mx_block_rules mx_block_rules_nv(void) {
    mx_block_rules rules = mx_block_rules_ocp();
    rules.nan_in_block = MX_NAN_OWN_ELEMENT;
    rules.scale_ratio = MX_RATIO_TIMES_RECIPROCAL;
    rules.scale_rounding = MX_SCALE_TOWARD_POSITIVE;
    rules.byte_overflow = 0xFE;
    rules.byte_infinity = 0xFE;
    return rules;
}
