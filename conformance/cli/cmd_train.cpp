// mxcheck train: what quantized products do to the training of two small networks.
#include <cstdio>
#include <memory>

#include "conformance/accuracy/trainings.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_option.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::cli {
namespace {

using accuracy::Machines, accuracy::Trained;

struct TrainArguments {
    accuracy::TrainingRequest request;
    DeviceChoice choice{.device = ""};  // quantizes
    std::string multiplier;             // multiplies
    std::string algorithm, model;
    std::uint64_t timeout_seconds = 60;
    bool json = false;
};

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
                four_digits(100 * limit.limit) + " %";
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
                                       four_digits(t.run.losses.front()),
                                       four_digits(t.run.losses.back()),
                                       four_digits(100 * t.errors.loss_max),
                                       four_digits(100 * t.errors.outputs),
                                       four_digits(100 * t.errors.first_gradient),
                                       four_digits(100 * t.errors.weights),
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

void print_json(const std::vector<Trained>& all) {
    std::vector<results::TrainingCurve> curves;
    for (const Trained& t : all) curves.push_back(accuracy::record_of(t));
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

int train_with(const TrainArguments& arguments) {
    const auto quantizers = accuracy::training_quantizers(arguments.request);
    if (!quantizers) return fail_with(quantizers.error());
    const auto machines = machines_of(arguments);
    if (!machines) return fail_with(machines.error());
    const auto all = accuracy::train_all(arguments.request, quantizers.value(), machines.value());
    if (!all) return fail_with(all.error());
    if (arguments.json)
        print_json(all.value());
    else
        print_table(all.value(), machines.value().any());
    return exit_code_of(all.value(), machines.value());
}

}  // namespace

Command train_command() {
    auto o = std::make_shared<TrainArguments>();
    std::vector<Option> options{
        {"--format", "of inputs and weights", &o->request.format},
        {"--gradient-format",
         "of gradients, each in turn (default MXFP8, or --format where that is not of OCP MX)",
         &o->request.gradients},
        {"--dialect", "each in turn; every: one of each scale rule", &o->request.dialects},
        {"--steps", "of gradient descent", &o->request.steps},
        {"--seed", "of data and weights", &o->request.seed},
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
