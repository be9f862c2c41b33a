/* A GEMM in one file: copy it and replace dot() by your kernel. D = alpha * A * B^T in float32 of
 * MXFP8 E4M3 factors, each with an E8M0 scale for 32 elements along K.
 * Build: cc -shared -fPIC -I<directory of mx_device.h> gemm_plugin.c -lm -o mygemm.so */
/* clang-format off */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "mx_device.h"

static float float_of(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
static double e8m0(uint8_t code) { return code == 255 ? NAN : ldexp(1, code - 127); }
static double e4m3(uint8_t code) {
    const int field = code >> 3 & 15, fraction = code & 7;
    const double size = ldexp(field ? fraction + 8 : fraction, (field ? field : 1) - 10);
    return (code & 127) == 127 ? NAN : code & 128 ? -size : size;
}
static uint8_t at(const mx_tensor* t, int64_t row, int64_t column) {
    return ((const uint8_t*)t->data)[row * t->row_stride + column * t->column_stride];
}
/* Row i of A by row j of B; the tensors are A, its scales, B, its scales. */
static double dot(const mx_tensor* in, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < in[0].columns; ++k)
        sum += e4m3(at(in, i, k)) * e8m0(at(in + 1, i, k / 32)) *
               e4m3(at(in + 2, j, k)) * e8m0(at(in + 3, j, k / 32));
    return sum;
}

static int is(const char* name, const char* wanted) { return name && !strcmp(name, wanted); }
static mx_status answer(mx_message* message, mx_status status, const char* sentence) {
    if (message && message->text) snprintf(message->text, message->capacity, "%s", sentence);
    return status;
}
static mx_status open_device(void** device, mx_message* message) {
    return (void)message, *device = NULL, MX_OK;
}
static void close_device(void* device) { (void)device; }
static size_t describe(void* device, const mx_fact** facts) {
    static const mx_fact known[] = {{"name", "C GEMM"}, {"vendor", "mxcheck"}, {"version", "1"}};
    return (void)device, *facts = known, sizeof known / sizeof *known;
}
static mx_status supports(void* device, const mx_operation* operation, const mx_tensor* in,
                          size_t in_count, const mx_tensor* out, size_t out_count,
                          mx_message* message) {
    static const char* const types[] = {"e4m3", "e8m0", "e4m3", "e8m0", "f32"};
    const mx_gemm* gemm = operation->gemm;
    (void)device;
    if (!is(operation->name, "gemm") || !gemm || in_count != 4 || out_count != 1 ||
        !is(gemm->scaling_a, "1x32") || !is(gemm->scaling_b, "1x32") || gemm->scaling_out ||
        gemm->epilogue || gemm->accumulation || gemm->algorithm || gemm->groups != 0)
        return answer(message, MX_NOT_SUPPORTED, "only a plain gemm with scales of 1x32");
    for (int i = 0; i < 5; ++i) {
        const mx_tensor* t = i < 4 ? &in[i] : out;
        if (!is(t->type, types[i]) || !is(t->layout, "strided") || !is(t->place, "host"))
            return answer(message, MX_NOT_SUPPORTED, "only e4m3 to f32, strided, on the host");
    }
    return MX_OK;
}
static mx_status run(void* device, const mx_operation* operation, const mx_tensor* in,
                     size_t in_count, const mx_tensor* out, size_t out_count,
                     mx_message* message) {
    const mx_status status =
        supports(device, operation, in, in_count, out, out_count, message);
    for (int64_t i = 0; status == MX_OK && i < out->rows; ++i)
        for (int64_t j = 0; j < out->columns; ++j) {
            const int64_t batch = i / (out->rows / operation->gemm->batches);
            const double sum = dot(in, i, batch * out->columns + j);
            ((float*)out->data)[i * out->row_stride + j * out->column_stride] =
                (float)(float_of(operation->gemm->alpha) * sum);
        }
    return status;
}
const mx_device_api* mx_device_get_api(uint32_t host_abi_version) {
    static const mx_device_api api = {sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open_device,
                                      close_device, describe, supports, run, NULL, NULL};
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &api : NULL;
}
