// ratios.hpp. A kernel and its limit take turns in one loop, so that what else the machine does, or
// its clock, meets both; what is compared are medians of the thread's own processor time.
#include "bench/ratios.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/device_calls.hpp"
#include "bench/limits.hpp"
#include "bench/peer_scalar.hpp"
#include "bench/thread_time.hpp"
#include "device/cpu/cpu_device.hpp"
#include "reference/proof/interval_table.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::bench {
namespace {

constexpr std::int64_t large_rows = 4096;  // of 4096 float32 columns: 64 MB
constexpr std::int64_t small_rows = 16;    // 256 KB

struct Loop {
    std::string target;  // instruction set to run it on
    std::function<void()> body;
};

// Seconds for one round of each loop. Small loops repeat until a round takes a millisecond or so.
std::vector<double> interleaved(const std::vector<Loop>& loops, int repeats) {
    constexpr int rounds = 25;
    std::vector<std::vector<double>> samples(loops.size());
    for (int round = -1; round < rounds; ++round) {
        for (std::size_t i = 0; i < loops.size(); ++i) {
            cpu::set_cpu_target(loops[i].target);
            const double start = seconds_now();
            for (int j = 0; j < repeats; ++j) loops[i].body();
            // The first round only warms up caches and pages.
            if (round >= 0) samples[i].push_back((seconds_now() - start) / repeats);
        }
    }
    cpu::set_cpu_target("best");
    std::vector<double> medians;
    for (const auto& of_loop : samples) medians.push_back(median(of_loop));
    return medians;
}

class Table {
public:
    struct Row {
        std::string what;
        double values;
        double seconds;
        std::string limit;
        double limit_seconds;
        double goal;  // 0: none
    };

    Table() {
        std::printf("%-46s %9s  %-32s %9s %7s %6s\n", "measured", "Gvalue/s", "against", "Gvalue/s",
                    "ratio", "goal");
    }
    void add(const Row& row) {
        const double ratio = row.limit_seconds / row.seconds;
        std::printf("%-46s %9.3f  %-32s %9.3f %7.2f ", row.what.c_str(),
                    1e-9 * row.values / row.seconds, row.limit.c_str(),
                    1e-9 * row.values / row.limit_seconds, ratio);
        if (row.goal == 0) {
            std::printf("%6s\n", "-");
            return;
        }
        const bool met = ratio >= row.goal;
        if (!met) ++missed_;
        std::printf("%6.2f %s\n", row.goal, met ? "met" : "MISSED");
    }
    int missed() const { return missed_; }

private:
    int missed_ = 0;
};

std::vector<std::string> vector_targets() {
    std::vector<std::string> targets;
    for (const std::string_view target : cpu::cpu_targets())
        if (target != "SCALAR") targets.emplace_back(target);
    return targets;
}

double quantize_goal(std::string_view target) {
    if (target == "AVX3" || target == "AVX3_DL") return 0.90;
    return target == "AVX2" ? 0.70 : 0;
}

CallSpec spec_of(std::string operation, std::int64_t rows, Data data) {
    CallSpec spec;
    spec.operation = std::move(operation);
    spec.rows = rows;
    spec.columns = 4096;
    spec.data = data;
    return spec;
}

// Each pair of loops alone: a third one would leave the caches in a state that favours one of them.
void add_pair(Table& table, const Table::Row& row, const Loop& kernel, const Loop& limit) {
    const int repeats = row.values < 1e6 ? 30 : 1;
    const std::vector<double> seconds = interleaved({kernel, limit}, repeats);
    Table::Row measured = row;
    measured.seconds = seconds[0];
    measured.limit_seconds = seconds[1];
    table.add(measured);
}

void add_large_quantize(Table& table) {
    DeviceCall call(spec_of("quantize", large_rows, Data::realistic));
    const Traffic traffic{call.value_buffer().data(), call.code_buffer().data(),
                          static_cast<std::size_t>(call.values())};
    const PeerJob peer{reinterpret_cast<const float*>(call.value_buffer().data()),
                       call.code_buffer().data(), call.scale_buffer().data(), traffic.values / 32};
    for (const std::string& target : vector_targets()) {
        const std::string what = "quantize f32 64 MB, " + target;
        const Loop kernel{target, [&] { call.run(); }};
        add_pair(table, {what, call.values(), 0, "read 4, write 1", 0, quantize_goal(target)},
                 kernel, {"best", [&] { read4_write1(traffic); }});
        add_pair(table, {what, call.values(), 0, "read 4, write 1 past caches", 0, 0}, kernel,
                 {"best", [&] { read4_write1_streaming(traffic); }});
        add_pair(table, {what, call.values(), 0, "plain scalar loop", 0, 3.0}, kernel,
                 {"best", [&] { quantize_scalar(peer); }});
    }
}

constexpr const char* format_names[] = {"mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e3m2",      "mxfp6-e2m3",
                                        "mxfp4-e2m1", "mxint8",     "mxint8-symmetric"};

// A device's stored output against the runs that the exact oracle gives: read once, nothing is
// converted. The codes are right, so that no byte is looked at twice.
void add_interval_table(Table& table) {
    constexpr std::size_t count = std::size_t{64} << 20;
    constexpr std::uint32_t first = 0x3C000000;  // 2^-7: eight binades
    const std::vector<exact::Run> runs =
        proof::interval_table({*find_quantizer("ocp"), formats::f32, formats::e4m3});
    Buffer codes(count);
    for (const exact::Run& run : runs)
        for (std::uint64_t code = std::max(run.first, first);
             code <= std::min<std::uint64_t>(run.last, first + count - 1); ++code)
            codes.data()[code - first] = static_cast<std::uint8_t>(run.result);
    Buffer line(64);
    const Traffic traffic{codes.data(), line.data(), count / 4};
    std::uint64_t wrong = 0;
    add_pair(table, {"64 MB of codes against their table", count, 0, "read the same bytes", 0, 0.8},
             {"best",
              [&] {
                  wrong += proof::count_differences(runs, {first, {codes.data(), count}});
              }},
             {"best", [&] { read4(traffic); }});
    if (wrong != 0) std::printf("and %llu codes differ\n", static_cast<unsigned long long>(wrong));
}

// Every format on the best instruction set, against what the memory gives and against itself.
void add_formats(Table& table) {
    const std::string target = vector_targets().front();
    const bool has_goals = quantize_goal(target) != 0;
    for (const char* format : format_names) {
        CallSpec spec = spec_of("quantize", large_rows, Data::realistic);
        spec.format = format;
        DeviceCall call(spec);
        const Traffic traffic{call.value_buffer().data(), call.code_buffer().data(),
                              static_cast<std::size_t>(call.values())};
        add_pair(table,
                 {std::string("quantize 64 MB to ") + format, call.values(), 0, "read 4, write 1",
                  0, has_goals ? 0.8 : 0},
                 {target, [&] { call.run(); }}, {"best", [&] { read4_write1(traffic); }});
        spec.operation = "dequantize";
        DeviceCall back(spec);
        const Traffic written{back.code_buffer().data(), back.value_buffer().data(),
                              traffic.values};
        add_pair(table,
                 {std::string("dequantize 64 MB from ") + format, back.values(), 0,
                  "read 1, write 4 past caches", 0, has_goals ? 0.8 : 0},
                 {target, [&] { back.run(); }}, {"best", [&] { read1_write4_streaming(written); }});
    }
}

// Bits that are hard for float arithmetic must not be much slower than others.
void add_adversarial_formats(Table& table) {
    const std::string target = vector_targets().front();
    for (const char* format : format_names) {
        CallSpec spec = spec_of("quantize", small_rows, Data::realistic);
        spec.format = format;
        DeviceCall normal(spec);
        for (const auto& [data, name] : {std::pair{Data::random_bits, "random bits"},
                                         std::pair{Data::subnormals, "subnormals"}}) {
            spec.data = data;
            DeviceCall call(spec);
            add_pair(table,
                     {std::string("quantize ") + name + " 256 KB to " + format, call.values(), 0,
                      "realistic values", 0, 0.6},
                     {target, [&] { call.run(); }}, {target, [&] { normal.run(); }});
        }
    }
}

void add_adversarial_quantize(Table& table) {
    DeviceCall normal(spec_of("quantize", small_rows, Data::realistic));
    for (const char* dialect : {"ocp", "nv"}) {
        CallSpec random_spec = spec_of("quantize", small_rows, Data::random_bits);
        CallSpec low_spec = spec_of("quantize", small_rows, Data::subnormals);
        random_spec.dialect = low_spec.dialect = dialect;
        DeviceCall random(random_spec);
        DeviceCall low(low_spec);
        for (const std::string& target : vector_targets()) {
            const std::vector<double> seconds = interleaved({{target, [&] { normal.run(); }},
                                                             {target, [&] { random.run(); }},
                                                             {target, [&] { low.run(); }}},
                                                            30);
            const std::string suffix = std::string(" 256 KB ") + dialect + ", " + target;
            table.add({"quantize random bits" + suffix, normal.values(), seconds[1],
                       "realistic values", seconds[0], 0.6});
            table.add({"quantize subnormals" + suffix, normal.values(), seconds[2],
                       "realistic values", seconds[0], 0.6});
        }
    }
}

void add_dequantize(Table& table) {
    DeviceCall call(spec_of("dequantize", large_rows, Data::realistic));
    const Traffic traffic{call.code_buffer().data(), call.value_buffer().data(),
                          static_cast<std::size_t>(call.values())};
    for (const std::string& target : vector_targets()) {
        const std::string what = "dequantize to f32 64 MB, " + target;
        const double goal = quantize_goal(target) != 0 ? 0.9 : 0;
        const Loop kernel{target, [&] { call.run(); }};
        add_pair(table, {what, call.values(), 0, "read 1, write 4 past caches", 0, goal}, kernel,
                 {"best", [&] { read1_write4_streaming(traffic); }});
        add_pair(table, {what, call.values(), 0, "write 4", 0, 0}, kernel,
                 {"best", [&] { write4(traffic); }});
    }
}

}  // namespace

int print_ratios() {
    Table table;
    add_large_quantize(table);
    add_interval_table(table);
    add_formats(table);
    add_adversarial_formats(table);
    add_adversarial_quantize(table);
    add_dequantize(table);
    std::printf("\n%d goal(s) missed. One thread; medians of interleaved rounds.\n",
                table.missed());
    return table.missed();
}

}  // namespace mx::bench
