/* One block of OCP MX as a bounded C model, for tools that hold a design to C (C2RTL equivalence
 * checkers): C99, everything by value, loops with constant bounds, no allocation, no recursion, no
 * pointer, no float, no state. It is the arithmetic of mxcheck's fast oracle written out for such
 * tools; test/block_model_test.cpp proves it equal to both oracles. A file of its own: it needs
 * neither libmxcheck nor a header beside this one.
 *
 * Numbers and codes are bits. A block is whole: fewer values than MX_BLOCK_SIZE are no block here.
 * To leave a short one's other elements 0 gives its codes and, in rules other than
 * MX_NAN_OWN_ELEMENT_UNLESS_ALL, its scale. */
#ifndef MX_BLOCK_MODEL_H
#define MX_BLOCK_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MX_BLOCK_SIZE
#define MX_BLOCK_SIZE 32
#endif

/* Of the elements. */
typedef enum mx_block_format {
    MX_E4M3,
    MX_E5M2,
    MX_E3M2,
    MX_E2M3,
    MX_E2M1,
    MX_INT8, /* 0x80 is -2 */
    MX_INT8_SYMMETRIC
} mx_block_format;

/* Of the values. */
typedef enum mx_block_type { MX_F32, MX_BF16, MX_F16 } mx_block_type;

/* The decisions of `mxcheck list dialects --json`, in which each word is explained. */
typedef enum mx_subnormals {
    MX_SUBNORMALS_HONOURED,
    MX_SUBNORMALS_INPUTS_FLUSHED,
    MX_SUBNORMALS_OUTPUTS_FLUSHED
} mx_subnormals;
typedef enum mx_nan_in_block {
    MX_NAN_POISONS_AMAX,
    MX_NAN_OWN_ELEMENT,
    MX_NAN_OWN_ELEMENT_UNLESS_ALL
} mx_nan_in_block;
typedef enum mx_infinity_in_block {
    MX_INFINITY_IS_AMAX,
    MX_INFINITY_OWN_ELEMENT,
    MX_INFINITY_COUNTS_AS_2TO128
} mx_infinity_in_block;
typedef enum mx_amax_rounding {
    MX_AMAX_AS_IT_IS,
    MX_AMAX_NEAREST_AWAY, /* to the mantissa bits of the element */
    MX_AMAX_NEAREST_AWAY_TO_2TO128,
    MX_AMAX_NEAREST_TOWARD_ZERO,
    MX_AMAX_ONE_BIT_AWAY
} mx_amax_rounding;
typedef enum mx_zero_block {
    MX_ZERO_BLOCK_AS_CAST,
    MX_ZERO_BLOCK_ONE_OVER_EMAX,
    MX_ZERO_BLOCK_AS_2TOM126
} mx_zero_block;
typedef enum mx_scale_ratio {
    MX_RATIO_OVER_EMAX,
    MX_RATIO_OVER_EMAX_F32,
    MX_RATIO_TIMES_RECIPROCAL,
    MX_RATIO_TIMES_RECIPROCAL_FLUSHED,
    MX_RATIO_DIVIDED,
    MX_RATIO_NONE
} mx_scale_ratio;
typedef enum mx_scale_rounding {
    MX_SCALE_TOWARD_ZERO,
    MX_SCALE_TOWARD_POSITIVE,
    MX_SCALE_NEAREST_EVEN,
    MX_SCALE_NEAREST_AWAY,
    MX_SCALE_NEAREST_LOG2
} mx_scale_rounding;
typedef enum mx_scale_underflow {
    MX_UNDERFLOW_CLAMP,
    MX_UNDERFLOW_ABOVE_2TOM127,
    MX_UNDERFLOW_ANY_BIT_COUNTS
} mx_scale_underflow;
typedef enum mx_inverse {
    MX_INVERSE_EXACT_POWER,
    MX_INVERSE_ONE_FOR_BYTE_ZERO,
    MX_INVERSE_ZERO_FOR_BYTE_ZERO,
    MX_INVERSE_ZERO_AT_BOTH_ENDS,
    MX_INVERSE_OF_SCALE_BITS,
    MX_INVERSE_OVER_SCALE_BITS
} mx_inverse;
typedef enum mx_rounding {
    MX_NEAREST_EVEN,
    MX_NEAREST_AWAY,
    MX_TOWARD_ZERO,
    MX_TOWARD_POSITIVE,
    MX_TOWARD_NEGATIVE,
    MX_AWAY_FROM_ZERO,
    MX_NEAREST_TOWARD_ZERO,
    MX_TO_ODD
} mx_rounding;
typedef enum mx_overflow { MX_SATURATE, MX_OVERFLOW, MX_TO_INFINITY } mx_overflow;
typedef enum mx_nan_code {
    MX_NAN_POSITIVE_ALL_ONES,
    MX_NAN_SIGN_KEPT,
    MX_NAN_LARGEST,
    MX_NAN_AS_NUMBER,
    MX_NAN_ZERO
} mx_nan_code;
typedef enum mx_sign_of_zero {
    MX_ZERO_SIGN_KEPT,
    MX_ZERO_SIGN_DROPPED,
    MX_ZERO_SIGN_INPUT_DROPPED,
    MX_ZERO_SIGN_UNDERFLOW_DROPPED
} mx_sign_of_zero;

typedef struct mx_block_rules {
    mx_subnormals subnormals;
    mx_nan_in_block nan_in_block;
    mx_infinity_in_block infinity_in_block;
    mx_amax_rounding amax_rounding;
    uint32_t amax_min; /* bits of binary32; a smaller amax is raised to it */
    mx_zero_block zero_block;
    mx_scale_ratio scale_ratio;
    uint32_t ratio_min; /* bits of binary32 */
    mx_scale_rounding scale_rounding;
    mx_scale_underflow scale_underflow;
    uint8_t byte_min, byte_max; /* of a positive finite ratio; above byte_max: */
    uint8_t byte_overflow, byte_infinity, byte_nan, byte_zero;
    mx_inverse inverse;
    mx_rounding element_rounding;
    mx_overflow element_overflow;
    mx_nan_code nan_code;
    mx_sign_of_zero sign_of_zero;
} mx_block_rules;

/* The dialects "ocp" and "nv" of `mxcheck list dialects`. */
mx_block_rules mx_block_rules_ocp(void);
mx_block_rules mx_block_rules_nv(void);

typedef struct mx_block_values {
    uint32_t value[MX_BLOCK_SIZE];
} mx_block_values;
typedef struct mx_block_codes {
    uint8_t scale;
    uint8_t code[MX_BLOCK_SIZE];
} mx_block_codes;

mx_block_codes mx_block_quantize(mx_block_rules rules, mx_block_format format, mx_block_type type,
                                 mx_block_values values);

/* Its two steps: the scale of an amax (a magnitude), and one element under a scale. */
uint8_t mx_block_scale(mx_block_rules rules, mx_block_format format, mx_block_type type,
                       uint32_t amax);
uint8_t mx_block_element(mx_block_rules rules, mx_block_format format, mx_block_type type,
                         uint8_t scale, uint32_t value);

/* The value of an element in binary32, rounded to nearest, ties to even. A NaN is 0x7FFFFFFF. */
uint32_t mx_block_value(mx_block_format format, uint8_t scale, uint8_t code);

#ifdef __cplusplus
}
#endif

#endif /* MX_BLOCK_MODEL_H */
