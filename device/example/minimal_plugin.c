/* A whole device in one file: copy it and replace quantize_block by a call of your own quantizer.
 * It quantises float32 to MXFP8 E4M3 as OCP MX v1.0 section 6.3 says, in blocks of 1x32.
 * Build: cc -shared -fPIC -I<directory of mx_device.h> minimal_plugin.c -o mydev.so */
/* clang-format off */
#include <stdio.h>
#include <string.h>
#include "mx_device.h"
enum { block_lanes = 32, scale_nan = 0xFF, element_nan = 0x7F, element_max = 0x7E };

static uint32_t bits_of(float value) { uint32_t bits; memcpy(&bits, &value, 4); return bits; }
static float float_of(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
/* Round to nearest, ties to even, and clamp to 448. `value` is finite. */
static uint8_t encode_e4m3(float value) {
    const uint32_t sign = bits_of(value) >> 31 << 7, magnitude = bits_of(value) & 0x7FFFFFFF;
    uint32_t code;
    if (magnitude < 0x3C800000) /* below 2^-6: adding 2^14 leaves multiples of 2^-9, rounded */
        code = bits_of(float_of(magnitude) + 16384.0f) - bits_of(16384.0f);
    else /* keep 3 of 23 mantissa bits, then change the exponent bias from 127 to 7 */
        code = ((magnitude + 0x7FFFF + (magnitude >> 20 & 1)) >> 20) - ((127 - 7) << 3);
    return (uint8_t)(sign | (code > element_max ? element_max : code));
}

/* One block of `lanes` values, `step` floats apart; codes are written `code_step` bytes apart. */
static void quantize_block(const float* values, int64_t step, int64_t lanes, uint8_t* codes,
                           int64_t code_step, uint8_t* scale) {
    uint32_t amax = 0; /* as bits: larger bits are larger magnitudes, and NaN is above infinity */
    for (int64_t i = 0; i < lanes; ++i)
        if (bits_of(values[i * step]) << 1 >> 1 > amax) amax = bits_of(values[i * step]) << 1 >> 1;
    const uint32_t exponent = amax >> 23; /* 255: infinity or NaN; emax of E4M3 is 8 */
    *scale = (uint8_t)(exponent == 255 ? scale_nan : exponent > 8 ? exponent - 8 : 0);
    const float reciprocal = float_of((254u - *scale) << 23); /* unused if the scale is NaN */
    for (int64_t i = 0; i < lanes; ++i)
        codes[i * code_step] = *scale == scale_nan ? (uint8_t)element_nan
                                                   : encode_e4m3(values[i * step] * reciprocal);
}

static mx_status answer(mx_message* message, mx_status status, const char* sentence) {
    if (message && message->text) snprintf(message->text, message->capacity, "%s", sentence);
    return status;
}
static int is(const char* name, const char* wanted) { return name && !strcmp(name, wanted); }
static int is_plain(const mx_tensor* t) { return is(t->place, "host") && is(t->layout, "strided"); }
static int fits(const mx_tensor* t, const char* type, int64_t rows, int64_t columns) {
    return t->struct_size >= sizeof *t && is(t->type, type) && t->rows == rows && rows >= 0 &&
           t->columns == columns && columns >= 0;
}
static mx_status open_device(void** device, mx_message* message) {
    return (void)message, *device = NULL, MX_OK; /* this device keeps nothing between calls */
}
static void close_device(void* device) { (void)device; }
static size_t describe(void* device, const mx_fact** facts) {
    static const mx_fact known[] = {{"name", "minimal"}, {"vendor", "mxcheck"}, {"version", "1"}};
    return (void)device, *facts = known, sizeof known / sizeof *known;
}
static mx_status supports(void* device, const mx_operation* operation, const mx_tensor* input,
                          size_t input_count, const mx_tensor* outputs, size_t output_count,
                          mx_message* message) {
    (void)device;
    if (!operation || operation->struct_size < sizeof *operation || !input_count || !input ||
        !output_count || !outputs)
        return answer(message, MX_INVALID, "a pointer is NULL, or a struct_size too small");
    if (!is(operation->name, "quantize") || !is(operation->format, "mxfp8-e4m3") ||
        !is(operation->dialect, "ocp") || !is(operation->axis, "row") ||
        (operation->block_size > 0 && operation->block_size != block_lanes))
        return answer(message, MX_NOT_SUPPORTED, "only quantize mxfp8-e4m3 ocp, blocks of 1x32");
    if (!is_plain(input) || !is_plain(outputs) || !is_plain(&outputs[output_count > 1]) ||
        !is(input->type, "f32")) /* before the count: a layout may need one output alone */
        return answer(message, MX_NOT_SUPPORTED, "only strided f32 in the host's memory");
    const int64_t rows = input->rows, columns = input->columns;
    const int64_t blocks = columns / block_lanes + (columns % block_lanes != 0);
    const int all_fit = operation->block_size > 0 && input_count == 1 && output_count == 2 &&
                        fits(input, "f32", rows, columns) && fits(outputs, "e4m3", rows, columns) &&
                        fits(&outputs[1], "e8m0", rows, blocks);
    return all_fit ? MX_OK : answer(message, MX_INVALID, "another count, type or shape");
}
static mx_status run(void* device, const mx_operation* operation, const mx_tensor* input,
                     size_t input_count, const mx_tensor* outputs, size_t output_count,
                     mx_message* message) {
    const mx_status status =
        supports(device, operation, input, input_count, outputs, output_count, message);
    if (status != MX_OK || input->rows == 0 || input->columns == 0) return status;
    const mx_tensor *codes = &outputs[0], *scales = &outputs[1];
    if (!input->data || !codes->data || !scales->data)
        return answer(message, MX_INVALID, "a tensor has no data");
    const int64_t columns = input->columns, step = input->column_stride;
    for (int64_t r = 0; r < input->rows; ++r)
        for (int64_t c = 0; c < columns; c += block_lanes)
            quantize_block((const float*)input->data + r * input->row_stride + c * step, step,
                columns - c < block_lanes ? columns - c : block_lanes,
                (uint8_t*)codes->data + r * codes->row_stride + c * codes->column_stride,
                codes->column_stride, (uint8_t*)scales->data + r * scales->row_stride +
                                          c / block_lanes * scales->column_stride);
    return MX_OK;
}
const mx_device_api* mx_device_get_api(uint32_t host_abi_version) {
    static const mx_device_api api = {sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open_device,
                                      close_device, describe, supports, run, NULL, NULL};
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &api : NULL;
}
