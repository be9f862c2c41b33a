// mxcheck train: what quantized products do to the training of two small networks.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/accuracy/training.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/emulate/quantized_facts.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::cli {
namespace {

struct TrainArguments {
    std::string format = "mxfp8-e4m3";
    std::vector<std::string> gradients{"mxfp8-e4m3", "mxfp8-e5m2"};
    std::vector<std::string> dialects{"ocp", "nv", "torchao-even"};
    std::uint64_t steps = 200;
    std::uint64_t seed = 0;
    bool json = false;
};

constexpr std::uint64_t steps_max = 100000;

struct Trained {
    std::string task, forward, gradient, dialect;
    accuracy::TrainingRun run;
    double gradient_error = 0;
    double weight_error = 0;
};

struct Names {
    std::string format;
    std::string dialect;
};

Expected<accuracy::Quantizer> quantizer_of(const Names& names) {
    const Status known = emulate::check_names(
        emulate::completed({.format = names.format, .dialect = names.dialect}));
    if (!known) return known.error();
    const BlockFormat* format = find_block_format(names.format);
    const Dialect* dialect = find_dialect(names.dialect);
    if (format == nullptr || dialect == nullptr)
        return Error{ErrorKind::bad_input, names.format + " in " + names.dialect +
                                               " is a recipe; train takes block formats"};
    return accuracy::Quantizer{*format, *dialect};
}

struct Candidate {
    accuracy::Quantizer forward;
    accuracy::Quantizer gradient;
};

Expected<std::vector<Candidate>> candidates_of(const TrainArguments& arguments) {
    std::vector<Candidate> candidates;
    for (const std::string& dialect : arguments.dialects)
        for (const std::string& gradient : arguments.gradients) {
            const auto forward = quantizer_of({arguments.format, dialect});
            if (!forward) return forward.error();
            const auto backward = quantizer_of({gradient, dialect});
            if (!backward) return backward.error();
            candidates.push_back({forward.value(), backward.value()});
        }
    return candidates;
}

// First without quantizing, which the others are measured against.
std::vector<Trained> trained(accuracy::TrainingTask task, const TrainArguments& arguments,
                             const std::vector<Candidate>& candidates) {
    task.steps = static_cast<int>(arguments.steps);
    task.seed = arguments.seed;
    std::vector<Trained> all;
    all.push_back({std::string(task.name), "f32", "f32", "", accuracy::train(task, {})});
    for (const Candidate& candidate : candidates) {
        Trained next{std::string(task.name), std::string(candidate.forward.format.name),
                     std::string(candidate.gradient.format.name),
                     std::string(candidate.forward.rules.name),
                     accuracy::train(task, {&candidate.forward, &candidate.gradient})};
        const accuracy::TrainingRun& plain = all.front().run;
        next.gradient_error =
            accuracy::relative_distance(next.run.first_gradient, plain.first_gradient);
        next.weight_error = accuracy::relative_distance(next.run.weights, plain.weights);
        all.push_back(std::move(next));
    }
    return all;
}

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

void print_table(const std::vector<Trained>& all) {
    using emulate::Align;
    emulate::TextTable table({{"task"},
                              {"x and w"},
                              {"dy"},
                              {"dialect"},
                              {"first loss", Align::right},
                              {"last loss", Align::right},
                              {"first gradient off by %", Align::right},
                              {"weights off by %", Align::right}});
    for (const Trained& t : all)
        table.add({t.task, t.forward, t.gradient, t.dialect, number(t.run.losses.front()),
                   number(t.run.losses.back()), number(100 * t.gradient_error),
                   number(100 * t.weight_error)});
    std::fputs(table.print().c_str(), stdout);
}

void print_json(const std::vector<Trained>& all) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Trained& t : all)
        json.push_back({{"task", t.task},
                        {"forward", t.forward},
                        {"gradient", t.gradient},
                        {"dialect", t.dialect},
                        {"first_gradient_error", t.gradient_error},
                        {"weight_error", t.weight_error},
                        {"losses", t.run.losses}});
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int train_with(const TrainArguments& arguments) {
    if (arguments.steps == 0 || arguments.steps > steps_max)
        return fail_with({ErrorKind::bad_input, "--steps " + std::to_string(arguments.steps) +
                                                    ": from 1 to " + std::to_string(steps_max)});
    const auto candidates = candidates_of(arguments);
    if (!candidates) return fail_with(candidates.error());
    std::vector<Trained> all;
    for (const accuracy::TrainingTask& task : {accuracy::linear_task(), accuracy::network_task()})
        for (Trained& next : trained(task, arguments, candidates.value()))
            all.push_back(std::move(next));
    if (arguments.json)
        print_json(all);
    else
        print_table(all);
    return exit_conformant;
}

}  // namespace

Command train_command() {
    auto o = std::make_shared<TrainArguments>();
    return {"train",
            "what quantized products do to the training of two small networks",
            "mxcheck train --dialect ocp,nv --steps 500\n"
            "  mxcheck train --format mxfp4-e2m1 --gradient-format mxfp8-e5m2 --json",
            {{"--format", "of inputs and weights", &o->format},
             {"--gradient-format", "of gradients, each in turn", &o->gradients},
             {"--dialect", "each in turn", &o->dialects},
             {"--steps", "of gradient descent", &o->steps},
             {"--seed", "of data and weights", &o->seed},
             {"--json", "with the losses of every step, for machines", &o->json}},
            [o] { return train_with(*o); }};
}

}  // namespace mx::cli
