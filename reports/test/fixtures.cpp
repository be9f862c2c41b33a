// Small runs to render. Used by the tests of the reports; must not know any format of output.
#include "reports/test/fixtures.hpp"

#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "conformance/results/results_file.hpp"

namespace mx::reports::test {

results::Run fixture(std::string_view name) {
    const std::string path = std::string(MX_REPORT_FIXTURES) + "/" + std::string(name) + ".jsonl";
    Expected<results::Run> run = results::read_results(path);
    if (!run.ok()) {
        std::fprintf(stderr, "%s\n", run.error().message.c_str());
        std::abort();
    }
    return std::move(run).value();
}

results::Run empty_run() {
    results::Run run;
    run.header.level = "full";
    run.header.device = "sample.so";
    run.complete = true;
    return run;
}

results::CaseResult& add_case(results::Run& run, results::Verdict verdict) {
    results::CaseResult result;
    result.index = run.cases.size();
    result.operation = "quantize";
    result.format = "mxfp8-e4m3";
    result.dialect = "ocp";
    result.input = "f32";
    result.case_text = "quantize case " + std::to_string(result.index);
    result.verdict = verdict;
    result.elements = 32;
    result.scales = 1;
    ++run.header.case_count;
    run.cases.push_back(result);
    return run.cases.back();
}

results::Run heated_run() {
    results::Run run = fixture("every_verdict");
    for (results::CaseResult& result : run.cases) {
        if (result.verdict != results::Verdict::fail) continue;
        // 1 to 1.0625 thrice, -17 eleven times, the largest number once, a NaN twice, -0 once.
        result.input_cells = {
            {0x3F80, 9, 3}, {0x7F7F, 1, 1}, {0x7FC0, 1, 2}, {0x8000, 1, 1}, {0xC188, 1, 11}};
        result.lane_cells = {{127, 1, 5}, {17 * 256 + 131, 1, 11}, {31 * 256, 1, 26}};
        result.expected_scale_codes = {{120, 3, 100}};
        result.actual_scale_codes = {{121, 3, 100}};
    }
    results::CaseResult& product = add_case(run, results::Verdict::pass_bounded);
    product.operation = "gemm";
    product.bound_share = 0.25;
    return run;
}

results::Attachments everything_beside() {
    results::Attachments beside;
    for (const char* dialect : {"ocp", "nv"}) {
        results::QuantizeAccuracy& row = beside.quantize.emplace_back();
        row.data = "normal";
        row.format = "mxfp8-e4m3";
        row.dialect = dialect;
        row.source = "oracle";
        row.elements = 4096;
        row.saturated = 41;
        row.sqnr_db = 31.5;
        row.binades = {{-6, 100, 0.25, 0.5}, {0, 900, 0.24, 0.5}};
        row.scales = {{119, 28}, {120, 100}};
    }
    results::GemmAccuracy& product = beside.gemm.emplace_back();
    product.a = product.b = "mxfp8-e4m3";
    product.source = "cuda";
    product.m = product.n = product.k = 512;
    product.share_max = 0.031;
    for (const char* format : {"f32", "mxfp8-e4m3"}) {
        results::TrainingCurve& run = beside.training.emplace_back();
        run.task = "linear";
        run.forward = run.gradient = format;
        run.losses = {4, 2.5, 1.5};
    }
    results::KillMatrix& kills = beside.kills.emplace_back();
    kills.level = "quick";
    kills.blocks.bugs.resize(2);
    kills.blocks.bugs[0].killed = true;
    kills.blocks.bugs[0].rules = {{"cosine", "missed"}};
    results::Bench& bench = beside.benches.emplace_back();
    bench.header.device = "cuda";
    bench.complete = true;
    for (const auto& [what, bytes, seconds] : {std::tuple{"copy", 1 << 20, 1e-6},
                                               {"quantize", 1 << 20, 2e-6},
                                               {"copy", 1 << 24, 8e-6},
                                               {"quantize", 1 << 24, 1e-5}}) {
        results::BenchRow& row = bench.rows.emplace_back();
        row.what = what;
        row.types = "f32 to mxfp8-e4m3 ocp";
        row.cache = "cold";
        row.bytes = static_cast<std::uint64_t>(bytes);
        row.samples = 20;
        row.seconds = seconds;
        row.low = seconds * 0.9;
        row.high = seconds * 1.1;
    }
    return beside;
}

std::size_t occurrences(std::string_view text, std::string_view wanted) {
    std::size_t count = 0;
    for (std::size_t at = text.find(wanted); at != std::string_view::npos;
         at = text.find(wanted, at + wanted.size()))
        ++count;
    return count;
}

}  // namespace mx::reports::test
