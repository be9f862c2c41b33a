// See demands.hpp.
#include "conformance/session/demands.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/session/capture.hpp"
#include "reference/base/text.hpp"

namespace mx::session {
namespace {

constexpr const char* require_key = "require";
constexpr const char* max_not_supported_key = "max-not-supported";

std::string subject_of(const results::CaseResult& result) {
    return result.format + "/" + result.operation;
}

Error fits_nothing(const std::string& pattern, const std::vector<std::string>& subjects) {
    const std::string nearest = nearest_name(pattern, subjects);
    std::string message = "--require '" + pattern + "' fits no case of this run";
    if (!nearest.empty()) return bad_input(message + "; did you mean '" + nearest + "'?");
    message += ", which has:";
    for (const std::string& subject : subjects) message += " " + subject;
    return bad_input(message);
}

// What is wrong, "" if nothing is.
std::string unmet_pattern(const std::string& pattern,
                          const std::map<std::string, std::uint64_t>& compared) {
    constexpr std::size_t named_max = 6;
    std::vector<std::string> lacking;
    for (const auto& [subject, bits] : compared)
        if (bits == 0 && matches_glob(pattern, subject)) lacking.push_back(subject);
    if (lacking.empty()) return "";
    const std::size_t others = lacking.size() - std::min(lacking.size(), named_max);
    lacking.resize(lacking.size() - others);
    return "--require " + pattern + " is not met: nothing was compared of " +
           joined(lacking, ", ") + (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

}  // namespace

Expected<std::vector<results::Field>> demands_of(const DemandOptions& options,
                                                 const std::vector<PlannedCase>& cases) {
    std::vector<results::Field> demands;
    std::set<std::string> known;
    if (!options.require.empty())
        for (const PlannedCase& planned : cases) known.insert(subject_of(blank_result(planned)));
    const std::vector<std::string> subjects(known.begin(), known.end());
    for (const std::string& pattern : options.require) {
        const bool fits = std::ranges::any_of(subjects, [&pattern](const std::string& subject) {
            return matches_glob(pattern, subject);
        });
        if (!fits) return fits_nothing(pattern, subjects);
        demands.push_back({require_key, pattern});
    }
    if (options.max_not_supported.empty()) return demands;
    const auto number = parse_number("--max-not-supported", options.max_not_supported);
    if (!number) return number.error();
    demands.push_back({max_not_supported_key, std::to_string(number.value())});
    return demands;
}

Outcome judge_demands(results::Run& run, Outcome outcome) {
    std::map<std::string, std::uint64_t> compared;
    std::uint64_t refused = 0;
    for (const results::CaseResult& result : run.cases) {
        compared[subject_of(result)] += result.elements + result.scales;
        refused += result.verdict == results::Verdict::not_supported ? 1 : 0;
    }
    run.footer.unmet.clear();
    for (const results::Field& demand : run.header.demands) {
        std::string unmet;
        if (demand.key == gap_key) unmet = "not judged: " + demand.value;
        if (demand.key == require_key) unmet = unmet_pattern(demand.value, compared);
        const auto number = parse_number(demand.key, demand.value);
        if (demand.key == max_not_supported_key && number && refused > number.value())
            unmet = "--max-not-supported " + demand.value +
                    " is exceeded: " + counted(refused, "case") + " not supported";
        if (!unmet.empty()) run.footer.unmet.push_back(unmet);
    }
    const bool is_otherwise_fine =
        outcome == Outcome::conformant || outcome == Outcome::nothing_tested;
    return !run.footer.unmet.empty() && is_otherwise_fine ? Outcome::incomplete : outcome;
}

}  // namespace mx::session
