// See trial.hpp.
#include "conformance/selftest/trial.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "conformance/cause/explainer.hpp"
#include "conformance/run/judge.hpp"
#include "conformance/run/runner.hpp"

namespace mx::selftest {
namespace {

using results::CaseResult;
using results::Verdict;

enum class Go { on, stop };
using Visit = std::function<Go(const std::string& level, const CaseResult& result)>;

Error own_fault(const Subject& subject, const std::string& what) {
    return {ErrorKind::device, subject.name + ": " + what};
}

decltype(RunnerOptions::explain) explain_of(const Court& court) {
    if (court.names_causes) return cause::Explainer();
    return {};
}

Status for_each_result(const Subject& subject, const std::vector<LevelCases>& plan,
                       const Court& court, const Visit& visit) {
    const auto client = open_client(subject.source, court.limits);
    if (!client) return own_fault(subject, client.error().message);
    Runner runner(client.value(), court.sources,
                  {" --device " + subject.source.name, false, 0, explain_of(court)});
    for (const LevelCases& level : plan)
        for (const PlannedCase& planned : level.cases) {
            const auto result = runner.run(planned);
            if (!result) return own_fault(subject, result.error().message);
            court.on_case();
            if (visit(level.level, result.value()) == Go::stop) return success();
        }
    return success();
}

std::string describe(const CaseResult& result) {
    std::string text(results::name_of(result.verdict));
    if (!result.mismatches.empty()) text += " (" + result.mismatches[0].mismatch_class + ")";
    if (!result.reason.empty()) text += ", " + result.reason;
    return text + ", in " + result.case_text;
}

Kill kill_by(const std::string& level, const CaseResult& result) {
    Kill kill{level, result.suite,     std::string(results::name_of(result.verdict)),
              "",    result.case_text, result.reason};
    if (!result.mismatches.empty()) kill.mismatch_class = result.mismatches[0].mismatch_class;
    return kill;
}

bool is_our_fault(Verdict verdict) {
    return verdict == Verdict::oracle_disagreement || verdict == Verdict::untested;
}

// What a bug may be particular to, beside formats, types and shapes.
std::string kind_of(const Case& c) {
    std::string kind = dialect_name(c) + " " + c.data + " " + std::to_string(c.block) + " ";
    if (c.rules) kind += std::string(rounding_name_of(*c.rules)) + " ";
    if (c.rules) kind += std::string(name_of(c.rules->subnormals)) + " ";
    for (const std::string_view word : {name_of(c.operation), name_of(c.axis), name_of(c.layout),
                                        name_of(c.scales), c.packing->name})
        kind += std::string(word) + " ";
    return kind;
}

Work work_of(const Case& c) {
    return c.operation == OperationKind::gemm ? Work::gemm : Work::conversions;
}

void sort_by_turns(std::vector<PlannedCase>& cases) {
    std::ranges::stable_sort(cases, {},
                             [](const PlannedCase& planned) { return element_count(planned.c); });
    std::map<std::string, std::size_t> cases_of_kind;
    std::vector<std::pair<std::size_t, PlannedCase>> turns;
    for (PlannedCase& planned : cases)
        turns.emplace_back(cases_of_kind[kind_of(planned.c)]++, std::move(planned));
    std::ranges::stable_sort(turns, {}, [](const auto& turn) { return turn.first; });
    cases.clear();
    for (auto& [number, planned] : turns) cases.push_back(std::move(planned));
}

// What a device was seen to do, up to where its cause should be plain.
class Trail {
public:
    void add(const CaseResult& result) {
        if (blames_device(result.verdict)) ++failed_;
        if (failed_ > 0) ++since_kill_;
        if (result.verdict == Verdict::crash || result.verdict == Verdict::timeout) ended_ = true;
        cases_.push_back(result);
    }
    bool is_long() const { return ended_ || failed_ >= failed_max || since_kill_ >= cases_max; }
    std::span<const CaseResult> cases() const { return cases_; }

private:
    static constexpr std::size_t failed_max = 24, cases_max = 160;
    std::vector<CaseResult> cases_;
    std::size_t failed_ = 0, since_kill_ = 0;
    bool ended_ = false;  // asking on would take long
};

}  // namespace

Expected<std::vector<LevelCases>> plan_by_level(const Scope& scope, Sources& sources) {
    std::vector<LevelCases> plan;
    std::set<std::string> seen;
    for (const std::string_view level : levels) {
        PlanRequest request;
        request.level = level;
        request.dialects = scope.dialects;
        auto cases = plan_cases(built_in_suites(), request, sources);
        if (!cases) return cases.error();
        LevelCases added{request.level, {}};
        for (PlannedCase& planned : cases.value())
            if (work_of(planned.c) == scope.work && seen.insert(print(planned.c)).second)
                added.cases.push_back(std::move(planned));
        sort_by_turns(added.cases);
        plan.push_back(std::move(added));
        if (level == scope.level) return plan;
    }
    return bad_input("unknown level '" + scope.level + "'");
}

Expected<Hunt> hunt(const Subject& subject, const std::vector<LevelCases>& plan,
                    const Court& court) {
    Hunt hunt;
    Trail trail;
    std::string fault;
    const Status status =
        for_each_result(subject, plan, court, [&](const std::string& level, const CaseResult& r) {
            if (is_our_fault(r.verdict)) fault = describe(r);
            if (court.names_causes) trail.add(r);
            if (hunt.kill) return fault.empty() && !trail.is_long() ? Go::on : Go::stop;
            ++hunt.cases;
            if (blames_device(r.verdict)) hunt.kill = kill_by(level, r);
            if (hunt.kill && !court.names_causes) return Go::stop;
            return fault.empty() ? Go::on : Go::stop;
        });
    if (!status) return status.error();
    if (!fault.empty()) return own_fault(subject, fault);
    if (hunt.kill && court.names_causes) hunt.cause = cause::cause_of(trail.cases(), court.sources);
    return hunt;
}

std::string absence_of(const Subject& subject, const Court& court) {
    const auto client = open_client(subject.source, court.limits);
    if (client) return "";
    // The sentence is all that comes out of the device's process, with the status's name in it.
    const std::string& message = client.error().message;
    const std::string status = name_of(MX_NOT_SUPPORTED) + ", ";
    const std::size_t place = message.find(status);
    return place == std::string::npos ? "" : message.substr(place + status.size());
}

CleanCheck check_clean(const Subject& subject, const std::vector<LevelCases>& plan,
                       const Court& court) {
    CleanCheck check;
    const Status status =
        for_each_result(subject, plan, court, [&](const std::string&, const CaseResult& r) {
            if (r.verdict != Verdict::pass_exact && r.verdict != Verdict::pass_bounded) {
                check.complaint = subject.name + " is not clean: " + describe(r);
                return Go::stop;
            }
            ++check.cases;
            check.elements += r.elements;
            check.scales += r.scales;
            return Go::on;
        });
    if (!status) check.complaint = status.error().message;
    if (check.complaint.empty() && check.elements + check.scales == 0)
        check.complaint = subject.name + " was asked nothing";
    return check;
}

CanaryCheck check_canary(const Subject& subject, const LevelCases& plan, const Court& court) {
    CanaryCheck check;
    const Status status =
        for_each_result(subject, {plan}, court, [&](const std::string&, const CaseResult& r) {
            if (r.verdict == Verdict::not_supported) return Go::on;
            if (blames_device(r.verdict)) {
                ++check.failed;
                return Go::on;
            }
            check.complaint = subject.name + " did not fail: " + describe(r);
            return Go::stop;
        });
    if (!status) check.complaint = status.error().message;
    if (check.complaint.empty() && check.failed == 0)
        check.complaint = subject.name + " supported no case at all";
    return check;
}

}  // namespace mx::selftest
