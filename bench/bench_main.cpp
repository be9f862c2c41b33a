// mxcheck_bench: Google Benchmark's own options, and --ratios for the table of ratios alone.
// --gemm-ratios for that of the exact GEMM. Without them the first table follows the benchmarks,
// unless a filter chose some. Exit code 1 when a table misses a goal.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "bench/bench_device.hpp"
#include "bench/gemm_ratios.hpp"
#include "bench/ratios.hpp"
#include "device/cpu/cpu_device.hpp"

int main(int argc, char** argv) {
    bool chosen = false;
    for (int i = 1; i < argc; ++i) {
        chosen |= std::string_view(argv[i]).starts_with("--benchmark_filter");
        if (std::string_view(argv[i]) == "--ratios") return mx::bench::print_ratios() == 0 ? 0 : 1;
        if (std::string_view(argv[i]) == "--gemm-ratios")
            return mx::bench::print_gemm_ratios() == 0 ? 0 : 1;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::AddCustomContext("best_target", std::string(mx::cpu::cpu_targets().front()));
    mx::bench::register_limit_benchmarks();
    mx::bench::register_device_benchmarks();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    if (!chosen) mx::bench::print_ratios();
    return 0;
}
