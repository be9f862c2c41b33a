// What other commands measured, as a report takes it in beside a run: accuracy, training, the kill
// table, benchmarks. Plain data, and one reader that tells them apart. Used by the command report.
// Must not know any page made from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/bench_record.hpp"
#include "reference/base/status.hpp"

namespace mx::results {

struct BinadeError {
    std::int64_t binade = 0;  // floor(log2 |value / scale|)
    std::uint64_t elements = 0;
    double mean_ulp = 0, max_ulp = 0;
};

// A row of `mxcheck accuracy --json`.
struct QuantizeAccuracy {
    std::string data, format, dialect, rounding;
    std::string source;  // who made the codes: "oracle", or a device
    std::string reason;  // why there is no measurement; then all numbers are 0
    std::uint64_t elements = 0, saturated = 0, flushed = 0, subnormal = 0, values_changed = 0;
    std::optional<double> sqnr_db;
    double relative_mean = 0, relative_max = 0;
    std::vector<BinadeError> binades;
    std::map<std::uint64_t, std::uint64_t> scales;  // blocks of each scale byte
};

struct ShareCount {
    std::optional<std::int64_t> log2;  // floor(log2 share); none where there is no error
    std::uint64_t outputs = 0;
};

// A row of `mxcheck accuracy --op gemm --json`: the error of a matrix product.
struct GemmAccuracy {
    std::string data, a, b, output, source, name, bound_of, reason;
    std::uint64_t m = 0, n = 0, k = 0, outputs = 0, beyond = 0;
    double error_max_ulp = 0, error_mean_ulp = 0;
    std::optional<double> share_max, share_mean, noise_db, quantizing_db;
    std::vector<ShareCount> shares;
};

// A run of `mxcheck train --json`.
struct TrainingCurve {
    std::string task, forward, gradient, dialect, source, products, verdict, reason;
    double first_gradient_error = 0, weight_error = 0;
    std::vector<double> losses;  // one for each step
};

struct PlantedBug {
    std::string group;  // "block", "real_scales", "gemm", "gpu"
    std::string name, description;
    bool killed = false, not_run = false;
    std::string level, suite, verdict, mismatch_class, case_text;  // of the kill
    std::map<std::string, std::string> rules;  // what other acceptance rules say of it
};

// What `mxcheck selftest --json FILE` writes.
struct KillMatrix {
    std::string level, summary;
    bool passed = false;
    std::vector<std::string> problems;
    std::vector<PlantedBug> bugs;
};

struct Attachments {
    std::vector<QuantizeAccuracy> quantize;
    std::vector<GemmAccuracy> gemm;
    std::vector<TrainingCurve> training;
    std::vector<KillMatrix> kills;
    std::vector<Bench> benches;
};

// Adds what `text` holds, which its own keys say. The error names the file and the row.
Status attach(std::string_view text, const std::string& name, Attachments& attachments);

// The same for a file.
Status attach_file(const std::string& path, Attachments& attachments);

}  // namespace mx::results
