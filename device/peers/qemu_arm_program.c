/* Arm's conversions to and from FP8 (FEAT_FP8), for a machine or an emulator that has them:
 *
 *     qemu_arm_program e4m3|e5m2 f32|f16|bf16 saturate|overflow    values on stdin, codes on stdout
 *     qemu_arm_program back e4m3|e5m2 f16|bf16                     codes on stdin, values on stdout
 *     qemu_arm_program runs e4m3|e5m2 f32|f16|bf16 saturate|overflow
 *
 * The last prints a line "0xfirst 0xlast 0xcode" for each run of input codes with one result, all
 * codes in ascending order. Instructions are words, for assemblers that do not know them yet. The
 * scale in FPMR is 0, and FPCR is as a program finds it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { group = 16 };

static void set_fpmr(uint64_t bits) {
    __asm__ volatile("msr S3_3_C4_C4_2, %0" ::"r"(bits));
}

static void from_f16(const void* values, uint8_t* codes) {
    __asm__ volatile(
        "ldp q0, q1, [%0]\n"
        ".inst 0x4e41f402\n" /* fcvtn v2.16b, v0.8h, v1.8h */
        "str q2, [%1]" ::"r"(values),
        "r"(codes)
        : "v0", "v1", "v2", "memory");
}

static void from_f32(const void* values, uint8_t* codes) {
    __asm__ volatile(
        "ldp q0, q1, [%0]\n"
        "ldp q3, q4, [%0, #32]\n"
        ".inst 0x0e01f402\n" /* fcvtn v2.8b, v0.4s, v1.4s */
        ".inst 0x4e04f462\n" /* fcvtn2 v2.16b, v3.4s, v4.4s */
        "str q2, [%1]" ::"r"(values),
        "r"(codes)
        : "v0", "v1", "v2", "v3", "v4", "memory");
}

/* Its results take turns: the even ones are of z0, the odd ones of z1. */
static void from_bf16(const void* values, uint8_t* codes) {
    __asm__ volatile(
        "ld2 {v0.8h, v1.8h}, [%0]\n"
        ".inst 0x650a3802\n" /* bfcvtn z2.b, {z0.h, z1.h} */
        "str q2, [%1]" ::"r"(values),
        "r"(codes)
        : "v0", "v1", "v2", "memory");
}

static void to_f16(const uint8_t* codes, void* values) {
    __asm__ volatile(
        "ldr q0, [%0]\n"
        ".inst 0x2e217801\n" /* f1cvtl v1.8h, v0.8b */
        ".inst 0x6e217802\n" /* f1cvtl2 v2.8h, v0.16b */
        "stp q1, q2, [%1]" ::"r"(codes),
        "r"(values)
        : "v0", "v1", "v2", "memory");
}

static void to_bf16(const uint8_t* codes, void* values) {
    __asm__ volatile(
        "ldr q0, [%0]\n"
        ".inst 0x2ea17801\n" /* bf1cvtl v1.8h, v0.8b */
        ".inst 0x6ea17802\n" /* bf1cvtl2 v2.8h, v0.16b */
        "stp q1, q2, [%1]" ::"r"(codes),
        "r"(values)
        : "v0", "v1", "v2", "memory");
}

typedef void (*narrow)(const void* values, uint8_t* codes);
typedef void (*widen)(const uint8_t* codes, void* values);

static narrow narrow_of(const char* type) {
    return !strcmp(type, "f32") ? from_f32 : !strcmp(type, "f16") ? from_f16 : from_bf16;
}
static size_t width_of(const char* type) {
    return strcmp(type, "f32") == 0 ? 4 : 2;
}
static uint64_t number_of(const char* format) {
    return strcmp(format, "e4m3") == 0;
}

static void convert_all(narrow convert, size_t width) {
    uint8_t values[4 * group] = {0}, codes[group];
    for (size_t read; (read = fread(values, width, group, stdin)) > 0;) {
        convert(values, codes);
        if (fwrite(codes, 1, read, stdout) != read) exit(3);
    }
}

static void widen_all(widen convert) {
    uint8_t codes[group] = {0}, values[2 * group];
    for (size_t read; (read = fread(codes, 1, group, stdin)) > 0;) {
        convert(codes, values);
        if (fwrite(values, 2, read, stdout) != read) exit(3);
    }
}

static void print_runs(narrow convert, size_t width) {
    const uint64_t end = (uint64_t)1 << (8 * width);
    uint64_t first = 0;
    int now = -1;
    for (uint64_t code = 0; code < end; code += group) {
        uint8_t values[4 * group], codes[group];
        for (uint32_t i = 0; i < group; ++i) {
            const uint32_t value = (uint32_t)code + i;
            memcpy(values + i * width, &value, width);
        }
        convert(values, codes);
        for (uint32_t i = 0; i < group; ++i) {
            if (codes[i] == now) continue;
            if (now >= 0)
                printf("0x%llx 0x%llx 0x%x\n", (unsigned long long)first,
                       (unsigned long long)(code + i - 1), now);
            first = code + i;
            now = codes[i];
        }
    }
    printf("0x%llx 0x%llx 0x%x\n", (unsigned long long)first, (unsigned long long)(end - 1), now);
}

int main(int count, char** words) {
    if (count != 4 && count != 5) return 2;
    if (strcmp(words[1], "back") == 0) {
        set_fpmr(number_of(words[2])); /* F8S1 */
        widen_all(strcmp(words[3], "f16") == 0 ? to_f16 : to_bf16);
        return 0;
    }
    const int prints = strcmp(words[1], "runs") == 0;
    char** asked = words + 1 + prints;
    if (count != 4 + prints) return 2;
    const uint64_t saturates = strcmp(asked[2], "saturate") == 0;
    set_fpmr(number_of(asked[0]) << 6 | saturates << 15); /* F8D, OSC */
    (prints ? print_runs : convert_all)(narrow_of(asked[1]), width_of(asked[1]));
    return 0;
}
