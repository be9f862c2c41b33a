// A run with every field filled. Used by the tests of the results file; must not touch the file
// format.
#include "conformance/results/test/sample_run.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace mx::results::test {

RunHeader sample_header() {
    RunHeader header;
    header.program_version = "0.1.0";
    header.commit = "0123abcd";
    header.dirty = true;
    header.argv = {"mxcheck", "run", "--device", "a \"quoted\" name.so"};
    header.started = "2026-01-02T03:04:05Z";
    header.level = "quick";
    header.suites = "all";
    header.dialects = "all";
    header.seed = std::numeric_limits<std::uint64_t>::max();
    header.shard = "0/1";
    header.case_count = 1;
    header.device = "sample.so";
    header.device_facts = {{"name", "Sample"}, {"name", "said twice"}};
    header.environment = {{"cpu", "unknown"}};
    header.table_hashes = {{"formats", "9f86d081"}, {"dialects", "60303ae2"}};
    header.waivers = {{.device = "sample.so",
                       .case_pattern = "quantize format=mxfp8-*",
                       .mismatch_class = "tie",
                       .axis = "row",
                       .reason = "rounds ties up",
                       .link = "https://example.org/1",
                       .owner = "somebody",
                       .expires = "2027-01-31",
                       .state = "in force"}};
    header.demands = {{"require", "*/quantize"}, {"max-not-supported", "3"}};
    return header;
}

Mismatch sample_mismatch() {
    Mismatch mismatch;
    mismatch.mismatch_class = "tie";
    mismatch.stage = "element";
    mismatch.direction = "+1 code";
    mismatch.open_decision = "sign_of_zero";
    mismatch.count = 41'233;
    mismatch.of = (std::uint64_t{1} << 60) + 1;
    mismatch.axis = "col";
    mismatch.block = 5;
    mismatch.lane = 17;
    mismatch.input_bits = "0x3e680000";
    mismatch.input_value = "0.2265625";
    mismatch.amax_value = "1.75";
    mismatch.expected_scale = "0x7c";
    mismatch.actual_scale = "0x7d";
    mismatch.expected_element = "0x3e";
    mismatch.actual_element = "0x3f";
    mismatch.expected_value = "1.75";
    mismatch.actual_value = "1.875";
    mismatch.exact_value = "29/16, half way";
    mismatch.source = "OCP MX v1.0 section 6.3";
    mismatch.note = "all ties, all away from zero";
    mismatch.repro = "mxcheck replay 'quantize seed=0' --device ./sample.so";
    mismatch.lanes = {0, 1, 2, std::numeric_limits<std::uint64_t>::max()};
    return mismatch;
}

CaseResult sample_case(std::uint64_t index, Verdict verdict) {
    CaseResult result;
    result.index = index;
    result.suite = "quantize";
    result.case_text = "quantize format=mxfp8-e4m3 index=" + std::to_string(index);
    result.operation = "quantize";
    result.format = "mxfp8-e4m3";
    result.dialect = "ocp";
    result.input = "f32";
    result.verdict = verdict;
    result.reason = "tab\t, newline\n, NUL follows: ";
    result.reason.push_back('\0');
    result.reason += " and \xc3\xa9";
    const Worth worth = worth_of(verdict);
    const bool is_fault = verdict == Verdict::fail || verdict == Verdict::flaky ||
                          verdict == Verdict::oracle_disagreement;
    if (worth == Worth::passes || worth == Worth::open || is_fault ||
        verdict == Verdict::insufficient_data) {
        result.elements = 4096 + index;
        result.scales = 128;
    }
    if (worth == Worth::open || is_fault) {
        result.mismatched_elements = 3;
        result.mismatched_scales = 1;
        Mismatch bare;
        bare.mismatch_class = "unclassified";
        bare.axis = "row";
        if (verdict == Verdict::deviation) bare.open_decision = "sign_of_zero";
        result.mismatches = {sample_mismatch(), bare};
    }
    if (verdict == Verdict::waived) result.waivers = {1};
    result.input_cells = {{0x3F80, 1, 2}, {0xFFFF, 1, 1}};
    result.lane_cells = {{127, 2, 1}};
    result.expected_scale_codes = {{0, 256, 1}};
    result.actual_scale_codes = {{127, 1, 256}};
    result.bound_share = 0.125;
    result.explanations = {"ties:up"};
    result.looked_at = 4;
    return result;
}

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mx_results_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string text_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_text(const std::string& path, std::string_view text) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace mx::results::test
