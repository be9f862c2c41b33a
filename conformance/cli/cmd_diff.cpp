// mxcheck diff: two files of quantized tensors, and what explains their difference.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/cli/columns.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/files/diff.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using files::FileDiff;
using files::TensorDiff;
using files::Verdict;

struct DiffOptions {
    files::DiffRequest request;
    bool values = false;
    bool json = false;
};

// Of a hostile file, too.
std::string shown(const std::string& name) {
    return printable(name);
}

void print_line(const std::string& head, const std::string& text) {
    std::printf("%s", beside("  " + head, 10, text, output_width()).c_str());
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return grouped(part) + " of " + grouped(whole) + " blocks";
}

void print_tensor(const TensorDiff& tensor) {
    const std::string size =
        std::to_string(tensor.a.rows) + " x " + std::to_string(tensor.a.columns);
    std::printf("%s: %s\n", shown(tensor.name).c_str(),
                std::string(name_of(tensor.verdict)).c_str());
    print_line("A", tensor.format_a + ", " + size);
    print_line("B", tensor.format_b + ", " + std::to_string(tensor.b.rows) + " x " +
                        std::to_string(tensor.b.columns));
    const files::Comparison& counts = tensor.counts;
    if (counts.different_blocks != 0)
        print_line("differ", share(counts.different_blocks, counts.blocks) + " of " +
                                 std::to_string(tensor.block) + ", " +
                                 grouped(counts.different_elements) + " of " +
                                 grouped(counts.elements) + " values");
    for (const files::Cause& cause : tensor.causes) {
        std::string text = cause.text;
        if (cause.explained != 0)
            text += " (explains " + share(cause.explained, counts.different_blocks) + ")";
        if (cause.parted != 0)
            text += "; but " + counted(cause.parted, "block") + " would differ that are equal";
        print_line("cause", text);
    }
    if (counts.different_blocks != 0 && tensor.causes.empty())
        print_line("cause", "none of those that were tried");
    for (const std::string& note : tensor.notes) print_line("note", note);
    for (const std::string& origin : tensor.origin) print_line("made", origin);
    if (!tensor.witness.empty()) std::printf("  first   %s\n", tensor.witness.c_str());
}

void print_names(const char* head, const std::vector<std::string>& names) {
    constexpr std::size_t named_max = 8;
    if (names.empty()) return;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), named_max); ++i)
        list += (i == 0 ? "" : ", ") + shown(names[i]);
    if (names.size() > named_max) list += ", and " + grouped(names.size() - named_max) + " more";
    std::printf("%s %s: %s\n", head, counted(names.size(), "tensor").c_str(), list.c_str());
}

void print(const FileDiff& found) {
    std::uint64_t equal = 0, recoded = 0, explained = 0, different = 0;
    std::uint64_t blocks = 0, blocks_explained = 0;
    for (const TensorDiff& tensor : found.tensors) {
        ++(tensor.verdict == Verdict::equal_bytes    ? equal
           : tensor.verdict == Verdict::equal_values ? recoded
           : tensor.verdict == Verdict::explained    ? explained
                                                     : different);
        blocks += tensor.counts.different_blocks;
        if (!tensor.causes.empty()) blocks_explained += tensor.causes.front().explained;
        if (tensor.verdict != Verdict::equal_bytes || found.tensors.size() == 1)
            print_tensor(tensor);
    }
    print_names("only A has", found.only_a);
    print_names("only B has", found.only_b);
    print_names("different, and not quantized:", found.plain_different);
    std::printf(
        "%s of both: %s of equal bytes, %s of equal values in another encoding, %s "
        "different and explained, %s different",
        counted(found.tensors.size(), "quantized tensor").c_str(), grouped(equal).c_str(),
        grouped(recoded).c_str(), grouped(explained).c_str(), grouped(different).c_str());
    if (blocks != 0)
        std::printf("; causes explain %s that differ", share(blocks_explained, blocks).c_str());
    if (found.plain_equal + found.plain_different.size() != 0)
        std::printf("; of %s that are not quantized %s differ",
                    counted(found.plain_equal + found.plain_different.size(), "tensor").c_str(),
                    grouped(found.plain_different.size()).c_str());
    std::printf("\n");
}

nlohmann::ordered_json json_of(const TensorDiff& tensor) {
    nlohmann::ordered_json causes = nlohmann::ordered_json::array();
    for (const files::Cause& cause : tensor.causes)
        causes.push_back({{"cause", cause.text},
                          {"explained_blocks", cause.explained},
                          {"parted_blocks", cause.parted}});
    const files::Comparison& counts = tensor.counts;
    return {{"name", tensor.name},
            {"verdict", name_of(tensor.verdict)},
            {"a", {{"format", tensor.format_a}, {"shape", {tensor.a.rows, tensor.a.columns}}}},
            {"b", {{"format", tensor.format_b}, {"shape", {tensor.b.rows, tensor.b.columns}}}},
            {"block", tensor.block},
            {"blocks", counts.blocks},
            {"different_blocks", counts.different_blocks},
            {"elements", counts.elements},
            {"different_elements", counts.different_elements},
            {"recoded_blocks", counts.recoded},
            {"zeros_of_unequal_sign", counts.zero_signs},
            {"causes", causes},
            {"notes", tensor.notes},
            {"origin", tensor.origin},
            {"first", tensor.witness}};
}

void print_json(const FileDiff& found) {
    nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
    for (const TensorDiff& tensor : found.tensors) tensors.push_back(json_of(tensor));
    const nlohmann::ordered_json json{{"tensors", tensors},
                                      {"only_a", found.only_a},
                                      {"only_b", found.only_b},
                                      {"plain_equal", found.plain_equal},
                                      {"plain_different", found.plain_different},
                                      {"equal_bytes", found.has_equal_bytes()},
                                      {"equal_values", found.has_equal_values()}};
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int diff(const DiffOptions& options) {
    const auto found = files::diff(options.request);
    if (!found) return fail_with(found.error());
    if (options.json)
        print_json(found.value());
    else
        print(found.value());
    const bool is_equal =
        options.values ? found.value().has_equal_values() : found.value().has_equal_bytes();
    return is_equal ? exit_conformant : exit_mismatch;
}

}  // namespace

Command diff_command() {
    auto o = std::make_shared<DiffOptions>();
    return {
        "diff",
        "two files of quantized tensors: equal, equal in another encoding, or what explains it",
        "mxcheck diff a.safetensors b.safetensors --original weights.npy\n"
        "  mxcheck diff model.gguf model.safetensors.index.json --tensor blk.0.ffn_up_exps "
        "--other-tensor model.layers.0.mlp.experts.up_proj",
        {{"A", "a .safetensors, .safetensors.index.json, .gguf, .pt, .npz", &o->request.a, true},
         {"B", "another", &o->request.b, true},
         {"--tensor", "one quantized tensor, by its name without _blocks, _packed, .weight",
          &o->request.tensor},
         {"--other-tensor", "its name in B, where it is another", &o->request.other_tensor, false,
          "--tensor"},
         {"--original", "the values that both were made of: who follows which dialect?",
          &o->request.original},
         {"--elements", "what six bits, or bytes that no type names, are: e2m3, e5m2, ...",
          &o->request.elements},
         {"--values", "exit 0 for equal values in another encoding, too", &o->values},
         {"--json", "for machines", &o->json}},
        [o] { return diff(*o); }};
}

}  // namespace mx::cli
