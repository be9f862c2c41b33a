// mxcheck quantize: the user's own tensors through the fast oracle.
#include <memory>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/tensor_arguments.hpp"

namespace mx::cli {
namespace {

struct QuantizeArguments : TensorArguments {
    std::string tensor;
    std::string type;
    EncodeArguments encode;
};

// The tensor that the user named, or the only one.
Expected<data::HostTensor> take_tensor(data::TensorFile file, const QuantizeArguments& arguments) {
    if (const Status values = check_unquantized(file); !values) return values.error();
    if (arguments.tensor.empty()) {
        if (file.tensors.size() == 1) return std::move(file.tensors.front());
        return bad_input("holds " + std::to_string(file.tensors.size()) +
                         " tensors; name one with --tensor: " + data::names_text(file.tensors));
    }
    for (data::HostTensor& tensor : file.tensors)
        if (tensor.name == arguments.tensor) return std::move(tensor);
    return check_name("tensor", arguments.tensor, names_of(file.tensors)).error();
}

int quantize(const QuantizeArguments& arguments) {
    if (const Status out = check_quantized_out(arguments); !out) return fail_with(out.error());
    const emulate::BlockNames names = emulate::completed(arguments.names);
    if (const Status known = emulate::check_names(names); !known) return fail_with(known.error());
    const auto encode = read_encode_options(arguments.encode);
    if (!encode) return fail_with(encode.error());
    auto file = data::read_tensor_file(arguments.input, {arguments.type});
    if (!file) return fail_with(file.error());
    auto tensor = take_tensor(std::move(file).value(), arguments);
    if (!tensor) return fail_with(in_file(arguments.input, tensor.error()));
    const auto result = emulate::quantize_tensor(std::move(tensor).value(), names, encode.value());
    if (!result) return fail_with(in_file(arguments.input, result.error()));
    const Status written = data::write_tensor_file(arguments.out, result.value().file);
    if (!written) return fail_with(written.error());
    print_counts(arguments.out, result.value().counts);
    return exit_conformant;
}

}  // namespace

Command quantize_command() {
    auto arguments = std::make_shared<QuantizeArguments>();
    std::vector<Option> options{
        {"INPUT", "a .npy, .npz, .safetensors, .gguf or .pt of f32, bf16 or f16", &arguments->input,
         true},
        {"--tensor", "which tensor of a file that holds several", &arguments->tensor},
        {"--type", "what a .npy without a name for its type holds, such as bf16", &arguments->type},
        {"--out", "a .safetensors; replaced whole if it is there already", &arguments->out, true}};
    for (Option& option : encode_options(arguments->encode))
        options.insert(options.end() - 1, std::move(option));
    const std::vector<Option> names = name_options(arguments->names, "");
    options.insert(options.begin() + 1, names.begin(), names.end());
    options[1].required = true;
    return {"quantize", "a tensor of a file to elements and scales",
            "mxcheck quantize in.npy --format mxfp8-e4m3 --dialect nv --out out.safetensors\n"
            "  mxcheck quantize in.npy --format mxfp4-e2m1 --axis col --block 16 --scales 128x4 "
            "--out out.safetensors",
            options, [arguments] { return quantize(*arguments); }};
}

}  // namespace mx::cli
