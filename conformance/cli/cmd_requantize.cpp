// mxcheck requantize: a quantized file under another recipe, and what that changed. The one way to
// switch, so that nobody does it by accident.
#include <cmath>
#include <cstdio>
#include <memory>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/tensor_arguments.hpp"

namespace mx::cli {
namespace {

struct RequantizeArguments : TensorArguments {
    EncodeArguments encode;
};

// What the file has, where the user chose nothing. A packing goes with its format, and a recipe's
// block with the recipe.
emulate::BlockNames switched(const emulate::BlockNames& carried, const emulate::BlockNames& given) {
    emulate::BlockNames names = carried;
    if (!given.format.empty() && given.format != carried.format) {
        names.packing = "";
        const auto has_e8m0_scales = [](const std::string& name) {
            const BlockFormat* format = find_block_format(name);
            return format != nullptr && format->has_e8m0_scales();
        };
        if (!has_e8m0_scales(given.format) || !has_e8m0_scales(carried.format)) names.block = "";
        if (emulate::has_own_axis(carried.format) || emulate::has_own_axis(given.format))
            names.axis = "";
    }
    for (const auto& [key, member] : data::name_keys)
        if (!(given.*member).empty()) names.*member = given.*member;
    return emulate::completed(names);
}

std::string share_text(std::uint64_t part, std::uint64_t all) {
    return std::to_string(part) + " of " + std::to_string(all);
}

std::string ratio_text(const emulate::Changes& changes) {
    if (changes.noise == 0) return "infinite, no finite value changed";
    if (changes.signal == 0) return "0 dB, all old values were 0";
    char text[32];
    std::snprintf(text, sizeof text, "%.2f dB", 10 * std::log10(changes.signal / changes.noise));
    return text;
}

void print_changes(const emulate::BlockNames& before, const emulate::BlockNames& after,
                   const emulate::Changes& changes) {
    std::printf("from: %s\nto:   %s\n", names_text(before).c_str(), names_text(after).c_str());
    const std::string scales =
        !changes.has_codes      ? "not compared, a recipe's scales are of another kind"
        : !changes.is_same_grid ? "not compared, the blocks are others"
                                : share_text(changes.scales_changed, changes.scales);
    std::printf("scales that differ:   %s\n", scales.c_str());
    if (changes.has_codes)
        std::printf("elements that differ: %s\n",
                    share_text(changes.elements_changed, changes.elements).c_str());
    std::printf("values that differ:   %s\n",
                share_text(changes.values_changed, changes.elements).c_str());
    std::printf("SQNR of new to old:   %s\n", ratio_text(changes).c_str());
    if (changes.not_finite != 0)
        std::printf("NaN or infinite, not in the SQNR: %llu\n",
                    static_cast<unsigned long long>(changes.not_finite));
    std::printf(
        "What was lost when the input was quantized is not regained; "
        "quantize the original where there is one.\n");
}

int requantize(const RequantizeArguments& arguments) {
    if (const Status out = check_quantized_out(arguments); !out) return fail_with(out.error());
    const auto file = data::read_tensor_file(arguments.input);
    if (!file) return fail_with(file.error());
    const auto facts = emulate::read_facts(file.value(), {});
    if (!facts) return fail_with(in_file(arguments.input, facts.error()));
    const emulate::BlockNames names = switched(facts.value().names, arguments.names);
    if (const Status known = emulate::check_names(names); !known) return fail_with(known.error());
    const auto encode = read_encode_options(arguments.encode);
    if (!encode) return fail_with(encode.error());
    const auto result =
        emulate::requantize_tensor(file.value(), facts.value(), names, encode.value());
    if (!result) return fail_with(in_file(arguments.input, result.error()));
    const Status written = data::write_tensor_file(arguments.out, result.value().tensor.file);
    if (!written) return fail_with(written.error());
    print_counts(arguments.out, result.value().tensor.counts);
    print_changes(facts.value().names, names, result.value().changes);
    return exit_conformant;
}

}  // namespace

Command requantize_command() {
    auto arguments = std::make_shared<RequantizeArguments>();
    std::vector<Option> options{
        {"INPUT", "a .safetensors that mxcheck quantize made", &arguments->input, true},
        {"--out", "a .safetensors; replaced whole if it is there already", &arguments->out, true}};
    for (Option& option : encode_options(arguments->encode))
        options.insert(options.end() - 1, std::move(option));
    const std::vector<Option> names =
        name_options(arguments->names, "; as in the file if left out");
    options.insert(options.begin() + 1, names.begin(), names.end());
    return {"requantize",
            "a quantized .safetensors to another format, dialect or layout, with what that changed",
            "mxcheck requantize x.safetensors --dialect nv --out y.safetensors", options,
            [arguments] { return requantize(*arguments); }};
}

}  // namespace mx::cli
