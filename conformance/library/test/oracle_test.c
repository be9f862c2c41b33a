/* The library from C99: answers typed by hand for each operation, through the shared object. Prints
 * what is wrong and ends with 1. */
#include <stdio.h>
#include <string.h>

#include "conformance/library/mx_oracle.h"

static int faults;
static char text[1000];
static mx_message message = {sizeof(mx_message), text, sizeof text};

static void expect(int holds, const char* what) {
    if (holds) return;
    ++faults;
    printf("wrong: %s (%s)\n", what, text);
}

static mx_tensor tensor(const char* type, void* data, int64_t rows, int64_t columns) {
    mx_tensor made = {sizeof(mx_tensor), NULL, NULL, "host", "strided", 0, 0, 0, 1};
    made.data = data;
    made.type = type;
    made.rows = rows;
    made.columns = made.row_stride = columns;
    return made;
}

static mx_operation operation(const char* name, const char* format, const char* dialect) {
    mx_operation asked;
    memset(&asked, 0, sizeof asked);
    asked.struct_size = sizeof asked;
    asked.name = name;
    asked.format = format;
    asked.dialect = dialect;
    return asked;
}

/* IEEE 754: 1.0625 lies half way between 0x38 and 0x39, and the even one is 1. */
static void test_convert(void) {
    float values[] = {448.0f, 1.75f, -2.0f, 1.0625f, 1e9f};
    unsigned char codes[5];
    const unsigned char right[] = {0x7E, 0x3E, 0xC0, 0x38, 0x7E};
    mx_tensor in = tensor("f32", values, 1, 5), out = tensor("e4m3", codes, 1, 5);
    mx_operation asked = operation("convert", "e4m3", "ocp");
    asked.rounding = "nearest_even";
    asked.overflow = "saturate";
    expect(mx_oracle_run(&asked, &in, 1, &out, 1, NULL, &message) == MX_OK, "convert");
    expect(memcmp(codes, right, sizeof right) == 0, "codes of convert");
}

/* OCP MX v1.0 section 6.3: the scale of amax 1.75 = 1.75 * 2^0 is 2^(0 - 8), byte 119. */
static void test_encode_scale(void) {
    float values[] = {448.0f, 1.75f};
    unsigned char scales[2];
    mx_tensor in = tensor("f32", values, 1, 2), out = tensor("e8m0", scales, 1, 2);
    const mx_operation asked = operation("encode_scale", "mxfp8-e4m3", "ocp");
    expect(mx_oracle_run(&asked, &in, 1, &out, 1, NULL, &message) == MX_OK, "encode_scale");
    expect(scales[0] == 127 && scales[1] == 119, "scales of encode_scale");
}

static void test_quantize(void) {
    float values[] = {448.0f, -1.0f, 0.0f};
    unsigned char codes[3], scale = 0;
    const unsigned char right[] = {0x7E, 0xB8, 0x00};
    mx_tensor in = tensor("f32", values, 1, 3), out[2];
    mx_operation asked = operation("quantize", "mxfp8-e4m3", "ocp");
    out[0] = tensor("e4m3", codes, 1, 3);
    out[1] = tensor("e8m0", &scale, 1, 1);
    asked.axis = "row";
    asked.block_size = 32;
    expect(mx_oracle_run(&asked, &in, 1, out, 2, NULL, &message) == MX_OK, "quantize");
    expect(memcmp(codes, right, sizeof right) == 0 && scale == 127, "bits of quantize");
    expect(mx_oracle_supports(&asked, &in, 1, out, 1, NULL, &message) == MX_INVALID &&
               strcmp(text, "operation \"quantize\" has no output 1, the scales") == 0,
           "an output that is missing");
}

/* TransformerEngine: the tensor's encode scale is 6 * 448 / 6 = 448, the block's is 6 / 6 * 448, so
 * that elements are the values, and the number that is kept is the amax. Packed, low nibble first.
 */
static void test_nvfp4(void) {
    float values[16] = {6.0f, -3.0f, 1.5f, 0.5f};
    unsigned char codes[8], scale = 0;
    const unsigned char right[] = {0xD7, 0x13, 0, 0, 0, 0, 0, 0};
    float kept = 0;
    mx_tensor in = tensor("f32", values, 1, 16), out[3];
    mx_operation asked = operation("quantize", "nvfp4", "te-nvfp4");
    out[0] = tensor("e2m1", codes, 1, 16);
    out[0].layout = "packed-low";
    out[1] = tensor("ue4m3", &scale, 1, 1);
    out[2] = tensor("f32", &kept, 1, 1);
    asked.axis = "row";
    asked.block_size = 16;
    asked.tensor_scale = "derived";
    expect(mx_oracle_run(&asked, &in, 1, out, 3, NULL, &message) == MX_OK, "nvfp4");
    expect(memcmp(codes, right, sizeof right) == 0, "codes of nvfp4");
    expect(scale == 0x7E && kept == 6.0f, "numbers of nvfp4");
}

static void test_dequantize(void) {
    unsigned char codes[] = {0x38, 0xC0}, scale = 128;
    float values[2];
    mx_tensor in[2], out = tensor("f32", values, 1, 2);
    mx_operation asked = operation("dequantize", "mxfp8-e4m3", "ocp");
    in[0] = tensor("e4m3", codes, 1, 2);
    in[1] = tensor("e8m0", &scale, 1, 1);
    asked.axis = "row";
    asked.block_size = 32;
    expect(mx_oracle_run(&asked, in, 2, &out, 1, NULL, &message) == MX_OK, "dequantize");
    expect(values[0] == 2.0f && values[1] == -4.0f, "values of dequantize");
}

/* 2^24 + 1 - 2^24 is 1, and 0 where every sum is rounded to binary32. */
static void test_gemm(void) {
    float a[] = {16777216.0f, 1.0f, -16777216.0f}, b[] = {1.0f, 1.0f, 1.0f}, d = 7.0f;
    mx_tensor in[2], out = tensor("f32", &d, 1, 1);
    mx_operation asked = operation("gemm", NULL, NULL);
    mx_gemm gemm;
    mx_oracle_options options = {sizeof(mx_oracle_options), "fma-chain", 0};
    in[0] = tensor("f32", a, 1, 3);
    in[1] = tensor("f32", b, 1, 3);
    memset(&gemm, 0, sizeof gemm);
    gemm.struct_size = sizeof gemm;
    gemm.batches = 1;
    gemm.alpha = 0x3F800000u;
    asked.gemm = &gemm;
    expect(mx_oracle_run(&asked, in, 2, &out, 1, NULL, &message) == MX_OK && d == 1.0f, "gemm");
    expect(mx_oracle_run(&asked, in, 2, &out, 1, &options, &message) == MX_OK && d == 0.0f,
           "gemm under fma-chain");
}

static void test_texts(void) {
    char* json = NULL;
    const mx_oracle_block block = {sizeof block, "mxfp8-e4m3", "ocp", "f32", "2.8,-1.2"};
    expect(mx_oracle_version() == MX_ORACLE_VERSION, "version");
    expect(strstr(mx_oracle_build(), "\"version\":") != NULL, "build");
    expect(mx_oracle_check(&message) == MX_OK, "check");
    expect(mx_oracle_list("dialects", &json, &message) == MX_OK &&
               strstr(json, "\"name\": \"te-nvfp4\"") != NULL,
           "list");
    mx_oracle_free(json);
    expect(mx_oracle_explain(&block, &json, &message) == MX_OK && strstr(json, "0x7b") != NULL,
           "explain");
    mx_oracle_free(json);
}

int main(void) {
    test_convert();
    test_encode_scale();
    test_quantize();
    test_nvfp4();
    test_dequantize();
    test_gemm();
    test_texts();
    return faults == 0 ? 0 : 1;
}
