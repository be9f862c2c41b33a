/* The oracle as a C library: what every bit of an MX, NVFP4 or FP8 tensor must be, and where an
 * answer differs from it. Plain C99; libmxcheck.so exports these functions and nothing else.
 *
 * A call is described by the types of device/abi/mx_device.h: the operation by its name, and the
 * tensors by shape, type, strides and layout. All of them lie in memory of the host. What that
 * header says of each operation, which tensors it takes in which order and what they hold, is not
 * repeated here.
 *
 * Rules for every function:
 *  - Nothing throws, exits or prints; only a broken invariant of the library itself prints a
 *    sentence and aborts. An error is a status, and a sentence in `message`, which may
 *    be NULL. MX_NOT_SUPPORTED: the oracle does not know that name, or the parts do not go
 *    together. MX_INVALID: the call contradicts itself or its header. MX_OUT_OF_MEMORY.
 *    MX_FAILED: the oracle of this build is broken; the sentence says how, and what compiled it.
 *  - Nothing is written unless the status is MX_OK (or, in part, MX_OUT_OF_MEMORY), and then only
 *    outputs and their pads.
 *  - Any number of threads may call at once, on outputs that do not overlap. No thread is started
 *    and no file is opened. A child may call after fork, if no other thread was inside a first call
 *    while its parent forked.
 *  - The first call that answers something checks the oracle, once per process (a millisecond or
 *    two): see mx_oracle_check.
 */
#ifndef MX_ORACLE_H
#define MX_ORACLE_H

#include "device/abi/mx_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions or members of this header's structs are added: a program that was built with
 * fewer goes on working. The structs of mx_device.h follow MX_DEVICE_ABI_VERSION. The library's
 * SONAME changes when anything is changed or removed. */
#define MX_ORACLE_VERSION 1u

#define MX_ORACLE_EXPORT __attribute__((visibility("default")))

/* What a call may ask beside its operation. NULL in place of it: everything as said for 0. */
typedef struct mx_oracle_options {
    size_t struct_size;
    const char* model; /* Of a gemm: a name of mx_oracle_list("models"). mx_oracle_run: NULL or
                          "exact" for exact sums that are rounded once. mx_oracle_compare: NULL
                          judges the outputs that come out alike in every order of summation; what
                          does not is no mismatch, and the verdict then "insufficient_data" (these
                          data could not have shown a fault). "bounded" and "bounded:NAME": within a
                          bound that is derived for each output. */
    size_t places_max; /* Of mx_oracle_compare: places that differ, each with its exact value */
} mx_oracle_options;

/* MX_ORACLE_VERSION of the library that was loaded. */
MX_ORACLE_EXPORT uint32_t mx_oracle_version(void);

/* Who built it, as a JSON object with "version", "commit", "dirty", "build_type" and "compiler",
 * which names flags as well. The text lives as long as the library. */
MX_ORACLE_EXPORT const char* mx_oracle_build(void);

/* Puts typed answers through both oracles, exact and fast: MX_OK, or MX_FAILED with what was wrong.
 * Later calls remember. */
MX_ORACLE_EXPORT mx_status mx_oracle_check(mx_message* message);

/* Whether mx_oracle_run would answer, and if not, why. `data` of the tensors may be NULL. */
MX_ORACLE_EXPORT mx_status mx_oracle_supports(const mx_operation* operation,
                                              const mx_tensor* inputs, size_t input_count,
                                              const mx_tensor* outputs, size_t output_count,
                                              const mx_oracle_options* options,
                                              mx_message* message);

/* Writes the right bits into the outputs: of convert, encode_scale, quantize, dequantize and gemm.
 * Elements are rounded once from exact values; what else a library does to them says the
 * entry of its dialect in mx_oracle_list("dialects"), which names its source. Where that source
 * leaves something open, the bits are what this entry chooses. Outputs must not overlap inputs.
 * Codes of inputs that a type has no room for are MX_INVALID.
 * Memory: of tensors in the layout "strided" nothing but one block; of others a copy with a byte or
 * more for each element; a number that is derived from the tensor, four bytes for each element; a
 * gemm, a copy of its tensors. */
MX_ORACLE_EXPORT mx_status mx_oracle_run(const mx_operation* operation, const mx_tensor* inputs,
                                         size_t input_count, const mx_tensor* outputs,
                                         size_t output_count, const mx_oracle_options* options,
                                         mx_message* message);

/* Compares `answers`, which are what the outputs of mx_oracle_run would be, with the right bits and
 * stores a JSON object in *json, for mx_oracle_free. MX_OK says that they were compared, not that
 * they are right. Its members:
 *  - "results": one object for each axis that was asked for ("both" has two), with the keys of a
 *    case in results.jsonl: "verdict" ("pass_exact", "deviation" where the source leaves the bits
 *    open, "fail", "insufficient_data", ...), "elements" and "scales" compared,
 *    "mismatched_elements", "mismatched_scales", and "mismatches": the classes, largest first, each
 *    with its count, its direction, its source and a witness.
 *  - "places": the first places that differ (never of a gemm): "output", "row", "column", the codes
 *    "expected" and "actual", and the "witness" there with the exact values.
 * NaN for NaN is right where the dialect says that any will do. Pads are not looked at. */
MX_ORACLE_EXPORT mx_status mx_oracle_compare(const mx_operation* operation, const mx_tensor* inputs,
                                             size_t input_count, const mx_tensor* answers,
                                             size_t answer_count, const mx_oracle_options* options,
                                             char** json, mx_message* message);

/* Stores a JSON array of objects with "name", "text" and more, for mx_oracle_free. `what` is
 * "formats", "dialects", "models" or "layouts": the same that `mxcheck list` prints. */
MX_ORACLE_EXPORT mx_status mx_oracle_list(const char* what, char** json, mx_message* message);

/* One block to be explained. */
typedef struct mx_oracle_block {
    size_t struct_size;
    const char* format;  /* "mxfp8-e4m3" */
    const char* dialect; /* "ocp" */
    const char* type;    /* of the values: "f32", "bf16", "f16" */
    const char* values;  /* up to 32, and no more than a block, separated by commas: "2.8", "1e-3",
                            "0x1.8p3", "nan", "bits:0x3f800000" */
} mx_oracle_block;

/* Stores the text of every step from the values to their codes, with exact fractions, and of where
 * other dialects part from it, for mx_oracle_free. */
MX_ORACLE_EXPORT mx_status mx_oracle_explain(const mx_oracle_block* block, char** text,
                                             mx_message* message);

/* Stores blocks of values on borders of the format and dialect in *blocks: ties and their
 * neighbours, scales that change, specials. Each row is a block for itself: of tiles, and of a
 * dialect that keeps a number for the whole tensor, quantize one at a time. The caller sets
 * `blocks->struct_size`. A strided tensor of `type` with a block in each row, as
 * many columns as a block has elements (32 for OCP MX), its `data` for mx_oracle_free. Of a format
 * whose block is the tensor, rows of 32. `family` is one of "edge.tie", "edge.scale", "edge.amax",
 * "edge.special" and "edge.mixed"; NULL for all. */
MX_ORACLE_EXPORT mx_status mx_oracle_edge_cases(const char* format, const char* dialect,
                                                const char* type, const char* family,
                                                mx_tensor* blocks, mx_message* message);

/* Frees what a function of this library has stored; NULL is nothing. */
MX_ORACLE_EXPORT void mx_oracle_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* MX_ORACLE_H */
