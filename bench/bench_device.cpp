// Google Benchmark entries: the device in each type, axis and size, and the limits beside it.
// Must not know how the device computes.
#include "bench/bench_device.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "bench/device_calls.hpp"
#include "bench/limits.hpp"
#include "device/cpu/cpu_device.hpp"

namespace mx::bench {
namespace {

constexpr std::int64_t columns = 4096;
constexpr std::int64_t sizes[] = {16, 4096};  // rows

void run_device(benchmark::State& state, const CallSpec& spec, const std::string& target) {
    cpu::set_cpu_target(target);
    DeviceCall call(spec);
    for (auto _ : state) call.run();
    const auto values = static_cast<std::int64_t>(call.values());
    state.SetItemsProcessed(state.iterations() * values);
    cpu::set_cpu_target("best");
}

void add(const CallSpec& spec, const std::string& target) {
    const char* data = spec.data == Data::realistic     ? "realistic"
                       : spec.data == Data::random_bits ? "random_bits"
                                                        : "subnormals";
    const std::string name = spec.operation + "/" + spec.value_type + "/" + spec.format + "/" +
                             spec.dialect + "/" + spec.axis + "/" + std::to_string(spec.rows) +
                             "x" + std::to_string(spec.columns) + "/" + data + "/" + target;
    benchmark::RegisterBenchmark(
        name.c_str(), [spec, target](benchmark::State& state) { run_device(state, spec, target); });
}

void add_types_and_axes(const std::string& operation, const std::string& target) {
    for (const std::int64_t rows : sizes) {
        for (const char* type : {"f32", "bf16", "f16"}) {
            for (const char* axis : {"row", "col"}) {
                CallSpec spec;
                spec.operation = operation;
                spec.value_type = type;
                spec.axis = axis;
                spec.rows = std::max<std::int64_t>(rows, 32);
                spec.columns = columns;
                add(spec, target);
            }
        }
    }
}

void add_dialects_and_data(const std::string& target) {
    for (const char* dialect :
         {"ocp", "nv", "torchao-floor", "torchao-ceil", "torchao-even", "torchao-rceil"}) {
        for (const Data data : {Data::realistic, Data::random_bits, Data::subnormals}) {
            CallSpec spec;
            spec.operation = "quantize";
            spec.format = "mxfp8-e5m2";
            spec.dialect = dialect;
            spec.rows = sizes[0];
            spec.columns = columns;
            spec.data = data;
            add(spec, target);
        }
    }
}

void add_limit(const char* name, void (*loop)(const Traffic&)) {
    benchmark::RegisterBenchmark(name, [loop](benchmark::State& state) {
        Buffer in(static_cast<std::size_t>(4 * sizes[1] * columns));
        Buffer out(in.size());
        fill(in.words(), Data::realistic);
        const Traffic traffic{in.data(), out.data(), in.words().size()};
        for (auto _ : state) loop(traffic);
        state.SetItemsProcessed(state.iterations() * sizes[1] * columns);
    });
}

}  // namespace

void register_device_benchmarks() {
    for (const std::string_view name : cpu::cpu_targets()) {
        const std::string target(name);
        add_types_and_axes("quantize", target);
        add_types_and_axes("dequantize", target);
        add_dialects_and_data(target);
    }
}

void register_limit_benchmarks() {
    add_limit("limit/read4_write1/64MB", read4_write1);
    add_limit("limit/read4_write1_streaming/64MB", read4_write1_streaming);
    add_limit("limit/read1_write4_streaming/64MB", read1_write4_streaming);
    add_limit("limit/write4/64MB", write4);
    add_limit("limit/read4/64MB", read4);
}

}  // namespace mx::bench
