/* Asks the installed library for the bits of one block, as C. Built by consumer_test from the
 * package alone, once through CMake and once through pkg-config; ends with 1 when a bit is wrong.
 */
#include <mx_oracle.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    float values[] = {448.0f, -1.0f, 0.0f};
    unsigned char codes[3], scale = 0;
    char text[500] = "";
    mx_message message = {sizeof message, text, sizeof text};
    const mx_tensor input = {sizeof input, values, "f32", "host", "strided", 1, 3, 3, 1};
    const mx_tensor outputs[] = {{sizeof input, codes, "e4m3", "host", "strided", 1, 3, 3, 1},
                                 {sizeof input, &scale, "e8m0", "host", "strided", 1, 1, 1, 1}};
    mx_operation quantize;
    memset(&quantize, 0, sizeof quantize);
    quantize.struct_size = sizeof quantize;
    quantize.name = "quantize";
    quantize.format = "mxfp8-e4m3";
    quantize.dialect = "ocp";
    quantize.axis = "row";
    quantize.block_size = 32;
    if (mx_oracle_version() != MX_ORACLE_VERSION ||
        mx_oracle_run(&quantize, &input, 1, outputs, 2, NULL, &message) != MX_OK) {
        printf("%s\n", text);
        return 1;
    }
    return codes[0] == 0x7E && codes[1] == 0xB8 && codes[2] == 0x00 && scale == 127 ? 0 : 1;
}
