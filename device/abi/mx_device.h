/* The contract between mxcheck and a device under test: plain C99, no dependency, no global state.
 *
 * A device is a shared library that exports one function, mx_device_get_api. This header is the
 * only file both sides share; a device never includes anything else of mxcheck, so that it cannot
 * agree with the oracle by using the oracle's code. Copy device/example/minimal_plugin.c to start.
 *
 * Rules for every function:
 *  - Nothing throws and nothing exits. An error is a status and a sentence.
 *  - Every struct opens with its own size: the size a writer put there says which members exist,
 *    and a reader must not touch members beyond it. Members are only ever added at the end.
 *  - Names (formats, dialects, types, layouts, operations) cross as NUL-terminated strings, the ids
 *    that `mxcheck list` prints. A device answers MX_NOT_SUPPORTED, with a reason, to any name that
 *    it does not know.
 *  - Calls come from one thread at a time. Buffers belong to the host.
 */
#ifndef MX_DEVICE_H
#define MX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MX_DEVICE_ABI_VERSION 1u

#if defined(_WIN32)
#define MX_DEVICE_EXPORT __declspec(dllexport)
#else
#define MX_DEVICE_EXPORT __attribute__((visibility("default")))
#endif

typedef enum mx_status {
    MX_OK = 0,
    MX_NOT_SUPPORTED = 1, /* this device does not do that; the reason says why. No error. */
    MX_INVALID = 2,       /* the request contradicts itself or this header */
    MX_OUT_OF_MEMORY = 3, /* try a smaller tensor */
    MX_DEVICE_LOST = 4,   /* the device is gone: the host stops asking */
    MX_FAILED = 5         /* anything else */
} mx_status;

/* Room for one sentence of text, NUL-terminated, that the device fills. May be ignored. */
typedef struct mx_message {
    size_t struct_size;
    char* text;
    size_t capacity; /* bytes at `text`, the NUL included; never 0 */
} mx_message;

/* One fact a device tells about itself, e.g. {"driver", "580.159.04"}. Strings live as long as the
 * open device. Keys the reports know: "name", "vendor", "version", "driver", "isa", "notes". */
typedef struct mx_fact {
    const char* key;
    const char* value;
} mx_fact;

/* What is asked for. Members a given operation does not use are NULL or 0.
 *
 * "convert"       in: values. out: codes of the element format `format` ("e4m3"), same shape.
 * "encode_scale"  in: amax values, >= 0, Inf or NaN. out: "e8m0" bytes, same shape: the block scale
 *                 that the dialect derives from that amax for `format` ("mxfp8-e4m3").
 * "quantize"      in: values, R x C. out[0]: element codes, R x C. out[1]: "e8m0" scales,
 *                 R x ceil(C/32) for axis "row", ceil(R/32) x C for axis "col".
 * "dequantize"    in[0]: element codes, R x C. in[1]: "e8m0" scales as above. out: values, R x C.
 *
 * A last block of fewer than 32 lanes is quantised from the lanes that exist. */
typedef struct mx_operation {
    size_t struct_size;
    const char* name;
    const char* format;   /* "mxfp8-e4m3", "mxfp8-e5m2"; for convert "e4m3", "e5m2" */
    const char* dialect;  /* "ocp", "nv", "torchao-floor", ... */
    const char* axis;     /* "row": blocks of 1x32, "col": of 32x1; NULL when there are no blocks */
    const char* rounding; /* "nearest_even"; convert only, otherwise the dialect decides */
    const char* overflow; /* "saturate", or "overflow" (to Inf, or NaN where there is no Inf);
                             convert only, otherwise the dialect decides */
} mx_operation;

/* A two-dimensional view. Element (r, c) is at data + (r * row_stride + c * column_stride) * width,
 * strides counted in elements. Inputs must not be written. Outputs must be written exactly once per
 * element, and nothing beside them. Rows or columns may be 0: then nothing is read or written.
 * Tensors cross in arrays, so this one struct does not grow within an ABI version. */
typedef struct mx_tensor {
    size_t struct_size;
    void* data;
    const char* type;   /* "f32" "bf16" "f16" "e4m3" "e5m2" "e8m0" */
    const char* place;  /* "host"; devices with memory of their own will also see "cuda" */
    const char* layout; /* "strided": the formula above */
    int64_t rows;
    int64_t columns;
    int64_t row_stride;
    int64_t column_stride;
} mx_tensor;

/* The table a device exports. Every function is required. */
typedef struct mx_device_api {
    size_t struct_size;
    uint32_t abi_version; /* MX_DEVICE_ABI_VERSION the device was built with */

    /* Makes the device ready and stores an opaque handle, which may be NULL, in *device. */
    mx_status (*open)(void** device, mx_message* message);
    void (*close)(void* device);

    /* Stores an array of facts that lives until close, and returns its length. */
    size_t (*describe)(void* device, const mx_fact** facts);

    /* MX_OK or MX_NOT_SUPPORTED with a reason. The tensors are those that `run` would get, except
     * that `data` is NULL. */
    mx_status (*supports)(void* device, const mx_operation* operation, const mx_tensor* inputs,
                          size_t input_count, const mx_tensor* outputs, size_t output_count,
                          mx_message* message);

    /* Does the work and returns when the outputs are complete. */
    mx_status (*run)(void* device, const mx_operation* operation, const mx_tensor* inputs,
                     size_t input_count, const mx_tensor* outputs, size_t output_count,
                     mx_message* message);
} mx_device_api;

/* The one exported symbol. Returns the table, or NULL if this library cannot serve a host of that
 * ABI version. */
#define MX_DEVICE_ENTRY "mx_device_get_api"
typedef const mx_device_api* (*mx_device_get_api_function)(uint32_t host_abi_version);
MX_DEVICE_EXPORT const mx_device_api* mx_device_get_api(uint32_t host_abi_version);

#ifdef __cplusplus
}
#endif

#endif /* MX_DEVICE_H */
