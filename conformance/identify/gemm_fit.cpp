// See gemm_fit.hpp.
#include "conformance/identify/gemm_fit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>

#include "reference/fast/decode.hpp"

namespace mx::identify {
namespace {

using Answers = std::span<const GemmAnswer>;

bool predicts(const GemmMachine& machine, const GemmProblem& setting, const GemmAnswer& answer) {
    return predicted(machine, setting, answer.probe) == answer.d;
}

// Stops as soon as it cannot reach `wanted` any more.
std::size_t count_up_to(const GemmMachine& machine, const GemmProblem& setting, Answers answers,
                        std::size_t wanted) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (predicts(machine, setting, answers[i])) ++count;
        if (count + answers.size() - i - 1 < wanted) return count;
    }
    return count;
}

bool is_named(std::span<const std::string_view> names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

struct Fit {
    GemmMachine machine;
    std::size_t predicted;
};

// The fields that lie beside the sum of a part of K.
constexpr std::array<std::string_view, 7> outer_fields{"split along k",    "C",
                                                       "alpha multiplies", "alpha, beta and C",
                                                       "without C",        "alpha and scales",
                                                       "subnormal results"};

// The fields of a sum that is not divisible stay as its row has them, but in a search.
std::vector<GemmMachine> values_of(const GemmField& field, const GemmMachine& machine,
                                   const GemmProblem& setting) {
    if (machine.is_searched) {
        std::vector<GemmMachine> values = field.values(machine, setting);
        // A sum that is not divisible is predicted as its model says, and what no model says of it
        // is not looked for.
        std::erase_if(values, [](const GemmMachine& value) {
            return !fault_of(value.model).empty() ||
                   (!is_divisible(value.model) && !value.sums_as_model());
        });
        return values;
    }
    if (is_divisible(machine.model) || is_named(outer_fields, field.name))
        return field.values(machine, setting);
    return {machine};
}

// Does a value of the field predict more?
bool improve(const GemmField& field, const GemmProblem& setting, Answers answers, Fit& fit) {
    const std::size_t before = fit.predicted;
    for (const GemmMachine& other : values_of(field, fit.machine, setting)) {
        const std::size_t count = count_up_to(other, setting, answers, fit.predicted + 1);
        if (count > fit.predicted) fit = {other, count};
    }
    return fit.predicted > before;
}

// Fields that hide each other: neither alone gets better where both are wrong.
struct FieldPair {
    std::string_view one, other;
};
constexpr std::array field_pairs{FieldPair{"accumulator", "its rounding"},
                                 FieldPair{"fraction bits", "cut"},
                                 FieldPair{"products of a step", "promotion"},
                                 FieldPair{"fraction bits", "accumulator"},
                                 FieldPair{"sums beside each other", "promotion"},
                                 FieldPair{"product exponent", "zero products"},
                                 FieldPair{"cut", "its rounding"}};

const GemmField& field_named(std::string_view name) {
    return *std::ranges::find(gemm_fields(), name, &GemmField::name);
}

// Do values of both fields together?
bool improve(const FieldPair& pair, const GemmProblem& setting, Answers answers, Fit& fit) {
    const std::size_t before = fit.predicted;
    for (const GemmMachine& one : field_named(pair.one).values(fit.machine, setting))
        for (const GemmMachine& both : values_of(field_named(pair.other), one, setting)) {
            const std::size_t count = count_up_to(both, setting, answers, fit.predicted + 1);
            if (count > fit.predicted) fit = {both, count};
        }
    return fit.predicted > before;
}

constexpr int rounds_max = 6;

// Each field from the probes that were made for it, which hang on the others as little as can be:
// from here the search over all answers finds its way.
GemmMachine measured(const GemmMachine& start, const GemmProblem& setting, Answers answers,
                     std::span<const std::string_view> names) {
    GemmMachine machine = start;
    for (const GemmField& field : gemm_fields()) {
        if (!is_named(names, field.name)) continue;
        std::vector<GemmAnswer> made_for_it;
        for (const GemmAnswer& answer : answers)
            if (answer.probe.about == field.probes) made_for_it.push_back(answer);
        Fit fit{machine, count_up_to(machine, setting, made_for_it, 0)};
        improve(field, setting, made_for_it, fit);
        machine = fit.machine;
    }
    return machine;
}

// Probes with few products are the ones that a reader can follow.
std::size_t weight(const GemmProbe& probe) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < probe.a.size(); ++k)
        if ((probe.a[k].bits | probe.b[k].bits) != 0) ++count;
    return count;
}

// An answer that the machine predicts and the other does not: of the probes that were made for
// the field if there is one, and with the fewest products.
const GemmAnswer* best_witness(const GemmField& field, const GemmMachine& other,
                               const GemmProblem& setting, Answers explained) {
    const GemmAnswer* best = nullptr;
    std::size_t least = 0;
    for (const GemmAnswer& answer : explained) {
        constexpr std::size_t foreign = 1 << 20;
        const std::size_t products =
            weight(answer.probe) + (answer.probe.about == field.probes ? 0 : foreign);
        if (best != nullptr && products >= least) continue;
        if (predicts(other, setting, answer)) continue;
        best = &answer, least = products;
    }
    return best;
}

// For each of the others an answer; those that share one share a sentence.
std::string witness_text(const GemmField& field, const GemmProblem& setting, Answers explained,
                         const std::vector<GemmMachine>& others) {
    std::string text;
    const GemmAnswer* last = nullptr;
    for (const GemmMachine& other : others) {
        const GemmAnswer* answer = last;
        if (answer == nullptr || predicts(other, setting, *answer))
            answer = best_witness(field, other, setting, explained);
        if (answer == nullptr) continue;
        if (answer != last)
            text += (text.empty() ? "" : "; ") + text_of(setting, answer->probe) + " gave " +
                    bits_text(answer->d);
        text += ", with " + field.text(other) + " it would be " +
                bits_text(predicted(other, setting, answer->probe));
        last = answer;
    }
    return text;
}

// The neighbours of the value among all, or the first two where there is no order.
std::vector<GemmMachine> neighbours(const std::vector<GemmMachine>& all, std::size_t at) {
    std::vector<GemmMachine> near;
    if (at > 0) near.push_back(all[at - 1]);
    if (at + 1 < all.size()) near.push_back(all[at + 1]);
    return near;
}

GemmFinding finding_of(const GemmField& field, const GemmMachine& machine,
                       const GemmProblem& setting, Answers explained) {
    GemmFinding finding{std::string(field.name), {}, ""};
    const std::string present = field.text(machine);
    std::vector<GemmMachine> told_apart;
    std::size_t at = 0;
    for (const GemmMachine& other : values_of(field, machine, setting)) {
        const std::string text = field.text(other);
        const bool is_present = text == present;
        if (is_present) at = told_apart.size();
        const bool explains = is_present || count_up_to(other, setting, explained,
                                                        explained.size()) == explained.size();
        // Several rows may stand for one value.
        const bool is_new = std::ranges::find(finding.values, text) == finding.values.end();
        if (explains && is_new) finding.values.push_back(text);
        if (is_present || !explains) told_apart.push_back(other);
    }
    if (finding.values.empty()) finding.values.push_back(present);
    const std::vector<GemmMachine> near = neighbours(told_apart, at);
    finding.witness = witness_text(field, setting, explained, near);
    return finding;
}

std::string number_text(double number) {
    char text[32];
    int exponent = 0;
    const bool is_power = std::isfinite(number) && std::abs(std::frexp(number, &exponent)) == 0.5;
    if (is_power && (exponent > 11 || exponent < -2))
        std::snprintf(text, sizeof text, "%s2^%d", number < 0 ? "-" : "", exponent - 1);
    else
        std::snprintf(text, sizeof text, "%.9g", number);
    return text;
}

std::string product_text(const GemmProblem& setting, const GemmProbe& probe, std::size_t k) {
    return number_text(number_of(setting.a.element, probe.a[k])) + " x " +
           number_text(number_of(setting.b.element, probe.b[k]));
}

// Runs of equal products are drawn together.
std::string products_text(const GemmProblem& setting, const GemmProbe& probe) {
    constexpr int shown_max = 6;
    std::string text;
    int shown = 0;
    for (std::size_t k = 0; k < probe.a.size() && shown < shown_max; ++k) {
        if ((probe.a[k].bits | probe.b[k].bits) == 0) continue;
        std::size_t last = k;
        while (last + 1 < probe.a.size() && probe.a[last + 1] == probe.a[k] &&
               probe.b[last + 1] == probe.b[k])
            ++last;
        text += (shown++ == 0 ? "k " : ", ") + std::to_string(k);
        if (last > k) text += " to " + std::to_string(last);
        text += ": " + product_text(setting, probe, k);
        k = last;
    }
    return text.empty() ? "no product" : text;
}

}  // namespace

std::string bits_text(Code d) {
    char text[64];
    std::snprintf(text, sizeof text, "0x%08x (%s)", d.bits,
                  number_text(number_of(formats::f32, d)).c_str());
    return text;
}

std::string text_of(const GemmProblem& setting, const GemmProbe& probe) {
    constexpr std::size_t few = 24;
    std::string text = weight(probe) > few
                           ? "random " + probe.about + " data, K=" + std::to_string(probe.depth())
                           : products_text(setting, probe);
    if (probe.beta.bits << 1 != 0) text += ", C " + number_text(number_of(formats::f32, probe.c));
    const bool plain = probe.alpha == one_f32 && (probe.beta == one_f32 || probe.beta.bits == 0);
    if (!plain)
        text += ", alpha " + number_text(number_of(formats::f32, probe.alpha)) + ", beta " +
                number_text(number_of(formats::f32, probe.beta));
    if (!probe.scales_a.empty() || !probe.scales_b.empty()) text += ", with scales";
    return text;
}

std::size_t count_predicted(const GemmMachine& machine, const GemmProblem& setting,
                            Answers answers) {
    return count_up_to(machine, setting, answers, 0);
}

GemmMachine fitted(const GemmMachine& start, const GemmProblem& setting, Answers answers,
                   std::span<const std::string_view> names) {
    const GemmMachine begin = measured(start, setting, answers, names);
    Fit fit{begin, count_predicted(begin, setting, answers)};
    for (int round = 0; round < rounds_max && fit.predicted < answers.size(); ++round) {
        bool is_better = false;
        for (const GemmField& field : gemm_fields())
            if (is_named(names, field.name) && improve(field, setting, answers, fit))
                is_better = true;
        // Of what is no such machine at all no pair of fields makes one.
        const bool is_near = fit.predicted * 10 >= answers.size() * 9;
        for (const FieldPair& pair : field_pairs)
            if (!is_better && is_near && fit.machine.is_searched && is_named(names, pair.one))
                is_better = improve(pair, setting, answers, fit);
        if (!is_better) break;
    }
    return fit.machine;
}

std::vector<std::string_view> sum_fields() {
    std::vector<std::string_view> names;
    for (const GemmField& field : gemm_fields())
        if (!is_named(outer_fields, field.name)) names.push_back(field.name);
    return names;
}

std::span<const std::string_view> epilogue_fields() {
    return std::span(outer_fields).subspan(1);
}

std::vector<GemmMachine> alternatives_to(const GemmMachine& machine, const GemmProblem& setting,
                                         Answers answers) {
    std::vector<GemmMachine> all;
    for (const GemmField& field : gemm_fields()) {
        if (is_named(outer_fields, field.name)) continue;
        const std::string present = field.text(machine);
        for (GemmMachine& other : values_of(field, machine, setting))
            if (field.text(other) != present &&
                count_up_to(other, setting, answers, answers.size()) == answers.size())
                all.push_back(std::move(other));
    }
    return all;
}

std::vector<GemmFinding> findings_of(const GemmMachine& machine, const GemmProblem& setting,
                                     Answers answers) {
    std::vector<GemmAnswer> explained;
    for (const GemmAnswer& answer : answers)
        if (predicts(machine, setting, answer)) explained.push_back(answer);
    std::vector<GemmFinding> findings;
    for (const GemmField& field : gemm_fields())
        findings.push_back(finding_of(field, machine, setting, explained));
    return findings;
}

}  // namespace mx::identify
