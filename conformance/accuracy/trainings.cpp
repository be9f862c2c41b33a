// See trainings.hpp.
#include "conformance/accuracy/trainings.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <set>

#include "conformance/case/names.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "reference/base/parallel.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::accuracy {
namespace {

constexpr std::uint64_t steps_max = 100000;
constexpr std::string_view from_oracle = "oracle", chain = "fma-chain";

// What decides a scale in a few words: dialects with the same words have the same scales but for
// zeros, NaN and the ends of the range.
std::string rule_text(const Quantizer& rules) {
    if (!rules.has_e8m0_scales()) {
        std::string text;
        for (const auto& [field, value] : emulate::recipe_fields(rules))
            if (field == "constant_division" || field == "block_ratio" || field == "block_scale")
                text += (text.empty() ? "" : ", ") + value;
        return text;
    }
    const std::string amax = emulate::value_in("amax_rounding", rules);
    return (amax == "none" ? "" : "amax " + amax + ", ") + emulate::value_in("scale_ratio", rules) +
           ", " + emulate::value_in("scale_rounding", rules);
}

// One dialect of each scale rule, the first that has it.
std::vector<std::string> dialects_of_every_rule(const TrainingRequest& request) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const Quantizer& row : quantizers) {
        std::vector<std::string> formats = request.gradients;
        formats.push_back(request.format);
        const bool takes_all = std::ranges::all_of(formats, [&row](const std::string& format) {
            const BlockFormat* found = find_block_format(format);
            return found != nullptr && row.quantizes(*found);
        });
        const bool is_usual = row.is_known() && row.reads("f32") && takes_all &&
                              row.tensor_scale != TensorScale::history;
        if (is_usual && seen.insert(rule_text(row)).second) names.emplace_back(row.name);
    }
    return names;
}

// Those that were named, each once; "every" stands for one of each scale rule.
std::vector<std::string> dialects_of(const TrainingRequest& request) {
    std::vector<std::string> names;
    for (const std::string& word : request.dialects)
        for (const std::string& name :
             word == "every" ? dialects_of_every_rule(request) : std::vector<std::string>{word})
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return names;
}

// MXFP8 beside a format of OCP MX; beside another the format itself, which its dialects quantize.
std::vector<std::string> usual_gradients(const std::string& format) {
    const BlockFormat* row = find_block_format(format);
    if (row != nullptr && !row->has_e8m0_scales()) return {format};
    return {"mxfp8-e4m3", "mxfp8-e5m2"};
}

// Why none is left: a name that is no block format, or formats that no dialect has together.
Error no_dialect(const TrainingRequest& request) {
    std::vector<std::string> formats = request.gradients;
    formats.insert(formats.begin(), request.format);
    for (const std::string& format : formats)
        if (const Status known = check_name("format", format, block_format_names()); !known)
            return known.error();
    std::string dialects;
    for (const std::string& format : formats)
        dialects +=
            "; " + format + ": " + joined(quantizer_names(*find_block_format(format)), ", ");
    return bad_input("no dialect quantizes values of f32 to all of the formats asked for" +
                     dialects);
}

Trained blank(const TrainingTask& task, const TrainingQuantizers& candidate) {
    Trained next;
    next.task = task.name;
    next.forward = candidate.forward.format.name;
    next.gradient = candidate.gradient.format.name;
    next.dialect = candidate.forward.rules.name;
    next.rule = rule_text(candidate.forward.rules);
    next.source = from_oracle;
    next.products = chain;
    return next;
}

// The same candidate on the machines, held bit for bit to `expected`, the oracle's run with the
// same arithmetic, if there is such.
Expected<Trained> on_machines(const TrainingTask& task, const TrainingQuantizers& candidate,
                              const Machines& machines, std::mutex& asking,
                              const TrainingRun* expected) {
    DeviceArithmetic arithmetic({machines.quantizes ? &machines.quantizes->client : nullptr,
                                 machines.multiplies ? &machines.multiplies->client : nullptr,
                                 machines.algorithm, asking});
    Trained next = blank(task, candidate);
    next.source = machines.source();
    next.products = machines.products();
    auto run = train(task, {&candidate.forward, &candidate.gradient}, arithmetic);
    if (!run && run.error().kind != ErrorKind::bad_input) return run.error();
    if (!run) {
        next.reason = run.error().message;
        return next;
    }
    next.run = std::move(run).value();
    next.verdict = "not compared";
    if (expected == nullptr) return next;
    next.parting = parting_of(next.run, *expected);
    next.verdict = next.parting ? "differs" : "same bits";
    return next;
}

// The oracle's run, with fused multiply-adds or as the model that the machines are held to.
Expected<Trained> of_oracle(const TrainingTask& task, const TrainingQuantizers& candidate,
                            const std::string& model) {
    PlainArithmetic plain;
    ModelArithmetic modelled(model);
    Arithmetic& arithmetic = model.empty() ? static_cast<Arithmetic&>(plain) : modelled;
    Trained next = blank(task, candidate);
    if (!model.empty()) next.products = model;
    auto run = train(task, {&candidate.forward, &candidate.gradient}, arithmetic);
    if (!run) return run.error();
    next.run = std::move(run).value();
    return next;
}

// Without quantizing: what the others are measured against.
Trained unquantized(const TrainingTask& task) {
    PlainArithmetic arithmetic;
    Trained plain;
    plain.task = task.name;
    plain.forward = plain.gradient = "f32";
    plain.source = from_oracle;
    plain.products = chain;
    plain.run = train(task, {}, arithmetic).value();
    return plain;
}

// The oracle's run of a candidate and, where there are any, that of the machines.
Expected<std::vector<Trained>> trained(const TrainingTask& task,
                                       const TrainingQuantizers& candidate,
                                       const TrainingRun& exact, const Machines& machines,
                                       std::mutex& asking) {
    auto expected = of_oracle(task, candidate, machines.model);
    if (!expected) return expected.error();
    expected.value().errors = errors_of(expected.value().run, exact);
    std::vector<Trained> runs{std::move(expected).value()};
    if (!machines.any()) return runs;
    const bool is_held = !machines.multiplies || !machines.model.empty();
    auto actual =
        on_machines(task, candidate, machines, asking, is_held ? &runs.front().run : nullptr);
    if (!actual) return actual.error();
    if (actual.value().reason.empty()) actual.value().errors = errors_of(actual.value().run, exact);
    runs.push_back(std::move(actual).value());
    return runs;
}

}  // namespace

std::string Machines::source() const {
    return quantizes ? quantizes->name : std::string(from_oracle);
}

std::string Machines::products() const {
    if (!multiplies) return std::string(chain);
    return multiplies->name + (algorithm.empty() ? "" : " " + algorithm);
}

Expected<std::vector<TrainingQuantizers>> training_quantizers(const TrainingRequest& given) {
    TrainingRequest request = given;
    if (request.gradients.empty()) request.gradients = usual_gradients(request.format);
    if (request.steps == 0 || request.steps > steps_max)
        return bad_input("--steps " + std::to_string(request.steps) + ": from 1 to " +
                         std::to_string(steps_max));
    std::vector<TrainingQuantizers> quantizers;
    for (const std::string& dialect : dialects_of(request))
        for (const std::string& gradient : request.gradients) {
            const auto forward = quantizer_of({request.format, dialect});
            if (!forward) return forward.error();
            const auto backward = quantizer_of({gradient, dialect});
            if (!backward) return backward.error();
            quantizers.push_back({forward.value(), backward.value()});
        }
    if (quantizers.empty()) return no_dialect(request);
    return quantizers;
}

Expected<std::vector<Trained>> train_all(const TrainingRequest& request,
                                         const std::vector<TrainingQuantizers>& quantizers,
                                         const Machines& machines) {
    std::vector<TrainingTask> tasks{linear_task(), network_task()};
    for (TrainingTask& task : tasks) {
        task.steps = static_cast<int>(request.steps);
        task.seed = request.seed;
    }
    std::vector<Trained> plain(tasks.size());
    parallel_for(tasks.size(), threads_for_cores(),
                 [&](std::size_t i) { plain[i] = unquantized(tasks[i]); });
    std::mutex asking;
    std::atomic<bool> has_failed = false;
    std::vector<std::optional<Expected<std::vector<Trained>>>> runs(tasks.size() *
                                                                    quantizers.size());
    parallel_for(runs.size(), threads_for_cores(), [&](std::size_t i) {
        if (has_failed) return;
        const std::size_t task = i / quantizers.size();
        runs[i] = trained(tasks[task], quantizers[i % quantizers.size()], plain[task].run, machines,
                          asking);
        if (!*runs[i]) has_failed = true;
    });
    for (const auto& run : runs)
        if (run && !*run) return run->error();
    std::vector<Trained> all;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (i % quantizers.size() == 0) all.push_back(plain[i / quantizers.size()]);
        std::ranges::move(std::move(*runs[i]).value(), std::back_inserter(all));
    }
    return all;
}

results::TrainingCurve record_of(const Trained& t) {
    results::TrainingCurve curve;
    curve.task = t.task;
    curve.forward = t.forward;
    curve.gradient = t.gradient;
    curve.dialect = t.dialect;
    curve.scale_rule = t.rule;
    curve.source = t.source;
    curve.products = t.products;
    curve.verdict = t.verdict;
    curve.reason = t.reason;
    if (!t.reason.empty()) return curve;
    if (t.parting) curve.differs_at = {t.parting->step, std::string(t.parting->what)};
    curve.output_error = t.errors.outputs;
    curve.first_gradient_error = t.errors.first_gradient;
    curve.last_gradient_error = t.errors.last_gradient;
    curve.weight_error = t.errors.weights;
    curve.loss_error_max = t.errors.loss_max;
    curve.loss_error_last = t.errors.loss_last;
    curve.beyond_limits = beyond_limits(t.errors);
    curve.losses.assign(t.run.losses.begin(), t.run.losses.end());
    return curve;
}

}  // namespace mx::accuracy
