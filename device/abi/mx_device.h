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

/* Version 2 added mx_operation.subnormals and block_size, axis "tile" and the layouts beyond
 * "strided". Hosts still accept plug-ins of version 1, and ask them only for blocks of 32, axis
 * "row" and "col", subnormals honoured and strided tensors. Version 3 added mx_operation.gemm and
 * mx_device_api.list_algorithms; older plug-ins are asked for no GEMM. Version 4 added axis "both";
 * older plug-ins are not asked for it. Version 5 added mx_device_api.open_configured; older
 * plug-ins take no configuration. Version 6 added mx_operation.tensor_scale, axis "tensor", scales
 * of types "ue4m3" and "f32" and random bits of quantize; older plug-ins are asked for E8M0 scales
 * alone. Version 7 added mx_gemm.groups and tensors of type "i32"; older plug-ins are asked for no
 * grouped GEMM. */
#define MX_DEVICE_ABI_VERSION 7u

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

/* How the factors and the product of a GEMM are scaled, as the shape of the scale tensor that goes
 * with a factor of R x K elements:
 * "tensor"   f32, 1 x 1
 * "row"      f32, R x 1
 * "1x128"    f32, R x ceil(K/128)
 * "128x128"  f32, ceil(R/128) x ceil(K/128)
 * "1x32"     e8m0, R x ceil(K/32): MX
 * "1x16"     ue4m3, R x ceil(K/16): NVFP4
 * NULL       there is none
 *
 * What "gemm" asks beside its tensors. Numbers of binary32 cross as their bits. */
typedef struct mx_gemm {
    size_t struct_size;
    int64_t batches; /* equal problems, one after the other in the rows of every tensor; >= 1 */
    uint32_t alpha;
    uint32_t beta;
    const char* scaling_a;
    const char* scaling_b;
    const char* scaling_out;  /* "tensor": D is multiplied by a scale that is given; "1x32": D is
                                 quantised in blocks along its rows; "1x16": both; NULL */
    const char* epilogue;     /* "bias", "relu", "bias-relu", "gelu", "bias-gelu"; NULL: none */
    const char* accumulation; /* "fast": whatever the device has that is faster and less exact;
                                 NULL: what it does otherwise */
    const char* algorithm;    /* one of list_algorithms; NULL: the device's own choice */
    /* Since version 7: 0, or of a grouped GEMM the number of its groups; then batches is 1 */
    int64_t groups;
} mx_gemm;

/* What is asked for. Members a given operation does not use are NULL or 0.
 *
 * "convert"       in: values. out: codes of the element format `format` ("e4m3"), same shape; or
 *                 for format "e8m0" the scale nearest to each value, as the dialect casts. Where
 *                 `rounding` is stochastic also in[1]: the random bits, as below.
 * "encode_scale"  in: amax values, >= 0, Inf or NaN. out: "e8m0" bytes, same shape: the block scale
 *                 that the dialect derives from that amax for `format` ("mxfp8-e4m3").
 * "quantize"      in: values, R x C; the tensor's number, if tensor_scale is "given"; the random
 *                 bits, if the dialect rounds stochastically: a "u32" word a value, as below.
 *                 out[0]: element codes, R x C. out[1]: scales, one per block of k = block_size
 *                 elements: R x ceil(C/k) for axis "row", ceil(R/k) x C for "col", ceil(R/k) x
 *                 ceil(C/k) for "tile", 1 x 1 for "tensor". Their type is "e8m0" for the formats of
 *                 OCP MX, "ue4m3" for NVFP4 (E4M3 without a sign: the top bit is 0), "ue5m3" (5
 *                 bits of exponent, no sign) for AMD-FP4, "f32" for blocks and tensors of FP8.
 *                 Layout "inline" has no out[1]. If tensor_scale is not NULL, then out[2]: the
 *                 number that is kept. For axis "both": these outputs as for axis "row" and again
 *                 as for "col", all from the one tensor of values, and never "inline".
 * "dequantize"    in[0]: element codes, R x C. in[1]: scales as above. in[2]: the number that was
 *                 kept, if tensor_scale is not NULL. out: values, R x C.
 * "gemm"          D = alpha * A * B^T + beta * C, A and B with their scales. in: A, M x K; its
 *                 scales, if it has any; B, N x K, both factors having their rows along K; its
 *                 scales; C, M x N, if beta is not 0; the bias, 1 x N, if the epilogue has one; the
 *                 scale of D, f32 1 x 1, if scaling_out is "tensor" or "1x16". out: D, M x N; its
 *                 scales, as above, if scaling_out is "1x32" or "1x16". With several batches M, N
 *                 stand for the rows of all of them; scales of "tensor" and the bias are shared.
 *                 C has the type of D, or bf16 where D is FP8 or FP4; the bias D's type or bf16.
 *                 Pads of scales are 0, in what is given and in what comes back.
 *                 A grouped GEMM of E groups has one more input, the last: row offsets, i32,
 *                 1 x (E+1), the first 0, none below the one before it, the last at most M. Rows
 *                 offsets[g] .. offsets[g+1] - 1 of A, C and D are those of group g, which has none
 *                 where the two are equal; B is E * N x K, and rows g * N .. g * N + N - 1 of it
 *                 belong to group g. Rows of D from the last offset on are not written, and those
 *                 of A and C not looked at. Scales of A and B that are strided lie as ever; those
 *                 in tiles begin a whole tile for each group, so that the scale tensor has the sum
 *                 of all groups' rows, each rounded up to the tile's, N for a group of B; its pads
 *                 may be anything. D is never in blocks, and A has no scales of "128x128".
 *                 Whatever has a shape of its own, "tensor" scales and the bias, is shared.
 *
 * A last block of fewer than k lanes is quantised from the lanes that exist. Along axis "col" a
 * tensor keeps its shape: blocks are quantised from the values of a column, which gives other bits
 * than transposing the codes of axis "row" would. */
typedef struct mx_operation {
    size_t struct_size;
    const char* name;
    const char* format;   /* "mxfp8-e4m3", "mxfp4-e2m1", ...; for convert "e4m3", "e2m1", ... */
    const char* dialect;  /* "ocp", "nv", "torchao-floor", ...; of a gemm whose scaling_out is
                             "1x32" or "1x16" the one that makes the blocks of D */
    const char* axis;     /* "row": blocks of 1xk, "col": of kx1, "tile": of kxk, "tensor": one
                             block, the whole tensor; of quantize also "both", which is "row" and
                             "col"; NULL when there are no blocks */
    const char* rounding; /* "nearest_even", ...; convert only, otherwise the dialect decides */
    const char* overflow; /* "saturate", or "overflow" (to Inf, or NaN where there is no Inf);
                             convert only, otherwise the dialect decides */
    /* Since version 2: */
    const char* subnormals; /* "honoured"; "inputs_flushed": a subnormal value counts as a zero of
                               its sign; "outputs_flushed": so does a result that is subnormal after
                               rounding. Convert only, otherwise the dialect decides */
    int64_t block_size;     /* k; 0 when there are no blocks, and for axis "tensor" */
    /* Since version 3: */
    const mx_gemm* gemm; /* for "gemm", else NULL */
    /* Since version 6: whether the dialect has a number for the whole tensor, of type "f32", 1 x 1,
     * as NVFP4 has. NULL: it has none. "given": quantize is given it, the amax of the tensor, from
     * which the tensor's scale follows as the dialect says, or, where scales come from a history of
     * earlier tensors, that scale; neither is negative, but each may be Inf or NaN. "derived":
     * quantize finds the amax in its values, after the transform of a dialect that has one. What
     * quantize keeps is what dequantize is "given": the tensor's scale, or its amax where the
     * dialect dequantizes with that. */
    const char* tensor_scale;
} mx_operation;

/* Random bits of quantize are those of "stochastic8" below: one word per value.
 *
 * Roundings of convert: "nearest_even", "nearest_away", "nearest_toward_zero" (the three differ in
 * ties), "toward_zero", "toward_positive", "toward_negative", "away_from_zero", "to_odd" (a value
 * between two codes becomes the odd one), and stochastic ones, which take random bits from in[1] of
 * type "u32". "stochastic8", "stochastic16" and "stochastic32": one word per value, of which the
 * low n = 8, 16 or 32 bits count. The value's distance from its neighbour toward zero, in units of
 * the gap, is cut to its first n binary digits; if digits plus random bits carry, the value goes
 * away from zero. "stochastic-x4": n = 16 and one word serves four values of a row, the low half
 * the first two and the high half the last two, as PTX cvt.rs of four values.
 *
 * Beyond the largest finite value of convert's format:
 * - "to_odd" and "toward_zero" never go there: a finite value beyond it becomes the largest one of
 *   its sign, whatever `overflow` says, and "to_odd" so where that code is even, too.
 * - "toward_positive" does so with negative values, "toward_negative" with positive ones.
 * - In all other cases the value overflows once the rounding chooses what would be the next code:
 *   of "nearest_even" E4M3's 464, half way to 480, is still 448, of "nearest_away" it is not.
 * - What overflows, and Inf under every rounding, becomes with "saturate" the largest finite value
 *   of its sign; with "overflow" Inf of its sign, in a format without Inf the NaN of its sign (E4M3
 *   0x7F and 0xFF; FNUZ 0x80), in a format with neither (FP6, FP4, INT8) the largest finite value.
 * A NaN becomes what the dialect says: of "ocp" the code of all ones with sign 0 whatever the
 * input's sign and payload (0x7F; FNUZ 0x80), in a format without NaN the largest positive value.
 * "ocp" leaves that open: a device that keeps the sign deviates, and does not fail.
 *
 * D of a GEMM in E4M3 or E5M2 saturates, as with "saturate" above, Inf too; a NaN is 0x7F. D in
 * f16, bf16 and f32 overflows to Inf of its sign. D is rounded to nearest, ties to even. */

/* A two-dimensional tensor of `rows` by `columns` elements. `layout` says where they lie; a device
 * answers MX_NOT_SUPPORTED to one it does not know.
 *
 * "strided"       Element (r, c) is at data + (r * row_stride + c * column_stride) * width, strides
 *                 counted in elements. width is the fewest whole bytes that hold a code: codes of 4
 *                 and 6 bits stand in the low bits of a byte, the rest of it 0.
 *
 * Layouts of element codes; the strides are 0. Row r is a stream of its own that begins with a
 * whole byte; within it code c is the bits [c * n, (c + 1) * n), counted from the lowest bit of the
 * first byte on. Elements lie along the rows whatever the axis. Bits after the last code are 0.
 * "packed-low"    n = 4, two codes a byte, the even one in the low nibble. ceil(C/2) bytes a row.
 * "packed-high"   The same with the nibbles of each byte exchanged.
 * "packed-6"      n = 6, four codes in three bytes. ceil(6*C/8) bytes a row.
 * "inline"        Axis "row" only. Each block's codes, packed as above in n bits, and then its
 *                 scale byte; a last block is filled up with codes 0. column_stride is the bytes
 *                 from block to block, k*n/8 + 1; row_stride the bytes from row to row. The scales
 *                 have no tensor of their own.
 *
 * Layouts of scales; the strides are 0. The buffer holds the grid of R x C scales with both
 * dimensions rounded up to whole tiles. In the layouts without "-col", for blocks along rows, x = r
 * and y = c. In those with "-col", for blocks along columns, x = c and y = r: the outer dimension
 * is the one of the elements that have no scale in common. Y is y's dimension rounded up.
 * "128x4"         x in tiles of 128, y of 4:
 *                 ((x/128)*(Y/4) + y/4)*512 + (x%32)*16 + (x%128)/32*4 + y%4. Pads are 0.
 * "8x4"           x in tiles of 8, y of 4: ((x/8)*(Y/4) + y/4)*32 + (x%8)*4 + y%4. Pads are 0.
 * "32x8"          x in tiles of 32, y of 8: (x/32)*Y*32 + (y/8)*256 + (y%4)*64 + (x%16)*4 +
 *                 (y%8)/4*2 + (x%32)/16. Pads may be anything.
 * "te-padded"     x rounded up to 128, y to 4, and row-major: r * (columns rounded up) + c. Pads
 *                 may be anything.
 * "128x4-col" "8x4-col" "32x8-col" "te-padded-col"
 *
 * What a pad of an input holds must not matter. Inputs must not be written. Outputs must be written
 * exactly once per element, and nothing beside them but pads. Rows or columns may be 0: then
 * nothing is read or written. Tensors cross in arrays, so this one struct does not grow within an
 * ABI version. */
typedef struct mx_tensor {
    size_t struct_size;
    void* data;
    const char* type;   /* "f32" "bf16" "f16" "e4m3" "e5m2" "e3m2" "e2m3" "e2m1" "int8"
                           "int8-symmetric" "e8m0" "ue4m3" "ue5m3" "u32" "i32" "e4m3fnuz"
                           "e5m2fnuz"; "tf32", words of binary32 of which the upper 19 bits count */
    const char* place;  /* where `data` points to: "host"; "cuda" or "hip", memory of the GPU on
                           which the device computes, as cudaMalloc or hipMalloc gives it, which
                           the host must not follow. A device answers MX_NOT_SUPPORTED to a place
                           that it does not know */
    const char* layout; /* "strided", or one of the above */
    int64_t rows;
    int64_t columns;
    int64_t row_stride;
    int64_t column_stride;
} mx_tensor;

/* The table a device exports. Every function is required but the last two. */
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

    /* Does the work. Inputs are complete before the call, whatever stream wrote those in
     * memory of a GPU, and outputs, in any place, are complete when it returns. */
    mx_status (*run)(void* device, const mx_operation* operation, const mx_tensor* inputs,
                     size_t input_count, const mx_tensor* outputs, size_t output_count,
                     mx_message* message);

    /* Since version 3. The ways a device has to do a "gemm" of these tensors, which may give
     * different bits: stores an array of names that live until the next call of this function, and
     * their number. The first is what the device does when none is named. NULL where there is one
     * way. */
    mx_status (*list_algorithms)(void* device, const mx_operation* operation,
                                 const mx_tensor* inputs, size_t input_count,
                                 const mx_tensor* outputs, size_t output_count,
                                 const char* const** names, size_t* name_count,
                                 mx_message* message);

    /* Since version 5. As `open`, with the configuration that the user wrote behind the device's
     * name (`--device lib.so:KEY=VALUE`): "KEY=VALUE", several separated by commas, never NULL and
     * never "". What it says holds until close. A device answers MX_INVALID, with a reason that
     * names the keys it knows, to any other key, and to a value that means nothing to it. NULL
     * where there is nothing to configure. */
    mx_status (*open_configured)(void** device, const char* configuration, mx_message* message);
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
