// The table of ratios to measured limits, with the project's goals. Used by bench_main.
#pragma once

namespace mx::bench {

// Measures and prints; returns how many goals were missed.
int print_ratios();

}  // namespace mx::bench
