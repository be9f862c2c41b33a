/* The C side of the DPI package without a simulator: this file plays the simulator, with arrays of
 * four-state words, since Verilator has two states and could not show an X. Plain C99. */
#include <stdio.h>
#include <string.h>
#include <svdpi.h>

enum { NOT_SUPPORTED = 1, INVALID = 2, UNKNOWN = 16, LONGEST = 128 };

void* mx_dpi_open(const char* format, const char* dialect, const char* value_type);
void mx_dpi_close(void* oracle);
int mx_dpi_status(void* oracle);
const char* mx_dpi_message(void* oracle);
int mx_dpi_block_size(void* oracle);
int mx_dpi_quantize(void* oracle, const svOpenArrayHandle values, const svOpenArrayHandle codes,
                    svLogicVecVal* scale);
int mx_dpi_quantize_random(void* oracle, const svOpenArrayHandle values,
                           const svOpenArrayHandle random, const svOpenArrayHandle codes,
                           svLogicVecVal* scale);
int mx_dpi_set_tensor_number(void* oracle, const svLogicVecVal* number);
int mx_dpi_kept_number(void* oracle, svLogicVecVal* number);
int mx_dpi_dequantize(void* oracle, const svOpenArrayHandle codes, const svLogicVecVal* scale,
                      const svOpenArrayHandle values);
int mx_dpi_round(void* oracle, const char* rounding, const char* overflow,
                 const svLogicVecVal* value, const svLogicVecVal* random, svLogicVecVal* code);
int mx_dpi_dot(void* a, void* b, const char* model, const svOpenArrayHandle a_codes,
               const svOpenArrayHandle a_scales, const svOpenArrayHandle b_codes,
               const svOpenArrayHandle b_scales, svLogicVecVal* result);
int mx_dpi_edge_count(void* oracle);
int mx_dpi_edge_block(void* oracle, int index, const svOpenArrayHandle values);
const char* mx_dpi_explain(void* oracle, const svOpenArrayHandle values);
const char* mx_dpi_list(void* oracle, const char* what);

/* --- the simulator --- */

typedef struct array {
    int left, right; /* [left:right] */
    svLogicVecVal words[LONGEST];
} array;

static const array* seen(const svOpenArrayHandle handle) {
    return (const array*)handle;
}
static int place_of(const array* a, int index) {
    return a->left <= a->right ? index - a->left : a->left - index;
}
static int length_of(const array* a) {
    return place_of(a, a->right) + 1;
}
int svDimensions(const svOpenArrayHandle handle) {
    return handle != NULL ? 1 : 0;
}
int svLeft(const svOpenArrayHandle handle, int dimension) {
    return dimension == 1 ? seen(handle)->left : 0;
}
int svRight(const svOpenArrayHandle handle, int dimension) {
    return dimension == 1 ? seen(handle)->right : 0;
}
int svSize(const svOpenArrayHandle handle, int dimension) {
    return dimension == 1 ? length_of(seen(handle)) : 0;
}
void svGetLogicArrElem1VecVal(svLogicVecVal* to, const svOpenArrayHandle from, int index) {
    *to = seen(from)->words[place_of(seen(from), index)];
}
void svPutLogicArrElem1VecVal(const svOpenArrayHandle to, const svLogicVecVal* from, int index) {
    array* a = (array*)to;
    a->words[place_of(a, index)] = *from;
}

/* --- the checks --- */

static int failures = 0, checks = 0;

static void check(int holds, const char* sentence, void* oracle) {
    ++checks;
    if (holds) return;
    ++failures;
    printf("FAILED %s; the oracle says: %s\n", sentence, mx_dpi_message(oracle));
}

static svLogicVecVal word(uint32_t bits) {
    svLogicVecVal value;
    value.aval = bits;
    value.bval = 0;
    return value;
}
/* Bit 0 is unknown: X where `bits` has it, else Z. */
static svLogicVecVal with_unknown_bit(uint32_t bits) {
    svLogicVecVal value = word(bits);
    value.bval = 1;
    return value;
}

static array filled(int left, int right, uint32_t bits) {
    array a;
    int i;
    memset(&a, 0, sizeof a);
    a.left = left;
    a.right = right;
    for (i = 0; i < length_of(&a); ++i) a.words[i] = word(bits);
    return a;
}

static int is_all(const array* a, uint32_t bits) {
    int i;
    for (i = 0; i < length_of(a); ++i)
        if (a->words[i].aval != bits || a->words[i].bval != 0) return 0;
    return 1;
}

/* 1.0 has the scale 2^-8, and is the element 256; the block is the same on the way back. */
static void check_block(void) {
    void* oracle = mx_dpi_open("mxfp8-e4m3", "ocp", "f32");
    array values = filled(0, 31, 0x3F800000), codes = filled(31, 0, 0), back = filled(5, 36, 0);
    svLogicVecVal scale = word(0);
    check(mx_dpi_status(oracle) == 0 && mx_dpi_block_size(oracle) == 32, "open", oracle);
    values.words[1] = word(0xBF800000);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == 0, "quantize", oracle);
    check(scale.aval == 119 && scale.bval == 0, "the scale of ones", oracle);
    check(codes.words[31].aval == 0x78 && codes.words[30].aval == 0xF8, "codes[0] is first",
          oracle);
    check(mx_dpi_dequantize(oracle, &codes, &scale, &back) == 0, "dequantize", oracle);
    check(back.words[0].aval == 0x3F800000 && back.words[1].aval == 0xBF800000, "back", oracle);
    check(strstr(mx_dpi_explain(oracle, &values), "256") != NULL, "explain", oracle);
    check(strstr(mx_dpi_list(oracle, "models"), "hopper-fp8") != NULL, "list", oracle);
    mx_dpi_close(oracle);
}

/* Nothing is made of an unknown bit, wherever it is, and outputs stay. */
static void check_unknown(svLogicVecVal unknown) {
    void* oracle = mx_dpi_open("mxfp8-e4m3", "ocp", "f32");
    array values = filled(0, 31, 0x3F800000), codes = filled(0, 31, 0x55);
    array scales = filled(0, 0, 127), other = filled(0, 31, 0x38);
    svLogicVecVal scale = word(0x99), result = word(0x99), one = word(0x3F800000);
    values.words[3] = unknown;
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == UNKNOWN, "X in a value", oracle);
    check(strstr(mx_dpi_message(oracle), "values[3] has X or Z") != NULL, "is named", oracle);
    check(is_all(&codes, 0x55) && scale.aval == 0x99, "and nothing is written", oracle);
    check(mx_dpi_dequantize(oracle, &codes, &unknown, &values) == UNKNOWN, "in a scale", oracle);
    check(mx_dpi_round(oracle, "nearest_even", "saturate", &unknown, &one, &result) == UNKNOWN,
          "in a value to round", oracle);
    check(mx_dpi_round(oracle, "stochastic8", "saturate", &one, &unknown, &result) == UNKNOWN,
          "in random bits", oracle);
    check(mx_dpi_round(oracle, "nearest_even", "saturate", &one, &unknown, &result) == 0,
          "but not where they are not read", oracle);
    codes.words[31] = unknown;
    check(mx_dpi_dot(oracle, oracle, "exact", &other, &scales, &codes, &scales, &result) == UNKNOWN,
          "in a factor", oracle);
    check(strstr(mx_dpi_message(oracle), "codes[31]") != NULL, "which is named", oracle);
    scales.words[0] = unknown;
    check(mx_dpi_dot(oracle, oracle, "exact", &other, &scales, &other, &scales, &result) == UNKNOWN,
          "in its scale", oracle);
    mx_dpi_close(oracle);
}

static void check_refused(const char* format, const char* dialect, const char* type,
                          const char* sentence) {
    void* oracle = mx_dpi_open(format, dialect, type);
    array values = filled(0, 31, 0), codes = filled(0, 31, 0);
    svLogicVecVal scale = word(0);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == NOT_SUPPORTED &&
              strstr(mx_dpi_message(oracle), sentence) != NULL,
          sentence, oracle);
    mx_dpi_close(oracle);
}

static void check_bad_calls(void) {
    void* oracle = mx_dpi_open("mxfp4-e2m1", "ocp", "bf16");
    array values = filled(0, 31, 0x3F80), codes = filled(0, 31, 0), few = filled(0, 6, 0);
    array many = filled(0, 32, 0);
    svLogicVecVal scale = word(0);
    check_refused("mxfp8-e4m4", "ocp", "f32", "there is no format \"mxfp8-e4m4\"");
    check_refused("mxfp8-e4m3", "nobody", "f32", "nobody");
    check_refused("mxfp8-e4m3", "ocp", "f64", "f64");
    check_refused("fp8-e4m3-128x128", "te-fp8-block", "f32", "are no rows");
    check(mx_dpi_quantize(oracle, &values, &few, &scale) == INVALID, "too few codes", oracle);
    check(mx_dpi_quantize(oracle, &many, &many, &scale) == INVALID, "33 values", oracle);
    check(mx_dpi_quantize(oracle, NULL, &codes, &scale) == INVALID, "no array", oracle);
    check(mx_dpi_quantize(oracle, &few, &few, &scale) == 0, "a short block", oracle);
    values.words[7] = word(0x3F800000);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == INVALID &&
              strstr(mx_dpi_message(oracle), "more than 16 bits") != NULL,
          "f32 in place of bf16", oracle);
    codes.words[2] = word(0x10);
    scale = word(127);
    check(mx_dpi_dequantize(oracle, &codes, &scale, &values) == INVALID, "a 5-bit E2M1", oracle);
    check(mx_dpi_edge_count(oracle) > 100, "there are borders", oracle);
    check(mx_dpi_edge_block(oracle, 0, &values) == 0, "a border", oracle);
    check(mx_dpi_edge_block(oracle, 1 << 30, &values) == INVALID, "no border", oracle);
    check(mx_dpi_edge_block(oracle, 0, &few) == INVALID, "a border in 7 values", oracle);
    mx_dpi_close(oracle);
    check(mx_dpi_status(NULL) != 0 && mx_dpi_message(NULL)[0] != '\0', "no oracle", NULL);
}

/* Of NVFP4 under an amax of 448 * 6 the tensor's scale is 1; 6 is then 6 times a scale of 1. */
static void check_tensor_number(void) {
    void* oracle = mx_dpi_open("nvfp4", "te-nvfp4", "f32");
    array values = filled(0, 15, 0x40C00000), codes = filled(0, 15, 0), random = filled(0, 15, 0);
    svLogicVecVal scale = word(0), number = with_unknown_bit(0), kept = word(0);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == INVALID, "a number first", oracle);
    check(mx_dpi_set_tensor_number(oracle, &number) == UNKNOWN, "an unknown number", oracle);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == INVALID, "is none", oracle);
    number = word(0x45280000); /* 2688 */
    check(mx_dpi_set_tensor_number(oracle, &number) == 0, "a number", oracle);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) == 0, "and NVFP4", oracle);
    check(is_all(&codes, 7) && scale.aval == 0x38, "6 times 1", oracle);
    check(mx_dpi_kept_number(oracle, &kept) == 0 && kept.aval != 0, "what is kept", oracle);
    check(mx_dpi_dequantize(oracle, &codes, &scale, &values) == 0, "and back", oracle);
    check(is_all(&values, 0x40C00000), "to 6", oracle);
    mx_dpi_close(oracle);
    oracle = mx_dpi_open("nvfp4", "te-nvfp4-sr", "f32");
    check(mx_dpi_set_tensor_number(oracle, &number) == 0, "stochastic rounding", oracle);
    check(mx_dpi_quantize(oracle, &values, &codes, &scale) != 0, "needs random bits", oracle);
    check(mx_dpi_quantize_random(oracle, &values, &random, &codes, &scale) == 0, "given", oracle);
    random.words[9] = with_unknown_bit(1);
    check(mx_dpi_quantize_random(oracle, &values, &random, &codes, &scale) == UNKNOWN,
          "and all known", oracle);
    mx_dpi_close(oracle);
}

/* Sums of ones, and ties of one value. */
static void check_sums(void) {
    void* oracle = mx_dpi_open("mxfp8-e4m3", "ocp", "f32");
    array a = filled(0, 63, 0x38), b = filled(0, 63, 0x38), scales = filled(0, 1, 127);
    array few = filled(0, 0, 127);
    svLogicVecVal result = word(0), value = word(0x3F880000), code = word(0); /* 1.0625: a tie */
    check(mx_dpi_dot(oracle, oracle, "exact", &a, &scales, &b, &scales, &result) == 0 &&
              result.aval == 0x42800000,
          "64 products of 1", oracle);
    check(mx_dpi_dot(oracle, oracle, "nobody", &a, &scales, &b, &scales, &result) == NOT_SUPPORTED,
          "no model", oracle);
    check(mx_dpi_dot(oracle, oracle, "exact", &a, &few, &b, &scales, &result) == INVALID,
          "a scale too few", oracle);
    check(mx_dpi_round(oracle, "nearest_even", "saturate", &value, &value, &code) == 0 &&
              code.aval == 0x38,
          "a tie to even", oracle);
    check(mx_dpi_round(oracle, "nearest_away", "saturate", &value, &value, &code) == 0 &&
              code.aval == 0x39,
          "a tie away", oracle);
    check(mx_dpi_round(oracle, "sideways", "saturate", &value, &value, &code) != 0, "no rounding",
          oracle);
    mx_dpi_close(oracle);
}

/* 1 + 2^-18: exact sums keep the small product, a step that keeps 13 bits does not. */
static void check_model(void) {
    void* oracle = mx_dpi_open("mxfp8-e4m3", "ocp", "f32");
    array a = filled(0, 31, 0), b = filled(0, 31, 0), scales = filled(0, 0, 127);
    svLogicVecVal exact = word(0), modelled = word(0);
    a.words[0] = b.words[0] = word(0x38); /* 1 */
    a.words[1] = b.words[1] = word(0x01); /* 2^-9 */
    check(mx_dpi_dot(oracle, oracle, "exact", &a, &scales, &b, &scales, &exact) == 0, "exact",
          oracle);
    check(mx_dpi_dot(oracle, oracle, "hopper-mx-wgmma", &a, &scales, &b, &scales, &modelled) == 0,
          "under a model", oracle);
    check(exact.aval == 0x3F800020 && modelled.aval == 0x3F800000, "2^-18 beside 1", oracle);
    mx_dpi_close(oracle);
}

int main(void) {
    check_block();
    check_unknown(with_unknown_bit(0x3F800001)); /* X */
    check_unknown(with_unknown_bit(0x3F800000)); /* Z */
    check_bad_calls();
    check_tensor_number();
    check_sums();
    check_model();
    printf("%d checks, %d failures\n", checks, failures);
    return failures == 0 && checks > 50 ? 0 : 1;
}
