// mxcheck dequantize: a quantized file back to values, by the recipe it carries.
#include <cstdio>
#include <memory>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/tensor_arguments.hpp"

namespace mx::cli {
namespace {

struct DequantizeArguments : TensorArguments {
    std::string type = "f32";
};

int dequantize(const DequantizeArguments& arguments) {
    if (const Status paths = check_paths(arguments); !paths) return fail_with(paths.error());
    if (const Status known = check_name("type", arguments.type, type_names()); !known)
        return fail_with(known.error());
    auto file = data::read_tensor_file(arguments.input);
    if (!file) return fail_with(file.error());
    const auto facts = emulate::read_facts(file.value(), arguments.names);
    if (!facts) return fail_with(in_file(arguments.input, facts.error()));
    const auto result =
        emulate::dequantize_tensor(std::move(file).value(), facts.value(), arguments.type);
    if (!result) return fail_with(in_file(arguments.input, result.error()));
    const Status written = data::write_tensor_file(arguments.out, result.value());
    if (!written) return fail_with(written.error());
    const data::HostTensor& values = result.value().tensors.front();
    std::printf("%s: %s of shape %s, from %s\n", arguments.out.c_str(), values.type.c_str(),
                data::shape_text(values.shape).c_str(), names_text(facts.value().names).c_str());
    return exit_conformant;
}

}  // namespace

Command dequantize_command() {
    auto arguments = std::make_shared<DequantizeArguments>();
    std::vector<Option> options{
        {"INPUT", "a .safetensors that mxcheck quantize made", &arguments->input, true},
        {"--type", "of the values: f32, bf16 or f16", &arguments->type},
        {"--out", "a .npy or .safetensors; replaced whole if it is there already", &arguments->out,
         true}};
    const std::vector<Option> names =
        name_options(arguments->names, "; refused if the file was made with another");
    options.insert(options.begin() + 2, names.begin(), names.end());
    return {"dequantize", "a quantized .safetensors back to values",
            "mxcheck dequantize out.safetensors --type f32 --out back.npy", options,
            [arguments] { return dequantize(*arguments); }};
}

}  // namespace mx::cli
