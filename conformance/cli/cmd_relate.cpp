// mxcheck relate: a device's own answers to related inputs, held against each other. Needs no
// oracle, so it also asks devices of formats that this program has no table of.
#include <cstdio>
#include <memory>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/relate_record.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/relation/record.hpp"

namespace mx::cli {
namespace {

using relation::Result;
using relation::Standing;
using relation::Standings;

struct RelateOptions {
    DeviceChoice choice;
    std::uint64_t timeout = 60;
    relation::Words words;
    std::string out;  // "": no record
};

constexpr std::uint64_t samples_max = 100'000, block_max = 1024;

Status check_type(const std::string& option, const std::string& type, int bits_max) {
    const int bits = code_bits(type);
    if (bits > 0 && bits <= bits_max) return success();
    return bad_input(option + " '" + type + "' is no type of at most " + std::to_string(bits_max) +
                     " bits that a tensor can have; u8 holds codes of any format");
}

Status check_options(const relation::Words& o) {
    for (const std::string& operation : o.operations)
        if (const Status known = check_name("operation", operation, relation::operation_names());
            !known)
            return known;
    for (const auto* names : {&o.names, &o.claims})
        for (const std::string& name : *names)
            if (const Status known = check_name("relation", name, relation::relation_names());
                !known)
                return known;
    const std::vector<std::string> scalings{"", "none", "tensor", "1x32"};
    for (const Status& status :
         {check_name("input type", o.values, type_names()),
          check_type("--elements", o.elements_or_usual(), 8), relation::check_row(o),
          check_type("--scales", o.scales_or_usual(), 32),
          check_name("scaling", o.scaling, scalings)})
        if (!status) return status;
    if (!o.elements_b.empty())
        if (const Status status = check_type("--b-elements", o.elements_b, 8); !status)
            return status;
    if (o.samples == 0 || o.samples > samples_max)
        return bad_input("--samples '" + std::to_string(o.samples) + "' is not from 1 to " +
                         std::to_string(samples_max));
    if (o.block == 0) return success();
    if (o.block < 2 || o.block % 2 != 0 || o.block > block_max)
        return bad_input("--block '" + std::to_string(o.block) + "' is no even number up to " +
                         std::to_string(block_max));
    return success();
}

const char* word_of(Standing standing) {
    switch (standing) {
        case Standing::held:
            return "held";
        case Standing::broken:
            return "BROKEN";
        case Standing::seen:
            return "seen";
        case Standing::unlike:
            return "differs";
        case Standing::unasked:
            return "not run";
        case Standing::faulty:
            return "FAILED";
    }
    return "";
}

// The command line that asks both inputs again.
std::string repro_line(const RelateOptions& o, const relation::Setting& setting,
                       const Result& result) {
    return "mxcheck relate" + device_argument(o.choice) + repro_of(o.words, setting, result);
}

void print(const RelateOptions& o, const relation::Setting& setting, const Result& result) {
    const bool compared =
        result.standing != Standing::unasked && result.standing != Standing::faulty;
    std::printf("  %-8s %-26s %s\n", word_of(result.standing),
                std::string(result.relation->name).c_str(),
                std::string(result.relation->sentence).c_str());
    if (compared)
        std::printf(
            "  %-8s %llu codes of %llu sample%s%s\n", "",
            static_cast<unsigned long long>(result.compared),
            static_cast<unsigned long long>(result.samples), result.samples == 1 ? "" : "s",
            result.reason.empty() ? "" : ("; nothing is claimed: " + result.reason).c_str());
    else
        std::printf("  %-8s %s\n", "", result.reason.c_str());
    if (result.standing != Standing::broken) return;
    std::printf("  %-8s %s\n  %-8s first input: %s\n  %-8s second input: %s\n  %-8s %s\n", "",
                result.finding.broken.c_str(), "", result.finding.first.c_str(), "",
                result.finding.second.c_str(), "", repro_line(o, setting, result).c_str());
}

int exit_code_of(const Standings& tally) {
    if (tally.failed > 0) return exit_device;
    if (tally.broken > 0) return exit_mismatch;
    if (interrupted()) return exit_incomplete;
    return tally.held > 0 ? exit_conformant : exit_nothing_tested;
}

std::string title_of(const relation::Setting& s) {
    if (s.operation != "gemm")
        return s.operation + " " + s.format + " " + s.dialect + " " + s.values;
    return "gemm " + s.elements + " times " + s.elements_b + ", scaling " +
           (s.scaling.empty() ? "none" : s.scaling) + ", D " + s.values;
}

results::RunHeader header_of(const RelateOptions& o, const Client& client) {
    results::RunHeader header = new_header();
    header.argv = {"mxcheck",
                   "relate",
                   "--op=" + session::list_text(o.words.operations),
                   "--format=" + o.words.format,
                   "--dialect=" + o.words.dialect,
                   "--seed=" + std::to_string(o.words.seed),
                   "--samples=" + std::to_string(o.words.samples)};
    header.level = "relations";
    header.suites = o.words.names.empty() ? "*" : session::list_text(o.words.names);
    header.dialects = o.words.dialect;
    header.seed = o.words.seed;
    header.device = shown_name(o.choice);
    for (const auto& [key, value] : client.facts) header.device_facts.push_back({key, value});
    return header;
}

void record(const RelateOptions& o, const relation::Setting& setting,
            const std::vector<Result>& found, results::Run& run) {
    const std::string samples =
        " --seed " + std::to_string(o.words.seed) + " --samples " + std::to_string(o.words.samples);
    for (const Result& result : found) {
        const bool is_broken = result.standing == Standing::broken;
        run.cases.push_back(
            relation::record_of({setting, result, command_of(o.words, setting, result) + samples,
                                 is_broken ? repro_line(o, setting, result) : ""}));
        run.cases.back().index = run.cases.size() - 1;
    }
}

// The dialect that is asked about where the user names none.
std::string usual_dialect(const std::string& name) {
    const BlockFormat* format = find_block_format(name);
    return format == nullptr ? "ocp" : usual_quantizer(*format);
}

int relate_device(RelateOptions o) {
    if (o.words.dialect.empty()) o.words.dialect = usual_dialect(o.words.format);
    if (const Status sound = check_options(o.words); !sound) return fail_with(sound.error());
    const auto client = open_device(o.choice, o.timeout);
    if (!client) return fail_with(client.error());
    if (const Status ready = prepare_record(o.out); !ready) return fail_with(ready.error());
    catch_interrupts();
    Standings count;
    results::Run run;
    run.header = header_of(o, client.value());
    for (const std::string& operation :
         o.words.operations.empty() ? relation::operation_names() : o.words.operations) {
        relation::Subject subject(client.value(), relation::setting_of(o.words, operation));
        const auto results = relation::results_of(o.words, subject, interrupted);
        if (!results) return fail_with(results.error());
        std::printf("%s\n", title_of(subject.setting()).c_str());
        for (const Result& result : results.value()) {
            print(o, subject.setting(), result);
            count.add(result.standing);
        }
        record(o, subject.setting(), results.value(), run);
    }
    std::printf("%zu relations held, %zu broken, %zu of which nothing is claimed, %zu not run",
                count.held, count.broken, count.unclaimed, count.not_run);
    std::printf(count.failed > 0 ? ", %zu on which the device failed\n" : "\n", count.failed);
    if (exit_code_of(count) == exit_nothing_tested) complain("nothing was tested");
    if (o.out.empty()) return closed(client.value(), exit_code_of(count));
    // Where it was interrupted, one relation is missing at least.
    run.header.case_count = run.cases.size() + (interrupted() ? 1 : 0);
    return write_record(std::move(run), o.out, closed(client.value(), exit_code_of(count)));
}

}  // namespace

Command relate_command() {
    auto o = std::make_shared<RelateOptions>();
    relation::Words& w = o->words;
    std::vector<Option> options = options_of(o->choice, o->timeout);
    options.push_back({"--op", "quantize, dequantize, gemm (default all three)", &w.operations});
    options.push_back(
        {"--format", "as the device calls it; one that no table here has, too", &w.format});
    options.push_back(
        {"--dialect", "as the device calls it (default ocp, or the format's first)", &w.dialect});
    options.push_back(
        {"--input", "type of the numbers, of a gemm that of D: f32, bf16, f16", &w.values});
    options.push_back(
        {"--elements", "type of the codes (default that of the format, else u8)", &w.elements});
    options.push_back({"--b-elements", "gemm: type of B's codes (default A's)", &w.elements_b});
    options.push_back({"--scales",
                       "type of the block scales (default that of the format, else e8m0)",
                       &w.scales});
    options.push_back(
        {"--block",
         "lanes of a block (default those of the format, else 32; those of a gemm have 32)",
         &w.block});
    options.push_back({"--scaling", "gemm: 1x32 (default), tensor or none", &w.scaling});
    options.push_back({"--accumulation", "gemm: as the device calls it", &w.accumulation});
    options.push_back({"--relation", "these alone", &w.names});
    options.push_back({"--claim",
                       "relations that the device claims, where its dialect is in no table here",
                       &w.claims});
    options.push_back({"--seed", "of the first sample", &w.seed});
    options.push_back({"--samples", "pairs of tensors for each relation", &w.samples});
    options.push_back({"--shape", "of one sample, as a failure prints it", &w.shape});
    options.push_back({"--bits", "its codes", &w.bits, false, "--shape"});
    options.push_back({"--scale-bits", "its scales", &w.scale_bits, false, "--shape"});
    options.push_back({"--out", "folder for results.jsonl and the reports, if any", &o->out});
    return {"relate", "hold a device's answers to related inputs against each other: no oracle",
            "mxcheck relate --device ./mydev.so --format myfp5 --dialect mine --elements u8",
            std::move(options), [o] { return relate_device(*o); }};
}

}  // namespace mx::cli
