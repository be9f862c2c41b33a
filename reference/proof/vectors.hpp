// One loop, compiled for several instruction sets: the loader picks the best that the CPU has.
#pragma once

// The sanitizers' start-up and a choice by the loader do not go together.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MX_WIDEST_VECTORS __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define MX_WIDEST_VECTORS
#endif
