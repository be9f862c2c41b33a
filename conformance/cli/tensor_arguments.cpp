// See tensor_arguments.hpp.
#include "conformance/cli/tensor_arguments.hpp"

#include <cstdio>
#include <filesystem>

#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/emulate/parse_value.hpp"

namespace mx::cli {

std::vector<Option> encode_options(EncodeArguments& arguments) {
    return {{"--seed", "of stochastic rounding, in a dialect that has it", &arguments.seed},
            {"--amax-history", "of delayed scaling: earlier amax values, the newest first",
             &arguments.history}};
}

Expected<emulate::QuantizeOptions> read_encode_options(const EncodeArguments& arguments) {
    emulate::QuantizeOptions options;
    options.program_version = program_version();
    options.seed = arguments.seed;
    if (arguments.history.empty()) return options;
    const auto history = emulate::parse_values(formats::f32, arguments.history);
    if (!history) return history.error();
    for (const emulate::ParsedValue& amax : history.value()) options.history.push_back(amax.code);
    return options;
}

std::vector<Option> name_options(emulate::BlockNames& names, const std::string& role) {
    const auto help = [&role](const std::string& what) { return what + role; };
    return {
        {"--format", help("what to quantize to; see mxcheck list formats"), &names.format},
        {"--dialect", help("whose rules; see mxcheck list dialects"), &names.dialect},
        {"--axis",
         help("row: blocks along the last dimension; col: along the last but one; tile: square"),
         &names.axis},
        {"--block", help("lanes of a block: 16, 32 or 64"), &names.block},
        {"--scales", help("order of the scales: linear, 128x4, 8x4, 32x8 or te-padded"),
         &names.scales},
        {"--packing", help("of the elements: bytes, low_first, high_first, six or inline"),
         &names.packing}};
}

Status check_paths(const TensorArguments& arguments) {
    std::error_code error;
    if (std::filesystem::equivalent(arguments.input, arguments.out, error))
        return bad_input("--out " + arguments.out + " is the input file itself");
    return success();
}

Status check_quantized_out(const TensorArguments& arguments) {
    if (std::filesystem::path(arguments.out).extension() != ".safetensors")
        return bad_input("--out " + arguments.out +
                         " must end in .safetensors: it holds elements, "
                         "scales and the names of both");
    return check_paths(arguments);
}

Error in_file(const std::string& path, const Error& error) {
    return {error.kind, path + ": " + error.message};
}

void print_counts(const std::string& path, const emulate::QuantizeCounts& counts) {
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "%s: %llu elements in %llu blocks; saturated: %llu, flushed to zero: %llu, "
        "NaN scales: %llu\n",
        path.c_str(), number(counts.elements), number(counts.blocks), number(counts.saturated),
        number(counts.flushed), number(counts.nan_scales));
}

}  // namespace mx::cli
