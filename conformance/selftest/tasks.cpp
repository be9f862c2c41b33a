// See tasks.hpp.
#include "conformance/selftest/tasks.hpp"

#include <algorithm>
#include <numeric>

#include "conformance/session/workers.hpp"
#include "reference/base/json_record.hpp"

namespace mx::cause {

template <typename Archive, json::Either<Cause> Given>
void describe(Archive& archive, Given& cause) {
    archive("sentence", cause.sentence);
    archive("kinds", cause.kinds);
}

}  // namespace mx::cause

namespace mx::selftest {

template <typename Archive, json::Either<Kill> Given>
void describe(Archive& archive, Given& kill) {
    archive("level", kill.level);
    archive("suite", kill.suite);
    archive("verdict", kill.verdict);
    archive("mismatch_class", kill.mismatch_class);
    archive("case", kill.case_text);
    archive("reason", kill.reason);
}

template <typename Archive, json::Either<Hunt> Given>
void describe(Archive& archive, Given& hunt) {
    archive("cases", hunt.cases);
    archive.where_known("kill", hunt.kill);
    archive.where_known("cause", hunt.cause);
}

template <typename Archive, json::Either<CleanCheck> Given>
void describe(Archive& archive, Given& check) {
    archive("cases", check.cases);
    archive("elements", check.elements);
    archive("scales", check.scales);
    archive("complaint", check.complaint);
}

template <typename Archive, json::Either<CanaryCheck> Given>
void describe(Archive& archive, Given& check) {
    archive("failed", check.failed);
    archive("complaint", check.complaint);
}

int plain(const Outcome& outcome) {
    return static_cast<int>(outcome);
}

std::string from_plain(int number, Outcome& outcome) {
    if (number < 0 || number > static_cast<int>(Outcome::not_asked)) return "is no outcome";
    outcome = static_cast<Outcome>(number);
    return "";
}

template <typename Archive, json::Either<Finding> Given>
void describe(Archive& archive, Given& finding) {
    archive("hunt", finding.hunt);
    archive("outcomes", finding.outcomes);
    archive("fault", finding.fault);
    archive("clean", finding.clean);
    archive("canary", finding.canary);
}

std::string line_of(const Finding& finding) {
    return json::line_of(json::Writer::json_of(finding)) + "\n";
}

Expected<Finding> finding_of(const std::string& line) {
    const json::Json object = json::Json::parse(line, nullptr, false);
    if (!object.is_object()) return bad_input("a finding that is no JSON object: " + line);
    Finding finding;
    if (const Status read = json::read_record(object, finding); !read) return read.error();
    return finding;
}

Status run_tasks(const std::vector<Task>& tasks, std::size_t jobs,
                 const std::function<void(const Task&)>& begins,
                 const std::function<void(const Task&)>& ends) {
    if (tasks.empty()) return success();
    std::vector<std::size_t> all(tasks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const session::Workers::Work work{
        [&tasks](std::size_t i) -> Expected<std::string> { return line_of(tasks[i].run()); }};
    auto workers = session::Workers::start(std::clamp<std::size_t>(jobs, 1, tasks.size()), all,
                                           [&work] { return Expected(work); });
    if (!workers) return workers.error();
    for (const Task& task : tasks) {
        begins(task);
        const auto line = workers.value().next();
        if (!line) return line.error();
        if (!line.value())
            return Error{ErrorKind::system,
                         "a process of the self-test was ended from outside, at " + task.name};
        auto finding = finding_of(*line.value());
        if (!finding) return finding.error();
        task.take(std::move(finding).value());
        ends(task);
    }
    return success();
}

}  // namespace mx::selftest
