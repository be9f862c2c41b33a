// See gemm_search.hpp.
#include "conformance/identify/gemm_search.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "conformance/case/gemm_row.hpp"
#include "conformance/identify/gemm_answers.hpp"
#include "conformance/identify/gemm_beginnings.hpp"
#include "conformance/identify/gemm_tree.hpp"
#include "reference/base/text.hpp"

namespace mx::identify {
namespace {

constexpr std::uint64_t search_rounds_max = 4;
constexpr std::array plain_loops{PlainLoop::binary64, PlainLoop::kahan, PlainLoop::neumaier};

GemmMisses misses_of(const Predict& predict, const GemmProblem& setting,
                     const GemmAnswers& answers) {
    GemmMisses misses{0, answers.size(), ""};
    for (const GemmAnswer& answer : answers) {
        const Code d = predict(answer.probe);
        if (d == answer.d) continue;
        if (misses.count++ == 0)
            misses.witness = text_of(setting, answer.probe) + " gave " + bits_text(answer.d) +
                             "; what was found gives " + bits_text(d);
    }
    return misses;
}

GemmAnswers missed_by(const Predict& predict, const GemmAnswers& answers) {
    GemmAnswers missed;
    for (const GemmAnswer& answer : answers)
        if (predict(answer.probe) != answer.d) missed.push_back(answer);
    return missed;
}

// Outputs of these calls that are not predicted, as many as are learnt from at once.
GemmAnswers missed_by(const Predict& predict, const UnlearntCalls& calls) {
    constexpr std::size_t of_each_call = 6;
    GemmAnswers missed;
    for (const UnlearntCall& call : calls) {
        std::size_t count = 0;
        for (const std::size_t place : call.places()) {
            if (count == of_each_call) break;
            GemmAnswer answer = call.at(place);
            if (predict(answer.probe) == answer.d) continue;
            missed.push_back(std::move(answer));
            ++count;
        }
    }
    return missed;
}

class Search {
public:
    Search(GemmSubject& subject, const SearchProgress& progress)
        : subject_(subject), setting_(subject.setting()), progress_(progress) {
        found_.setting = setting_;
    }

    Expected<GemmSearch> run() {
        progress_("probes", 0);
        auto answers = ask_all_probes(subject_, found_.refusals);
        if (!answers) return answers.error();
        all_ = std::move(answers).value();
        sums_ = sums_of(setting_, all_);
        for (const auto stage : {&Search::find_sum, &Search::verify})
            if (const Status done = (this->*stage)(); !done) return done.error();
        find_epilogue();
        progress_("witnesses", 0);
        note_alike();
        if (!found_.plain)
            found_.findings =
                findings_of(found_.machine, setting_, with_residues(all_, fresh_sums_));
        compare_table();
        found_.calls = subject_.calls();
        found_.outputs = subject_.outputs_read();
        return found_;
    }

private:
    // By the engine that the verdict holds to: that of reference/fast where a row says it all.
    Predict predict() const {
        if (found_.plain)
            return [this](const GemmProbe& probe) {
                return predicted(*found_.plain, found_.machine, setting_, probe);
            };
        return [this](const GemmProbe& probe) {
            return found_.machine.sums_as_model()
                       ? predicted_by_model(found_.machine, setting_, probe)
                       : predicted(found_.machine, setting_, probe);
        };
    }
    std::size_t count(const GemmMachine& machine) const {
        return count_predicted(machine, setting_, sums_);
    }

    // A row first, then plain code. The device is asked again only for a tree.
    Status find_sum() {
        found_.plain.reset();
        progress_("plain code", 0);
        if (find_rule([](const TreeRule& rule) { return !rule.may_be_row; })) return success();
        fit_row();
        if (count(found_.machine) == sums_.size()) return success();
        if (find_rule([](const TreeRule& rule) { return rule.may_be_row; }) || tree_was_asked_)
            return success();
        return find_tree();
    }

    // From the beginning that comes nearest; the first that explains everything ends it.
    void fit_row() {
        const std::size_t tried_max = has_machine_ ? 2 : 6;
        struct Candidate {
            GemmMachine machine;
            std::size_t predicted;
        };
        std::vector<Candidate> candidates;
        if (has_machine_)
            candidates.push_back({found_.machine, sums_.size()});  // what was found before
        for (const GemmMachine& machine : beginnings_of(setting_))
            candidates.push_back({machine, count(machine)});
        std::stable_sort(
            candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.predicted > b.predicted; });
        const std::vector<std::string_view> names = sum_fields();
        std::size_t most = 0;
        for (std::size_t i = 0; i < std::min(tried_max, candidates.size()); ++i) {
            progress_("fields", i);
            const GemmMachine machine = fitted(candidates[i].machine, setting_, sums_, names);
            const std::size_t predicted = count(machine);
            if (predicted > most) found_.machine = machine, most = predicted;
            if (predicted == sums_.size()) break;
        }
        has_machine_ = true;
    }

    bool explains(const PlainSum& sum) const {
        return std::ranges::all_of(sums_, [&](const GemmAnswer& answer) {
            return !sum.knows(answer.probe.depth()) ||
                   predicted(sum, found_.machine, setting_, answer.probe) == answer.d;
        });
    }
    // The same order of additions in each way that products join it.
    bool take_if_explains(PlainSum sum) {
        for (const bool is_fused : {false, true})
            for (const bool begins_with_zero : {true, false}) {
                sum.is_fused = is_fused;
                sum.begins_with_zero = begins_with_zero;
                if (!explains(sum)) continue;
                found_.plain = std::move(sum);
                return true;
            }
        return false;
    }
    bool find_rule(bool (*is_tried)(const TreeRule& rule)) {
        for (const PlainLoop loop : plain_loops)
            if (take_if_explains({.loop = loop})) return true;
        for (const TreeRule& rule : tree_rules()) {
            if (!is_tried(rule)) continue;
            PlainSum sum{.rule = rule};
            sum.tree = rule.tree(probe_shape.k, rule.number);
            if (take_if_explains(std::move(sum))) return true;
        }
        return false;
    }

    // Sums that are nearly exact are told apart by wide data alone, which not all elements have.
    void note_alike() {
        if (!found_.plain || !found_.is_sum_explained()) return;
        for (const PlainLoop loop : plain_loops) {
            const PlainSum other{.loop = loop};
            if (loop == found_.plain->loop || !explains(other)) continue;
            const Predict by_other = [&](const GemmProbe& probe) {
                return predicted(other, found_.machine, setting_, probe);
            };
            if (misses_of(by_other, setting_, fresh_sums_).count == 0)
                found_.alike.push_back(text_of(other));
        }
    }

    Status find_tree() {
        tree_was_asked_ = true;
        auto measured = measure_tree(subject_, probe_shape, [this](std::uint64_t asked) {
            progress_("pairs of the tree", asked);
        });
        if (!measured) return measured.error();
        found_.why_no_tree = measured.value().why_not;
        if (!measured.value().tree) return success();
        if (!take_if_explains({.tree = std::move(*measured.value().tree)}))
            found_.why_no_tree =
                "it hides products as a tree does, and no tree of additions in binary32 gives "
                "these bits";
        return success();
    }

    // What parts this machine from others that explain as much, or random data where none is left.
    GemmProbes telling_probes(std::uint64_t round) const {
        constexpr std::size_t tried = 512, of_each = 4, most = 256, untold = 128;
        GemmProbes tried_probes = adversarial_probes(setting_, probe_shape.k, tried, round);
        std::vector<Code> ours;
        std::set<std::size_t> chosen;
        for (std::size_t i = 0; i < untold; ++i) chosen.insert(i);
        const std::vector<GemmMachine> others =
            found_.plain ? std::vector<GemmMachine>()
                         : alternatives_to(found_.machine, setting_, sums_);
        for (const GemmProbe& probe : tried_probes) ours.push_back(predict()(probe));
        for (const GemmMachine& other : others) {
            std::size_t told = 0;
            for (std::size_t i = 0; i < tried && told < of_each && chosen.size() < most; ++i)
                if (predicted(other, setting_, tried_probes[i]) != ours[i])
                    chosen.insert(i), ++told;
        }
        GemmProbes probes;
        for (const std::size_t i : chosen) probes.push_back(std::move(tried_probes[i]));
        return probes;
    }

    // Asks until what was found predicts everything that was not learnt from, or nothing new is
    // learnt any more.
    Status verify() {
        for (std::uint64_t round = 1;; ++round) {
            progress_("adversarial data", round);
            GemmProbes probes = telling_probes(round);
            const auto bits = subject_.ask(probe_shape, probes);
            if (!bits) return bits.error();
            const GemmAnswers told = paired(std::move(probes), bits.value());
            found_.adversarial = misses_of(predict(), setting_, told);
            const Status asked = ask_fresh(round);
            if (!asked) return asked;
            const bool is_done = found_.adversarial.count + found_.fresh.count == 0;
            if (is_done || round == search_rounds_max) return success();
            GemmAnswers missed = missed_by(predict(), told);
            for (GemmAnswer& answer : missed_by(predict(), fresh_sums_))
                missed.push_back(std::move(answer));
            learn(told);
            learn(missed);
            found_.rounds = round;
            progress_("what was not predicted", missed.size());
            const Status again = find_sum();
            if (!again) return again;
            const bool is_better = misses_of(predict(), setting_, missed).count < missed.size();
            if (!is_better) return success();
        }
    }
    // What a fit fails on comes first, so that it ends soon.
    void learn(const GemmAnswers& answers) {
        sums_.insert(sums_.begin(), answers.begin(), answers.end());
        all_.insert(all_.end(), answers.begin(), answers.end());
    }

    // Data that nothing was learnt from, and which of it are sums.
    Status ask_fresh(std::uint64_t round) {
        progress_("data that nothing was learnt from", round);
        std::vector<std::string> refusals;
        const bool takes_all = found_.refusals.empty();
        auto calls = ask_unlearnt(subject_,
                                  {.takes_everything = takes_all,
                                   .scales_sums = has_block_scales(setting_),
                                   .asks_residue = !has_block_scales(setting_),
                                   .seed = round},
                                  refusals);
        if (!calls) return calls.error();
        if (round == 1)
            for (std::string& refusal : refusals) found_.refusals.push_back(std::move(refusal));
        fresh_sums_.clear();
        fresh_others_.clear();
        for (UnlearntCall& call : calls.value()) {
            const bool is_known = !found_.plain || found_.plain->knows(call.shape.k);
            if (!is_known) continue;
            const bool sums = is_sum(setting_, call.left[0]);
            (sums ? fresh_sums_ : fresh_others_).push_back(std::move(call));
        }
        found_.fresh = misses_of(predict(), setting_, fresh_sums_);
        // A tree of one K has its own: random probes of that K.
        if (fresh_sums_.empty()) return ask_fresh_of_depth(round);
        return success();
    }
    Status ask_fresh_of_depth(std::uint64_t round) {
        GemmProbes probes;
        for (std::size_t family = 0; family < gemm_data_names.size(); ++family)
            for (GemmProbe& probe : random_probes(setting_, probe_shape.k, 64,
                                                  static_cast<GemmData>(family), 9000 + round))
                probes.push_back(std::move(probe));
        const auto bits = subject_.ask(probe_shape, probes);
        if (!bits) return bits.error();
        const GemmAnswers answers = paired(std::move(probes), bits.value());
        found_.fresh = misses_of(predict(), setting_, answers);
        return success();
    }

    // The fields that come after the sum, which stays as it was found.
    void find_epilogue() {
        GemmAnswers others;
        for (const GemmAnswer& answer : all_)
            if (!is_sum(setting_, answer.probe)) others.push_back(answer);
        if (others.empty()) return;
        progress_("epilogue", 0);
        if (found_.plain)
            fit_epilogue_of_plain(others);
        else
            found_.machine = fitted(found_.machine, setting_, others, epilogue_fields());
        found_.probed_epilogue = misses_of(predict(), setting_, others);
        found_.fresh_epilogue = misses_of(predict(), setting_, fresh_others_);
        if (found_.fresh_epilogue.of == 0) found_.fresh_epilogue.of = found_.probed_epilogue.of;
    }
    void fit_epilogue_of_plain(const GemmAnswers& others) {
        const auto count_of = [&](const GemmMachine& machine) {
            return static_cast<std::size_t>(
                std::ranges::count_if(others, [&](const GemmAnswer& answer) {
                    return predicted(*found_.plain, machine, setting_, answer.probe) == answer.d;
                }));
        };
        std::size_t most = count_of(found_.machine);
        for (int round = 0; round < 2; ++round)
            for (const GemmField& field : gemm_fields()) {
                const auto names = epilogue_fields();
                if (std::ranges::find(names, field.name) == names.end()) continue;
                for (const GemmMachine& other : field.values(found_.machine, setting_))
                    if (const std::size_t count = count_of(other); count > most)
                        found_.machine = other, most = count;
            }
    }

    // Not to learn from: what the table would have said.
    void compare_table() {
        for (const GemmModel* row : rows_for(setting_)) {
            GemmMachine machine = found_.machine;
            machine.model = *row;
            machine.is_searched = false;
            machine.product_exponent = ProductExponent::fields;
            machine.factors = Subnormals::honoured;
            if (count_predicted(machine, setting_, sums_) == sums_.size() &&
                misses_of(Engine::row, machine, setting_, fresh_sums_).count == 0)
                found_.table_rows.emplace_back(row->name);
        }
    }

    GemmSubject& subject_;
    GemmProblem setting_;
    const SearchProgress& progress_;
    GemmSearch found_;
    GemmAnswers all_, sums_;
    UnlearntCalls fresh_sums_, fresh_others_;
    bool tree_was_asked_ = false;
    bool has_machine_ = false;
};

std::string value_of(const GemmSearch& found, std::string_view name) {
    for (const GemmField& field : gemm_fields())
        if (field.name == name) return field.text(found.machine);
    return "";
}

}  // namespace

std::string GemmSearch::no_row_because() const {
    if (!is_sum_explained()) return "not every sum is explained";
    if (plain) return "a row of the table is a machine in steps, and this is " + text_of(*plain);
    if (machine.sums_as_model()) return "";
    return "a row of the table says nothing of " +
           std::string(machine.factors != Subnormals::honoured
                           ? "subnormal factors that are flushed to zero"
                           : "exponents of products that are normalised");
}

Expected<GemmSearch> search_gemm(GemmSubject& subject, const SearchProgress& progress) {
    return Search(subject, progress).run();
}

std::string model_file_of(const GemmSearch& found, const std::string& name,
                          const std::string& source) {
    GemmModel row = found.machine.model;
    const std::string a(found.setting.a.element.name), b(found.setting.b.element.name);
    const std::string operands = a == b ? a : a + " " + b;
    std::string open;
    std::vector<std::string_view> of_sum = sum_fields();
    of_sum.emplace_back("alpha multiplies");
    for (const GemmFinding& finding : found.findings)
        if (finding.values.size() > 1 && std::ranges::find(of_sum, finding.field) != of_sum.end())
            open += (open.empty() ? "" : "; ") + finding.field + ": " +
                    values_text(finding.values) + " give the same bits on all that was asked";
    row.name = name;
    row.operands = operands;
    row.source = source;
    row.open = open;
    row.machines = "";
    return model_file_text(row);
}

std::string accumulator_text(const GemmSearch& found) {
    const std::string alike = found.alike.empty() ? "" : " = " + joined(found.alike, " = ");
    if (found.plain) return text_of(*found.plain) + alike;
    const auto value = [&](std::string_view name) { return value_of(found, name); };
    const GemmModel& model = found.machine.model;
    const bool is_exact = model.fraction_bits == all_bits;
    const bool is_fused = is_exact && model.products == 1 && model.sum == StepSum::aligned;
    std::string text = "steps of " + value("products of a step") + " products";
    if (model.sum != StepSum::aligned) text += ", " + std::string(name_in(step_sums, model.sum));
    if (!is_exact)
        text += ", " + value("fraction bits") + " fraction bits kept, cut " + value("cut");
    else if (model.sum == StepSum::aligned)
        text += " summed exactly";
    text += ", accumulator " + value("accumulator") + " rounded " + value("its rounding");
    if (is_fused) text = "a chain of fused multiply-adds";
    if (model.lanes > 1) text = std::to_string(model.lanes) + " chains beside each other";
    if (model.residue_tile != 0) text += ", the residue of K first, " + value(residue_field);
    if (value("promotion") != "none")
        text += ", promoted to " + value("outer accumulator") + " every " + value("promotion");
    return text;
}

std::string epilogue_text(const GemmSearch& found) {
    std::string text = value_of(found, "alpha, beta and C");
    if (found.machine.model.alpha == AlphaPlace::factor_a)
        text = "alpha multiplies A's elements, then with alpha of 1 " + text;
    if (found.machine.addend == AddendPlace::first_summand) text = "the sum begins with beta*C";
    const std::string without = value_of(found, "without C");
    text += "; without C " + without;
    if (found.setting.a.scaling != FactorScaling::none && !has_block_scales(found.setting))
        text += "; scales: " + value_of(found, "alpha and scales");
    return text;
}

}  // namespace mx::identify
