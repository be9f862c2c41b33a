// The record of a benchmark: what bench.jsonl holds, a header, one line per measured row, and a
// last line unless the benchmark was interrupted. Plain data; knows nothing of devices. Used by the
// program, and by reports that compare two.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "reference/base/status.hpp"

namespace mx::results {

inline constexpr int bench_format_version = 2;

struct BenchHeader {
    int version = bench_format_version;
    std::string program_version, commit;
    bool dirty = false;
    std::vector<std::string> argv;
    std::string started;  // UTC, ISO 8601
    std::string device;
    std::string data;   // realistic, random_bits or subnormals
    std::string place;  // of the tensors: host or cuda
    std::string clock;  // "device": its own; "host": a call, from outside
    std::vector<Field> device_facts, environment;
    bool operator==(const BenchHeader&) const = default;
};

// One operation on one shape. The samples are taken in turns with those of the roof, and dealt out
// to four quarters, which measure the same: two sets of tensors, where there are two, each early
// and late. How far their medians differ is the noise of this row.
struct BenchRow {
    std::string what;         // "quantize", "dequantize", "gemm"; of a roof "copy", "plain gemm"
    std::string shape;        // "4096x4096", or MxNxK
    std::string types;        // "f32 to mxfp8-e4m3 nv"
    std::string cache;        // cold or warm
    std::string reason;       // why there is no measurement; then all numbers are 0
    std::uint64_t bytes = 0;  // read and written
    std::uint64_t operations = 0;  // of a GEMM: 2 * M * N * K
    std::uint64_t samples = 0;
    std::uint64_t batch = 0;                // runs that a sample is the mean of
    double seconds = 0;                     // the median of all samples
    double low = 0, high = 0;               // a tenth and nine tenths of them are below
    std::array<double, 4> quarters{};       // medians
    double roof_share = 0;                  // of the roof of this run and shape; 0 if unknown
    std::string state_before, state_after;  // of a GPU: clocks, power, throttle reasons
    bool operator==(const BenchRow&) const = default;

    // "quantize 4096x4096 f32 to mxfp8-e4m3 nv, cold"
    std::string name() const { return what + " " + shape + " " + types + ", " + cache; }
    // How far the quarters are apart, as a share of the smallest.
    double noise() const;
};

struct Bench {
    BenchHeader header;
    std::vector<BenchRow> rows;
    bool complete = false;  // the last line is there
};

std::string line_of(const BenchHeader& header);
std::string line_of(const BenchRow& row);
std::string last_line_of_bench();

// The error names the line.
Expected<Bench> parse_bench(std::string_view text, const std::string& name);
Expected<Bench> read_bench(const std::string& path);

}  // namespace mx::results
