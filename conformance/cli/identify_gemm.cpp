// See identify_gemm.hpp.
#include "conformance/cli/identify_gemm.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "conformance/case/gemm_case.hpp"
#include "conformance/cli/identify_gemm_text.hpp"
#include "conformance/cli/search_gemm.hpp"
#include "conformance/identify/gemm_census.hpp"
#include "conformance/identify/gemm_identify.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using identify::GemmCensus;
using identify::GemmClass;
using identify::GemmFinding;
using identify::GemmIdentification;
using identify::GemmSettled;
using identify::GemmShape;
using identify::GemmSplit;
using Json = nlohmann::ordered_json;

void print_split(const GemmSplit& split) {
    const std::string at = "K split at " + identify::text_of(split.shape);
    if (!split.refusal.empty()) return print_field_line(at, "not asked: " + split.refusal);
    const bool is_split = split.part != 0;
    print_field_line(at, is_split ? "into " + std::to_string(split.parts) + " parts of " +
                                        std::to_string(split.part) + " along k"
                                  : "no");
    if (!split.witness.empty()) print_field_line("", "  " + split.witness);
    if (split.algorithm.empty()) return;
    const std::int64_t named = identify::parts_named(split.algorithm);
    print_field_line("", "  the algorithm's name says " +
                             counted(static_cast<std::uint64_t>(named), "part") +
                             (named == split.parts ? "" : ", which is NOT what its bits say") +
                             ": " + split.algorithm);
}

// What comes after the sum, where it is known.
std::string epilogue_of(const GemmIdentification& found) {
    const bool is_alpha_done = found.machine.model.alpha == AlphaPlace::factor_a;
    const std::string before =
        is_alpha_done ? "alpha multiplies A's elements, then with alpha of 1 " : "";
    for (const GemmFinding& finding : found.findings)
        if (finding.field == "alpha, beta and C")
            return before + identify::values_text(finding.values);
    return "";
}

// The sums alone, and what is made of them: where only one of both is known, it is said.
void print_parts(const GemmIdentification& found) {
    if (!found.sum_rows.empty())
        std::printf("accumulator: %s, which predicts all %s without C, alpha and scales\n",
                    joined(found.sum_rows, " = ").c_str(), counted(found.sums, "sum").c_str());
    const bool is_asked = found.refusals.empty();
    if (found.unexplained() == 0 && is_asked)
        std::printf("epilogue: %s\n", epilogue_of(found).c_str());
    else if (!found.sum_rows.empty() && is_asked)
        std::printf("epilogue: none that is known; nearest is %s\n", epilogue_of(found).c_str());
}

std::string settled_text(const GemmSettled& one) {
    const std::string here = identify::values_text(one.values);
    if (!one.is_settled()) return "not settled: " + here + "; no probe parts them";
    return "settled here, " + here +
           (one.is_as_row() ? ", as the row has it" : "; the row has " + one.of_row);
}

// What the table leaves open of this device's row, each with the answer that says so.
void print_settled(const GemmIdentification& found) {
    for (const GemmSettled& one : found.settled) {
        std::printf("open of %s: %s: %s\n", one.row.c_str(), one.field.c_str(),
                    settled_text(one).c_str());
        if (one.is_settled() && !one.witness.empty()) std::printf("  %s\n", one.witness.c_str());
    }
}

// "blackwell-mx with exponent floor -126": a row that is the device but for what is open of it.
std::string settled_rows(const GemmIdentification& found) {
    std::map<std::string, std::vector<std::string>> rows;
    for (const GemmSettled& one : found.settled) {
        std::vector<std::string>& parts = rows[one.row];
        if (!one.is_as_row() && std::ranges::find(one.values, one.of_row) == one.values.end())
            parts.push_back(one.field + " " + identify::values_text(one.values));
    }
    std::vector<std::string> texts;
    for (const auto& [row, parts] : rows) texts.push_back(row + " with " + joined(parts, " and "));
    return joined(texts, " = ");
}

void print_rows(const GemmIdentification& found) {
    if (!found.rows.empty()) {
        std::printf("model: %s%s\n", joined(found.rows, " = ").c_str(),
                    found.rows.size() > 1 ? " (alike on these operands)" : "");
        return;
    }
    if (found.nearest.empty()) {
        std::printf("model: none; no row of the table takes these operands\n");
        return;
    }
    std::printf("model: none; nearest is %s, which predicts %s of %s answers to probes\n",
                found.nearest.c_str(), grouped(found.nearest_predicted).c_str(),
                grouped(found.learnt.of).c_str());
    for (const std::string& part : found.parts) std::printf("  %s\n", part.c_str());
    if (found.mixture.row.empty()) return;
    std::printf("mixed: all %s outputs that %s does not predict are predicted by %s%s%s\n",
                grouped(found.mixture.answers).c_str(), found.nearest.c_str(),
                found.mixture.row.c_str(), found.mixture.shapes.empty() ? "" : ", in ",
                joined(found.mixture.shapes, ", ").c_str());
}

void print(const GemmIdentification& found) {
    std::printf("%s, asked as %s: %s and more in %s\n", setting_text(found.setting).c_str(),
                identify::text_of(found.shape).c_str(),
                counted(found.learnt.of, "dot product").c_str(),
                counted(found.calls, "call").c_str());
    print_gemm_findings(found.findings);
    for (const auto& [name, text] : found.specials) print_field_line(name, text);
    print_split(found.split);
    for (const std::string& refusal : found.refusals) print_field_line("not asked", refusal);
    print_rows(found);
    print_settled(found);
    print_parts(found);
    print_unexplained("answers to probes", found.learnt);
    print_unexplained("outputs of data that nothing was learnt from", found.unlearnt);
    print_unexplained("answers where K is long", found.split.misses);
    if (found.unlearnt.count == 0)
        std::printf("predicted bit for bit: %s outputs of data that nothing was learnt from\n",
                    grouped(found.unlearnt.of).c_str());
}

// The last line: what the device is.
std::string verdict_of(const GemmIdentification& found) {
    if (!found.rows.empty()) return joined(found.rows, " = ");
    if (!found.mixture.row.empty())
        return "no model of the table; mixed, of " + found.nearest + " and " + found.mixture.row;
    if (!found.settled.empty()) return settled_rows(found);
    if (found.unexplained() == 0) return "no model of the table";
    if (!found.sum_rows.empty())
        return "accumulator " + joined(found.sum_rows, " = ") +
               ", and no epilogue that is known; " + counted(found.unexplained(), "output") +
               " unexplained";
    return "no model of the table; " + counted(found.unexplained(), "output") + " unexplained";
}

Json settled_json(const GemmIdentification& found) {
    Json list = Json::array();
    for (const GemmSettled& one : found.settled)
        list.push_back({{"model", one.row},
                        {"field", one.field},
                        {"values", one.values},
                        {"of_model", one.of_row},
                        {"witness", one.witness}});
    return list;
}

Json json_of(const GemmIdentification& found) {
    Json specials = Json::object();
    for (const auto& [name, text] : found.specials) specials[name] = text;
    const GemmSplit& split = found.split;
    return {{"setting", setting_json(found.setting)},
            {"shape", identify::text_of(found.shape)},
            {"calls", found.calls},
            {"fields", findings_json(found.findings)},
            {"specials", specials},
            {"split",
             {{"shape", identify::text_of(split.shape)},
              {"parts", split.parts},
              {"length", split.part},
              {"algorithm", split.algorithm},
              {"parts_named", identify::parts_named(split.algorithm)},
              {"refusal", split.refusal},
              {"witness", split.witness},
              {"answers", misses_json(split.misses)}}},
            {"refused", found.refusals},
            {"models", found.rows},
            {"nearest_model", found.nearest},
            {"accumulators", found.sum_rows},
            {"sums", found.sums},
            {"epilogue", found.unexplained() == 0 ? epilogue_of(found) : ""},
            {"mixed_with", found.mixture.row},
            {"differences_to_nearest", found.parts},
            {"open_decisions", settled_json(found)},
            {"probes", misses_json(found.learnt)},
            {"unlearnt_data", misses_json(found.unlearnt)}};
}

std::string class_name(const GemmClass& group) {
    if (group.rows.empty()) return "no row";
    return joined(group.rows, " = ") +
           (group.parts == 1 ? "" : ", K in " + std::to_string(group.parts) + " parts");
}

std::vector<std::string> bits_of_all(const std::vector<Code>& codes) {
    std::vector<std::string> all;
    for (const Code code : codes) all.push_back(identify::bits_text(code).substr(0, 10));
    return all;
}

void print(const GemmCensus& census) {
    std::printf(
        "%s, %s: %s, %s of equal bits (%s outputs each)\n", identify::text_of(census.shape).c_str(),
        setting_text(census.setting).c_str(), counted(census.algorithms, "algorithm").c_str(),
        census.classes.size() == 1 ? "1 class"
                                   : (std::to_string(census.classes.size()) + " classes").c_str(),
        grouped(census.outputs).c_str());
    for (const GemmClass& group : census.classes) {
        std::printf("%s: %s; %s of %s outputs that were looked at are predicted\n",
                    class_name(group).c_str(),
                    counted(group.algorithms.size(), "algorithm").c_str(),
                    grouped(group.predicted).c_str(), grouped(group.looked_at).c_str());
        for (const std::int64_t named : group.parts_named)
            if (named != group.parts)
                std::printf("  a name says splitk=%s, and the bits say %s\n",
                            std::to_string(named).c_str(), std::to_string(group.parts).c_str());
        if (!group.nans.empty())
            std::printf("  NaN is %s\n", joined(bits_of_all(group.nans), " or ").c_str());
        if (group.rows.empty())
            std::printf("  nearest is %s: %s\n", group.nearest.c_str(), group.witness.c_str());
        for (const std::string& name : group.algorithms)
            std::printf("  %s\n", name.empty() ? "its own choice" : name.c_str());
    }
    for (const std::string& refusal : census.refusals)
        std::printf("listed, and not run: %s\n", refusal.c_str());
}

Json json_of(const GemmCensus& census) {
    Json classes = Json::array();
    for (const GemmClass& group : census.classes)
        classes.push_back({{"algorithms", group.algorithms},
                           {"parts_named", group.parts_named},
                           {"models", group.rows},
                           {"parts", group.parts},
                           {"nearest_model", group.nearest},
                           {"looked_at", group.looked_at},
                           {"predicted", group.predicted},
                           {"nan", bits_of_all(group.nans)},
                           {"witness", group.witness}});
    return {{"setting", setting_json(census.setting)},
            {"shape", identify::text_of(census.shape)},
            {"algorithms", census.algorithms},
            {"outputs", census.outputs},
            {"classes", classes},
            {"not_run", census.refusals}};
}

int census_of(const IdentifyGemmOptions& options, const Client& device,
              const GemmProblem& setting) {
    const auto shape = identify::shape_of(options.shape);
    if (!shape) return fail_with(shape.error());
    const auto census = identify::take_census(device, setting, shape.value());
    if (!census) return refused(census.error());
    if (census.value().classes.empty())
        return refused(bad_input(census.value().refusals.empty()
                                     ? "the device lists no algorithm"
                                     : census.value().refusals.front()));
    if (options.json)
        std::printf("%s\n", json_of(census.value())
                                .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                                .c_str());
    else
        print(census.value());
    for (const GemmClass& group : census.value().classes)
        if (group.rows.empty()) return exit_mismatch;
    return exit_conformant;
}

}  // namespace

int refused(const Error& error) {
    if (error.kind != ErrorKind::bad_input) return fail_with(error);
    complain("nothing identified: " + error.message);
    return exit_nothing_tested;
}

std::vector<Option> options_of(IdentifyGemmOptions& o) {
    return {
        {"--types", "gemm: element types of A and B, one for both or two", &o.words.types},
        {"--scaling",
         "gemm: scales of A and B, one for both or two: none, tensor, row, 1x128, 128x128, "
         "1x32 (MX) or 1x16 (NVFP4)",
         &o.words.scaling},
        {"--accumulation", "gemm: fast, or nothing", &o.words.accumulation},
        {"--algorithm", "gemm: one of those the device lists", &o.words.algorithm},
        {"--census", "gemm: every algorithm, in classes of equal bits", &o.census},
        {"--search",
         "gemm: find how it sums without the table of models: steps, or the order of plain code",
         &o.search},
        {"--model-out", "write the row that was found, for --model-file of run and gemm",
         &o.model_out},
        {"--shape", "gemm: MxNxK of the census", &o.shape}};
}

int identify_gemm_device(const IdentifyGemmOptions& options, const DeviceChoice& choice,
                         const Client& device) {
    const auto setting = identify::setting_of(options.words, device);
    if (!setting) return fail_with(setting.error());
    if (options.census) return census_of(options, device, setting.value());
    if (options.search) return search_gemm_device(options, choice, device, setting.value());
    identify::GemmSubject subject(device, setting.value());
    const auto found = identify::identify_gemm(subject);
    if (!found) return refused(found.error());
    if (options.json) {
        Json json = json_of(found.value());
        json["device"] = shown_name(choice);
        std::printf("%s\n",
                    json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else {
        print(found.value());
        std::printf("%s: %s\n", shown_name(choice).c_str(), verdict_of(found.value()).c_str());
    }
    return found.value().unexplained() == 0 ? exit_conformant : exit_mismatch;
}

}  // namespace mx::cli
