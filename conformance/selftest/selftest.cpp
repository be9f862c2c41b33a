// See selftest.hpp.
#include "conformance/selftest/selftest.hpp"

#include <optional>
#include <utility>

#include "conformance/selftest/gemm_audit.hpp"
#include "conformance/selftest/gemm_cases.hpp"
#include "conformance/selftest/oracle_device.hpp"
#include "conformance/selftest/tasks.hpp"
#include "reference/spec/cast_formats.hpp"

namespace mx::selftest {
namespace {

Subject oracle_as_device() {
    return {"the oracle as a device", "", "", {.name = "oracle", .get_api = [](std::uint32_t) {
                                                   return oracle_device_api();
                                               }}};
}

Finding hunt_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Court& court) {
    Finding finding;
    auto found = hunt(bug, plan, court);
    if (found)
        finding.hunt = std::move(found).value();
    else
        finding.fault = found.error().message;
    return finding;
}

Row row_of(const Subject& bug, Finding finding) {
    return {bug, std::move(finding.hunt), std::move(finding.outcomes), std::move(finding.fault)};
}

// Before the suites, and before the rules of an audit.
template <typename Rules>
Finding try_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Rules& audit,
                const Court& court) {
    Finding finding = hunt_bug(bug, plan, court);
    auto outcomes = audit.judge(bug, court.limits);
    if (outcomes)
        finding.outcomes = std::move(outcomes).value();
    else
        finding.fault = outcomes.error().message;
    return finding;
}

std::size_t count_cases(const std::vector<LevelCases>& plan) {
    std::size_t count = 0;
    for (const LevelCases& level : plan) count += level.cases.size();
    return count;
}

// Every n-th case from number `first` on.
std::vector<LevelCases> slice_of(const std::vector<LevelCases>& plan, std::size_t first,
                                 std::size_t n) {
    std::vector<LevelCases> slice;
    std::size_t number = 0;
    for (const LevelCases& level : plan) {
        slice.push_back({level.level, {}});
        for (const PlannedCase& planned : level.cases)
            if (number++ % n == first) slice.back().cases.push_back(planned);
    }
    return slice;
}

void add_up(CleanCheck& sum, const CleanCheck& slice) {
    sum.cases += slice.cases;
    sum.elements += slice.elements;
    sum.scales += slice.scales;
    if (sum.complaint.empty()) sum.complaint = slice.complaint;
}

template <typename IsUnwanted>
void leave_out(std::vector<LevelCases>& plan, const IsUnwanted& is_unwanted) {
    for (LevelCases& level : plan)
        std::erase_if(level.cases,
                      [&](const PlannedCase& planned) { return is_unwanted(planned.c); });
}

// Those that other projects' rules are asked about, which look at MX and FP8 of OCP, and others.
Finding try_gemm_bug(const Subject& bug, const std::vector<LevelCases>& plan,
                     const GemmAudit& audit, const Court& court) {
    std::vector<LevelCases> asked = plan;
    leave_out(asked, [&bug](const Case& c) { return !is_gemm_bug_asked(bug, c); });
    const bool is_audited = !bug.shows_on.starts_with("cdna");
    return is_audited ? try_bug(bug, asked, audit, court) : hunt_bug(bug, asked, court);
}

// No bug of a GPU is meant to crash or to take long, so that would be the machine's own doing and
// prove nothing.
Row hunt_gpu_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Court& court) {
    Row row = row_of(bug, hunt_bug(bug, plan, court));
    const std::optional<Kill> kill = row.hunt.kill;
    if (!kill || kill->verdict == "fail" || kill->verdict == "flaky") return row;
    row.hunt.kill.reset();
    row.fault = bug.name + ": not killed by its bits: " + kill->verdict + ", " + kill->reason +
                ", in " + kill->case_text;
    return row;
}

std::vector<LevelCases> gpu_plan(const std::vector<LevelCases>& plan) {
    std::vector<LevelCases> asked = plan;
    leave_out(asked, [](const Case& c) { return !gpu_bugs_answer(c); });
    return asked;
}

// No bug of real scales needs a large tensor, and the eleven dialects take long over theirs. Nor
// does the oracle, whose dialects are all asked what no bug is: the clean base is asked its own.
void leave_out_large_cases(std::vector<LevelCases>& plan) {
    constexpr std::int64_t large = 1 << 17;
    leave_out(plan, [](const Case& c) { return element_count(c) >= large; });
}

// Elements that no block has are none of the planted bugs' own.
void leave_out_cast_formats(std::vector<LevelCases>& plan) {
    leave_out(plan,
              [](const Case& c) { return find_named(cast_formats, format_name(c)) != nullptr; });
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

// A clean check in slices of about so many cases: a few seconds each.
constexpr std::size_t cases_of_a_slice = 500;

// The list grows while nothing runs; where its findings go is given and stays.
class Tasks {
public:
    explicit Tasks(const Trials& trials) : trials_(trials) {}

    void add_canary(const std::string& name, const Subject& canary, const LevelCases& plan,
                    CanaryCheck& into) {
        list_.push_back({name, plan.cases.size(),
                         [this, &canary, &plan] {
                             Finding finding;
                             finding.canary = check_canary(canary, plan, {trials_.sources});
                             return finding;
                         },
                         [&into](const Finding& finding) { into = finding.canary; }});
    }
    void add_clean(const std::string& name, const Subject& subject,
                   const std::vector<LevelCases>& plan, CleanCheck& into) {
        const std::size_t count = count_cases(plan);
        const std::size_t slices = count / cases_of_a_slice + 1;
        for (std::size_t i = 0; i < slices; ++i)
            list_.push_back({name, count / slices + (i < count % slices ? 1 : 0),
                             [this, subject, &plan, i, slices] {
                                 Finding finding;
                                 finding.clean = check_clean(subject, slice_of(plan, i, slices),
                                                             {trials_.sources});
                                 return finding;
                             },
                             [&into](const Finding& finding) { add_up(into, finding.clean); }});
    }
    void add_bug(const Subject& bug, std::function<Finding()> run, std::vector<Row>& into) {
        list_.push_back({bug.name, steps_of_a_bug, std::move(run), [&bug, &into](Finding finding) {
                             into.push_back(row_of(bug, std::move(finding)));
                         }});
    }
    const std::vector<Task>& list() const { return list_; }

private:
    const Trials& trials_;
    std::vector<Task> list_;
};

void add_blocks(const Trials& trials, const Audit& audit, Tasks& tasks, KillTable& table) {
    const Subjects& subjects = trials.subjects;
    tasks.add_canary("the canary", subjects.canary, trials.plan.front(), table.canary);
    tasks.add_clean("the clean base", subjects.base, trials.plan, table.base);
    tasks.add_clean("the oracle as a device", oracle_as_device(), trials.full_plan, table.oracle);
    for (const Subject& bug : subjects.bugs)
        tasks.add_bug(
            bug,
            [&trials, &audit, &bug] {
                return try_bug(bug, trials.plan, audit, court_of_bugs(trials));
            },
            table.rows);
}

// Which no rule of another project is asked about.
void add_real_scales(const Trials& trials, Tasks& tasks, CastTable& table) {
    const Cast& subjects = trials.subjects.real_scales;
    const std::vector<LevelCases>& plan = trials.real_scale_plan;
    tasks.add_canary("the canary of real scales", subjects.canary, plan.front(), table.canary);
    tasks.add_clean("the clean base of real scales", subjects.base, plan, table.base);
    for (const Subject& bug : subjects.bugs)
        tasks.add_bug(
            bug, [&trials, &plan, &bug] { return hunt_bug(bug, plan, court_of_bugs(trials)); },
            table.rows);
}

void add_gemm(const Trials& trials, const GemmAudit& audit, Tasks& tasks, CastTable& table) {
    const Cast& subjects = trials.subjects.gemm;
    const std::vector<LevelCases>& plan = trials.gemm_plan;
    tasks.add_canary("the canary of a GEMM", subjects.canary, plan.front(), table.canary);
    tasks.add_clean("the clean base of a GEMM", subjects.base, plan, table.base);
    for (const Subject& bug : subjects.bugs)
        tasks.add_bug(
            bug,
            [&trials, &plan, &audit, &bug] {
                return try_gemm_bug(bug, plan, audit, court_of_bugs(trials));
            },
            table.rows);
}

std::size_t count_steps(const Trials& trials, const Tasks& tasks) {
    std::size_t steps = 0;
    for (const Task& task : tasks.list()) steps += task.steps;
    if (!trials.subjects.gpu.bugs.empty())
        steps +=
            count_cases(gpu_plan(trials.plan)) + trials.subjects.gpu.bugs.size() * steps_of_a_bug;
    return steps;
}

// One after the other: they share one GPU.
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
    leave_out_cast_formats(plan.value());
    leave_out_large_cases(full_plan.value());
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
    KillTable table;
    table.level = settings.level;
    Tasks tasks(trials);
    std::optional<Audit> audit;
    if (!subjects.bugs.empty()) {
        auto prepared = Audit::prepare(sources);
        if (!prepared) return prepared.error();
        audit = std::move(prepared).value();
        add_blocks(trials, *audit, tasks, table);
    }
    if (!subjects.real_scales.bugs.empty()) add_real_scales(trials, tasks, table.real_scales);
    std::optional<GemmAudit> gemm_audit;
    if (!subjects.gemm.bugs.empty()) {
        auto prepared = GemmAudit::prepare();
        if (!prepared) return prepared.error();
        gemm_audit = std::move(prepared).value();
        add_gemm(trials, *gemm_audit, tasks, table.gemm);
    }
    Announcer announcer(settings, count_steps(trials, tasks));
    const Status tried = run_tasks(
        tasks.list(), settings.jobs, [&](const Task& task) { announcer.begin(task.name); },
        [&](const Task& task) { announcer.advance(task.steps); });
    if (!tried) return tried.error();
    if (!subjects.gpu.bugs.empty()) try_gpu(trials, announcer, table.gpu);
    table.problems = problems_of(table);
    return table;
}

}  // namespace mx::selftest
