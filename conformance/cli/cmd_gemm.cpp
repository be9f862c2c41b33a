// mxcheck gemm: two quantized tensors multiplied, exactly or as a modelled machine does it.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/cli/tensor_arguments.hpp"
#include "conformance/emulate/gemm_fields.hpp"
#include "conformance/emulate/gemm_tensor.hpp"
#include "conformance/emulate/parse_value.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reports/model/phrases.hpp"

namespace mx::cli {
namespace {

using emulate::GemmProblem;
using emulate::GemmRules;
using reports::grouped;

constexpr std::string_view exact_name = "exact";

constexpr std::uint64_t jobs_max = 1024;

struct GemmArguments {
    std::string a, b, c;
    std::string out;
    std::string model = std::string(exact_name);
    std::string type = "f32";
    std::string overflow = "overflow";
    std::string alpha = "1";
    std::string beta;  // "": 0, and no C
    std::uint64_t jobs = 0;
};

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

std::vector<std::string> type_choice() {
    return {emulate::gemm_types.begin(), emulate::gemm_types.end()};
}

// Long before there is something to write.
Status check_out(const GemmArguments& arguments) {
    for (const std::string& input : {arguments.a, arguments.b, arguments.c}) {
        TensorArguments paths;
        paths.input = input;
        paths.out = arguments.out;
        if (const Status other = check_paths(paths); !other) return other;
    }
    const std::filesystem::path out(arguments.out);
    if (out.extension() != ".npy" && out.extension() != ".safetensors")
        return bad("--out " + arguments.out + " must end in .npy or .safetensors");
    if (out.extension() == ".npy" && data::find_tensor_type(arguments.type)->npy_name.empty())
        return bad("--out " + arguments.out + ": .npy has no " + arguments.type +
                   "; use .safetensors");
    std::error_code error;
    if (out.has_parent_path() && !std::filesystem::is_directory(out.parent_path(), error))
        return bad("--out " + arguments.out + ": there is no folder " + out.parent_path().string());
    return success();
}

Status check_type(const std::string& type) {
    if (find_block_format(type) != nullptr || find_recipe_format(type) != nullptr)
        return bad("--type " + type +
                   " is not supported yet: D has no blocks of its own; mxcheck quantize makes "
                   "them of an f32 D, which rounds twice");
    return check_name("type", type, type_choice());
}

Status check_model(const std::string& model) {
    std::vector<std::string> names = names_of(gemm_models);
    names.emplace(names.begin(), exact_name);
    return check_name("model", model, names);
}

struct FactorOption {
    std::string name;  // --alpha or --beta
    const std::string& text;
};

// Says what rounding to binary32 did.
Expected<Code> parse_factor(const FactorOption& option) {
    const auto value = emulate::parse_value(formats::f32, option.text);
    if (!value) return bad(option.name + ": " + value.error().message);
    if (!value.value().note.empty())
        std::printf("%s: %s\n", option.name.c_str(), value.value().note.c_str());
    return value.value().code;
}

Expected<GemmRules> rules_of(const GemmArguments& arguments) {
    if (const Status known = check_model(arguments.model); !known) return known.error();
    if (const Status known = check_type(arguments.type); !known) return known.error();
    if (const Status known = check_name("overflow", arguments.overflow, overflow_names()); !known)
        return known.error();
    if (arguments.beta.empty() != arguments.c.empty())
        return bad("--c and --beta go together: beta * C is added");
    GemmRules rules;
    rules.model = find_gemm_model(arguments.model);
    rules.type = *find_element_format(arguments.type);
    for (const auto& [name, value] : overflows)
        if (name == arguments.overflow) rules.overflow = value;
    const auto alpha = parse_factor({"--alpha", arguments.alpha});
    if (!alpha) return alpha.error();
    rules.alpha = alpha.value();
    if (arguments.beta.empty()) return rules;
    const auto beta = parse_factor({"--beta", arguments.beta});
    if (!beta) return beta.error();
    rules.beta = beta.value();
    return rules;
}

Expected<emulate::GemmFactor> read_factor(const std::string& path) {
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    return emulate::gemm_factor(path, std::move(file).value());
}

Expected<std::optional<emulate::GemmAddend>> read_addend(const std::string& path) {
    if (path.empty()) return std::optional<emulate::GemmAddend>();
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    if (const Status values = data::check_unquantized(file.value()); !values)
        return in_file(path, values.error());
    if (file.value().tensors.size() != 1)
        return bad(path + ": holds " + std::to_string(file.value().tensors.size()) +
                   " tensors, and C is one");
    return std::optional(emulate::GemmAddend{path, std::move(file.value().tensors.front())});
}

Expected<GemmProblem> read_problem(const GemmArguments& arguments, const GemmRules& rules) {
    auto a = read_factor(arguments.a);
    if (!a) return a.error();
    auto b = read_factor(arguments.b);
    if (!b) return b.error();
    auto c = read_addend(arguments.c);
    if (!c) return c.error();
    return emulate::gemm_problem(std::move(a).value(), std::move(b).value(), std::move(c).value(),
                                 rules);
}

// The outputs that are done: all, or fewer when the user has interrupted. Each piece of work is
// some ten milliseconds.
std::int64_t multiply(const GemmProblem& problem, std::uint64_t jobs, std::span<std::byte> d) {
    const std::int64_t outputs = problem.outputs();
    const std::int64_t piece = std::max<std::int64_t>(1, (1 << 20) / (problem.a.depth() + 32));
    std::atomic<std::int64_t> next{0}, done{0};
    const auto drain = [&](const auto& after_piece) {
        for (std::int64_t first; (first = next.fetch_add(piece)) < outputs;) {
            const std::int64_t end = std::min(outputs, first + piece);
            emulate::gemm_outputs(problem, {first, end}, d);
            done += end - first;
            after_piece();
        }
    };
    Progress progress("outputs", static_cast<std::uint64_t>(outputs));
    std::vector<std::jthread> others;
    for (std::uint64_t i = 1; i < jobs; ++i) others.emplace_back([&] { drain([] {}); });
    drain([&] {
        progress.update(static_cast<std::uint64_t>(done), "");
        if (interrupted()) next = outputs;
    });
    others.clear();
    return done;
}

std::string how(const GemmModel* model) {
    if (model == nullptr) return "exact sums rounded once";
    return "accumulated as " + std::string(model->name) + ", then rounded once";
}

void print_result(const GemmArguments& arguments, const GemmProblem& problem,
                  std::span<const std::byte> d) {
    const GemmModel* model = problem.rules.model;
    const auto specials = emulate::count_specials(problem.rules.type, d);
    std::printf("%s: %s of shape %s, %s; %s outputs, %s NaN, %s Inf\n", arguments.out.c_str(),
                arguments.type.c_str(), data::shape_text(problem.shape).c_str(), how(model).c_str(),
                grouped(static_cast<std::uint64_t>(problem.outputs())).c_str(),
                grouped(specials.nan).c_str(), grouped(specials.infinity).c_str());
    if (model == nullptr) return;
    std::printf("%s: %s (%s)\n", std::string(model->name).c_str(),
                std::string(emulate::standing_text(model->standing)).c_str(),
                std::string(model->source).c_str());
}

int gemm(const GemmArguments& arguments) {
    const auto rules = rules_of(arguments);
    if (!rules) return fail_with(rules.error());
    if (const Status out = check_out(arguments); !out) return fail_with(out.error());
    catch_interrupts();
    const auto problem = read_problem(arguments, rules.value());
    if (!problem) return fail_with(problem.error());
    data::TensorFile file;
    file.tensors.push_back({"values", arguments.type, problem.value().shape, {}});
    std::vector<std::byte>& d = file.tensors.front().bytes;
    d.resize(problem.value().bytes);
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const std::int64_t done = multiply(
        problem.value(), arguments.jobs == 0 ? cores : std::min(arguments.jobs, jobs_max), d);
    if (done < problem.value().outputs()) {
        std::printf("INTERRUPTED after %s of %s outputs; nothing is written\n",
                    grouped(static_cast<std::uint64_t>(done)).c_str(),
                    grouped(static_cast<std::uint64_t>(problem.value().outputs())).c_str());
        return exit_incomplete;
    }
    const Status written = data::write_tensor_file(arguments.out, file);
    if (!written) return fail_with(written.error());
    print_result(arguments, problem.value(), d);
    return exit_conformant;
}

}  // namespace

Command gemm_command() {
    auto o = std::make_shared<GemmArguments>();
    return {
        "gemm",
        "the product of two quantized tensors, exact or as a tensor core accumulates it",
        "mxcheck gemm a.safetensors b.safetensors --out d.npy\n"
        "  mxcheck gemm a.safetensors b.safetensors --model blackwell-mx --out d.npy",
        {{"A", "M x K, a .safetensors that mxcheck quantize made, axis row", &o->a, true},
         {"B", "N x K, likewise; with A's leading dimensions, or none", &o->b, true},
         {"--out", "D = alpha * A * B^T + beta * C: a .npy or .safetensors, replaced if there",
          &o->out, true},
         {"--model", "exact, or a machine; see mxcheck list models", &o->model},
         {"--type", "of D: f32, bf16, f16, e4m3 or e5m2, to nearest even", &o->type},
         {"--overflow", "beyond the largest D: overflow (to Inf, or NaN without one) or saturate",
          &o->overflow},
         {"--alpha", "a number of binary32, as 2.8, 0x1.8p3 or bits:0x3f800000", &o->alpha},
         {"--beta", "the same; needs --c", &o->beta},
         {"--c", "a .npy or .safetensors of the shape of D: f32, bf16 or f16; needs --beta", &o->c},
         {"--jobs", "threads (default one per core)", &o->jobs}},
        [o] { return gemm(*o); }};
}

}  // namespace mx::cli
