// See search_gemm.hpp.
#include "conformance/cli/search_gemm.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <span>

#include "conformance/case/gemm_row.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/identify_gemm_text.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/identify/gemm_search.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using identify::GemmSearch;
using Json = nlohmann::ordered_json;

// The name of the row is that of its file: "my_gpu.json" is my_gpu.
std::string name_of_row(const std::string& path) {
    std::string name;
    for (const char c : std::filesystem::path(path).stem().string()) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const char lower = is_upper ? static_cast<char>(c - 'A' + 'a') : c;
        const bool is_fit = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
                            lower == '-' || lower == '_' || lower == '.';
        name += is_fit ? lower : '-';
    }
    name = name.substr(0, model_name_max);
    return find_gemm_model(name) == nullptr ? name : "found-" + name.substr(0, model_name_max - 6);
}

std::uint64_t predicted_sums(const GemmSearch& found) {
    return found.probed.of + found.adversarial.of + found.fresh.of;
}

// Accumulator and epilogue are two verdicts.
std::string accumulator_verdict(const GemmSearch& found) {
    const std::string what = identify::accumulator_text(found);
    if (found.is_sum_explained())
        return what + "; it predicts all " + grouped(predicted_sums(found)) + " sums, " +
               grouped(found.fresh.of) + " of them of data that nothing was learnt from";
    return "none that is known; nearest is " + what;
}
std::string epilogue_verdict(const GemmSearch& found) {
    if (!found.is_epilogue_asked()) return "not asked: the device takes neither C nor scales";
    const std::string what = identify::epilogue_text(found);
    if (!found.is_epilogue_explained()) return "none that is known; nearest is " + what;
    return what + "; it predicts all " +
           grouped(found.probed_epilogue.of + found.fresh_epilogue.of) + " outputs";
}

std::string verdict_of(const GemmSearch& found) {
    if (!found.is_sum_explained())
        return "not found; " +
               counted(found.probed.count + found.adversarial.count + found.fresh.count, "sum") +
               " unexplained";
    const bool is_row = found.no_row_because().empty();
    const std::string sum = is_row ? "a machine in steps, found" : "plain code, found";
    if (found.is_epilogue_asked() && !found.is_epilogue_explained())
        return sum + ", and no epilogue that is known";
    return sum;
}

void print(const GemmSearch& found) {
    std::printf("%s, searched without the table of models: %s in %s\n",
                setting_text(found.setting).c_str(),
                counted(predicted_sums(found) + found.probed_epilogue.of, "output").c_str(),
                counted(found.calls, "call").c_str());
    print_gemm_findings(found.findings);
    for (const std::string& refusal : found.refusals) print_field_line("not asked", refusal);
    if (!found.why_no_tree.empty()) print_field_line("no tree", found.why_no_tree);
    if (found.rounds != 0)
        print_field_line("refined", counted(found.rounds, "time") + " by what was not predicted");
    std::printf("accumulator: %s\n", accumulator_verdict(found).c_str());
    if (found.plain && !found.plain->rule && found.plain->loop == identify::PlainLoop::tree)
        std::printf("  %s\n", identify::text_of(found.plain->tree).c_str());
    std::printf("epilogue: %s\n", epilogue_verdict(found).c_str());
    print_unexplained("sums of probes", found.probed);
    print_unexplained("sums of adversarial data", found.adversarial);
    print_unexplained("sums of data that nothing was learnt from", found.fresh);
    print_unexplained("probes with C, alpha, beta or scales", found.probed_epilogue);
    print_unexplained("outputs with C, alpha, beta or scales", found.fresh_epilogue);
    std::printf("in the table of models: %s\n", found.table_rows.empty()
                                                    ? "no row predicts all sums"
                                                    : joined(found.table_rows, " = ").c_str());
}

Json json_of(const identify::SumTree& tree) {
    Json joins = Json::array();
    for (const auto& [left, right] : tree.joins) joins.push_back(Json::array({left, right}));
    return {{"products", tree.leaves}, {"joins", joins}};
}

Json json_of(const GemmSearch& found, const std::string& model) {
    Json json{{"setting", setting_json(found.setting)},
              {"calls", found.calls},
              {"rounds", found.rounds},
              {"fields", findings_json(found.findings)},
              {"refused", found.refusals},
              {"accumulator",
               {{"found", found.is_sum_explained()},
                {"text", identify::accumulator_text(found)},
                {"no_row_because", found.no_row_because()},
                {"no_tree_because", found.why_no_tree},
                {"probes", misses_json(found.probed)},
                {"adversarial_data", misses_json(found.adversarial)},
                {"unlearnt_data", misses_json(found.fresh)}}},
              {"epilogue",
               {{"asked", found.is_epilogue_asked()},
                {"found", found.is_epilogue_explained()},
                {"text", identify::epilogue_text(found)},
                {"probes", misses_json(found.probed_epilogue)},
                {"unlearnt_data", misses_json(found.fresh_epilogue)}}},
              {"models", found.table_rows}};
    if (found.plain && !found.plain->rule && found.plain->loop == identify::PlainLoop::tree)
        json["tree"] = json_of(found.plain->tree);
    if (!model.empty()) json["model"] = Json::parse(model);
    return json;
}

std::string model_text(const GemmSearch& found, const IdentifyGemmOptions& options,
                       const std::string& device) {
    if (!found.no_row_because().empty()) return "";
    const std::string name = name_of_row(options.model_out.empty() ? "found" : options.model_out);
    return identify::model_file_of(found, name,
                                   "mxcheck identify --op gemm --search of " + device + ", " +
                                       grouped(predicted_sums(found)) + " sums predicted");
}

Status write_model(const std::string& path, const std::string& model) {
    const std::array parts{std::as_bytes(std::span(model))};
    return write_atomically(path, {parts.begin(), parts.end()});
}

}  // namespace

int search_gemm_device(const IdentifyGemmOptions& options, const DeviceChoice& choice,
                       const Client& device, const GemmProblem& setting) {
    identify::GemmSubject subject(device, setting);
    auto found = [&] {
        Progress progress("calls", 0);
        return identify::search_gemm(subject, [&](const std::string& stage, std::uint64_t done) {
            progress.update(subject.calls(), stage + (done == 0 ? "" : " " + std::to_string(done)));
        });
    }();
    if (!found) return refused(found.error());
    const std::string name = shown_name(choice);
    const std::string model = model_text(found.value(), options, name);
    if (options.json) {
        Json json = json_of(found.value(), model);
        json["device"] = name;
        std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    } else {
        print(found.value());
    }
    if (!options.model_out.empty() && model.empty())
        complain("no model file is written: " + found.value().no_row_because());
    if (!options.model_out.empty() && !model.empty()) {
        const Status written = write_model(options.model_out, model);
        if (!written) return fail_with(written.error());
        if (!options.json)
            std::printf("%s: a row for mxcheck run --suite gemm --model-file, and gemm\n",
                        options.model_out.c_str());
    }
    if (!options.json) std::printf("%s: %s\n", name.c_str(), verdict_of(found.value()).c_str());
    const bool is_whole =
        found.value().is_sum_explained() &&
        (!found.value().is_epilogue_asked() || found.value().is_epilogue_explained());
    return is_whole ? exit_conformant : exit_mismatch;
}

}  // namespace mx::cli
