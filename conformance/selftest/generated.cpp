// See generated.hpp.
#include "conformance/selftest/generated.hpp"

#include <algorithm>
#include <map>

#include "conformance/library/answer.hpp"
#include "conformance/library/oracle_call.hpp"
#include "conformance/library/plain_call.hpp"
#include "conformance/selftest/generated_fault.hpp"
#include "conformance/selftest/grid.hpp"
#include "conformance/selftest/tasks.hpp"
#include "device/kit/plugin.hpp"

namespace mx::selftest {
namespace {

constexpr std::int64_t small_max = 1 << 12, large_max = 1 << 14;  // elements
constexpr std::size_t few = 24;                                   // cases
constexpr std::uint64_t numbers_of_seed = 1'000'000;

class GeneratedDevice {
public:
    explicit GeneratedDevice(const char* text) : bug_(draw_bug(std::stoull(text))) {}
    static std::span<const mx_fact> facts() {
        static constexpr std::array known{
            mx_fact{"name", "generated"}, mx_fact{"vendor", "mxcheck"},
            mx_fact{"notes", "the oracle with faults that a number draws"}};
        return known;
    }
    static void supports(const kit::Arguments& call) {
        library::read_calls(library::PlainCall(call, library::Loaded::nothing).call(),
                            kit::Buffers::absent, nullptr);
    }
    void run(const kit::Arguments& call) const {
        const library::PlainCall plain(call, library::Loaded::inputs);
        for (const library::OracleCall& side :
             library::read_calls(plain.call(), kit::Buffers::present, nullptr))
            answer(side);
        plain.store();
    }

private:
    void answer(const library::OracleCall& call) const {
        const Problem& p = call.question;
        if (p.operation != OperationKind::quantize) return library::answer(call);
        std::vector<CodeTensor> inputs;
        const std::vector<Part> parts = inputs_of(p);
        for (std::size_t i = 0; i < call.inputs.size(); ++i)
            inputs.push_back(library::dense_copy(call.inputs[i], shape_of(p, parts[i]).type.name));
        const std::vector<CodeTensor> outputs = faulty_answer(bug_.faults, p, inputs);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            std::size_t element = 0;
            kit::for_each_cell(call.outputs[i].shape(), [&](kit::Cell cell) {
                call.outputs[i].write(cell, outputs[i].at(element++));
            });
        }
    }

    GeneratedBug bug_;
};

Subject subject_of(std::uint64_t number, const GeneratedBug& bug) {
    Subject subject;
    subject.name = "generated_" + std::to_string(number);
    for (const GeneratedFault& fault : bug.faults) {
        subject.description += (subject.description.empty() ? "" : "; ") + fault.text +
                               (fault.place.kind.empty() ? "" : ", in " + fault.place.text);
        subject.does += (subject.does.empty() ? "" : " + ") +
                        (fault.does.empty() ? "what no hypothesis has" : fault.does);
    }
    subject.description = std::string(bug.entry->name) + ": " + subject.description;
    subject.source = {.name = subject.name,
                      .get_api = [](std::uint32_t) { return &kit::Plugin<GeneratedDevice>::table; },
                      .configuration = std::to_string(number)};
    return subject;
}

// Quantizations of an entry, small ones; where few are, larger ones too.
std::vector<LevelCases> plan_of(const Quantizer& entry, Sources& sources) {
    auto plan = plan_by_level({"quick", {std::string(entry.name)}}, sources).value();
    const auto has_over = [](std::int64_t limit) {
        return [limit](const PlannedCase& planned) {
            return planned.c.operation != OperationKind::quantize ||
                   element_count(planned.c) > limit;
        };
    };
    std::size_t small = 0;
    for (const LevelCases& level : plan)
        small += level.cases.size() -
                 static_cast<std::size_t>(std::ranges::count_if(level.cases, has_over(small_max)));
    for (LevelCases& level : plan)
        std::erase_if(level.cases, has_over(small >= few ? small_max : large_max));
    return plan;
}

// The plans of entries are made once, where a bug of theirs is asked first.
class Asker {
public:
    Finding ask(std::uint64_t number) {
        const GeneratedBug bug = draw_bug(number);
        auto& plan = plans_[bug.entry->name];
        if (plan.empty()) plan = plan_of(*bug.entry, sources_);
        Finding finding;
        auto found =
            hunt(subject_of(number, bug), plan, {.sources = sources_, .names_causes = true});
        if (found)
            finding.hunt = std::move(found).value();
        else
            finding.fault = found.error().message;
        return finding;
    }

private:
    Sources sources_;
    std::map<std::string_view, std::vector<LevelCases>> plans_;
};

void add(std::uint64_t number, Finding finding, GeneratedTable& table) {
    ++table.drawn;
    if (!finding.fault.empty()) table.problems.push_back(finding.fault);
    if (!finding.hunt.kill) return;
    Row row{subject_of(number, draw_bug(number)), std::move(finding.hunt), {}, ""};
    if (cause_word(row) == "wrong")
        table.problems.push_back(row.subject.name + " (" + row.subject.description +
                                 ") is said to be: " + row.hunt.cause->sentence);
    table.rows.push_back(std::move(row));
}

}  // namespace

GeneratedTable ask_generated(std::span<const std::uint64_t> numbers) {
    GeneratedTable table;
    Asker asker;
    for (const std::uint64_t number : numbers) add(number, asker.ask(number), table);
    return table;
}

GeneratedTable hunt_generated(std::size_t count, std::uint64_t seed, std::size_t jobs,
                              const std::function<void(std::size_t)>& progress) {
    GeneratedTable table;
    Asker asker;
    const auto take = [&](std::uint64_t number, Finding finding) {
        if (table.rows.size() == count) return;
        add(number, std::move(finding), table);
        progress(table.rows.size());
    };
    // About half of them show. Those behind the last that is wanted are not counted.
    for (std::uint64_t next = 0; table.rows.size() < count;) {
        std::vector<Task> tasks;
        for (std::size_t i = 0; i < 2 * (count - table.rows.size()); ++i, ++next) {
            const std::uint64_t number = seed * numbers_of_seed + next;
            tasks.push_back({"", 1, [&asker, number] { return asker.ask(number); },
                             [&take, number](Finding found) { take(number, std::move(found)); }});
        }
        const Status tried = run_tasks(
            tasks, jobs, [](const Task&) {}, [](const Task&) {});
        if (tried) continue;
        table.problems.push_back(tried.error().message);
        break;
    }
    return table;
}

namespace {

// "right", of a pair also how many were named: the other may change nothing that was asked.
std::string cause_text(const Row& row) {
    const std::string word(cause_word(row));
    const bool is_pair = row.subject.does.find(" + ") != std::string::npos;
    if (word != "right" || !is_pair) return word;
    return word + (row.hunt.cause->kinds.size() > 1 ? ", 2 of 2" : ", 1 of 2");
}

}  // namespace

std::string render_text(const GeneratedTable& table) {
    Grid grid{{"bug", "cause", "what is wrong"}, {}};
    std::map<std::string_view, std::size_t> words;
    for (const Row& row : table.rows) {
        ++words[cause_word(row)];
        grid.rows.push_back({row.subject.name, cause_text(row), row.subject.description});
    }
    return aligned(grid) + "\n" + std::to_string(table.rows.size()) + " generated bugs (of " +
           std::to_string(table.drawn) +
           " drawn; the others show in no case): causes named: " + std::to_string(words["right"]) +
           " right, " + std::to_string(words["wrong"]) + " wrong, " +
           std::to_string(words["unexplained"]) + " not explained\n";
}

}  // namespace mx::selftest
