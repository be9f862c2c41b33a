// mxcheck identify: the decision vector of a black box, with a witness for each decision.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/identify_gemm.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/identify/identify.hpp"
#include "conformance/identify/rows.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using identify::Finding;
using identify::Identification;

struct IdentifyOptions {
    DeviceChoice choice;
    std::string operation = "quantize";
    std::vector<std::string> formats;  // those of `formats_asked` where none is named
    std::string dialect;               // "": see dialects_asked
    std::string input = "f32";
    std::uint64_t timeout = 60;
    bool json = false;
    IdentifyGemmOptions gemm;

    std::vector<std::string> formats_asked() const {
        return formats.empty() ? std::vector<std::string>{"mxfp8-e4m3", "mxfp4-e2m1"} : formats;
    }
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
                                {"unexplained_witness", found.unexplained.witness},
                                {"unexplained_hypothesis", found.unexplained.hypothesis}};
    for (const identify::HeldRow& row : found.rows)
        json["rows"].push_back(
            {{"name", row.name}, {"predicted", row.predicted}, {"witness", row.witness}});
    return json;
}

// The dialects that every format points to.
std::vector<std::string> common_names(const std::vector<Identification>& all) {
    std::vector<std::string> names = all.front().identical;
    for (const Identification& found : all)
        std::erase_if(names, [&found](const std::string& name) {
            return std::find(found.identical.begin(), found.identical.end(), name) ==
                   found.identical.end();
        });
    return names;
}

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// The names that a device may be asked under, the first that it takes: what was given, which need
// be in no table; where a format's scale has a mantissa, rows of the table, which say what tensors
// there are.
Expected<std::vector<std::string>> dialects_asked(const IdentifyOptions& options,
                                                  const BlockFormat& format) {
    const std::string& given = options.dialect;
    if (format.has_e8m0_scales()) return std::vector<std::string>{given.empty() ? "ocp" : given};
    std::vector<std::string> names;
    for (const Quantizer* row : emulate::recipes_of(format))
        if (row->reads(options.input)) names.emplace_back(row->name);
    if (names.empty())
        return bad("no dialect quantizes " + std::string(format.name) + " from " + options.input);
    if (given.empty()) return names;
    if (const Status known = check_name("dialect", given, quantizer_names()); !known)
        return known.error();
    if (std::ranges::find(names, given) == names.end())
        return bad("dialect '" + given + "' does not; those that quantize " +
                   std::string(format.name) + " from " + options.input + " are " +
                   joined(names, ", "));
    return std::vector<std::string>{given};
}

Status check_names(const IdentifyOptions& options) {
    for (const std::string& format : options.formats_asked()) {
        const Status known = check_name("format", format, block_format_names());
        if (!known) return known;
    }
    if (const Status known = check_name("input type", options.input, type_names()); !known)
        return known;
    for (const std::string& format : options.formats_asked())
        if (const auto names = dialects_asked(options, *find_block_format(format)); !names)
            return names.error();
    return success();
}

// The same device, whose first fault is kept. To identify a device is also to ask it for layouts
// and algorithms that it may not have, and there a crash is taken for a no.
Client watched(Client client, std::string& fault) {
    client.ask = [ask = client.ask, &fault](const Question& question) {
        DeviceAnswer answer = ask(question);
        if (answer.kind == AnswerKind::answered || !fault.empty()) return answer;
        const Error refusal = refusal_of(answer);
        if (refusal.kind == ErrorKind::device) fault = refusal.message;
        return answer;
    };
    return client;
}

Expected<Identification> ask_format(const IdentifyOptions& options, const BlockFormat& format,
                                    const Client& client) {
    Expected<Identification> found = bad("");
    for (const std::string& dialect : dialects_asked(options, format).value()) {
        const identify::Setting setting{format, *find_element_format(options.input), dialect};
        if (format.has_e8m0_scales()) {
            identify::Subject subject(client, setting);
            return identify::identify(subject);
        }
        found = identify::identify_row(client, setting);
        if (found || found.error().kind != ErrorKind::bad_input) break;
    }
    return found;
}

// One identification for each format that the device does; errors are those of the device.
Expected<std::vector<Identification>> ask_formats(const IdentifyOptions& options,
                                                  const Client& client) {
    std::vector<Identification> all;
    std::string refusal;
    for (const std::string& format : options.formats_asked()) {
        const auto found = ask_format(options, *find_block_format(format), client);
        if (found)
            all.push_back(found.value());
        else if (found.error().kind == ErrorKind::bad_input)
            refusal = format + ": " + found.error().message;
        else
            return Error{found.error().kind, format + ": " + found.error().message};
    }
    if (all.empty()) return Error{ErrorKind::bad_input, refusal};
    return all;
}

int identify_quantizer(const IdentifyOptions& options, const Client& client) {
    const auto all = ask_formats(options, client);
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
    const std::vector<std::string> names = common_names(all.value());
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
    options.gemm.formats = options.formats;
    options.gemm.json = options.json;
    return identify_gemm_device(options.gemm, options.choice, client);
}

int identify_operation(IdentifyOptions& options) {
    const Status known =
        check_name("operation", options.operation, std::vector<std::string>{"quantize", "gemm"});
    if (!known) return fail_with(known.error());
    const bool is_gemm = options.operation == "gemm";
    if (const Status names = check_names(options); !is_gemm && !names)
        return fail_with(names.error());
    const auto opened = open_device(options.choice, options.timeout);
    if (!opened) return fail_with(opened.error());
    std::string fault;
    const Client client = watched(opened.value(), fault);
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
                       &o->formats});
    options.push_back(
        {"--dialect",
         "the name it is asked under; the answer does not hang on it (default ocp; of "
         "formats whose scale has a mantissa the first that the device takes)",
         &o->dialect});
    options.push_back({"--input", "type of the inputs: f32, bf16 or f16", &o->input});
    options.push_back({"--json", "for machines", &o->json});
    for (Option& option : options_of(o->gemm)) {
        option.only_with = option.name == "--shape" ? "--census" : "--op gemm";
        options.push_back(std::move(option));
    }
    return {"identify",
            "which dialect does a device follow, or how does it sum? Decisions with witnesses",
            "mxcheck identify --device ./mydev.so --format mxfp8-e4m3\n"
            "  mxcheck identify --device cublaslt --op gemm --types e4m3\n"
            "  mxcheck identify --device cublaslt --op gemm --census --shape 64x64x8192",
            std::move(options), [o] { return identify_operation(*o); }};
}

}  // namespace mx::cli
