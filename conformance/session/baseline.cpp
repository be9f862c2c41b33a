// See baseline.hpp.
#include "conformance/session/baseline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "conformance/results/results_file.hpp"
#include "conformance/session/results_folder.hpp"
#include "reference/base/text.hpp"

namespace mx::session {
namespace {

using results::CaseResult;
using results::Worth;

Error bad(const std::string& folder, const std::string& why) {
    return bad_input("--baseline " + folder + ": " + why);
}

// What became of a case that passed.
constexpr std::string_view not_run = "not run";

// "20 not_supported, 2 not run"
std::string text_of(const std::map<std::string, std::uint64_t>& counts) {
    std::vector<std::string> parts;
    for (const auto& [word, count] : counts) parts.push_back(grouped(count) + " " + word);
    return joined(parts, ", ");
}

}  // namespace

Expected<Baseline> baseline_of(const std::string& folder) {
    auto run = results::read_results(results_path(folder));
    if (!run) return bad(folder, run.error().message);
    if (!run.value().complete) return bad(folder, "that run was interrupted; --resume ends it");
    Baseline baseline{folder, {}};
    std::set<std::string_view> known;
    for (const CaseResult& result : run.value().cases)
        if (worth_of(result.verdict) >= Worth::open && known.insert(result.case_text).second)
            baseline.passed.push_back({result.case_text, result.verdict});
    if (baseline.passed.empty()) return bad(folder, "no case of that run passed");
    return baseline;
}

Outcome judge_baseline(const Baseline& baseline, results::Run& run, Outcome outcome) {
    std::map<std::string_view, const CaseResult*> now;  // the worst, of a case that is there twice
    for (const CaseResult& result : run.cases) {
        const CaseResult*& known = now[result.case_text];
        if (known == nullptr || worth_of(result.verdict) < worth_of(known->verdict))
            known = &result;
    }
    std::map<std::string, std::uint64_t> worse;
    std::uint64_t count = 0;
    std::string first;
    for (const PassedCase& before : baseline.passed) {
        const auto found = now.find(before.case_text);
        const bool is_there = found != now.end();
        if (is_there && worth_of(found->second->verdict) >= worth_of(before.verdict)) continue;
        ++worse[std::string(is_there ? name_of(found->second->verdict) : not_run)];
        if (++count == 1) first = before.case_text;
    }
    if (count == 0) return outcome;
    run.footer.unmet.push_back(std::string(results::worse_than_baseline) + " " + baseline.folder +
                               ": of " + counted(baseline.passed.size(), "case") +
                               " that passed there " + grouped(count) +
                               (count == 1 ? " does not any more (" : " do not any more (") +
                               text_of(worse) + "), first " + first);
    constexpr std::array stay{Outcome::bad_input, Outcome::device_fault, Outcome::own_fault};
    return std::ranges::find(stay, outcome) == stay.end() ? Outcome::mismatch : outcome;
}

}  // namespace mx::session
