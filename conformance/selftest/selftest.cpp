// See selftest.hpp.
#include "conformance/selftest/selftest.hpp"

#include <optional>

#include "conformance/selftest/gemm_audit.hpp"
#include "conformance/selftest/gemm_cases.hpp"
#include "conformance/selftest/oracle_device.hpp"

namespace mx::selftest {
namespace {

Subject oracle_as_device() {
    return {"the oracle as a device", "", "", {.name = "oracle", .get_api = [](std::uint32_t) {
                                                   return oracle_device_api();
                                               }}};
}

Row hunt_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Court& court) {
    Row row{bug, {}, {}, ""};
    auto found = hunt(bug, plan, court);
    if (found)
        row.hunt = std::move(found).value();
    else
        row.fault = found.error().message;
    return row;
}

// Before the suites, and before the rules of an audit.
template <typename Rules>
Row try_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Rules& audit,
            const Court& court) {
    Row row = hunt_bug(bug, plan, court);
    auto outcomes = audit.judge(bug, court.limits);
    if (outcomes)
        row.outcomes = std::move(outcomes).value();
    else
        row.fault = outcomes.error().message;
    return row;
}

std::size_t count_cases(const std::vector<LevelCases>& plan) {
    std::size_t count = 0;
    for (const LevelCases& level : plan) count += level.cases.size();
    return count;
}

// Those that other projects' rules are asked about, which look at MX and FP8 of OCP, and others.
Row try_gemm_bug(const Subject& bug, const std::vector<LevelCases>& plan, const GemmAudit& audit,
                 const Court& court) {
    std::vector<LevelCases> asked = plan;
    for (LevelCases& level : asked)
        std::erase_if(level.cases, [&bug](const PlannedCase& planned) {
            return !is_gemm_bug_asked(bug, planned.c);
        });
    const bool is_audited = !bug.shows_on.starts_with("cdna");
    return is_audited ? try_bug(bug, asked, audit, court) : hunt_bug(bug, asked, court);
}

// No bug of a GPU is meant to crash or to take long, so that would be the machine's own doing and
// prove nothing.
Row hunt_gpu_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Court& court) {
    Row row = hunt_bug(bug, plan, court);
    const std::optional<Kill> kill = row.hunt.kill;
    if (!kill || kill->verdict == "fail" || kill->verdict == "flaky") return row;
    row.hunt.kill.reset();
    row.fault = bug.name + ": not killed by its bits: " + kill->verdict + ", " + kill->reason +
                ", in " + kill->case_text;
    return row;
}

std::vector<LevelCases> gpu_plan(const std::vector<LevelCases>& plan) {
    std::vector<LevelCases> asked = plan;
    for (LevelCases& level : asked)
        std::erase_if(level.cases,
                      [](const PlannedCase& planned) { return !gpu_bugs_answer(planned.c); });
    return asked;
}

// No bug of real scales needs a large tensor, and the eleven dialects take long over theirs.
void leave_out_large_cases(std::vector<LevelCases>& plan) {
    constexpr std::uint64_t large = 1u << 17;
    for (LevelCases& level : plan)
        std::erase_if(level.cases, [](const PlannedCase& planned) {
            return static_cast<std::uint64_t>(element_count(planned.c)) >= large;
        });
}

// A bug takes about as long as this many cases of the clean checks; for the progress line alone.
constexpr std::size_t steps_of_a_bug = 60;

class Announcer {
public:
    Announcer(const Settings& settings, std::size_t total) : settings_(settings), total_(total) {}
    void begin(const std::string& name) {
        name_ = name;
        settings_.progress({done_, total_, name_});
    }
    void advance(std::size_t steps) {
        done_ += steps;
        settings_.progress({done_, total_, name_});
    }
    std::function<void()> on_case() {
        return [this] { advance(1); };
    }

private:
    const Settings& settings_;
    std::size_t done_ = 0, total_;
    std::string name_;
};

struct Trials {
    const Subjects& subjects;
    const Settings& settings;
    Sources& sources;
    std::vector<LevelCases> plan;       // of the planted bugs
    std::vector<LevelCases> full_plan;  // of the oracle: every dialect
    std::vector<LevelCases> real_scale_plan;
    std::vector<LevelCases> gemm_plan;
};

Court court_of_bugs(const Trials& trials) {
    return {.sources = trials.sources,
            .limits = trials.settings.patience,
            .names_causes = trials.settings.names_causes};
}

std::size_t count_steps(const Trials& trials) {
    std::size_t steps = 0;
    if (!trials.subjects.bugs.empty())
        steps += trials.plan.front().cases.size() + count_cases(trials.plan) +
                 count_cases(trials.full_plan) + trials.subjects.bugs.size() * steps_of_a_bug;
    const auto add_cast = [&steps](const Cast& cast, const std::vector<LevelCases>& plan) {
        if (!cast.bugs.empty())
            steps +=
                plan.front().cases.size() + count_cases(plan) + cast.bugs.size() * steps_of_a_bug;
    };
    add_cast(trials.subjects.real_scales, trials.real_scale_plan);
    add_cast(trials.subjects.gemm, trials.gemm_plan);
    if (!trials.subjects.gpu.bugs.empty())
        steps +=
            count_cases(gpu_plan(trials.plan)) + trials.subjects.gpu.bugs.size() * steps_of_a_bug;
    return steps;
}

Status try_cpu(const Trials& trials, Announcer& announcer, KillTable& table) {
    const Subjects& subjects = trials.subjects;
    const Court patient{trials.sources, {}, announcer.on_case()};
    announcer.begin("the canary");
    table.canary = check_canary(subjects.canary, trials.plan.front(), patient);
    announcer.begin("the clean base");
    table.base = check_clean(subjects.base, trials.plan, patient);
    announcer.begin("the oracle as a device");
    table.oracle = check_clean(oracle_as_device(), trials.full_plan, patient);
    const auto audit = Audit::prepare(trials.sources);
    if (!audit) return audit.error();
    for (const Subject& bug : subjects.bugs) {
        announcer.begin(bug.name);
        table.rows.push_back(try_bug(bug, trials.plan, audit.value(), court_of_bugs(trials)));
        announcer.advance(steps_of_a_bug);
    }
    return success();
}

// Which no rule of another project is asked about.
void try_real_scales(const Trials& trials, Announcer& announcer, CastTable& table) {
    const Cast& subjects = trials.subjects.real_scales;
    const Court patient{trials.sources, {}, announcer.on_case()};
    announcer.begin("the canary of real scales");
    table.canary = check_canary(subjects.canary, trials.real_scale_plan.front(), patient);
    announcer.begin("the clean base of real scales");
    table.base = check_clean(subjects.base, trials.real_scale_plan, patient);
    for (const Subject& bug : subjects.bugs) {
        announcer.begin(bug.name);
        table.rows.push_back(hunt_bug(bug, trials.real_scale_plan, court_of_bugs(trials)));
        announcer.advance(steps_of_a_bug);
    }
}

Status try_gemm(const Trials& trials, Announcer& announcer, CastTable& table) {
    const Cast& subjects = trials.subjects.gemm;
    const Court patient{trials.sources, {}, announcer.on_case()};
    announcer.begin("the canary of a GEMM");
    table.canary = check_canary(subjects.canary, trials.gemm_plan.front(), patient);
    announcer.begin("the clean base of a GEMM");
    table.base = check_clean(subjects.base, trials.gemm_plan, patient);
    const auto audit = GemmAudit::prepare();
    if (!audit) return audit.error();
    for (const Subject& bug : subjects.bugs) {
        announcer.begin(bug.name);
        table.rows.push_back(
            try_gemm_bug(bug, trials.gemm_plan, audit.value(), court_of_bugs(trials)));
        announcer.advance(steps_of_a_bug);
    }
    return success();
}

void try_gpu(const Trials& trials, Announcer& announcer, GpuTable& table) {
    const GpuSubjects& subjects = trials.subjects.gpu;
    const Court patient{trials.sources, {}, announcer.on_case()};
    announcer.begin("the GPU");
    table.not_run =
        subjects.absence.empty() ? absence_of(subjects.base, patient) : subjects.absence;
    const std::vector<LevelCases> plan = gpu_plan(trials.plan);
    if (table.not_run.empty()) table.base = check_clean(subjects.base, plan, patient);
    const Court court{.sources = trials.sources, .names_causes = trials.settings.names_causes};
    for (const Subject& bug : subjects.bugs) {
        announcer.begin(bug.name);
        table.rows.push_back(table.not_run.empty() ? hunt_gpu_bug(bug, plan, court)
                                                   : Row{bug, {}, {}, ""});
        announcer.advance(steps_of_a_bug);
    }
}

}  // namespace

Expected<KillTable> run_selftest(const Subjects& subjects, const Settings& settings) {
    Sources sources;
    auto plan = plan_by_level({settings.level, bug_dialects()}, sources);
    if (!plan) return plan.error();
    auto full_plan = plan_by_level({settings.level, known_dialects()}, sources);
    if (!full_plan) return full_plan.error();
    auto real_scale_plan = plan_by_level({settings.level, real_scale_bug_dialects()}, sources);
    if (!real_scale_plan) return real_scale_plan.error();
    leave_out_large_cases(real_scale_plan.value());
    auto gemm_plan = plan_gemm(settings.level, sources);
    if (!gemm_plan) return gemm_plan.error();
    const Trials trials{subjects,
                        settings,
                        sources,
                        std::move(plan).value(),
                        std::move(full_plan).value(),
                        std::move(real_scale_plan).value(),
                        std::move(gemm_plan).value()};
    Announcer announcer(settings, count_steps(trials));
    KillTable table;
    table.level = settings.level;
    if (!subjects.bugs.empty()) {
        const Status tried = try_cpu(trials, announcer, table);
        if (!tried) return tried.error();
    }
    if (!subjects.real_scales.bugs.empty()) try_real_scales(trials, announcer, table.real_scales);
    if (!subjects.gemm.bugs.empty()) {
        const Status tried = try_gemm(trials, announcer, table.gemm);
        if (!tried) return tried.error();
    }
    if (!subjects.gpu.bugs.empty()) try_gpu(trials, announcer, table.gpu);
    table.problems = problems_of(table);
    return table;
}

}  // namespace mx::selftest
