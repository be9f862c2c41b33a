// The exact GEMM against single-precision GEMM and against the plain exact loop. Used by
// bench_main.
#pragma once

namespace mx::bench {

// Measures and prints; returns how many goals were missed.
int print_gemm_ratios();

}  // namespace mx::bench
