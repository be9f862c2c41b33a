/* libmxcheck as a plug-in, in plain C: every case of a suite goes through the installed functions
 * and must come back clean. "wrong=1" flips one bit of each answer, which must be seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/library/mx_oracle.h"

static mx_status say(mx_status status, mx_message* message, const char* sentence) {
    if (message != NULL && message->text != NULL && message->capacity > 0)
        snprintf(message->text, message->capacity, "%s", sentence);
    return status;
}

static mx_status open_configured(void** device, const char* configuration, mx_message* message) {
    if (strcmp(configuration, "wrong=1") != 0)
        return say(MX_INVALID, message, "there is nothing to configure but wrong=1");
    *device = malloc(1);
    return *device == NULL ? MX_OUT_OF_MEMORY : MX_OK;
}

static mx_status open_right(void** device, mx_message* message) {
    *device = NULL;
    return mx_oracle_check(message);
}

static void close_device(void* device) {
    free(device);
}

static size_t describe(void* device, const mx_fact** facts) {
    static const mx_fact known[] = {{"name", "libmxcheck"}, {"vendor", "mxcheck"}};
    (void)device;
    *facts = known;
    return sizeof known / sizeof known[0];
}

static mx_status supports(void* device, const mx_operation* operation, const mx_tensor* inputs,
                          size_t input_count, const mx_tensor* outputs, size_t output_count,
                          mx_message* message) {
    (void)device;
    return mx_oracle_supports(operation, inputs, input_count, outputs, output_count, NULL, message);
}

static mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
                     size_t input_count, const mx_tensor* outputs, size_t output_count,
                     mx_message* message) {
    const mx_status status =
        mx_oracle_run(operation, inputs, input_count, outputs, output_count, NULL, message);
    if (device != NULL && status == MX_OK && outputs->rows > 0 && outputs->columns > 0)
        *(unsigned char*)outputs->data ^= 1u;
    return status;
}

const mx_device_api* mx_device_get_api(uint32_t host_abi_version) {
    static const mx_device_api api = {sizeof(mx_device_api),
                                      MX_DEVICE_ABI_VERSION,
                                      open_right,
                                      close_device,
                                      describe,
                                      supports,
                                      run,
                                      NULL,
                                      open_configured};
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &api : NULL;
}
