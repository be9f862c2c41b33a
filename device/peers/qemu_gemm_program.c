/* Dot products of FP8 by Arm's instructions, for a machine or an emulator that has them:
 *
 *     qemu_gemm_program fdot4|fmlall|fdot2|fmlal e4m3|e5m2 e4m3|e5m2 DEPTH
 *
 * FDOT of four and FMLALL sum to binary32, FDOT of two and FMLAL to binary16. On standard input
 * come DEPTH codes of A and as many of B for each product, on standard output goes its sum, in four
 * bytes.
 * Instructions are words, for assemblers that do not know them yet. Nothing is scaled by FPMR, what
 * is beyond the range is an infinity, and FPCR is as a program finds it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step {
    uint8_t a[16], b[16];
    uint32_t sum[4];
    uint32_t count; /* of the products that are there; the others are of +0 */
};

/* The three registers are V0 (the sum), V1 and V2. */
#define ON_REGISTERS(step, words)                                                              \
    __asm__ volatile("ldr q0, [%0]\n\tldr q1, [%1]\n\tldr q2, [%2]\n\t" words "str q0, [%0]\n" \
                     :                                                                         \
                     : "r"((step)->sum), "r"((step)->a), "r"((step)->b)                        \
                     : "v0", "v1", "v2", "memory")

static void fdot4(struct step* step) {
    ON_REGISTERS(step, ".inst 0x4e02fc20\n\t"); /* fdot v0.4s, v1.16b, v2.16b */
}
static void fdot2(struct step* step) {
    ON_REGISTERS(step, ".inst 0x4e42fc20\n\t"); /* fdot v0.8h, v1.16b, v2.16b */
}
static void fmlal(struct step* step) {
    ON_REGISTERS(step, ".inst 0x0ec2fc20\n\t"); /* fmlalb v0.8h, v1.16b, v2.16b */
    if (step->count == 1) return;
    ON_REGISTERS(step, ".inst 0x4ec2fc20\n\t"); /* fmlalt */
}
static void fmlall(struct step* step) {
    ON_REGISTERS(step,
                 ".inst 0x0e02c420\n\t"   /* fmlallbb v0.4s, v1.16b, v2.16b */
                 ".inst 0x0e42c420\n\t"   /* fmlallbt */
                 ".inst 0x4e02c420\n\t"   /* fmlalltb */
                 ".inst 0x4e42c420\n\t"); /* fmlalltt */
}

struct instruction {
    const char* name;
    uint32_t products, sum_bits;
    void (*take)(struct step*);
};
static const struct instruction instructions[] = {{"fdot4", 4, 32, fdot4},
                                                  {"fmlall", 4, 32, fmlall},
                                                  {"fdot2", 2, 16, fdot2},
                                                  {"fmlal", 2, 16, fmlal}};

static void set_formats(const char* a, const char* b) {
    const uint64_t fpmr = (strcmp(a, "e4m3") == 0 ? 1u : 0u) | (strcmp(b, "e4m3") == 0 ? 8u : 0u);
    __asm__ volatile("msr S3_3_C4_C4_2, %0" : : "r"(fpmr));
}

static uint32_t dot(const struct instruction* known, const uint8_t* codes, uint32_t depth) {
    struct step step;
    memset(&step, 0, sizeof step);
    for (uint32_t k = 0; k < depth; k += known->products) {
        step.count = depth - k < known->products ? depth - k : known->products;
        memset(step.a, 0, sizeof step.a);
        memset(step.b, 0, sizeof step.b);
        memcpy(step.a, codes + k, step.count);
        memcpy(step.b, codes + depth + k, step.count);
        known->take(&step);
    }
    return known->sum_bits == 16 ? step.sum[0] & 0xFFFF : step.sum[0];
}

int main(int argc, char** argv) {
    const struct instruction* known = instructions;
    if (argc != 5) return 2;
    while (strcmp(known->name, argv[1]) != 0)
        if (++known == instructions + 4) return 2;
    set_formats(argv[2], argv[3]);
    const uint32_t depth = (uint32_t)strtoul(argv[4], NULL, 10);
    uint8_t* codes = malloc(2 * (size_t)depth + 1);
    if (codes == NULL) return 3;
    if (depth == 0) return 2; /* nothing to read would never end */
    while (fread(codes, 1, 2 * (size_t)depth, stdin) == 2 * (size_t)depth) {
        const uint32_t sum = dot(known, codes, depth);
        if (fwrite(&sum, 4, 1, stdout) != 1) return 3;
    }
    free(codes);
    return 0;
}
