// mxcheck identify: the decision vector of a black box, with a witness for each decision.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/files_arguments.hpp"
#include "conformance/cli/identify_gemm.hpp"
#include "conformance/identify/formats.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using identify::Finding;
using identify::Identification;

struct IdentifyOptions {
    DeviceChoice choice;
    std::string operation = "quantize";
    identify::FormatsRequest request;
    std::uint64_t timeout = 60;
    bool json = false;
    IdentifyGemmOptions gemm;
    FileArguments file;
};

void print_findings(const Identification& found) {
    for (const Finding& finding : found.findings) {
        const bool determined = finding.values.size() == 1;
        std::printf("  %-18s %s\n", finding.field.c_str(),
                    determined ? finding.values.front().c_str()
                               : ("undetermined: " + joined(finding.values, " or ") +
                                  "; no block of this format and type parts them")
                                     .c_str());
        if (!finding.witness.empty()) std::printf("  %-18s   %s\n", "", finding.witness.c_str());
    }
}

void print_rows(const Identification& found) {
    for (const identify::HeldRow& row : found.rows) {
        std::printf("  %-22s predicts %llu of %llu answers\n", row.name.c_str(),
                    static_cast<unsigned long long>(row.predicted),
                    static_cast<unsigned long long>(found.answers));
        if (!row.witness.empty()) std::printf("  %-22s   %s\n", "", row.witness.c_str());
    }
}

void print_names(const Identification& found) {
    if (!found.identical.empty()) {
        std::printf("dialect: %s%s\n", joined(found.identical, " = ").c_str(),
                    found.identical.size() > 1 ? " (alike on this format and type)" : "");
        return;
    }
    std::printf("dialect: none; nearest is %s, which predicts %llu of %llu blocks\n",
                found.nearest.c_str(), static_cast<unsigned long long>(found.nearest_predicted),
                static_cast<unsigned long long>(found.answers));
    for (const std::string& part : found.parts) std::printf("  %s\n", part.c_str());
}

void print(const Identification& found) {
    std::printf("%s from %s, asked as dialect %s, %llu blocks\n",
                std::string(found.setting.format.name).c_str(),
                std::string(found.setting.input.name).c_str(), found.setting.dialect.c_str(),
                static_cast<unsigned long long>(found.blocks_asked));
    print_rows(found);
    print_findings(found);
    std::printf("  %-18s %s\n", "partial block", found.partial_block.c_str());
    std::printf("  %-18s linear%s%s\n", "scale layouts", found.scale_layouts.empty() ? "" : ", ",
                joined(found.scale_layouts, ", ").c_str());
    print_names(found);
    const identify::Unexplained& rest = found.unexplained;
    if (rest.open != 0)
        std::printf(
            "open: %llu of %llu blocks have elements of their own under a NaN scale, where "
            "none means anything (OCP MX v1.0 section 5.1)\n",
            static_cast<unsigned long long>(rest.open), static_cast<unsigned long long>(rest.of));
    if (rest.blocks == 0) return;
    std::printf("unexplained: %llu of %llu blocks follow no %s%s%s\n  %s\n",
                static_cast<unsigned long long>(rest.blocks),
                static_cast<unsigned long long>(rest.of),
                found.rows.empty() ? "decision vector" : "row that takes these tensors",
                rest.hypothesis.empty() ? "" : "; ", rest.hypothesis.c_str(), rest.witness.c_str());
}

nlohmann::ordered_json json_of(const Identification& found) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const Finding& finding : found.findings)
        findings.push_back(
            {{"field", finding.field}, {"values", finding.values}, {"witness", finding.witness}});
    nlohmann::ordered_json json{{"format", found.setting.format.name},
                                {"input", found.setting.input.name},
                                {"asked_as", found.setting.dialect},
                                {"blocks_asked", found.blocks_asked},
                                {"decisions", findings},
                                {"partial_block", found.partial_block},
                                {"scale_layouts", found.scale_layouts},
                                {"identical_dialects", found.identical},
                                {"nearest_dialect", found.nearest},
                                {"differences_to_nearest", found.parts},
                                {"unexplained_blocks", found.unexplained.blocks},
                                {"open_blocks", found.unexplained.open},
                                {"unexplained_witness", found.unexplained.witness},
                                {"unexplained_hypothesis", found.unexplained.hypothesis}};
    for (const identify::HeldRow& row : found.rows)
        json["rows"].push_back(
            {{"name", row.name}, {"predicted", row.predicted}, {"witness", row.witness}});
    return json;
}

int identify_quantizer(const IdentifyOptions& options, const Client& client) {
    const auto all = identify::identify_formats(options.request, client);
    if (!all) return refused(all.error());
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::uint64_t unexplained = 0;
    for (const Identification& found : all.value()) {
        unexplained += found.unexplained.blocks;
        if (options.json)
            json.push_back(json_of(found));
        else
            print(found), std::printf("\n");
    }
    const std::vector<std::string> names = identify::common_names(all.value());
    if (options.json)
        std::printf("%s\n", nlohmann::ordered_json{{"formats", json}, {"dialects", names}}
                                .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                                .c_str());
    else
        std::printf("%s: %s\n", shown_name(options.choice).c_str(),
                    names.empty() ? "no named dialect" : joined(names, " = ").c_str());
    return unexplained == 0 ? exit_conformant : exit_mismatch;
}

int identify_gemm(IdentifyOptions& options, const Client& client) {
    options.gemm.words.formats = options.request.formats;
    options.gemm.json = options.json;
    return identify_gemm_device(options.gemm, options.choice, client);
}

int identify_operation(IdentifyOptions& options) {
    if (!options.file.file.empty()) return identify_file(options.file, options.json);
    const Status known =
        check_name("operation", options.operation, std::vector<std::string>{"quantize", "gemm"});
    if (!known) return fail_with(known.error());
    const bool is_gemm = options.operation == "gemm";
    if (const Status names = identify::check(options.request); !is_gemm && !names)
        return fail_with(names.error());
    const auto opened = open_device(options.choice, options.timeout);
    if (!opened) return fail_with(opened.error());
    std::string fault;
    const Client client = identify::watched(opened.value(), fault);
    const int code = is_gemm ? identify_gemm(options, client) : identify_quantizer(options, client);
    if (fault.empty()) return closed(client, code);
    return code == exit_device ? code : fail_with({ErrorKind::device, fault});
}

}  // namespace

Command identify_command() {
    auto o = std::make_shared<IdentifyOptions>();
    std::vector<Option> options = options_of(o->choice, o->timeout);
    options.push_back({"--op", "quantize or gemm: what is identified", &o->operation});
    options.push_back({"--format",
                       "block formats to ask about (default mxfp8-e4m3 and mxfp4-e2m1); of a gemm "
                       "one for both factors or two, instead of --types and --scaling",
                       &o->request.formats});
    options.push_back(
        {"--dialect",
         "the name it is asked under; the answer does not hang on it (default ocp; of "
         "formats whose scale has a mantissa the first that the device takes)",
         &o->request.dialect});
    options.push_back({"--input", "type of the inputs: f32, bf16 or f16", &o->request.input});
    options.push_back({"--json", "for machines", &o->json});
    for (Option& option : options_of(o->file)) options.push_back(std::move(option));
    for (Option& option : options_of(o->gemm)) {
        option.only_with = option.name == "--shape"       ? "--census"
                           : option.name == "--model-out" ? "--search"
                                                          : "--op gemm";
        options.push_back(std::move(option));
    }
    return {"identify",
            "which dialect does a device follow, or how does it sum? Decisions with witnesses",
            "mxcheck identify --device ./mydev.so --format mxfp8-e4m3\n"
            "  mxcheck identify --file q.safetensors --original x.npy\n"
            "  mxcheck identify --device cublaslt --op gemm --types e4m3\n"
            "  mxcheck identify --device cublaslt --op gemm --census --shape 64x64x8192\n"
            "  mxcheck identify --device ./mydev.so --op gemm --search --model-out found.json",
            std::move(options), [o] { return identify_operation(*o); }};
}

}  // namespace mx::cli
