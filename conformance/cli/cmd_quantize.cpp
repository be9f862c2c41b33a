// mxcheck quantize and mxcheck dequantize: the user's own tensors through the fast oracle.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/data/tensor_file.hpp"
#include "conformance/emulate/quantize_tensor.hpp"

namespace mx::cli {
namespace {

struct TensorOptions {
    std::string input;
    std::string tensor;
    std::string type;
    emulate::BlockNames names;
    std::string out;
};

Error bad(std::string message) { return {ErrorKind::bad_input, std::move(message)}; }

Error in_file(const std::string& path, const Error& error) {
    return {error.kind, path + ": " + error.message};
}

int fail_with(const Error& error) {
    complain(error.message);
    return exit_code_of(error);
}

// The input would be gone once the output is renamed over it.
Status check_paths(const TensorOptions& options) {
    std::error_code error;
    if (std::filesystem::equivalent(options.input, options.out, error))
        return bad("--out " + options.out + " is the input file itself");
    return success();
}

// The tensor that the user named, or the only one.
Expected<data::HostTensor> take_tensor(data::TensorFile file, const TensorOptions& options) {
    if (options.tensor.empty()) {
        if (file.tensors.size() == 1) return std::move(file.tensors.front());
        return bad(options.input + ": holds " + std::to_string(file.tensors.size()) +
                   " tensors; name one with --tensor");
    }
    for (data::HostTensor& tensor : file.tensors)
        if (tensor.name == options.tensor) return std::move(tensor);
    const Status unknown = check_name("tensor", options.tensor, names_of(file.tensors));
    return bad(options.input + ": " + unknown.error().message);
}

int quantize(const TensorOptions& options) {
    if (std::filesystem::path(options.out).extension() != ".safetensors")
        return fail_with(bad("--out " + options.out + " must end in .safetensors: it holds two "
                             "tensors, elements and scales"));
    if (const Status paths = check_paths(options); !paths) return fail_with(paths.error());
    if (const Status known = emulate::check_names(options.names); !known)
        return fail_with(known.error());
    auto file = data::read_tensor_file(options.input, {options.type});
    if (!file) return fail_with(file.error());
    auto tensor = take_tensor(std::move(file).value(), options);
    if (!tensor) return fail_with(tensor.error());
    const auto result = emulate::quantize_tensor(std::move(tensor).value(), options.names,
                                                 program_version());
    if (!result) return fail_with(in_file(options.input, result.error()));
    const Status written = data::write_tensor_file(options.out, result.value().file);
    if (!written) return fail_with(written.error());
    const emulate::QuantizeCounts& counts = result.value().counts;
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf("%s: %llu elements in %llu blocks; saturated: %llu, flushed to zero: %llu, "
                "NaN scales: %llu\n",
                options.out.c_str(), number(counts.elements), number(counts.blocks),
                number(counts.saturated), number(counts.flushed), number(counts.nan_scales));
    return exit_conformant;
}

int dequantize(const TensorOptions& options) {
    if (const Status paths = check_paths(options); !paths) return fail_with(paths.error());
    if (const Status known = check_name("type", options.type, type_names()); !known)
        return fail_with(known.error());
    auto file = data::read_tensor_file(options.input);
    if (!file) return fail_with(file.error());
    const auto names = emulate::names_in(file.value(), options.names);
    if (!names) return fail_with(in_file(options.input, names.error()));
    const auto result = emulate::dequantize_tensor(std::move(file).value(), names.value(),
                                                   options.type);
    if (!result) return fail_with(in_file(options.input, result.error()));
    const Status written = data::write_tensor_file(options.out, result.value());
    if (!written) return fail_with(written.error());
    const data::HostTensor& values = result.value().tensors.front();
    std::printf("%s: %s of shape %s, from %s, dialect %s, axis %s\n", options.out.c_str(),
                values.type.c_str(), data::shape_text(values.shape).c_str(),
                names.value().format.c_str(), names.value().dialect.c_str(),
                names.value().axis.c_str());
    return exit_conformant;
}

}  // namespace

Command quantize_command() {
    auto options = std::make_shared<TensorOptions>();
    options->names = {"", "ocp", "row"};
    return {"quantize",
            "a .npy or .safetensors tensor to elements and scales",
            "mxcheck quantize in.npy --format mxfp8-e4m3 --dialect nv --axis row "
            "--out out.safetensors",
            {{"INPUT", "a .npy or .safetensors of f32, bf16 or f16", &options->input, true},
             {"--format", "mxfp8-e4m3 or mxfp8-e5m2", &options->names.format, true},
             {"--dialect", "whose rules; see mxcheck list dialects", &options->names.dialect},
             {"--axis", "row: blocks along the last dimension; col: along the last but one",
              &options->names.axis},
             {"--tensor", "which tensor of a file that holds several", &options->tensor},
             {"--type", "what a .npy without a name for its type holds, such as bf16",
              &options->type},
             {"--out", "a .safetensors; replaced whole if it is there already", &options->out,
              true}},
            [options] { return quantize(*options); }};
}

Command dequantize_command() {
    auto options = std::make_shared<TensorOptions>();
    options->type = "f32";
    return {"dequantize",
            "elements and scales of a .safetensors back to values",
            "mxcheck dequantize out.safetensors --type f32 --out back.npy",
            {{"INPUT", "a .safetensors with tensors elements and scales", &options->input, true},
             {"--type", "of the values: f32, bf16 or f16", &options->type},
             {"--format", "if the file does not say", &options->names.format},
             {"--dialect", "if the file does not say", &options->names.dialect},
             {"--axis", "if the file does not say", &options->names.axis},
             {"--out", "a .npy or .safetensors; replaced whole if it is there already",
              &options->out, true}},
            [options] { return dequantize(*options); }};
}

}  // namespace mx::cli
