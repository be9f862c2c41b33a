// mxcheck gemm: two quantized tensors multiplied, exactly or as a modelled machine does it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

#include "conformance/case/fields.hpp"
#include "conformance/case/gemm_row.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/tensor_arguments.hpp"
#include "conformance/data/gemm_tensors.hpp"
#include "conformance/emulate/gemm_explain.hpp"
#include "conformance/emulate/gemm_fields.hpp"
#include "conformance/emulate/gemm_outputs.hpp"
#include "conformance/emulate/parse_value.hpp"
#include "conformance/emulate/quantize_tensor.hpp"
#include "conformance/emulate/quantize_values.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::cli {
namespace {

using emulate::GemmRules;
using emulate::TensorGemm;

constexpr std::string_view exact_name = "exact";

constexpr std::uint64_t jobs_max = 1024;

struct GemmArguments {
    std::string a, b, c, bias;
    std::string row_scales_a, row_scales_b;
    std::string out;
    std::string explained;  // ROW,COLUMN, and nothing is written
    std::string model = std::string(exact_name);
    std::string model_file;      // a row instead of a name
    std::string type;            // "": f32, or none before D becomes blocks
    emulate::BlockNames blocks;  // of D; without a format D has none
    std::string overflow;        // "": as GemmRules says
    std::string alpha = "1";
    std::string beta;  // "": 0, and no C
    std::string activation = "none";
    std::string scale_out = "1";
    std::string algorithm = "default";
    std::uint64_t jobs = 0;

    std::string value_type() const { return type.empty() ? "f32" : type; }
    bool has_blocks() const { return !blocks.format.empty(); }
};

std::vector<std::string> type_choice() {
    return names_of(emulate::gemm_types);
}

// Long before there is something to write.
Status check_out(const GemmArguments& arguments) {
    if (!arguments.explained.empty() && !arguments.out.empty())
        return bad_input("--explain writes nothing: leave --out away");
    if (!arguments.explained.empty()) return success();
    if (arguments.out.empty()) return bad_input("--out is required, but for --explain");
    TensorArguments paths;
    paths.out = arguments.out;
    for (const std::string& input :
         {arguments.a, arguments.b, arguments.c, arguments.row_scales_a, arguments.row_scales_b}) {
        paths.input = input;
        const Status fits =
            arguments.has_blocks() ? check_quantized_out(paths) : check_paths(paths);
        if (!fits) return fits;
    }
    const std::filesystem::path out(arguments.out);
    const std::string type = arguments.value_type();
    if (out.extension() != ".npy" && out.extension() != ".safetensors")
        return bad_input("--out " + arguments.out + " must end in .npy or .safetensors");
    if (out.extension() == ".npy" && data::find_tensor_type(type)->npy_name.empty())
        return bad_input("--out " + arguments.out + ": .npy has no " + type + "; use .safetensors");
    std::error_code error;
    if (out.has_parent_path() && !std::filesystem::is_directory(out.parent_path(), error))
        return bad_input("--out " + arguments.out + ": there is no folder " +
                         out.parent_path().string());
    return success();
}

Status check_type(const std::string& type) {
    if (find_block_format(type) != nullptr)
        return bad_input("--type " + type + " has blocks with scales: give it as --output-format");
    return check_name("type", type, type_choice());
}

// The blocks that D becomes, if any.
Status check_blocks(const GemmArguments& arguments) {
    if (arguments.has_blocks()) {
        const emulate::BlockNames names = emulate::completed(arguments.blocks);
        return arguments.type.empty() ? emulate::check_exact_names(names)
                                      : emulate::check_names(names);
    }
    for (const auto& [key, member] : data::name_keys)
        if (!(arguments.blocks.*member).empty())
            return bad_input("--" + std::string(key) +
                             " is of D's blocks, and D has none without --output-format");
    return success();
}

// The row, and whose it is if it is in no table. Of exact sums neither.
Expected<ModelChoice> model_of(const GemmArguments& arguments) {
    if (!arguments.model_file.empty()) {
        if (arguments.model != exact_name)
            return bad_input("--model " + arguments.model + " and --model-file " +
                             arguments.model_file + " are two models; name one");
        const auto own = read_model_file(arguments.model_file);
        if (!own) return own.error();
        return ModelChoice{&own.value()->row, false, own.value()};
    }
    std::vector<std::string> names = names_of(gemm_models);
    names.emplace(names.begin(), exact_name);
    if (const Status known = check_name("model", arguments.model, names); !known)
        return known.error();
    return ModelChoice{find_gemm_model(arguments.model), false, {}};
}

struct FactorOption {
    std::string name;  // --alpha or --beta
    const std::string& text;
};

// Says what rounding to binary32 did.
Expected<Code> parse_factor(const FactorOption& option) {
    const auto value = emulate::parse_value(formats::f32, option.text);
    if (!value) return bad_input(option.name + ": " + value.error().message);
    if (!value.value().note.empty())
        std::printf("%s: %s\n", option.name.c_str(), value.value().note.c_str());
    return value.value().code;
}

Expected<Activation> parse_activation(const std::string& name) {
    const std::vector<std::string> names{"none", "relu", "gelu"};
    if (const Status known = check_name("activation", name, names); !known) return known.error();
    return name == "relu" ? Activation::relu : name == "gelu" ? Activation::gelu : Activation::none;
}

// "default", or the name of an algorithm of cuBLASLt with "splitk=N" among its fields.
Expected<std::int64_t> parse_parts(const std::string& algorithm) {
    constexpr std::string_view key = "splitk=";
    if (algorithm == "default") return 1;
    std::istringstream fields(algorithm);
    for (std::string field; std::getline(fields, field, ',');) {
        if (!field.starts_with(key)) continue;
        const auto number = parse_number("splitk", field.substr(key.size()));
        if (number && number.value() >= 1) return parts_of(field);
    }
    return bad_input("--algorithm " + data::in_quotes(algorithm) +
                     " says no splitk=N, where N is a number of parts from 1 on");
}

Expected<GemmRules> rules_of(const GemmArguments& arguments, const GemmModel* model) {
    if (const Status known = check_type(arguments.value_type()); !known) return known.error();
    if (const Status known = check_blocks(arguments); !known) return known.error();
    if (!arguments.overflow.empty())
        if (const Status known = check_name("overflow", arguments.overflow, overflow_names());
            !known)
            return known.error();
    const auto activation = parse_activation(arguments.activation);
    if (!activation) return activation.error();
    if (arguments.beta.empty() != arguments.c.empty())
        return bad_input("--c and --beta go together: beta * C is added");
    GemmRules rules;
    rules.model = model;
    rules.type = *find_element_format(arguments.value_type());
    rules.activation = activation.value();
    const auto parts = parse_parts(arguments.algorithm);
    if (!parts) return parts.error();
    rules.parts = parts.value();
    for (const auto& [name, value] : overflows)
        if (name == arguments.overflow) rules.overflow = value;
    const auto alpha = parse_factor({"--alpha", arguments.alpha});
    if (!alpha) return alpha.error();
    rules.alpha = alpha.value();
    const bool has_recipe = arguments.has_blocks() && emulate::has_real_scales(arguments.blocks);
    if (arguments.scale_out != "1" || has_recipe) {
        const auto scale = parse_factor({"--scale-d", arguments.scale_out});
        if (!scale) return scale.error();
        rules.scale_out = scale.value();
    }
    if (arguments.beta.empty()) return rules;
    const auto beta = parse_factor({"--beta", arguments.beta});
    if (!beta) return beta.error();
    rules.beta = beta.value();
    return rules;
}

struct FactorFiles {
    const std::string& elements;    // with their scales
    const std::string& row_scales;  // "": none
};

Expected<emulate::GemmFactor> read_factor(const FactorFiles& files) {
    auto file = data::read_tensor_file(files.elements);
    if (!file) return file.error();
    auto factor = emulate::gemm_factor(files.elements, std::move(file).value());
    if (!factor || files.row_scales.empty()) return factor;
    const auto scales = data::read_tensor_file(files.row_scales);
    if (!scales) return scales.error();
    const Status scaled = emulate::scale_rows(factor.value(), files.row_scales, scales.value());
    if (!scaled) return scaled.error();
    return factor;
}

Expected<std::optional<emulate::GemmAddend>> read_addend(const std::string& path) {
    if (path.empty()) return std::optional<emulate::GemmAddend>();
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    if (const Status values = data::check_unquantized(file.value()); !values)
        return in_file(path, values.error());
    if (file.value().tensors.size() != 1)
        return bad_input(path + ": holds " + std::to_string(file.value().tensors.size()) +
                         " tensors, and one is added");
    return std::optional(emulate::GemmAddend{path, std::move(file.value().tensors.front())});
}

Expected<TensorGemm> read_problem(const GemmArguments& arguments, const GemmRules& rules) {
    auto a = read_factor({arguments.a, arguments.row_scales_a});
    if (!a) return a.error();
    auto b = read_factor({arguments.b, arguments.row_scales_b});
    if (!b) return b.error();
    auto c = read_addend(arguments.c);
    if (!c) return c.error();
    auto bias = read_addend(arguments.bias);
    if (!bias) return bias.error();
    return emulate::tensor_gemm(std::move(a).value(), std::move(b).value(),
                                {std::move(c).value(), std::move(bias).value()}, rules);
}

// Does all outputs, or as many as there are before the user interrupts, which is then said.
bool does_all(const TensorGemm& problem, std::uint64_t jobs, const emulate::OutputWork& work) {
    const auto outputs = static_cast<std::uint64_t>(problem.outputs());
    Progress progress("outputs", outputs);
    const auto done = static_cast<std::uint64_t>(
        emulate::do_outputs(problem, std::min(jobs, jobs_max), work, [&](std::int64_t so_far) {
            progress.update(static_cast<std::uint64_t>(so_far), "");
            return !interrupted();
        }));
    if (done == outputs) return true;
    std::printf("INTERRUPTED after %s of %s outputs; nothing is written\n", grouped(done).c_str(),
                grouped(outputs).c_str());
    return false;
}

// How many parts there are, which are of whole tiles: fewer than were asked for where K is short.
std::string parts_text(const TensorGemm& problem) {
    if (problem.rules.parts == 1) return "";
    const gemm::ProblemView view = problem.view();
    const std::int64_t parts =
        view.part == 0 ? 1 : std::max<std::int64_t>(1, (view.depth + view.part - 1) / view.part);
    return ", in " + std::to_string(parts) + (parts == 1 ? " part" : " parts") + " along K";
}

// "accumulated as hopper-fp8, then rounded once to f32 and quantized to ..."
std::string how(const GemmArguments& arguments, const TensorGemm& problem) {
    const GemmModel* model = problem.rules.model;
    const bool is_rounded = !arguments.has_blocks() || !arguments.type.empty();
    std::string text = model == nullptr
                           ? std::string("exact sums") + (is_rounded ? " rounded once" : "")
                           : "accumulated as " + std::string(model->name) +
                                 (is_rounded ? ", then rounded once" : "");
    text += parts_text(problem);
    if (!arguments.has_blocks()) return text;
    if (is_rounded) text += " to " + arguments.type + ", then";
    return text + " quantized to " + names_text(emulate::completed(arguments.blocks));
}

void print_standing(const GemmModel* model) {
    if (model == nullptr) return;
    std::printf("%s: %s (%s)\n", std::string(model->name).c_str(),
                std::string(emulate::standing_text(model->standing)).c_str(),
                std::string(model->source).c_str());
}

int write_values(const GemmArguments& arguments, const TensorGemm& problem,
                 data::HostTensor values) {
    const auto specials = emulate::count_specials(problem.rules.type, values.bytes);
    data::TensorFile file;
    file.tensors.push_back(std::move(values));
    const Status written = data::write_tensor_file(arguments.out, file);
    if (!written) return fail_with(written.error());
    std::printf("%s: %s of shape %s, %s; %s outputs, %s NaN, %s Inf\n", arguments.out.c_str(),
                arguments.value_type().c_str(), data::shape_text(problem.shape).c_str(),
                how(arguments, problem).c_str(),
                grouped(static_cast<std::uint64_t>(problem.outputs())).c_str(),
                grouped(specials.nan).c_str(), grouped(specials.infinity).c_str());
    print_standing(problem.rules.model);
    return exit_conformant;
}

int write_blocks(const GemmArguments& arguments, const TensorGemm& problem,
                 const Expected<emulate::QuantizedTensor>& blocks) {
    if (!blocks) return fail_with(blocks.error());
    const Status written = data::write_tensor_file(arguments.out, blocks.value().file);
    if (!written) return fail_with(written.error());
    print_counts(arguments.out, blocks.value().counts);
    std::printf("%s: shape %s, %s\n", arguments.out.c_str(),
                data::shape_text(problem.shape).c_str(), how(arguments, problem).c_str());
    print_standing(problem.rules.model);
    return exit_conformant;
}

// D of a type, and the blocks that are made of it.
int rounded_gemm(const GemmArguments& arguments, const TensorGemm& problem) {
    data::HostTensor values{"values", arguments.value_type(), problem.shape, {}};
    values.bytes.resize(problem.bytes);
    const bool done = does_all(problem, arguments.jobs, [&](gemm::OutputRange range) {
        emulate::gemm_outputs(problem, range, values.bytes);
    });
    if (!done) return exit_incomplete;
    if (!arguments.has_blocks()) return write_values(arguments, problem, std::move(values));
    return write_blocks(
        arguments, problem,
        emulate::quantize_tensor(std::move(values), emulate::completed(arguments.blocks),
                                 {.program_version = program_version()}));
}

// D that is rounded when its blocks are made, and not before.
int exact_gemm(const GemmArguments& arguments, const TensorGemm& problem) {
    emulate::ValueTensor d{{}, problem.shape};
    d.values.resize(static_cast<std::size_t>(problem.outputs()));
    const bool done = does_all(problem, arguments.jobs, [&](gemm::OutputRange range) {
        emulate::gemm_values(problem, range, d.values);
    });
    if (!done) return exit_incomplete;
    return write_blocks(
        arguments, problem,
        emulate::quantize_values(d, emulate::completed(arguments.blocks), program_version()));
}

// "3,5": which output of D, whose rows count on through the batches.
Expected<std::int64_t> parse_place(const std::string& text, const TensorGemm& problem) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto row = parse_number("row", text.substr(0, comma));
    const auto column = parse_number("column", text.substr(std::min(comma + 1, text.size())));
    if (!row || !column)
        return bad_input("--explain takes ROW,COLUMN, and not " + data::in_quotes(text));
    const auto columns = static_cast<std::uint64_t>(problem.b.rows());
    const auto rows = columns == 0 ? 0 : static_cast<std::uint64_t>(problem.outputs()) / columns;
    if (row.value() >= rows || column.value() >= columns)
        return bad_input("--explain " + text + " is outside D, which has " + std::to_string(rows) +
                         " rows and " + std::to_string(columns) + " columns, counted from 0");
    return static_cast<std::int64_t>(row.value() * columns + column.value());
}

int explain_gemm(const GemmArguments& arguments, const TensorGemm& problem) {
    const auto place = parse_place(arguments.explained, problem);
    if (!place) return fail_with(place.error());
    std::fputs(emulate::explain_output(problem, place.value()).c_str(), stdout);
    print_standing(problem.rules.model);
    return exit_conformant;
}

int gemm(const GemmArguments& arguments) {
    const auto model = model_of(arguments);
    if (!model) return fail_with(model.error());
    const auto rules = rules_of(arguments, model.value().row);
    if (!rules) return fail_with(rules.error());
    if (const Status out = check_out(arguments); !out) return fail_with(out.error());
    catch_interrupts();
    const auto problem = read_problem(arguments, rules.value());
    if (!problem) return fail_with(problem.error());
    if (!arguments.explained.empty()) return explain_gemm(arguments, problem.value());
    return arguments.has_blocks() && arguments.type.empty()
               ? exact_gemm(arguments, problem.value())
               : rounded_gemm(arguments, problem.value());
}

}  // namespace

Command gemm_command() {
    auto o = std::make_shared<GemmArguments>();
    std::vector<Option> options{
        {"A", "M x K: of mxcheck quantize, axis row, or values of f32, f16, bf16, e4m3 or e5m2",
         &o->a, true},
        {"B", "N x K, likewise; with A's leading dimensions, or none", &o->b, true},
        {"--out", "D = alpha * A * B^T + beta * C: a .npy or .safetensors, replaced if there",
         &o->out},
        {"--explain", "ROW,COLUMN of D: every step to this output, and no --out", &o->explained},
        {"--model", "exact, or a machine; see mxcheck list models", &o->model},
        {"--model-file", "a machine in a file, as identify --op gemm --search writes it",
         &o->model_file},
        {"--type",
         "of D, to nearest even: f32 (the default), bf16, f16, e4m3 or e5m2; with --output-format "
         "what D is rounded to first (default: nothing)",
         &o->type},
        {"--overflow", "beyond D: overflow (Inf, or NaN) or saturate (default: FP8 under a model)",
         &o->overflow},
        {"--alpha",
         "a number of binary32, as 2.8, 0x1.8p3 or bits:0x3f800000; under a model times the "
         "numbers "
         "of whole tensors of NVFP4, A's first, each product rounded to binary32 as libraries do",
         &o->alpha},
        {"--beta", "the same; needs --c", &o->beta},
        {"--c", "a .npy or .safetensors of the shape of D: f32, bf16 or f16; needs --beta", &o->c},
        {"--bias", "a file with an f32, bf16 or f16 number for each column of D", &o->bias},
        {"--algorithm",
         "default, or a name with splitk=N as mxcheck run gives it: the model adds K in N parts",
         &o->algorithm},
        {"--activation", "none, relu or gelu, after the bias; gelu with a model", &o->activation},
        {"--scale-d", "a number of binary32, which multiplies D at the end", &o->scale_out},
        {"--row-scales-a",
         "an f32 .npy or .safetensors with a number for each row of A, which multiplies it",
         &o->row_scales_a},
        {"--row-scales-b", "the same for B", &o->row_scales_b},
        {"--jobs", "threads (default one per core)", &o->jobs}};
    std::vector<Option> names = name_options(o->blocks, ", of D with --output-format");
    names.front() = {"--output-format",
                     "D in blocks with scales of its own, a .safetensors; see mxcheck list formats",
                     &o->blocks.format};
    options.insert(options.begin() + 7, names.begin(), names.end());
    return {"gemm",
            "the product of two quantized tensors, exact or as a tensor core accumulates it",
            "mxcheck gemm a.safetensors b.safetensors --out d.npy\n"
            "  mxcheck gemm a.safetensors b.safetensors --model blackwell-mx --out d.npy\n"
            "  mxcheck gemm a.safetensors b.safetensors --output-format mxfp8-e4m3 --dialect ocp "
            "--out d.safetensors\n"
            "  mxcheck gemm a.safetensors b.safetensors --model blackwell-mx --explain 3,5",
            options, [o] { return gemm(*o); }};
}

}  // namespace mx::cli
