// Small runs to render. Used by the tests of the reports; must not know any format of output.
#include "reports/test/fixtures.hpp"

#include <cstdio>
#include <cstdlib>

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

std::size_t occurrences(std::string_view text, std::string_view wanted) {
    std::size_t count = 0;
    for (std::size_t at = text.find(wanted); at != std::string_view::npos;
         at = text.find(wanted, at + wanted.size()))
        ++count;
    return count;
}

}  // namespace mx::reports::test
