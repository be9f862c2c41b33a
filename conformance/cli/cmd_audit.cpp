// mxcheck audit: what a checkpoint holds, and what in it is suspicious or impossible.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/cli/columns.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/files/audit.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using files::Audit;
using files::AuditedTensor;
using files::Severity;
using files::Suspicion;

struct AuditOptions {
    std::string file;
    std::string elements;
    bool json = false;
};

const char* word_of(Severity severity) {
    return severity == Severity::impossible ? "impossible" : "suspicious";
}

void print_tensor(const AuditedTensor& tensor, std::string& last_layout) {
    const std::string format = tensor.format.empty() ? "unreadable" : tensor.format;
    std::string size = tensor.format.empty()
                           ? ""
                           : std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns);
    std::printf("%-16s %-15s %s\n", format.c_str(), size.c_str(), printable(tensor.name).c_str());
    const std::string layout = tensor.convention + ": " + joined(tensor.layout, "; ");
    if (layout != last_layout && !tensor.layout.empty())
        std::printf(
            "%s",
            beside("", 2, tensor.source.empty() ? layout : layout + " (" + tensor.source + ")",
                   output_width())
                .c_str());
    last_layout = layout;
    for (const Suspicion& suspicion : tensor.suspicions)
        std::printf("%s", beside(std::string("  ") + word_of(suspicion.severity), 14,
                                 suspicion.what, output_width())
                              .c_str());
}

void print(const Audit& found) {
    std::uint64_t suspicious = 0, impossible = 0;
    std::string last_layout;
    for (const AuditedTensor& tensor : found.tensors) {
        print_tensor(tensor, last_layout);
        bool is_impossible = false;
        for (const Suspicion& suspicion : tensor.suspicions)
            is_impossible = is_impossible || suspicion.severity == Severity::impossible;
        if (is_impossible)
            ++impossible;
        else if (!tensor.suspicions.empty())
            ++suspicious;
    }
    std::string others;
    for (const auto& [type, count] : found.others)
        others +=
            (others.empty() ? "; not quantized here: " : ", ") + grouped(count) + " of " + type;
    std::printf("%s: %s with something impossible, %s with something suspicious%s\n",
                counted(found.tensors.size(), "quantized tensor").c_str(),
                grouped(impossible).c_str(), grouped(suspicious).c_str(), others.c_str());
}

nlohmann::ordered_json json_of(const files::Counts& counts) {
    return {{"elements", counts.elements},
            {"blocks", counts.blocks},
            {"saturated_elements", counts.saturated},
            {"nan_elements", counts.nan_elements},
            {"wrong_codes", counts.wrong_codes},
            {"zero_blocks", counts.zero_blocks},
            {"dead_blocks", counts.dead_blocks},
            {"nan_scales", counts.nan_scales},
            {"negative_scales", counts.negative_scales},
            {"zero_scales", counts.zero_scales},
            {"lowest_scales", counts.lowest_scales},
            {"highest_scales", counts.highest_scales},
            {"pads_not_zero", counts.pads},
            {"scale_code_min", counts.scale_min},
            {"scale_code_max", counts.scale_max}};
}

void print_json(const Audit& found) {
    nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
    for (const AuditedTensor& tensor : found.tensors) {
        nlohmann::ordered_json suspicions = nlohmann::ordered_json::array();
        for (const Suspicion& suspicion : tensor.suspicions)
            suspicions.push_back(
                {{"severity", word_of(suspicion.severity)}, {"what", suspicion.what}});
        tensors.push_back({{"name", tensor.name},
                           {"format", tensor.format},
                           {"convention", tensor.convention},
                           {"source", tensor.source},
                           {"shape", {tensor.rows, tensor.columns}},
                           {"layout", tensor.layout},
                           {"counts", json_of(tensor.counts)},
                           {"findings", suspicions}});
    }
    nlohmann::ordered_json others = nlohmann::ordered_json::object();
    for (const auto& [type, count] : found.others) others[type] = count;
    const nlohmann::ordered_json json{
        {"tensors", tensors}, {"others", others}, {"impossible", found.has_impossible()}};
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int audit(const AuditOptions& options) {
    const auto found = files::audit(options.file, options.elements);
    if (!found) return fail_with(found.error());
    if (options.json)
        print_json(found.value());
    else
        print(found.value());
    return found.value().has_impossible() ? exit_mismatch : exit_conformant;
}

}  // namespace

Command audit_command() {
    auto o = std::make_shared<AuditOptions>();
    return {
        "audit",
        "what a checkpoint holds: formats, conventions, and what is suspicious or impossible",
        "mxcheck audit model.safetensors.index.json\n"
        "  mxcheck audit model.gguf --json",
        {{"FILE", "a .safetensors, .safetensors.index.json, .gguf, .pt or .npz", &o->file, true},
         {"--elements", "what six bits, or bytes that no type names, are: e2m3, e5m2, ...",
          &o->elements},
         {"--json", "for machines", &o->json}},
        [o] { return audit(*o); }};
}

}  // namespace mx::cli
