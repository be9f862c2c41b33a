// See gemm_identify.hpp.
#include "conformance/identify/gemm_identify.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "conformance/identify/gemm_answers.hpp"
#include "conformance/identify/gemm_open.hpp"
#include "conformance/identify/gemm_probes.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

constexpr GemmShape long_shape{16, 16, 8192};

// What a row says, and beside it what was found of the rest.
GemmMachine machine_of(const GemmModel& row, const GemmMachine& rest) {
    GemmMachine machine = rest;
    machine.model = row;
    machine.product_exponent = ProductExponent::fields;
    machine.factors = Subnormals::honoured;
    machine.rounded_to_zero = RoundedToZero::positive;
    return with_steps_of_row(machine);
}

// Where no row takes the operands, any will do to begin with.
std::vector<const GemmModel*> beginnings(const GemmProblem& setting) {
    std::vector<const GemmModel*> rows = rows_for(setting);
    if (rows.empty()) rows = {find_gemm_model("hopper-half"), find_gemm_model("fma-chain")};
    return rows;
}

struct Candidate {
    GemmMachine machine;
    std::size_t predicted;
};

// From the rows that come nearest; the first that explains everything ends the search.
GemmMachine best_machine(const GemmProblem& setting, const GemmAnswers& answers) {
    constexpr std::size_t tried_max = 4;
    std::vector<Candidate> candidates;
    for (const GemmModel* row : beginnings(setting)) {
        const GemmMachine machine = machine_of(*row, {});
        candidates.push_back({machine, count_predicted(machine, setting, answers)});
    }
    const auto by_count = [](const Candidate& a, const Candidate& b) {
        return a.predicted > b.predicted;
    };
    std::stable_sort(candidates.begin(), candidates.end(), by_count);
    Candidate best{candidates.front().machine, 0};
    for (std::size_t i = 0; i < std::min(tried_max, candidates.size()); ++i) {
        const GemmMachine machine = fitted(candidates[i].machine, setting, answers);
        const std::size_t count = count_predicted(machine, setting, answers);
        if (count > best.predicted) best = {machine, count};
        if (count == answers.size()) break;
    }
    return best.machine;
}

GemmMisses misses_of(const GemmMachine& machine, const GemmProblem& setting,
                     const GemmAnswers& answers) {
    GemmMisses misses{0, answers.size(), ""};
    for (const GemmAnswer& answer : answers) {
        const Code d = predicted(machine, setting, answer.probe);
        if (d == answer.d) continue;
        if (misses.count++ == 0)
            misses.witness = text_of(setting, answer.probe) + " gave " + bits_text(answer.d) +
                             "; the machine found gives " + bits_text(d);
    }
    return misses;
}

// The rows that predict every sum, whatever the device makes of it afterwards.
void compare_accumulators(const GemmAnswers& answers, GemmIdentification& found) {
    const GemmAnswers sums = sums_of(found.setting, answers);
    found.sums = sums.size();
    for (const GemmModel* row : rows_for(found.setting))
        if (count_predicted(machine_of(*row, found.machine), found.setting, sums) == sums.size())
            found.sum_rows.emplace_back(row->name);
}

// The rows that predict every answer, and the one that comes nearest.
void compare_rows(const GemmAnswers& answers, GemmIdentification& found) {
    const GemmModel* nearest = nullptr;
    for (const GemmModel* row : rows_for(found.setting)) {
        const std::uint64_t count =
            count_predicted(machine_of(*row, found.machine), found.setting, answers);
        if (count == answers.size()) found.rows.emplace_back(row->name);
        if (nearest != nullptr && count <= found.nearest_predicted) continue;
        nearest = row;
        found.nearest_predicted = count;
        found.nearest = row->name;
    }
}

// The fields in which the machine that was found is not the row: each with what the row has.
std::vector<std::pair<const GemmFinding*, std::string>> parts_from(
    const GemmModel& row, const GemmIdentification& found) {
    std::vector<std::pair<const GemmFinding*, std::string>> parts;
    const GemmMachine machine = machine_of(row, found.machine);
    for (std::size_t i = 0; i < found.findings.size(); ++i) {
        const std::vector<std::string>& values = found.findings[i].values;
        std::string text = gemm_fields()[i].text(machine);
        if (std::ranges::find(values, text) == values.end())
            parts.emplace_back(&found.findings[i], std::move(text));
    }
    return parts;
}

void tell_parts(GemmIdentification& found) {
    if (found.nearest.empty()) return;
    for (const auto& [finding, text] : parts_from(*find_gemm_model(found.nearest), found))
        found.parts.push_back(finding->field + ": device " + values_text(finding->values) + ", " +
                              found.nearest + " " + text);
}

// Of what explains the answers that which a source has; all of it where a source names none of it.
std::vector<std::string> of_sources(const GemmOpenField& open,
                                    const std::vector<std::string>& values) {
    std::vector<std::string> left;
    for (const std::string_view value : open.values)
        if (!value.empty() && std::ranges::find(values, value) != values.end())
            left.emplace_back(value);
    return left.empty() ? values : left;
}

// What the table leaves open of the rows that this device is, but for what is open.
void settle(GemmIdentification& found) {
    if (found.unexplained() != 0) return;
    for (const GemmModel* row : rows_for(found.setting)) {
        const std::vector<GemmOpenField> open = open_fields_of(*row);
        const auto is_open = [&](const auto& part) {
            return std::ranges::find(open, part.first->field, &GemmOpenField::field) != open.end();
        };
        const bool is_row = std::ranges::find(found.rows, row->name) != found.rows.end();
        const bool may_be =
            found.rows.empty() && std::ranges::all_of(parts_from(*row, found), is_open);
        if (!is_row && !may_be) continue;
        const GemmMachine machine = machine_of(*row, found.machine);
        for (const GemmOpenField& one : open)
            for (std::size_t i = 0; i < found.findings.size(); ++i)
                if (const GemmFinding& finding = found.findings[i]; finding.field == one.field)
                    found.settled.push_back({std::string(row->name), finding.field,
                                             of_sources(one, finding.values),
                                             gemm_fields()[i].text(machine), finding.witness});
    }
}

// Where no K had a residue, a row that sums it first says more than was seen of one that does not.
void drop_unseen_residues(const UnlearntCalls& calls, std::vector<std::string>& rows) {
    const auto sums_residue_first = [](const std::string& name) {
        return find_gemm_model(name)->residue_tile != 0;
    };
    const bool is_seen = std::ranges::any_of(
        calls, [](const UnlearntCall& call) { return has_residue(call.shape.k); });
    if (!is_seen && !std::ranges::all_of(rows, sums_residue_first))
        std::erase_if(rows, sums_residue_first);
}

// The rows that predict these too, if one does; else how often the best of them does not.
void judge_unlearnt(const UnlearntCalls& calls, GemmIdentification& found) {
    if (found.rows.empty()) {
        found.unlearnt = misses_of(Engine::machine, found.machine, found.setting, calls);
        return;
    }
    std::vector<std::string> holding;
    for (const std::string& name : found.rows) {
        const GemmMachine machine = machine_of(*find_gemm_model(name), found.machine);
        GemmMisses misses = misses_of(Engine::row, machine, found.setting, calls);
        if (misses.count == 0) holding.push_back(name);
        const bool is_best = found.unlearnt.of == 0 || misses.count < found.unlearnt.count;
        if (!is_best) continue;
        found.unlearnt = std::move(misses);
        found.nearest = name;
    }
    drop_unseen_residues(calls, holding);
    if (!holding.empty()) {
        found.rows = std::move(holding);
        return;
    }
    // None of them, and what was found of the fields is no row of the table.
    GemmMisses own = misses_of(Engine::machine, found.machine, found.setting, calls);
    if (own.count != 0) return;
    found.rows.clear();
    found.unlearnt = std::move(own);
}

// Of the rows that predict every sum of a K without a residue, those that predict one of a K with
// it, too.
void compare_residues(const UnlearntCalls& calls, GemmIdentification& found) {
    UnlearntCalls sums;
    for (const UnlearntCall& call : calls)
        if (has_residue(call.shape.k) && is_sum(found.setting, call.left[0])) sums.push_back(call);
    std::erase_if(found.sum_rows, [&](const std::string& name) {
        const GemmMachine machine = machine_of(*find_gemm_model(name), found.machine);
        return misses_of(Engine::row, machine, found.setting, sums).count != 0;
    });
    drop_unseen_residues(calls, found.sum_rows);
}

std::string kind_of(Code d) {
    if (formats::f32.is_nan(d)) return "NaN";
    if (formats::f32.is_infinity(d)) return d.bits >> 31 != 0 ? "-Inf" : "Inf";
    if (d.bits << 1 == 0) return d.bits == 0 ? "+0" : "-0";
    return bits_text(d);
}

void read_specials(const GemmSubject& subject, const GemmAnswers& answers,
                   GemmIdentification& found) {
    static constexpr std::array names{"sum of nothing", "-0",  "1 - 1",   "NaN",
                                      "NaN * 0",        "Inf", "Inf * 0", "Inf - Inf"};
    for (const char* name : names) {
        std::set<std::string> kinds;
        for (const GemmAnswer& answer : answers)
            if (answer.probe.about == name) kinds.insert(kind_of(answer.d));
        std::string text;
        for (const std::string& kind : kinds) text += (text.empty() ? "" : " or ") + kind;
        if (!text.empty()) found.specials.emplace_back(name, text);
    }
    std::string patterns;
    for (const Code nan : subject.nans())
        patterns += (patterns.empty() ? "" : ", ") + bits_text(nan).substr(0, 10);
    if (!patterns.empty()) found.specials.emplace_back("bits of NaN", patterns);
}

// Which length of a part, of those that the answers point to, predicts the most?
GemmMachine with_part(const GemmProblem& setting, const GemmMachine& machine,
                      const GemmAnswers& answers) {
    std::set<std::int64_t> lengths{0};
    for (const GemmAnswer& answer : answers)
        lengths.insert(part_seen(setting, answer.probe, answer.d));
    GemmMachine best = machine;
    std::size_t most = 0;
    for (const std::int64_t length : lengths) {
        GemmMachine split = machine;
        split.part = length;
        const std::size_t count = count_predicted(split, setting, answers);
        if (count > most) best = split, most = count;
    }
    static constexpr std::array<std::string_view, 1> names{"without C"};
    return fitted(best, setting, answers, names);
}

// Returns the answers; none where the device does not do it.
GemmAnswers read_split(GemmSubject& subject, GemmIdentification& found) {
    GemmSplit& split = found.split;
    split.shape = long_shape;
    const GemmProblem& setting = found.setting;
    if (const auto names = subject.algorithms(long_shape); names && !names.value().empty())
        split.algorithm = setting.names_algorithm() ? setting.algorithm : names.value().front();
    GemmProbes probes = split_probes(setting, long_shape.k);
    const auto bits = subject.ask(long_shape, probes);
    if (!bits) {
        split.refusal = bits.error().message;
        return {};
    }
    GemmAnswers answers = paired(std::move(probes), bits.value());
    const GemmMachine machine = with_part(setting, found.machine, answers);
    split.part = machine.part;
    if (split.part != 0) split.parts = (long_shape.k + split.part - 1) / split.part;
    split.misses = misses_of(machine, setting, answers);
    GemmMachine whole = machine;
    whole.part = 0;
    for (const GemmAnswer& answer : answers) {
        const Code other = predicted(whole, setting, answer.probe);
        if (machine.part == 0 || other == answer.d || !split.witness.empty()) continue;
        split.witness = text_of(setting, answer.probe) + " gave " + bits_text(answer.d) +
                        "; in one part it gives " + bits_text(other);
    }
    return answers;
}

// A row has the name of the device only if it explains everything that was asked. What one row does
// not explain another may.
void conclude(GemmAnswers probed, GemmAnswers long_ones, const UnlearntCalls& calls,
              GemmIdentification& found) {
    if (found.unexplained() != 0) found.rows.clear();
    if (!found.rows.empty() || found.nearest.empty()) return;
    tell_parts(found);
    if (found.unexplained() == 0) return;
    if (found.split.part == 0)
        for (GemmAnswer& answer : long_ones) probed.push_back(std::move(answer));
    found.mixture = mixture_of(machine_of(*find_gemm_model(found.nearest), found.machine),
                               found.setting, probed, calls);
}

}  // namespace

std::int64_t parts_named(const std::string& algorithm) {
    const std::string key = "splitk=";
    const std::size_t at = algorithm.find(key);
    if (at == std::string::npos) return 1;
    std::int64_t number = 0;
    for (std::size_t i = at + key.size();
         i < algorithm.size() && algorithm[i] >= '0' && algorithm[i] <= '9' && number < 1'000'000;
         ++i)
        number = number * 10 + (algorithm[i] - '0');
    return std::max<std::int64_t>(number, 1);
}

Expected<GemmIdentification> identify_gemm(GemmSubject& subject) {
    GemmIdentification found;
    found.setting = subject.setting();
    found.shape = probe_shape;
    auto answers = ask_all_probes(subject, found.refusals);
    if (!answers) return answers.error();
    found.machine = best_machine(found.setting, answers.value());
    found.learnt = misses_of(found.machine, found.setting, answers.value());
    const auto calls = ask_unlearnt(subject,
                                    {.takes_everything = found.refusals.empty(),
                                     .asks_residue = may_sum_residue_first(found.setting)},
                                    found.refusals);
    if (!calls) return calls.error();
    // The one field that no probe shows.
    const GemmAnswers told = with_residues(answers.value(), calls.value());
    found.machine = fitted(found.machine, found.setting, told, std::span(&residue_field, 1));
    found.findings = findings_of(found.machine, found.setting, told);
    read_specials(subject, answers.value(), found);
    compare_rows(answers.value(), found);
    compare_accumulators(answers.value(), found);
    compare_residues(calls.value(), found);
    judge_unlearnt(calls.value(), found);
    GemmAnswers long_ones = read_split(subject, found);
    conclude(std::move(answers).value(), std::move(long_ones), calls.value(), found);
    settle(found);
    found.calls = subject.calls();
    found.outputs = subject.outputs_read();
    return found;
}

}  // namespace mx::identify
