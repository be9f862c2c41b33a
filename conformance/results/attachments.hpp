// What other commands measured, as they print it with --json and a report takes it in beside a run:
// accuracy, training, the kill table, benchmarks. Plain data, its text, and one reader that tells
// them apart. Used by these commands and by report. Must not know any page made from it.
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

struct ScaleCount {
    std::uint64_t byte = 0, blocks = 0;
};

// The row that another is laid beside.
struct ComparedRow {
    std::string dialect, rounding, source;
};

// A row of `mxcheck accuracy --json`.
struct QuantizeAccuracy {
    std::string op = "quantize";
    std::string data, format, dialect, rounding;
    std::string source = "oracle";  // who made the codes: the oracle, or a device
    std::string reason;             // why there is no measurement; then all numbers are 0
    std::uint64_t elements = 0, blocks = 0, not_finite = 0, lost = 0, zeros = 0;
    std::uint64_t saturated = 0, flushed = 0, subnormal = 0;
    std::optional<double> sqnr_db;
    double relative_mean = 0, relative_max = 0;
    std::optional<ComparedRow> beside;
    std::uint64_t values_changed = 0, scales_changed = 0;  // from the row beside
    std::vector<BinadeError> binades;
    std::vector<ScaleCount> scales;
};

struct ShareCount {
    std::optional<std::int64_t> log2;  // floor(log2 share); none where there is no error
    std::uint64_t outputs = 0;
};

// A row of `mxcheck accuracy --op gemm --json`: the error of a matrix product.
struct GemmAccuracy {
    std::string op = "gemm";
    std::string data, a, b, dialect, output, source, name, bound_of, reason;
    std::uint64_t m = 0, n = 0, k = 0, outputs = 0, not_finite = 0, without_bound = 0, beyond = 0;
    double error_max_ulp = 0, error_mean_ulp = 0;
    std::optional<double> share_max, share_mean, noise_db, quantizing_db;
    std::vector<ShareCount> shares;
};

// Where a training on a device first parts from that of the oracle.
struct TrainingParting {
    std::uint64_t step = 0;
    std::string what;  // "loss", "gradient" or "weights"
};

// A run of `mxcheck train --json`. What ran away has numbers that are NaN.
struct TrainingCurve {
    std::string task, forward, gradient, dialect, scale_rule;
    std::string source = "oracle";
    std::string products, verdict, reason;
    std::optional<TrainingParting> differs_at;
    double output_error = 0, first_gradient_error = 0, last_gradient_error = 0, weight_error = 0;
    double loss_error_max = 0, loss_error_last = 0;
    std::vector<std::string> beyond_limits;
    std::vector<double> losses;  // one for each step
};

// What killed a planted bug.
struct PlantedKill {
    std::string level, suite, verdict, mismatch_class, case_text, reason;
};

struct PlantedBug {
    std::string name, description, shows_on;
    std::uint64_t cases = 0;
    bool killed = false, not_run = false;
    std::optional<PlantedKill> kill;
    std::string fault;  // why it could not be tried
    std::string does;   // the kinds of cause that it declares
    std::string cause;  // named "right", "wrong" or "unexplained"
    std::string cause_sentence;
    std::vector<std::string> cause_kinds;
    std::map<std::string, std::string> rules;  // what other acceptance rules say of it
};

struct CleanRun {
    bool clean = false;
    std::uint64_t cases = 0, elements = 0, scales = 0;
    std::string complaint;
};

struct CanaryRun {
    std::uint64_t failed = 0;
    std::string complaint;
};

// Another project's acceptance rule: how many of the bugs it was asked about it killed.
struct RuleKills {
    std::string name, source, inputs;
    std::uint64_t asked = 0, killed = 0, killed_only_on_edges = 0;
};

// The planted bugs of one library.
struct KillGroup {
    std::uint64_t planted = 0, killed = 0;
    std::optional<std::uint64_t> not_run;  // of those of a GPU
    std::optional<std::string> reason;     // why they were not
    std::optional<CleanRun> base;
    std::optional<CanaryRun> canary;
    std::vector<RuleKills> rules;
    std::vector<PlantedBug> bugs;
};

// What `mxcheck selftest --out DIR` writes as JSON.
struct KillMatrix {
    int version = 1;
    std::string level;
    bool passed = false;
    std::string summary;
    std::vector<std::string> problems;
    std::optional<CleanRun> oracle_as_device;
    KillGroup blocks;
    std::optional<KillGroup> real_scales, gemm, gpu;
};

struct Attachments {
    std::vector<QuantizeAccuracy> quantize;
    std::vector<GemmAccuracy> gemm;
    std::vector<TrainingCurve> training;
    std::vector<KillMatrix> kills;
    std::vector<Bench> benches;
};

// What a command prints with --json: lines of JSON for people too, without the last newline.
std::string json_text(const std::vector<QuantizeAccuracy>& rows);
std::string json_text(const std::vector<GemmAccuracy>& rows);
std::string json_text(const std::vector<TrainingCurve>& runs);
std::string json_text(const KillMatrix& kills);

// Adds what `text` holds, which its own keys say. The error names the file and the row.
Status attach(std::string_view text, const std::string& name, Attachments& attachments);

// The same for a file.
Status attach_file(const std::string& path, Attachments& attachments);

}  // namespace mx::results
