// mxcheck_cuda_bench: how near the kernels come to a device-to-device copy. In every round the copy
// and each kernel take turns in a new random order, each after the L2 cache was flushed; medians
// are compared. Ends with 77 without a GPU, and with 1 when a goal is missed.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/bench/clocks.hpp"
#include "device/cuda/bench/narrowing_limit.hpp"
#include "device/cuda/bench/normal_data.hpp"
#include "device/cuda/kernels.hpp"
#include "device/cuda/nvfp4_rules.hpp"
#include "device/cuda/real_scale_rules.hpp"
#include "device/cuda/rules.hpp"

namespace mx::cuda {
namespace {

constexpr std::int64_t side = 16384;
constexpr std::int64_t count = side * side;
constexpr std::int64_t blocks = count / 32;
constexpr std::size_t flush_bytes = std::size_t{256} << 20;
constexpr int exit_goal_missed = 1;
constexpr int exit_broken = 2;
constexpr int exit_skipped = 77;

void check(cudaError_t error, const char* doing) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "mxcheck_cuda_bench: %s: %s\n", doing, cudaGetErrorString(error));
    std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? exit_skipped
                                                                                 : exit_broken);
}

std::uint8_t* allocate(std::int64_t bytes) {
    void* data = nullptr;
    check(cudaMalloc(&data, static_cast<std::size_t>(bytes)), "allocating");
    return static_cast<std::uint8_t*>(data);
}

struct Buffers {
    std::uint8_t* bf16 = allocate(count * 2);
    std::uint8_t* f32 = allocate(count * 4);
    std::uint8_t* values_out = allocate(count * 4);  // of copies and of dequantize
    std::uint8_t* codes = allocate(count);
    std::uint8_t* column_codes = allocate(count);
    std::uint8_t* scales = allocate(blocks);
    std::uint8_t* column_scales = allocate(blocks);
    std::uint8_t* flush = allocate(flush_bytes);
    std::uint8_t* number = allocate(4);  // the amax of the tensor, for NVFP4
    std::uint8_t* kept = allocate(4);
    std::uint8_t* word = allocate(4);

    std::uint32_t* amax() const { return reinterpret_cast<std::uint32_t*>(word); }

    std::uint8_t* values(ValueType type) const { return type == ValueType::f32 ? f32 : bf16; }
};

enum class Role { copy, limit, kernel };

struct Case {
    Role role;
    std::string name;
    std::int64_t bytes;  // read and written
    double goal;         // of the copy's rate
    std::function<cudaError_t(cudaStream_t)> run;
    std::vector<float> microseconds = {};
};

BlockJob row_job(const Buffers& buffers, ValueType type, const char* dialect) {
    const DialectRule rule = *find_dialect_rule(dialect, Element::e4m3);
    return {{type, Element::e4m3, rule.scale, rule.nan_code},
            {side, side},
            {1, 32},
            {buffers.values(type), side, 1},
            {buffers.codes, side, 1},
            {buffers.scales, ScaleOrder::strided, side / 32, 1, side / 32 / 4, 0, 0}};
}

BothJob both_job(const Buffers& buffers, ValueType type, const char* dialect) {
    return {row_job(buffers, type, dialect),
            {buffers.column_codes, side, 1},
            {buffers.column_scales, ScaleOrder::strided, 1, side, side / 32 / 4, 0, 0}};
}

BlockJob column_job(const Buffers& buffers, ValueType type, const char* dialect) {
    const BothJob both = both_job(buffers, type, dialect);
    BlockJob job = both.rows;
    job.values = {both.rows.values.data, 1, side};
    job.codes = {both.column_codes.data, 1, side};
    job.scales = both.column_scales;
    return job;
}

// Each column's codes and scales side by side.
BlockJob transposed_job(const Buffers& buffers, ValueType type, const char* dialect) {
    BlockJob job = row_job(buffers, type, dialect);
    job.values = {job.values.data, 1, side};
    return job;
}

std::string name_of(ValueType type) {
    return type == ValueType::f32 ? "f32" : "bf16";
}

void add_quantizers(std::vector<Case>& cases, const Buffers& buffers, ValueType type,
                    const char* dialect) {
    const std::string tail = " " + name_of(type) + " " + dialect;
    const std::int64_t in = count * width_of(type);
    const BlockJob rows = row_job(buffers, type, dialect);
    BlockJob swizzled = rows;
    swizzled.scales.order = ScaleOrder::tiles_128x4;
    const BlockJob columns = column_job(buffers, type, dialect);
    const BlockJob transposed = transposed_job(buffers, type, dialect);
    const BothJob both = both_job(buffers, type, dialect);
    const auto add = [&](const char* name, std::int64_t out, double goal, auto job, auto launch) {
        cases.push_back({Role::kernel, name + tail, in + out, goal,
                         [=](cudaStream_t stream) { return launch(job, stream); }});
    };
    add("rowwise", count + blocks, 0.95, rows, quantize);
    add("rowwise 128x4", count + blocks, 0.94, swizzled, quantize);
    add("columnwise", count + blocks, 0.95, columns, quantize);
    add("columnwise transposed", count + blocks, 0.95, transposed, quantize);
    add("both", 2 * (count + blocks), 0.92, both, quantize_both);
}

RealScaleJob nvfp4_job(const Buffers& buffers, ValueType type, NumberSource source) {
    constexpr std::int64_t blocks_across = side / 16;
    RealScaleJob job{};
    job.rule = te_nvfp4;
    job.value_type = type;
    job.element = Element::e2m1;
    job.extent = {side, side};
    job.block = {1, 16};
    job.values = {buffers.values(type), side, 1};
    job.codes = {buffers.codes, CodeOrder::low_first, 0, 0, false, side / 2, side + 2, 0, false};
    job.scales = {
        {buffers.column_codes, ScaleOrder::strided, blocks_across, 1, blocks_across / 4, 0, 0},
        TileOrder::none,
        false};
    job.source = source;
    job.number = buffers.number;
    job.kept = buffers.kept;
    return job;
}

// Given the number of the tensor, one read and one write; derived from the values, two reads.
void add_nvfp4(std::vector<Case>& cases, const Buffers& buffers, ValueType type) {
    const std::int64_t in = count * width_of(type), out = count / 2 + count / 16;
    const auto add = [&](const char* name, const RealScaleJob& job) {
        const std::int64_t reads = job.source == NumberSource::derived ? 2 : 1;
        std::uint32_t* const amax = buffers.amax();
        cases.push_back(
            {Role::kernel, std::string(name) + " " + name_of(type), reads * in + out, 0.9,
             [=](cudaStream_t stream) { return quantize_real_scales(job, amax, stream); }});
    };
    const RealScaleJob given = nvfp4_job(buffers, type, NumberSource::given);
    RealScaleJob swizzled = given;
    swizzled.scales.plane.order = ScaleOrder::tiles_128x4;
    add("nvfp4 given", given);
    add("nvfp4 given 128x4", swizzled);
    add("nvfp4 derived", nvfp4_job(buffers, type, NumberSource::derived));
    swizzled.source = NumberSource::derived;
    add("nvfp4 derived 128x4", swizzled);
}

Case copy_case(const Buffers& buffers, ValueType type) {
    const std::int64_t bytes = count * width_of(type);
    const std::uint8_t* from = buffers.values(type);
    std::uint8_t* to = buffers.values_out;
    return {Role::copy, "copy " + name_of(type), 2 * bytes, 0, [=](cudaStream_t stream) {
                return cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                                       cudaMemcpyDeviceToDevice, stream);
            }};
}

// Quantizing by another rule or in other blocks, the number of the tensor given where there is one.
struct ReportedRow {
    const char* dialect;
    Extent block;
};
constexpr ReportedRow reported_rows[] = {
    {"torchao-nvfp4", {1, 16}},       {"torchao-nvfp4-single", {1, 16}},
    {"cublaslt-nvfp4", {1, 16}},      {"te-nvfp4", {16, 16}},
    {"te-nvfp4-fast", {1, 16}},       {"te-nvfp4-sr", {1, 16}},
    {"te-nvfp4-sr", {16, 16}},        {"te-nvfp4-rht", {1, 16}},
    {"te-nvfp4-4over6-mae", {1, 16}}, {"te-nvfp4-4over6-mse", {1, 16}},
};

void add_reported(std::vector<Case>& cases, const Buffers& buffers, ValueType type,
                  const ReportedRow& row) {
    const RealScaleDialect& dialect = *find_real_scale_dialect(row.dialect);
    if ((dialect.inputs & bit_of(type)) == 0) return;
    const RealScaleRule& rule = dialect.rule;
    RealScaleJob job =
        nvfp4_job(buffers, type,
                  rule.number == TensorNumber::none ? NumberSource::none : NumberSource::given);
    job.rule = rule;
    job.block = row.block;
    job.random = {buffers.values_out, side, 1};  // any words will do
    const std::int64_t random = rule.rounding == ElementRounding::stochastic8 ? count * 4 : 0;
    const std::int64_t out = count / 2 + count / (row.block.lines * row.block.lanes);
    std::uint32_t* const amax = buffers.amax();
    cases.push_back(
        {Role::kernel,
         row.dialect + std::string(row.block.lines == 1 ? " " : " 16x16 ") + name_of(type),
         count * width_of(type) + random + out, 0,
         [=](cudaStream_t stream) { return quantize_real_scales(job, amax, stream); }});
}

// What is served without a goal, most of it by the general kernels.
std::vector<Case> reported_cases_of(const Buffers& buffers) {
    std::vector<Case> cases;
    for (const ValueType type : {ValueType::bf16, ValueType::f32}) {
        cases.push_back(copy_case(buffers, type));
        for (const ReportedRow& row : reported_rows) add_reported(cases, buffers, type, row);
        RealScaleJob back = nvfp4_job(buffers, type, NumberSource::given);
        back.values.data = buffers.values_out;
        cases.push_back(
            {Role::kernel, "nvfp4 dequantize " + name_of(type),
             count * width_of(type) + count / 2 + count / 16, 0,
             [=](cudaStream_t stream) { return dequantize_real_scales(back, stream); }});
    }
    return cases;
}

std::vector<Case> cases_of(const Buffers& buffers) {
    std::vector<Case> cases;
    for (const ValueType type : {ValueType::bf16, ValueType::f32}) {
        cases.push_back(copy_case(buffers, type));
        for (const char* dialect : {"nv", "ocp"}) add_quantizers(cases, buffers, type, dialect);
        add_nvfp4(cases, buffers, type);
        BlockJob back = row_job(buffers, type, "nv");
        back.values.data = buffers.values_out;
        cases.push_back({Role::kernel, "dequantize " + name_of(type),
                         count * width_of(type) + count + blocks, 0.95,
                         [=](cudaStream_t stream) { return dequantize(back, stream); }});
    }
    const std::uint8_t* words = buffers.f32;
    std::uint8_t* high_bytes = buffers.codes;
    cases.push_back({Role::limit, "read 4, write 1", count * 5, 0, [=](cudaStream_t stream) {
                         return keep_high_bytes(words, high_bytes, count, stream);
                     }});
    return cases;
}

void measure(std::vector<Case>& cases, const Buffers& buffers, int rounds) {
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaStreamCreate(&stream), "creating a stream");
    check(cudaEventCreate(&begin), "creating an event");
    check(cudaEventCreate(&end), "creating an event");
    constexpr int warm_up = 3;
    std::mt19937 random(1);
    std::vector<Case*> order;
    for (Case& c : cases) order.push_back(&c);
    for (int round = -warm_up; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (Case* next : order) {
            Case& c = *next;
            // Lines that a kernel asked to keep longest would outlive the flush.
            check(cudaCtxResetPersistingL2Cache(), "flushing");
            check(cudaMemsetAsync(buffers.flush, round & 0xFF, flush_bytes, stream), "flushing");
            check(cudaEventRecord(begin, stream), "timing");
            check(c.run(stream), c.name.c_str());
            check(cudaEventRecord(end, stream), "timing");
            check(cudaEventSynchronize(end), c.name.c_str());
            float milliseconds = 0;
            check(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
            if (round >= 0) c.microseconds.push_back(milliseconds * 1000);
        }
    }
}

float at_fraction(std::vector<float>& sorted, double fraction) {
    return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

bool print_table(std::vector<Case>& cases) {
    std::printf("%-32s %9s %9s %9s %7s %6s %5s\n", "", "median us", "10 %", "90 %", "TB/s", "copy",
                "goal");
    double copy_rate = 1;
    bool all_reached = true;
    for (Case& c : cases) {
        std::sort(c.microseconds.begin(), c.microseconds.end());
        const float median = at_fraction(c.microseconds, 0.5);
        const double rate = static_cast<double>(c.bytes) / median * 1e-6;
        if (c.role == Role::copy) copy_rate = rate;
        const bool reached = rate >= c.goal * copy_rate;
        all_reached = all_reached && reached;
        std::printf("%-32s %9.1f %9.1f %9.1f %7.3f %6.3f %5.2f%s\n", c.name.c_str(), median,
                    at_fraction(c.microseconds, 0.1), at_fraction(c.microseconds, 0.9), rate,
                    rate / copy_rate, c.goal, reached ? "" : " missed");
    }
    return all_reached;
}

int bench(int rounds) {
    const Buffers buffers;
    for (const ValueType type : {ValueType::bf16, ValueType::f32})
        check(fill_normal(buffers.values(type), count, {type, 1}, nullptr), "filling");
    check(cudaMemset(buffers.scales, 127, blocks), "filling");
    // What is given is the amax of these values, so that scales are those of a tensor in use.
    RealScaleJob find = nvfp4_job(buffers, ValueType::f32, NumberSource::derived);
    find.kept = buffers.number;
    check(quantize_real_scales(find, buffers.amax(), nullptr), "finding the amax");
    check(fill_bits(buffers.codes, count, 2, nullptr), "filling");
    check(cudaDeviceSynchronize(), "filling");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
    std::vector<Case> cases = cases_of(buffers), reported = reported_cases_of(buffers);
    const int reported_rounds = (rounds + 4) / 5;
    const std::string before = clocks_text();
    measure(cases, buffers, rounds);
    const std::string between = clocks_text();
    measure(reported, buffers, reported_rounds);
    std::printf("%s, %lld x %lld, E4M3 and NVFP4, medians of %d rounds, L2 flushed\n",
                properties.name, static_cast<long long>(side), static_cast<long long>(side),
                rounds);
    std::printf("clocks before: %s; after: %s; at the end: %s\n", before.c_str(), between.c_str(),
                clocks_text().c_str());
    const bool all_reached = print_table(cases);
    std::printf("without a goal, NVFP4, medians of %d rounds\n", reported_rounds);
    print_table(reported);
    return all_reached ? 0 : exit_goal_missed;
}

}  // namespace
}  // namespace mx::cuda

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
    if (rounds < 1) {
        std::fprintf(stderr, "usage: mxcheck_cuda_bench [ROUNDS]\n");
        return 2;
    }
    return mx::cuda::bench(rounds);
}
