// mxcheck explain: every step from one block's inputs to its codes, and where the dialects part.
#include <cstdio>
#include <memory>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/files_arguments.hpp"
#include "conformance/emulate/explain.hpp"

namespace mx::cli {
namespace {

struct ExplainOptions {
    std::string case_text;
    std::uint64_t block = 0;
    std::string axis;
    std::string values;
    std::string format;
    std::string dialect;
    std::string input;
    FileArguments file;
};

bool names_tables(const ExplainOptions& options) {
    return !options.format.empty() || !options.dialect.empty() || !options.input.empty();
}

Expected<FileTarget> target_of_block(const ExplainOptions& options) {
    if (!options.case_text.empty() || !options.values.empty() || !options.format.empty() ||
        !options.input.empty() || !options.axis.empty())
        return bad_input(
            "--file takes --tensor, --block, --original and --dialect, and no CASE, "
            "--values, --format, --input or --axis");
    return target_of_file(options.file, options.block, options.dialect);
}

Expected<emulate::ExplainTarget> target_of(const ExplainOptions& options) {
    if (!options.case_text.empty() && !options.values.empty())
        return bad_input("explain takes a CASE or --values, not both");
    if (!options.values.empty()) {
        if (options.format.empty()) return bad_input("--values needs --format, such as mxfp8-e4m3");
        if (options.block != 0 || !options.axis.empty())
            return bad_input("--values are one block; --block and --axis belong to a CASE");
        return emulate::target_of_values(
            {.values = options.values,
             .format = options.format,
             .dialect = options.dialect.empty() ? "ocp" : options.dialect,
             .input = options.input.empty() ? "f32" : options.input});
    }
    if (options.case_text.empty()) return bad_input("explain needs a CASE in quotes, or --values");
    if (names_tables(options))
        return bad_input(
            "a CASE names its own format, dialect and input; "
            "--format, --dialect and --input belong to --values");
    const auto c = parse_case(options.case_text);
    if (!c) return c.error();
    Sources sources;
    return emulate::target_of_case(c.value(), options.block, sources, options.axis);
}

Expected<FileTarget> any_target_of(const ExplainOptions& options) {
    if (!options.file.file.empty()) return target_of_block(options);
    auto target = target_of(options);
    if (!target) return target.error();
    return FileTarget{std::move(target).value(), ""};
}

int explain(const ExplainOptions& options) {
    const auto target = any_target_of(options);
    if (!target) return fail_with(target.error());
    emulate::Explanation explanation = emulate::explain(target.value().target);
    if (!target.value().remark.empty()) explanation.text += "\n" + target.value().remark + "\n";
    if (std::fputs(explanation.text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
        complain("cannot write the explanation to standard output");
        return exit_usage;
    }
    if (explanation.fault.empty()) return exit_conformant;
    complain("a fault of mxcheck itself, not of any device: " + explanation.fault);
    return exit_self_test;
}

}  // namespace

Command explain_command() {
    auto options = std::make_shared<ExplainOptions>();
    std::vector<Option> list{
        {"CASE", "a case, as a failure prints it", &options->case_text},
        {"--block", "which block of the case or the tensor, from 0 on", &options->block},
        {"--axis", "row or col: which blocks of a case of axis=both; row if not given",
         &options->axis},
        {"--values",
         "up to 32 values to quantize instead: 2.8, 1e-3, 0x1.8p3, nan, inf, bits:0x3f800000; "
         "separated by commas",
         &options->values},
        {"--format", "of --values: a block format, such as mxfp8-e4m3", &options->format},
        {"--dialect", "of --values, ocp if not given; of --file, that of the file if not given",
         &options->dialect},
        {"--input", "type of --values: f32, bf16 or f16; f32 if not given", &options->input}};
    for (Option& option : options_of(options->file)) list.push_back(std::move(option));
    return {"explain", "every step of one block as bits and exact fractions",
            "mxcheck explain --values 2.8,-1.2 --format mxfp8-e4m3 --dialect ocp\n"
            "  mxcheck explain 'quantize format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.tie'\n"
            "  mxcheck explain --file a.safetensors --tensor w --block 7 --original x.npy",
            std::move(list), [options] { return explain(*options); }};
}

}  // namespace mx::cli
