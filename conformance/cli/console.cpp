// See console.hpp.
#include "conformance/cli/console.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <vector>

#include "conformance/case/fields.hpp"
#include "conformance/cli/columns.hpp"
#include "conformance/cli/progress.hpp"

namespace mx::cli {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string heading(const CaseResult& result, Verdict verdict) {
    std::string word = upper(std::string(results::name_of(verdict)));
    if (may_colour(1)) {
        const char* colour = verdict == Verdict::deviation ? "\033[33m" : "\033[31m";
        word = colour + word + "\033[0m";
    }
    return word + " " + result.operation + " " + result.format + " " + result.dialect + " " +
           result.input;
}

std::string code_and_value(const std::string& code, const std::string& value) {
    return value.empty() || value == "code" ? code : code + " (" + value + ")";
}

// What was expected and what came, below each other: the scale of the block, then the element.
void print_codes(const Mismatch& m) {
    struct Pair {
        const char* what;
        std::string expected, actual;
    };
    const bool is_scale = m.expected_element.empty();
    std::vector<Pair> pairs;
    if (!m.expected_scale.empty())
        pairs.push_back({"scale",
                         code_and_value(m.expected_scale, is_scale ? m.expected_value : ""),
                         code_and_value(m.actual_scale, is_scale ? m.actual_value : "")});
    if (!is_scale)
        pairs.push_back({"element", code_and_value(m.expected_element, m.expected_value),
                         code_and_value(m.actual_element, m.actual_value)});
    if (pairs.empty()) return;
    pairs.insert(pairs.begin(), {"", "expected", "actual"});
    std::size_t width = 0;
    for (const Pair& pair : pairs) width = std::max(width, pair.expected.size());
    for (const Pair& pair : pairs)
        std::printf("     %-8s  %-*s  %s\n", pair.what, static_cast<int>(width),
                    pair.expected.c_str(), pair.actual.c_str());
}

// Of the witness: a lane of a block, or of D's rows, which count through the batches, and columns.
// A sweep has no tensor.
std::string place_text(const CaseResult& result, const Mismatch& m) {
    if (result.case_text.starts_with("sweep ")) return "";
    const bool has_output = !m.expected_element.empty() || !m.expected_scale.empty();
    if (result.operation == "gemm")
        return has_output ? "  row " + std::to_string(m.block) + " column " + std::to_string(m.lane)
                          : "";
    if (m.input_bits.empty()) return "";
    return "  lane " + std::to_string(m.lane) + " block " + std::to_string(m.block) +
           (m.axis.empty() ? "" : " of axis " + m.axis);
}

void print_cluster(const CaseResult& result, const Mismatch& m) {
    std::printf("%s  %s  %s%s\n", heading(result, verdict_of(result, m)).c_str(),
                m.mismatch_class.c_str(), m.direction.c_str(), place_text(result, m).c_str());
    if (!m.input_bits.empty()) {
        std::printf("     input     %s", code_and_value(m.input_bits, m.input_value).c_str());
        if (!m.amax_value.empty()) std::printf(", amax of its block %s", m.amax_value.c_str());
        std::printf("\n");
    }
    if (result.operation != "gemm") {  // whose notes say it
        print_codes(m);
        if (!m.exact_value.empty())
            std::fputs(beside("     exact", 15, m.exact_value, output_width()).c_str(), stdout);
    }
    if (m.of != 0)
        std::printf("     %llu of %llu", static_cast<unsigned long long>(m.count),
                    static_cast<unsigned long long>(m.of));
    std::printf("%s%s\n", m.of != 0 && !m.note.empty() ? ", " : (m.of == 0 ? "     " : ""),
                m.note.c_str());
    if (!m.open_decision.empty())
        std::printf("     the source leaves this open: %s\n", m.open_decision.c_str());
    std::printf("     %s\n     %s\n", m.source.c_str(), m.repro.c_str());
}

}  // namespace

void print_case(const CaseResult& result, std::size_t clusters_max,
                const std::string& device_argument) {
    if (result.verdict == Verdict::pass_exact || result.verdict == Verdict::not_supported) return;
    if (result.mismatches.empty())
        std::printf("%s: %s\n     mxcheck replay %s%s\n", heading(result, result.verdict).c_str(),
                    result.reason.c_str(), shell_quoted(result.case_text).c_str(),
                    device_argument.c_str());
    const std::size_t shown = std::min(clusters_max, result.mismatches.size());
    for (std::size_t i = 0; i < shown; ++i) print_cluster(result, result.mismatches[i]);
    if (shown < result.mismatches.size())
        std::printf("     and %zu more kinds of mismatch in this case\n",
                    result.mismatches.size() - shown);
    if (result.verdict == Verdict::oracle_disagreement)
        std::printf("     our own fault, not the device's: %s\n", result.reason.c_str());
}

}  // namespace mx::cli
