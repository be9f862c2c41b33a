// Registration of the device benchmarks. Used by bench_main.
#pragma once

namespace mx::bench {

void register_device_benchmarks();
void register_limit_benchmarks();

}  // namespace mx::bench
