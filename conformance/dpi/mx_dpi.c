/* The C side of mx_dpi_pkg.sv: from the arrays of a simulator to calls of libmxcheck and back. It
 * computes no bit itself. C99, and C++ for the simulators that compile every file as such. Keeps
 * nothing outside the oracles that a testbench opens. */
#include <mx_oracle.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MX_DPI_UNKNOWN = 16 };
enum { MX_DPI_ELEMENTS_MAX = 4096, MX_DPI_NAME_MAX = 64, MX_DPI_MESSAGE_MAX = 1024 };

typedef struct mx_dpi {
    char format[MX_DPI_NAME_MAX];
    char dialect[MX_DPI_NAME_MAX];
    char value_type[MX_DPI_NAME_MAX];
    char element[MX_DPI_NAME_MAX]; /* the types of a code and of a scale */
    char scale[MX_DPI_NAME_MAX];
    int block_size;
    int status;        /* of open */
    int has_number;    /* the dialect has one for the whole tensor ... */
    int number_is_set; /* ... and the testbench gave it */
    uint32_t number, kept;
    char message[MX_DPI_MESSAGE_MAX];
    char* text;      /* the last list or explanation */
    mx_tensor edges; /* of mx_oracle_edge_cases; data NULL until somebody asks */
} mx_dpi;

/* An array of a simulator: its words, as many as the type of its tensor has bytes for. */
typedef struct mx_dpi_array {
    union {
        uint8_t bytes[MX_DPI_ELEMENTS_MAX];
        uint16_t halves[MX_DPI_ELEMENTS_MAX];
        uint32_t words[MX_DPI_ELEMENTS_MAX];
    } data;
    int count;
    int width; /* bytes of an element */
} mx_dpi_array;

static int refuse(mx_dpi* oracle, int status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(oracle->message, sizeof oracle->message, format, arguments);
    va_end(arguments);
    return status;
}

static mx_message room_for_message(mx_dpi* oracle) {
    mx_message message;
    message.struct_size = sizeof message;
    message.text = oracle->message;
    message.capacity = sizeof oracle->message;
    oracle->message[0] = '\0';
    return message;
}

static int width_of(const char* type) {
    if (strcmp(type, "f32") == 0 || strcmp(type, "u32") == 0) return 4;
    return strcmp(type, "bf16") == 0 || strcmp(type, "f16") == 0 ? 2 : 1;
}

static uint32_t word_at(const mx_dpi_array* array, int index) {
    if (array->width == 4) return array->data.words[index];
    if (array->width == 2) return array->data.halves[index];
    return array->data.bytes[index];
}

static void set_word(mx_dpi_array* array, int index, uint32_t word) {
    if (array->width == 4)
        array->data.words[index] = word;
    else if (array->width == 2)
        array->data.halves[index] = (uint16_t)word;
    else
        array->data.bytes[index] = (uint8_t)word;
}

static mx_tensor row_of(const char* type, void* data, int columns) {
    mx_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.struct_size = sizeof tensor;
    tensor.data = data;
    tensor.type = type;
    tensor.place = "host";
    tensor.layout = "strided";
    tensor.rows = 1;
    tensor.columns = columns;
    tensor.row_stride = columns;
    tensor.column_stride = 1;
    return tensor;
}

static mx_operation operation_of(const mx_dpi* oracle, const char* name) {
    mx_operation operation;
    memset(&operation, 0, sizeof operation);
    operation.struct_size = sizeof operation;
    operation.name = name;
    operation.format = oracle->format;
    operation.dialect = oracle->dialect;
    operation.axis = "row";
    operation.block_size = oracle->block_size;
    return operation;
}

/* --- from the simulator and back --- */

/* A word of up to 32 bits; X and Z are refused, and so are bits that the type has no room for. */
static int read_word(mx_dpi* oracle, const char* what, const svLogicVecVal* value, int width,
                     uint32_t* word) {
    if (value->bval != 0)
        return refuse(oracle, MX_DPI_UNKNOWN, "%s has X or Z in the bits 0x%08x of 0x%08x", what,
                      (unsigned)value->bval, (unsigned)value->aval);
    *word = value->aval;
    if (width == 4 || value->aval >> (8 * width) == 0) return MX_OK;
    return refuse(oracle, MX_INVALID, "%s is 0x%08x, which has more than %d bits", what,
                  (unsigned)value->aval, 8 * width);
}

static int check_array(mx_dpi* oracle, const char* what, const svOpenArrayHandle from) {
    const int count = svDimensions(from) == 1 ? svSize(from, 1) : -1;
    if (count >= 1 && count <= MX_DPI_ELEMENTS_MAX) return MX_OK;
    return refuse(oracle, MX_INVALID, "%s is no array of one dimension and 1 to %d elements", what,
                  (int)MX_DPI_ELEMENTS_MAX);
}

/* The lowest index is that of the block's first element, in [0:31] and in [31:0] alike. */
static int index_in(const svOpenArrayHandle array, int place) {
    return svLeft(array, 1) <= svRight(array, 1) ? svLeft(array, 1) + place
                                                 : svRight(array, 1) + place;
}

static int read_array(mx_dpi* oracle, const char* what, const svOpenArrayHandle from,
                      const char* type, mx_dpi_array* array) {
    int i;
    int status = check_array(oracle, what, from);
    array->width = width_of(type);
    array->count = status == MX_OK ? svSize(from, 1) : 0;
    for (i = 0; i < array->count && status == MX_OK; ++i) {
        char name[MX_DPI_NAME_MAX];
        svLogicVecVal value;
        uint32_t word = 0;
        memset(&value, 0, sizeof value);
        svGetLogicArrElem1VecVal(&value, from, index_in(from, i));
        snprintf(name, sizeof name, "%s[%d]", what, index_in(from, i));
        status = read_word(oracle, name, &value, array->width, &word);
        set_word(array, i, word);
    }
    return status;
}

static int expect_count(mx_dpi* oracle, const char* what, const svOpenArrayHandle array,
                        int count) {
    const int status = check_array(oracle, what, array);
    if (status != MX_OK || svSize(array, 1) == count) return status;
    return refuse(oracle, MX_INVALID, "%s has %d elements; %d are needed", what, svSize(array, 1),
                  count);
}

static void write_array(const mx_dpi_array* from, const svOpenArrayHandle to) {
    int i;
    for (i = 0; i < from->count; ++i) {
        svLogicVecVal value;
        value.aval = word_at(from, i);
        value.bval = 0;
        svPutLogicArrElem1VecVal(to, &value, index_in(to, i));
    }
}

static void write_word(uint32_t word, svLogicVecVal* to) {
    to->aval = word;
    to->bval = 0;
}

/* --- opening --- */

/* The text that the next member called `key` holds, copied to `value`; where the text ends, or NULL
 * where there is no such member, or none that is a short text. */
static const char* next_member(const char* json, const char* key, char* value) {
    char quoted[MX_DPI_NAME_MAX];
    size_t length;
    const char* at;
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    at = strstr(json, quoted);
    if (at == NULL) return NULL;
    at += strlen(quoted);
    at += strspn(at, " :\n");
    if (*at != '"') return NULL;
    length = strcspn(at + 1, "\"");
    if (length >= MX_DPI_NAME_MAX) return NULL;
    memcpy(value, at + 1, length);
    value[length] = '\0';
    return at + 1 + length;
}

/* What follows the name in the object of that name; NULL where there is none. */
static const char* object_named(const char* list, const char* name) {
    char each[MX_DPI_NAME_MAX];
    while ((list = next_member(list, "name", each)) != NULL)
        if (strcmp(each, name) == 0) return list;
    return NULL;
}

/* The types and the block of the format, as the library lists them. */
static int find_format(mx_dpi* oracle) {
    char* list = NULL;
    char block[MX_DPI_NAME_MAX] = "";
    const char* object;
    mx_message message = room_for_message(oracle);
    const int status = (int)mx_oracle_list("formats", &list, &message);
    int found, rows = 0;
    if (status != MX_OK) return status;
    object = object_named(list, oracle->format);
    found = object != NULL && next_member(object, "element", oracle->element) != NULL &&
            next_member(object, "scale", oracle->scale) != NULL &&
            next_member(object, "block", block) != NULL;
    mx_oracle_free(list);
    if (!found)
        return refuse(oracle, MX_NOT_SUPPORTED, "there is no format \"%s\"", oracle->format);
    if (sscanf(block, "%dx%d", &rows, &oracle->block_size) == 2 && rows == 1 &&
        oracle->block_size <= MX_DPI_ELEMENTS_MAX)
        return MX_OK;
    return refuse(oracle, MX_NOT_SUPPORTED, "the blocks of %s are no rows: ask mx_oracle_run",
                  oracle->format);
}

/* Do the names go together, with or without a number for the tensor and random bits? */
static int check_dialect(mx_dpi* oracle) {
    int numbers, randoms, status = MX_OK;
    char first[MX_DPI_MESSAGE_MAX] = "";
    for (numbers = 0; numbers < 2; ++numbers)
        for (randoms = 0; randoms < 2; ++randoms) {
            mx_operation operation = operation_of(oracle, "quantize");
            mx_tensor inputs[3], outputs[3];
            size_t given = 0;
            mx_message message = room_for_message(oracle);
            inputs[given++] = row_of(oracle->value_type, NULL, oracle->block_size);
            if (numbers) inputs[given++] = row_of("f32", NULL, 1);
            if (randoms) inputs[given++] = row_of("u32", NULL, oracle->block_size);
            outputs[0] = row_of(oracle->element, NULL, oracle->block_size);
            outputs[1] = row_of(oracle->scale, NULL, 1);
            outputs[2] = row_of("f32", NULL, 1);
            operation.tensor_scale = numbers ? "given" : NULL;
            status = (int)mx_oracle_supports(&operation, inputs, given, outputs, numbers ? 3 : 2,
                                             NULL, &message);
            oracle->has_number = numbers;
            if (status == MX_OK) return MX_OK;
            if (first[0] == '\0') memcpy(first, oracle->message, sizeof first);
        }
    memcpy(oracle->message, first, sizeof first);
    return status == MX_INVALID ? MX_NOT_SUPPORTED : status;
}

static int keep_name(mx_dpi* oracle, char* to, const char* name) {
    if (name == NULL || strlen(name) >= MX_DPI_NAME_MAX || strpbrk(name, "\"\\") != NULL)
        return refuse(oracle, MX_NOT_SUPPORTED, "a name that is none");
    strcpy(to, name);
    return MX_OK;
}

void* mx_dpi_open(const char* format, const char* dialect, const char* value_type) {
    mx_dpi* oracle = (mx_dpi*)calloc(1, sizeof *oracle);
    mx_message message;
    if (oracle == NULL) return NULL;
    message = room_for_message(oracle);
    oracle->status = (int)mx_oracle_check(&message);
    if (oracle->status == MX_OK) oracle->status = keep_name(oracle, oracle->format, format);
    if (oracle->status == MX_OK) oracle->status = keep_name(oracle, oracle->dialect, dialect);
    if (oracle->status == MX_OK) oracle->status = keep_name(oracle, oracle->value_type, value_type);
    if (oracle->status == MX_OK) oracle->status = find_format(oracle);
    if (oracle->status == MX_OK) oracle->status = check_dialect(oracle);
    if (oracle->status == MX_OK) oracle->message[0] = '\0';
    return oracle;
}

void mx_dpi_close(void* handle) {
    mx_dpi* oracle = (mx_dpi*)handle;
    if (oracle == NULL) return;
    mx_oracle_free(oracle->text);
    mx_oracle_free(oracle->edges.data);
    free(oracle);
}

int mx_dpi_status(void* handle) {
    return handle == NULL ? MX_OUT_OF_MEMORY : ((mx_dpi*)handle)->status;
}

const char* mx_dpi_message(void* handle) {
    return handle == NULL ? "there is no oracle: mx_dpi_open found no memory, or was not called"
                          : ((mx_dpi*)handle)->message;
}

int mx_dpi_block_size(void* handle) {
    return mx_dpi_status(handle) == MX_OK ? ((mx_dpi*)handle)->block_size : 0;
}

/* --- blocks --- */

static int expect_block(mx_dpi* oracle, const mx_dpi_array* array) {
    if (array->count <= oracle->block_size) return MX_OK;
    return refuse(oracle, MX_INVALID, "%d elements; a block of %s has %d", array->count,
                  oracle->format, oracle->block_size);
}

static int expect_number(mx_dpi* oracle) {
    if (!oracle->has_number || oracle->number_is_set) return MX_OK;
    return refuse(oracle, MX_INVALID,
                  "%s has a number for the whole tensor: mx_dpi_set_tensor_number gives it",
                  oracle->dialect);
}

/* `random` may be NULL; the others are read, and their sizes right. */
static int run_quantize(mx_dpi* oracle, mx_dpi_array* values, mx_dpi_array* random,
                        mx_dpi_array* codes, uint32_t* scale) {
    mx_operation operation = operation_of(oracle, "quantize");
    mx_message message = room_for_message(oracle);
    mx_tensor inputs[3], outputs[3];
    size_t given = 0;
    union {
        uint8_t byte;
        uint32_t word;
    } stored = {0};
    int status;
    codes->count = values->count;
    codes->width = 1;
    inputs[given++] = row_of(oracle->value_type, &values->data, values->count);
    if (oracle->has_number) inputs[given++] = row_of("f32", &oracle->number, 1);
    if (random != NULL) inputs[given++] = row_of("u32", &random->data, random->count);
    outputs[0] = row_of(oracle->element, &codes->data, codes->count);
    outputs[1] = row_of(oracle->scale, &stored, 1);
    outputs[2] = row_of("f32", &oracle->kept, 1);
    operation.tensor_scale = oracle->has_number ? "given" : NULL;
    status = (int)mx_oracle_run(&operation, inputs, given, outputs, oracle->has_number ? 3 : 2,
                                NULL, &message);
    *scale = width_of(oracle->scale) == 4 ? stored.word : stored.byte;
    return status;
}

static int quantize(mx_dpi* oracle, const svOpenArrayHandle values, mx_dpi_array* random,
                    const svOpenArrayHandle codes, svLogicVecVal* scale) {
    mx_dpi_array read, written;
    uint32_t stored = 0;
    int status = read_array(oracle, "values", values, oracle->value_type, &read);
    if (status == MX_OK) status = expect_block(oracle, &read);
    if (status == MX_OK) status = expect_count(oracle, "codes", codes, read.count);
    if (status == MX_OK && random != NULL && random->count != read.count)
        status =
            refuse(oracle, MX_INVALID, "%d random words for %d values", random->count, read.count);
    if (status == MX_OK) status = expect_number(oracle);
    if (status == MX_OK) status = run_quantize(oracle, &read, random, &written, &stored);
    if (status != MX_OK) return status;
    write_array(&written, codes);
    write_word(stored, scale);
    return MX_OK;
}

int mx_dpi_quantize(void* handle, const svOpenArrayHandle values, const svOpenArrayHandle codes,
                    svLogicVecVal* scale) {
    if (mx_dpi_status(handle) != MX_OK) return mx_dpi_status(handle);
    return quantize((mx_dpi*)handle, values, NULL, codes, scale);
}

int mx_dpi_quantize_random(void* handle, const svOpenArrayHandle values,
                           const svOpenArrayHandle random, const svOpenArrayHandle codes,
                           svLogicVecVal* scale) {
    mx_dpi_array words;
    int status = mx_dpi_status(handle);
    if (status == MX_OK) status = read_array((mx_dpi*)handle, "random", random, "u32", &words);
    return status != MX_OK ? status : quantize((mx_dpi*)handle, values, &words, codes, scale);
}

int mx_dpi_set_tensor_number(void* handle, const svLogicVecVal* number) {
    mx_dpi* oracle = (mx_dpi*)handle;
    if (mx_dpi_status(handle) != MX_OK) return mx_dpi_status(handle);
    if (!oracle->has_number)
        return refuse(oracle, MX_INVALID, "%s has no number for the whole tensor", oracle->dialect);
    oracle->number_is_set = 0;
    if (read_word(oracle, "number", number, 4, &oracle->number) != MX_OK) return MX_DPI_UNKNOWN;
    oracle->number_is_set = 1;
    oracle->kept = 0;
    return MX_OK;
}

int mx_dpi_kept_number(void* handle, svLogicVecVal* number) {
    mx_dpi* oracle = (mx_dpi*)handle;
    if (mx_dpi_status(handle) != MX_OK) return mx_dpi_status(handle);
    if (!oracle->has_number || !oracle->number_is_set)
        return refuse(oracle, MX_INVALID, "no number was given, so that none is kept");
    write_word(oracle->kept, number);
    return MX_OK;
}

static int run_dequantize(mx_dpi* oracle, mx_dpi_array* codes, uint32_t scale,
                          mx_dpi_array* values) {
    mx_operation operation = operation_of(oracle, "dequantize");
    mx_message message = room_for_message(oracle);
    const uint8_t scale_byte = (uint8_t)scale;
    const int is_word = width_of(oracle->scale) == 4;
    mx_tensor inputs[3], output;
    values->count = codes->count;
    values->width = width_of(oracle->value_type);
    inputs[0] = row_of(oracle->element, &codes->data, codes->count);
    inputs[1] = row_of(oracle->scale, is_word ? (void*)&scale : (void*)&scale_byte, 1);
    inputs[2] = row_of("f32", &oracle->kept, 1);
    output = row_of(oracle->value_type, &values->data, values->count);
    operation.tensor_scale = oracle->has_number ? "given" : NULL;
    return (int)mx_oracle_run(&operation, inputs, oracle->has_number ? 3 : 2, &output, 1, NULL,
                              &message);
}

int mx_dpi_dequantize(void* handle, const svOpenArrayHandle codes, const svLogicVecVal* scale,
                      const svOpenArrayHandle values) {
    mx_dpi* oracle = (mx_dpi*)handle;
    mx_dpi_array read, written;
    uint32_t word = 0;
    int status = mx_dpi_status(handle);
    if (status == MX_OK) status = read_array(oracle, "codes", codes, oracle->element, &read);
    if (status == MX_OK) status = expect_block(oracle, &read);
    if (status == MX_OK) status = expect_count(oracle, "values", values, read.count);
    if (status == MX_OK) status = read_word(oracle, "scale", scale, width_of(oracle->scale), &word);
    if (status == MX_OK) status = expect_number(oracle);
    if (status == MX_OK) status = run_dequantize(oracle, &read, word, &written);
    if (status != MX_OK) return status;
    write_array(&written, values);
    return MX_OK;
}

/* --- one value, and a sum --- */

int mx_dpi_round(void* handle, const char* rounding, const char* overflow,
                 const svLogicVecVal* value, const svLogicVecVal* random, svLogicVecVal* code) {
    mx_dpi* oracle = (mx_dpi*)handle;
    const int is_stochastic = rounding != NULL && strncmp(rounding, "stochastic", 10) == 0;
    mx_dpi_array read;
    uint32_t word = 0, bits = 0;
    uint8_t rounded = 0;
    mx_operation operation;
    mx_tensor inputs[2], output;
    mx_message message;
    int status = mx_dpi_status(handle);
    if (status != MX_OK) return status;
    read.width = width_of(oracle->value_type);
    status = read_word(oracle, "value", value, read.width, &word);
    if (status == MX_OK && is_stochastic) status = read_word(oracle, "random", random, 4, &bits);
    if (status != MX_OK) return status;
    set_word(&read, 0, word);
    inputs[0] = row_of(oracle->value_type, &read.data, 1);
    inputs[1] = row_of("u32", &bits, 1);
    output = row_of(oracle->element, &rounded, 1);
    memset(&operation, 0, sizeof operation);
    operation.struct_size = sizeof operation;
    operation.name = "convert";
    operation.format = oracle->element;
    operation.dialect = oracle->dialect;
    operation.rounding = rounding;
    operation.overflow = overflow;
    operation.subnormals = "honoured";
    message = room_for_message(oracle);
    status =
        (int)mx_oracle_run(&operation, inputs, is_stochastic ? 2 : 1, &output, 1, NULL, &message);
    if (status == MX_OK) write_word(rounded, code);
    return status;
}

/* How mx_gemm calls the scales of the format's blocks. */
static const char* scaling_of(const mx_dpi* oracle) {
    if (strcmp(oracle->scale, "e8m0") == 0 && oracle->block_size == 32) return "1x32";
    if (strcmp(oracle->scale, "ue4m3") == 0 && oracle->block_size == 16) return "1x16";
    if (strcmp(oracle->scale, "f32") == 0 && oracle->block_size == 128) return "1x128";
    return NULL;
}

/* A factor of a product: its codes, and its scales, one for each block. Errors are `teller`'s. */
static int read_factor(mx_dpi* teller, const mx_dpi* oracle, const svOpenArrayHandle codes,
                       const svOpenArrayHandle scales, mx_dpi_array* both) {
    int status = read_array(teller, "codes", codes, oracle->element, &both[0]);
    if (status == MX_OK) status = read_array(teller, "scales", scales, oracle->scale, &both[1]);
    if (status == MX_OK && scaling_of(oracle) == NULL)
        status = refuse(teller, MX_NOT_SUPPORTED, "no product takes factors of %s", oracle->format);
    if (status != MX_OK) return status;
    if (both[1].count == (both[0].count + oracle->block_size - 1) / oracle->block_size)
        return MX_OK;
    return refuse(teller, MX_INVALID, "%d scales for %d codes in blocks of %d", both[1].count,
                  both[0].count, oracle->block_size);
}

static int run_dot(mx_dpi* a, const mx_dpi* b, const char* model, mx_dpi_array* factors,
                   uint32_t* result) {
    mx_operation operation;
    mx_gemm gemm;
    mx_oracle_options options;
    mx_message message = room_for_message(a);
    mx_tensor inputs[4], output;
    mx_dpi_array sum;
    int status;
    inputs[0] = row_of(a->element, &factors[0].data, factors[0].count);
    inputs[1] = row_of(a->scale, &factors[1].data, factors[1].count);
    inputs[2] = row_of(b->element, &factors[2].data, factors[2].count);
    inputs[3] = row_of(b->scale, &factors[3].data, factors[3].count);
    sum.width = width_of(a->value_type);
    output = row_of(a->value_type, &sum.data, 1);
    memset(&operation, 0, sizeof operation);
    memset(&gemm, 0, sizeof gemm);
    memset(&options, 0, sizeof options);
    operation.struct_size = sizeof operation;
    operation.name = "gemm";
    operation.gemm = &gemm;
    gemm.struct_size = sizeof gemm;
    gemm.batches = 1;
    gemm.alpha = 0x3F800000u; /* 1 */
    gemm.scaling_a = scaling_of(a);
    gemm.scaling_b = scaling_of(b);
    options.struct_size = sizeof options;
    options.model = model;
    status = (int)mx_oracle_run(&operation, inputs, 4, &output, 1, &options, &message);
    if (status == MX_OK) *result = word_at(&sum, 0);
    return status;
}

int mx_dpi_dot(void* handle_a, void* handle_b, const char* model, const svOpenArrayHandle a_codes,
               const svOpenArrayHandle a_scales, const svOpenArrayHandle b_codes,
               const svOpenArrayHandle b_scales, svLogicVecVal* result) {
    mx_dpi *a = (mx_dpi*)handle_a, *b = (mx_dpi*)handle_b;
    mx_dpi_array factors[4]; /* codes and scales of each */
    uint32_t sum = 0;
    int status = mx_dpi_status(handle_a);
    if (status == MX_OK) status = mx_dpi_status(handle_b);
    if (status == MX_OK) status = read_factor(a, a, a_codes, a_scales, &factors[0]);
    if (status == MX_OK) status = read_factor(a, b, b_codes, b_scales, &factors[2]);
    if (status == MX_OK && factors[0].count != factors[2].count)
        status = refuse(a, MX_INVALID, "%d codes times %d", factors[0].count, factors[2].count);
    if (status == MX_OK) status = run_dot(a, b, model, factors, &sum);
    if (status == MX_OK) write_word(sum, result);
    return status;
}

/* --- what is worth trying, and texts --- */

static int find_edges(mx_dpi* oracle) {
    mx_message message = room_for_message(oracle);
    if (oracle->edges.data != NULL) return MX_OK;
    oracle->edges.struct_size = sizeof oracle->edges;
    return (int)mx_oracle_edge_cases(oracle->format, oracle->dialect, oracle->value_type, NULL,
                                     &oracle->edges, &message);
}

int mx_dpi_edge_count(void* handle) {
    if (mx_dpi_status(handle) != MX_OK || find_edges((mx_dpi*)handle) != MX_OK) return 0;
    return (int)((mx_dpi*)handle)->edges.rows;
}

int mx_dpi_edge_block(void* handle, int index, const svOpenArrayHandle values) {
    mx_dpi* oracle = (mx_dpi*)handle;
    mx_dpi_array row;
    size_t width;
    int status = mx_dpi_status(handle);
    if (status == MX_OK) status = find_edges(oracle);
    if (status != MX_OK) return status;
    row.count = (int)oracle->edges.columns;
    row.width = width_of(oracle->value_type);
    if (index < 0 || index >= oracle->edges.rows)
        return refuse(oracle, MX_INVALID, "there is no border block %d; %d are there", index,
                      (int)oracle->edges.rows);
    status = expect_count(oracle, "values", values, row.count);
    if (status != MX_OK) return status;
    width = (size_t)row.width;
    memcpy(
        &row.data,
        (const char*)oracle->edges.data + (size_t)index * width * (size_t)oracle->edges.row_stride,
        width * (size_t)row.count);
    write_array(&row, values);
    return MX_OK;
}

const char* mx_dpi_explain(void* handle, const svOpenArrayHandle values) {
    enum { EXPLAINED_MAX = 32, VALUE_MAX = 24 };
    mx_dpi* oracle = (mx_dpi*)handle;
    char texts[EXPLAINED_MAX * VALUE_MAX] = "";
    mx_oracle_block block;
    mx_message message;
    mx_dpi_array read;
    int i, at = 0;
    if (mx_dpi_status(handle) != MX_OK) return mx_dpi_message(handle);
    if (read_array(oracle, "values", values, oracle->value_type, &read) != MX_OK)
        return oracle->message;
    for (i = 0; i < read.count && i < EXPLAINED_MAX; ++i)
        at += snprintf(texts + at, VALUE_MAX, "%sbits:0x%0*x", i == 0 ? "" : ",", 2 * read.width,
                       (unsigned)word_at(&read, i));
    block.struct_size = sizeof block;
    block.format = oracle->format;
    block.dialect = oracle->dialect;
    block.type = oracle->value_type;
    block.values = texts;
    mx_oracle_free(oracle->text);
    oracle->text = NULL;
    message = room_for_message(oracle);
    return mx_oracle_explain(&block, &oracle->text, &message) == MX_OK ? oracle->text
                                                                       : oracle->message;
}

const char* mx_dpi_list(void* handle, const char* what) {
    mx_dpi* oracle = (mx_dpi*)handle;
    mx_message message;
    if (oracle == NULL) return mx_dpi_message(handle);
    mx_oracle_free(oracle->text);
    oracle->text = NULL;
    message = room_for_message(oracle);
    return mx_oracle_list(what, &oracle->text, &message) == MX_OK ? oracle->text : oracle->message;
}

#ifdef __cplusplus
}
#endif
