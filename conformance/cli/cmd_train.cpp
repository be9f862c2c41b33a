// mxcheck train: what quantized products do to the training of two small networks.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "conformance/accuracy/quantizer_names.hpp"
#include "conformance/accuracy/training_errors.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_option.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/emulate/text_table.hpp"
#include "conformance/results/attachments.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::cli {
namespace {

struct TrainArguments {
    std::string format = "mxfp8-e4m3";
    std::vector<std::string> gradients;  // empty: usual_gradients
    std::vector<std::string> dialects{"every"};
    std::uint64_t steps = 200;
    std::uint64_t seed = 0;
    DeviceChoice choice{.device = ""};  // quantizes
    std::string multiplier;             // multiplies
    std::string algorithm, model;
    std::uint64_t timeout_seconds = 60;
    bool json = false;
};

constexpr std::uint64_t steps_max = 100000;
constexpr std::string_view oracle = "oracle", chain = "fma-chain";

// What the runs with a device are made of; without one there are none.
struct Machines {
    std::optional<NamedClient> quantizes, multiplies;
    std::string algorithm;
    std::string model;  // of the products, "" where there is none to hold them to

    bool any() const { return quantizes || multiplies; }
    std::string source() const { return quantizes ? quantizes->name : std::string(oracle); }
    std::string products() const {
        if (!multiplies) return std::string(chain);
        return multiplies->name + (algorithm.empty() ? "" : " " + algorithm);
    }
};

struct Trained {
    std::string task, forward, gradient, dialect, rule;
    std::string source, products;
    accuracy::TrainingRun run;
    accuracy::TrainingErrors errors;
    std::string verdict;
    std::optional<accuracy::Parting> parting;
    std::string reason;  // why a device did not, "" where it did
};

struct Candidate {
    accuracy::Quantization forward;
    accuracy::Quantization gradient;
};

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
std::vector<std::string> dialects_of_every_rule(const TrainArguments& arguments) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const Quantizer& row : quantizers) {
        std::vector<std::string> formats = arguments.gradients;
        formats.push_back(arguments.format);
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
std::vector<std::string> dialects_of(const TrainArguments& arguments) {
    std::vector<std::string> names;
    for (const std::string& word : arguments.dialects)
        for (const std::string& name :
             word == "every" ? dialects_of_every_rule(arguments) : std::vector<std::string>{word})
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
Error no_dialect(const TrainArguments& arguments) {
    std::vector<std::string> formats = arguments.gradients;
    formats.insert(formats.begin(), arguments.format);
    for (const std::string& format : formats)
        if (const Status known = check_name("format", format, block_format_names()); !known)
            return known.error();
    std::string dialects;
    for (const std::string& format : formats)
        dialects +=
            "; " + format + ": " + joined(quantizer_names(*find_block_format(format)), ", ");
    return {ErrorKind::bad_input,
            "no dialect quantizes values of f32 to all of the formats asked for" + dialects};
}

Expected<std::vector<Candidate>> candidates_of(const TrainArguments& arguments) {
    std::vector<Candidate> candidates;
    for (const std::string& dialect : dialects_of(arguments))
        for (const std::string& gradient : arguments.gradients) {
            const auto forward = accuracy::quantizer_of({arguments.format, dialect});
            if (!forward) return forward.error();
            const auto backward = accuracy::quantizer_of({gradient, dialect});
            if (!backward) return backward.error();
            candidates.push_back({forward.value(), backward.value()});
        }
    if (candidates.empty()) return no_dialect(arguments);
    return candidates;
}

Trained blank(const accuracy::TrainingTask& task, const Candidate& candidate) {
    Trained next;
    next.task = task.name;
    next.forward = candidate.forward.format.name;
    next.gradient = candidate.gradient.format.name;
    next.dialect = candidate.forward.rules.name;
    next.rule = rule_text(candidate.forward.rules);
    next.source = oracle;
    next.products = chain;
    return next;
}

// The same candidate on the machines, held bit for bit to `expected`, the oracle's run with the
// same arithmetic, if there is such.
Expected<Trained> on_machines(const accuracy::TrainingTask& task, const Candidate& candidate,
                              Machines& machines, const accuracy::TrainingRun* expected) {
    accuracy::DeviceArithmetic arithmetic(
        {machines.quantizes ? &machines.quantizes->client : nullptr,
         machines.multiplies ? &machines.multiplies->client : nullptr, machines.algorithm});
    Trained next = blank(task, candidate);
    next.source = machines.source();
    next.products = machines.products();
    auto run = accuracy::train(task, {&candidate.forward, &candidate.gradient}, arithmetic);
    if (!run && run.error().kind != ErrorKind::bad_input) return run.error();
    if (!run) {
        next.reason = run.error().message;
        return next;
    }
    next.run = std::move(run).value();
    next.verdict = "not compared";
    if (expected == nullptr) return next;
    next.parting = accuracy::parting_of(next.run, *expected);
    next.verdict = next.parting ? "differs" : "same bits";
    return next;
}

// The oracle's run, with fused multiply-adds or as the model that the machines are held to.
Expected<Trained> of_oracle(const accuracy::TrainingTask& task, const Candidate& candidate,
                            const std::string& model) {
    accuracy::PlainArithmetic plain;
    accuracy::ModelArithmetic modelled(model);
    accuracy::Arithmetic& arithmetic =
        model.empty() ? static_cast<accuracy::Arithmetic&>(plain) : modelled;
    Trained next = blank(task, candidate);
    if (!model.empty()) next.products = model;
    auto run = accuracy::train(task, {&candidate.forward, &candidate.gradient}, arithmetic);
    if (!run) return run.error();
    next.run = std::move(run).value();
    return next;
}

// First without quantizing, which the others are measured against.
Status add_task(accuracy::TrainingTask task, const TrainArguments& arguments,
                const std::vector<Candidate>& candidates, Machines& machines,
                std::vector<Trained>& all) {
    task.steps = static_cast<int>(arguments.steps);
    task.seed = arguments.seed;
    accuracy::PlainArithmetic plain_arithmetic;
    Trained plain;
    plain.task = task.name;
    plain.forward = plain.gradient = "f32";
    plain.source = oracle;
    plain.products = chain;
    plain.run = accuracy::train(task, {}, plain_arithmetic).value();
    const accuracy::TrainingRun exact = plain.run;
    all.push_back(std::move(plain));
    const bool is_held = !machines.multiplies || !machines.model.empty();
    for (const Candidate& candidate : candidates) {
        auto expected = of_oracle(task, candidate, machines.model);
        if (!expected) return expected.error();
        expected.value().errors = accuracy::errors_of(expected.value().run, exact);
        all.push_back(expected.value());
        if (!machines.any()) continue;
        auto actual =
            on_machines(task, candidate, machines, is_held ? &expected.value().run : nullptr);
        if (!actual) return actual.error();
        if (actual.value().reason.empty())
            actual.value().errors = accuracy::errors_of(actual.value().run, exact);
        all.push_back(std::move(actual).value());
    }
    return success();
}

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string verdict_text(const Trained& t) {
    if (!t.parting) return t.verdict;
    return t.verdict + ", first the " + std::string(t.parting->what) + " of step " +
           std::to_string(t.parting->step);
}

std::string limits_text(const Trained& t) {
    std::string text;
    for (const std::string& name : accuracy::beyond_limits(t.errors))
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

void print_limits(const std::vector<Trained>& all) {
    std::size_t quantized = 0, within = 0;
    for (const Trained& t : all) {
        if (t.forward == "f32" || !t.reason.empty()) continue;
        ++quantized;
        within += accuracy::beyond_limits(t.errors).empty() ? 1 : 0;
    }
    std::string text;
    for (const accuracy::TrainingLimit& limit : accuracy::training_limits)
        text += (text.empty() ? "" : ", ") + std::string(limit.name) + " " +
                number(100 * limit.limit) + " %";
    std::printf("limits: %s; %zu of %zu quantized runs stay within all of them\n", text.c_str(),
                within, quantized);
}

void print_table(const std::vector<Trained>& all, bool has_machines) {
    using emulate::Align;
    std::vector<emulate::Column> columns{{"task"},
                                         {"x and w"},
                                         {"dy"},
                                         {"dialect"},
                                         {"first loss", Align::right},
                                         {"last loss", Align::right},
                                         {"loss off by %", Align::right},
                                         {"outputs off by %", Align::right},
                                         {"first gradient off by %", Align::right},
                                         {"weights off by %", Align::right},
                                         {"beyond the limits"}};
    if (has_machines) columns.insert(columns.end(), {{"quantized by"}, {"products by"}, {"bits"}});
    emulate::TextTable table(columns);
    for (const Trained& t : all) {
        if (!t.reason.empty()) continue;
        std::vector<std::string> cells{t.task,
                                       t.forward,
                                       t.gradient,
                                       t.dialect,
                                       number(t.run.losses.front()),
                                       number(t.run.losses.back()),
                                       number(100 * t.errors.loss_max),
                                       number(100 * t.errors.outputs),
                                       number(100 * t.errors.first_gradient),
                                       number(100 * t.errors.weights),
                                       limits_text(t)};
        if (has_machines) cells.insert(cells.end(), {t.source, t.products, verdict_text(t)});
        table.add(cells);
    }
    std::fputs(table.print().c_str(), stdout);
    print_limits(all);
    for (const Trained& t : all)
        if (!t.reason.empty())
            std::printf("%s, %s, %s, %s: not supported: %s\n", t.task.c_str(), t.forward.c_str(),
                        t.gradient.c_str(), t.dialect.c_str(), t.reason.c_str());
}

results::TrainingCurve curve_of(const Trained& t) {
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
    curve.beyond_limits = accuracy::beyond_limits(t.errors);
    curve.losses.assign(t.run.losses.begin(), t.run.losses.end());
    return curve;
}

void print_json(const std::vector<Trained>& all) {
    std::vector<results::TrainingCurve> curves;
    for (const Trained& t : all) curves.push_back(curve_of(t));
    std::printf("%s\n", results::json_text(curves).c_str());
}

Expected<Machines> machines_of(const TrainArguments& arguments) {
    Machines machines;
    machines.algorithm = arguments.algorithm;
    machines.model = arguments.model;
    const Error no_multiplier{ErrorKind::bad_input,
                              "--algorithm and --model say how --gemm-device multiplies; name one"};
    if (arguments.multiplier.empty() && !(arguments.algorithm + arguments.model).empty())
        return no_multiplier;
    if (!arguments.model.empty())
        if (const Status known = check_name("model", arguments.model, names_of(gemm_models));
            !known)
            return known.error();
    auto quantizes = open_named(arguments.choice, arguments.timeout_seconds);
    if (!quantizes) return quantizes.error();
    machines.quantizes = std::move(quantizes).value();
    auto multiplies =
        open_named(DeviceChoice{.device = arguments.multiplier}, arguments.timeout_seconds);
    if (!multiplies) return multiplies.error();
    machines.multiplies = std::move(multiplies).value();
    return machines;
}

int exit_code_of(const std::vector<Trained>& all, const Machines& machines) {
    if (!machines.any()) return exit_conformant;
    bool is_same = false;
    for (const Trained& t : all) {
        if (t.verdict == "differs") return exit_mismatch;
        is_same = is_same || t.verdict == "same bits";
    }
    return is_same ? exit_conformant : exit_nothing_tested;
}

int train_with(TrainArguments arguments) {
    if (arguments.gradients.empty()) arguments.gradients = usual_gradients(arguments.format);
    if (arguments.steps == 0 || arguments.steps > steps_max)
        return fail_with({ErrorKind::bad_input, "--steps " + std::to_string(arguments.steps) +
                                                    ": from 1 to " + std::to_string(steps_max)});
    const auto candidates = candidates_of(arguments);
    if (!candidates) return fail_with(candidates.error());
    auto machines = machines_of(arguments);
    if (!machines) return fail_with(machines.error());
    std::vector<Trained> all;
    for (const accuracy::TrainingTask& task : {accuracy::linear_task(), accuracy::network_task()}) {
        const Status added = add_task(task, arguments, candidates.value(), machines.value(), all);
        if (!added) return fail_with(added.error());
    }
    if (arguments.json)
        print_json(all);
    else
        print_table(all, machines.value().any());
    return exit_code_of(all, machines.value());
}

}  // namespace

Command train_command() {
    auto o = std::make_shared<TrainArguments>();
    std::vector<Option> options{
        {"--format", "of inputs and weights", &o->format},
        {"--gradient-format",
         "of gradients, each in turn (default MXFP8, or --format where that is not of OCP MX)",
         &o->gradients},
        {"--dialect", "each in turn; every: one of each scale rule", &o->dialects},
        {"--steps", "of gradient descent", &o->steps},
        {"--seed", "of data and weights", &o->seed},
        {"--gemm-device", "multiplies; without it products are made here", &o->multiplier},
        {"--algorithm", "of --gemm-device", &o->algorithm},
        {"--model", "the accumulator that --gemm-device is held to (list models)", &o->model},
        {"--json", "with the losses of every step, for machines", &o->json}};
    for (Option& option : options_of(o->choice, o->timeout_seconds))
        options.push_back(std::move(option));
    return {"train", "what quantized products do to the training of two small networks",
            "mxcheck train --dialect ocp,nv --steps 500\n"
            "  mxcheck train --format mxfp4-e2m1 --gradient-format mxfp8-e5m2 --json\n"
            "  mxcheck train --device cuda --gemm-device hopper --algorithm wgmma "
            "--model hopper-mx-wgmma",
            std::move(options), [o] { return train_with(*o); }};
}

}  // namespace mx::cli
