// See gemm_identify.hpp.
#include "conformance/identify/gemm_identify.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "conformance/identify/gemm_probes.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

constexpr GemmShape probe_shape{128, 128, 512};
constexpr GemmShape unlearnt_shape{32, 48, 400};
constexpr GemmShape long_shape{16, 16, 8192};

GemmAnswers paired(GemmProbes probes, const std::vector<Code>& bits) {
    GemmAnswers answers;
    for (std::size_t i = 0; i < probes.size(); ++i)
        answers.push_back({std::move(probes[i]), bits[i]});
    return answers;
}

// Something that a device need not do.
struct Extra {
    std::string_view name;
    GemmProbes (*probes)(const GemmSetting& setting, std::int64_t depth);
};
constexpr std::array extras{Extra{"C, with alpha and beta of 1", addend_probes},
                            Extra{"alpha and beta", factor_probes},
                            Extra{"scales other than 1", scale_probes}};

Expected<GemmAnswers> ask_all_probes(GemmSubject& subject, GemmIdentification& found) {
    const GemmSetting& setting = subject.setting();
    GemmProbes probes = sum_probes(setting, probe_shape.k);
    for (GemmProbe& probe : special_probes(setting, probe_shape.k))
        probes.push_back(std::move(probe));
    const auto bits = subject.ask(probe_shape, probes);
    if (!bits) return bits.error();
    GemmAnswers answers = paired(std::move(probes), bits.value());
    for (const Extra& extra : extras) {
        GemmProbes more = extra.probes(setting, probe_shape.k);
        const auto given = subject.ask(probe_shape, more);
        if (!given && given.error().kind == ErrorKind::device) return given.error();
        if (!given)
            found.refusals.push_back(std::string(extra.name) + ": " + given.error().message);
        else
            for (GemmAnswer& answer : paired(std::move(more), given.value()))
                answers.push_back(std::move(answer));
    }
    return answers;
}

// What a row says, and beside it what was found of the rest.
GemmMachine machine_of(const GemmModel& row, const GemmMachine& rest) {
    GemmMachine machine = rest;
    machine.model = row;
    machine.cut = Rounding::toward_zero;
    machine.product_exponent = ProductExponent::fields;
    machine.factors = Subnormals::honoured;
    return machine;
}

// Where no row takes the operands, any will do to begin with.
std::vector<const GemmModel*> beginnings(const GemmSetting& setting) {
    std::vector<const GemmModel*> rows = rows_for(setting);
    if (rows.empty()) rows = {find_gemm_model("hopper-half"), find_gemm_model("fma-chain")};
    return rows;
}

struct Candidate {
    GemmMachine machine;
    std::size_t foretold;
};

// From the rows that come nearest; the first that explains everything ends the search.
GemmMachine best_machine(const GemmSetting& setting, const GemmAnswers& answers) {
    constexpr std::size_t tried_max = 4;
    std::vector<Candidate> candidates;
    for (const GemmModel* row : beginnings(setting)) {
        const GemmMachine machine = machine_of(*row, {});
        candidates.push_back({machine, count_foretold(machine, setting, answers)});
    }
    const auto by_count = [](const Candidate& a, const Candidate& b) {
        return a.foretold > b.foretold;
    };
    std::stable_sort(candidates.begin(), candidates.end(), by_count);
    Candidate best{candidates.front().machine, 0};
    for (std::size_t i = 0; i < std::min(tried_max, candidates.size()); ++i) {
        const GemmMachine machine = fitted(candidates[i].machine, setting, answers);
        const std::size_t count = count_foretold(machine, setting, answers);
        if (count > best.foretold) best = {machine, count};
        if (count == answers.size()) break;
    }
    return best.machine;
}

GemmMisses misses_of(const GemmMachine& machine, const GemmSetting& setting,
                     const GemmAnswers& answers) {
    GemmMisses misses{0, answers.size(), ""};
    for (const GemmAnswer& answer : answers) {
        const Code d = foretold(machine, setting, answer.probe);
        if (d == answer.d) continue;
        if (misses.count++ == 0)
            misses.witness = text_of(setting, answer.probe) + " gave " + bits_text(answer.d) +
                             "; the machine found gives " + bits_text(d);
    }
    return misses;
}

void compare_rows(const GemmAnswers& answers, GemmIdentification& found) {
    const GemmModel* nearest = nullptr;
    for (const GemmModel* row : rows_for(found.setting)) {
        const std::uint64_t count =
            count_foretold(machine_of(*row, found.machine), found.setting, answers);
        if (count == answers.size()) found.rows.emplace_back(row->name);
        if (nearest != nullptr && count <= found.nearest_foretold) continue;
        nearest = row;
        found.nearest_foretold = count;
        found.nearest = row->name;
    }
    if (nearest == nullptr || !found.rows.empty()) return;
    const GemmMachine machine = machine_of(*nearest, found.machine);
    for (std::size_t i = 0; i < found.findings.size(); ++i) {
        const std::vector<std::string>& values = found.findings[i].values;
        const std::string text = gemm_fields()[i].text(machine);
        if (std::find(values.begin(), values.end(), text) == values.end())
            found.parts.push_back(found.findings[i].field + ": device " + values_text(values) +
                                  ", " + found.nearest + " " + text);
    }
}

// Random rows of one family for each of the factors, all of the same alpha, beta and scales.
struct Unlearnt {
    GemmProbes left, right;
};
Unlearnt unlearnt_rows(const GemmSetting& setting, std::size_t family, std::uint64_t seed) {
    const auto data = static_cast<GemmData>(family);
    const auto rows = [&](std::int64_t count, std::uint64_t of) {
        return random_probes(setting, unlearnt_shape.k, static_cast<std::size_t>(count), data, of);
    };
    return {rows(unlearnt_shape.m, seed), rows(unlearnt_shape.n, seed + 1)};
}

GemmProbe crossed(const GemmProbe& left, const GemmProbe& right) {
    GemmProbe probe = left;
    probe.b = right.b;
    probe.scales_b = right.scales_b;
    return probe;
}

// What foretells data that nothing was learnt from: the rows, each on its own, or the machine.
struct Oracle {
    std::string name;  // "" for the machine found
    GemmMachine machine;
    GemmMisses misses;
};

void judge(const GemmSetting& setting, const Unlearnt& rows, const std::vector<Code>& bits,
           Oracle& oracle) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const GemmProbe probe =
            crossed(rows.left[i / rows.right.size()], rows.right[i % rows.right.size()]);
        const Code d = oracle.name.empty() ? foretold(oracle.machine, setting, probe)
                                           : foretold_by_model(oracle.machine, setting, probe);
        ++oracle.misses.of;
        if (d == bits[i]) continue;
        if (oracle.misses.count++ == 0)
            oracle.misses.witness = text_of(setting, probe) + ", output " + std::to_string(i) +
                                    ": " + bits_text(bits[i]) + "; foretold was " + bits_text(d);
    }
}

std::vector<Oracle> oracles_of(const GemmIdentification& found) {
    std::vector<Oracle> oracles;
    for (const std::string& name : found.rows)
        oracles.push_back({name, machine_of(*find_gemm_model(name), found.machine), {}});
    if (oracles.empty()) oracles.push_back({"", found.machine, {}});
    return oracles;
}

// Plain, and then with scales, alpha and C where the device took them before.
Status ask_unlearnt(GemmSubject& subject, GemmIdentification& found) {
    std::vector<Oracle> oracles = oracles_of(found);
    for (const bool is_plain : {true, false}) {
        if (!is_plain && !found.refusals.empty()) break;
        for (std::size_t family = 0; family < gemm_data_names.size(); ++family) {
            Unlearnt rows = unlearnt_rows(found.setting, family, is_plain ? 1001 : 2001);
            if (!is_plain) {
                add_scales(found.setting, 3001 + family, rows.left);
                add_scales(found.setting, 3001 + family, rows.right);
                for (std::size_t i = 0; i < rows.left.size(); ++i) {
                    rows.left[i].alpha = Code{0x3F8E38E4};
                    rows.left[i].beta = Code{0xBF2AAAAB};
                    rows.left[i].c = gemm_number(static_cast<GemmData>(family), formats::f32,
                                                 {4001, 5, i, 0}, 20);
                }
            }
            const auto bits = subject.ask_all(rows.left, rows.right);
            if (!bits && is_plain) return bits.error();
            if (!bits) break;
            for (Oracle& oracle : oracles) judge(found.setting, rows, bits.value(), oracle);
        }
    }
    const auto fewest = std::min_element(
        oracles.begin(), oracles.end(),
        [](const Oracle& a, const Oracle& b) { return a.misses.count < b.misses.count; });
    found.unlearnt = fewest->misses;
    if (fewest->misses.count == 0)
        for (const Oracle& oracle : oracles)
            if (oracle.misses.count != 0) std::erase(found.rows, oracle.name);
    return success();
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

// Which length of a part, of those that the answers point to, foretells the most?
GemmMachine with_part(const GemmSetting& setting, const GemmMachine& machine,
                      const GemmAnswers& answers) {
    std::set<std::int64_t> lengths{0};
    for (const GemmAnswer& answer : answers)
        lengths.insert(part_seen(setting, answer.probe, answer.d));
    GemmMachine best = machine;
    std::size_t most = 0;
    for (const std::int64_t length : lengths) {
        GemmMachine split = machine;
        split.part = length;
        const std::size_t count = count_foretold(split, setting, answers);
        if (count > most) best = split, most = count;
    }
    static constexpr std::array<std::string_view, 1> names{"without C"};
    return fitted(best, setting, answers, names);
}

void read_split(GemmSubject& subject, GemmIdentification& found) {
    GemmSplit& split = found.split;
    split.shape = long_shape;
    const GemmSetting& setting = found.setting;
    if (const auto names = subject.algorithms(long_shape); names && !names.value().empty())
        split.algorithm = setting.algorithm.empty() ? names.value().front() : setting.algorithm;
    GemmProbes probes = split_probes(setting, long_shape.k);
    const auto bits = subject.ask(long_shape, probes);
    if (!bits) {
        split.refusal = bits.error().message;
        return;
    }
    const GemmAnswers answers = paired(std::move(probes), bits.value());
    const GemmMachine machine = with_part(setting, found.machine, answers);
    split.part = machine.part;
    if (split.part != 0) split.parts = (long_shape.k + split.part - 1) / split.part;
    split.misses = misses_of(machine, setting, answers);
    GemmMachine whole = machine;
    whole.part = 0;
    for (const GemmAnswer& answer : answers) {
        const Code other = foretold(whole, setting, answer.probe);
        if (machine.part == 0 || other == answer.d || !split.witness.empty()) continue;
        split.witness = text_of(setting, answer.probe) + " gave " + bits_text(answer.d) +
                        "; in one part it gives " + bits_text(other);
    }
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
    const auto answers = ask_all_probes(subject, found);
    if (!answers) return answers.error();
    found.machine = best_machine(found.setting, answers.value());
    found.learnt = misses_of(found.machine, found.setting, answers.value());
    found.findings = findings_of(found.machine, found.setting, answers.value());
    read_specials(subject, answers.value(), found);
    compare_rows(answers.value(), found);
    if (const Status asked = ask_unlearnt(subject, found); !asked) return asked.error();
    read_split(subject, found);
    found.calls = subject.calls();
    found.outputs = subject.outputs_read();
    return found;
}

}  // namespace mx::identify
