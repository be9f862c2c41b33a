// See selftest.hpp.
#include "conformance/selftest/selftest.hpp"

#include "conformance/selftest/oracle_device.hpp"

namespace mx::selftest {
namespace {

Subject oracle_as_device() {
    return {"the oracle as a device", "", "", {.name = "oracle", .get_api = [](std::uint32_t) {
                                                   return oracle_device_api();
                                               }}};
}

Row try_bug(const Subject& bug, const std::vector<LevelCases>& plan, const Audit& audit,
            const Court& court) {
    Row row{bug, {}, {}, ""};
    auto found = hunt(bug, plan, court);
    if (found)
        row.hunt = std::move(found).value();
    else
        row.fault = found.error().message;
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

}  // namespace

Expected<KillTable> run_selftest(const Subjects& subjects, const Settings& settings) {
    Sources sources;
    const auto plan = plan_by_level({settings.level, bug_dialects()}, sources);
    if (!plan) return plan.error();
    const auto full_plan = plan_by_level({settings.level, known_dialects()}, sources);
    if (!full_plan) return full_plan.error();
    KillTable table;
    table.level = settings.level;
    const LevelCases& smoke = plan.value().front();
    Announcer announcer(settings, smoke.cases.size() + count_cases(plan.value()) +
                                      count_cases(full_plan.value()) +
                                      subjects.bugs.size() * steps_of_a_bug);
    const Court patient{sources, {}, announcer.on_case()};
    announcer.begin("the canary");
    table.canary = check_canary(subjects.canary, smoke, patient);
    announcer.begin("the clean base");
    table.base = check_clean(subjects.base, plan.value(), patient);
    announcer.begin("the oracle as a device");
    table.oracle = check_clean(oracle_as_device(), full_plan.value(), patient);
    const auto audit = Audit::prepare(sources);
    if (!audit) return audit.error();
    for (const Subject& bug : subjects.bugs) {
        announcer.begin(bug.name);
        table.rows.push_back(
            try_bug(bug, plan.value(), audit.value(), {sources, settings.patience}));
        announcer.advance(steps_of_a_bug);
    }
    table.problems = problems_of(table);
    return table;
}

}  // namespace mx::selftest
