// mxcheck relate: a device's own answers to related inputs, held against each other. Needs no
// oracle, so it also asks devices of formats that this program has no table of.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <sstream>

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/relate_record.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/relation/facts.hpp"
#include "conformance/relation/suite.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::cli {
namespace {

using relation::Relation;
using relation::Result;
using relation::Sample;
using relation::Standing;

struct RelateOptions {
    DeviceChoice choice;
    std::uint64_t timeout = 60;
    std::vector<std::string> operations;
    std::string format = "mxfp8-e4m3", dialect, values = "f32";
    std::string elements, elements_b, scales, scaling, accumulation;  // "": those of the format
    std::uint64_t block = 0;                                          // 0: likewise
    std::vector<std::string> names, claims;
    std::uint64_t seed = 0, samples = 4;
    std::string shape, bits, scale_bits;
    std::string out;  // "": no record
};

constexpr std::uint64_t samples_max = 100'000, block_max = 1024;
constexpr std::int64_t block_of_gemm = 32, codes_max = std::int64_t{1} << 22;

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

const std::vector<std::string>& operation_names() {
    static const std::vector<std::string> names{"quantize", "dequantize", "gemm"};
    return names;
}

std::vector<std::string> relation_names() {
    std::vector<std::string> names;
    for (const Relation& relation : relation::relations()) {
        const std::string name(relation.name);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

// The row of a dialect whose scales have a mantissa; nullptr where the names are not those of one.
const Quantizer* real_scale_row(const RelateOptions& o) {
    const Quantizer* row = find_quantizer(o.dialect);
    const BlockFormat* format = find_block_format(o.format);
    const bool is_one =
        row != nullptr && format != nullptr && !row->has_e8m0_scales() && row->quantizes(*format);
    return is_one ? row : nullptr;
}

// The codes of a format that relations know nothing of, as of a format whose scales have a mantissa
// in a dialect that no table has, cross in bytes, unless another type is named.
std::string usual_elements(const RelateOptions& o) {
    const BlockFormat* format = find_block_format(o.format);
    const bool is_known =
        format != nullptr && (format->has_e8m0_scales() || real_scale_row(o) != nullptr);
    return is_known ? std::string(format->element().name) : "u8";
}

std::string elements_of(const RelateOptions& o) {
    return o.elements.empty() ? usual_elements(o) : o.elements;
}

std::string usual_scales(const RelateOptions& o) {
    if (real_scale_row(o) == nullptr) return "e8m0";
    const ElementFormat& scale = find_block_format(o.format)->scale();
    return std::string(scale == formats::e4m3 ? "ue4m3" : scale.name);
}

std::string scales_of(const RelateOptions& o) {
    return o.scales.empty() ? usual_scales(o) : o.scales;
}

std::int64_t usual_block(const RelateOptions& o) {
    return real_scale_row(o) == nullptr ? 32 : find_block_format(o.format)->block_columns;
}

// What relations do not do: their samples are rows and columns of values, and nothing beside.
Status check_row(const RelateOptions& o) {
    const Quantizer* row = real_scale_row(o);
    const Quantizer* dialect = find_quantizer(o.dialect);
    const BlockFormat* format = find_block_format(o.format);
    if (format != nullptr && dialect != nullptr && !dialect->quantizes(*format))
        return format->has_e8m0_scales() && dialect->has_e8m0_scales()
                   ? success()
                   : Status(bad("dialect '" + o.dialect + "' does not quantize " + o.format));
    if (row == nullptr) return success();
    if (format->block_rows != 1)
        return bad("relate asks for blocks along rows and columns, and '" + o.format +
                   "' has none in dialect '" + o.dialect + "'");
    if (row->element_rounding == Rounding::stochastic)
        return bad("relate gives no random bits, which dialect '" + o.dialect + "' takes");
    return success();
}

relation::Setting setting_of(const RelateOptions& o, const std::string& operation) {
    relation::Setting setting{
        .operation = operation,
        .format = o.format,
        .dialect = o.dialect,
        .values = o.values,
        .elements = elements_of(o),
        .scales = operation == "gemm" && o.scales.empty() ? "e8m0" : scales_of(o),
        .block = operation == "gemm" ? block_of_gemm
                 : o.block == 0      ? usual_block(o)
                                     : static_cast<std::int64_t>(o.block),
        .elements_b = o.elements_b,
        .scaling = o.scaling,
        .accumulation = o.accumulation};
    const Quantizer* row = real_scale_row(o);
    if (operation != "gemm" && row != nullptr && row->tensor_scale != TensorScale::none) {
        // An amax whose scale is about 1, or such a scale.
        constexpr std::uint32_t six_times_448 = 0x45280000, one = 0x3F800000;
        const bool has_history = row->tensor_scale == TensorScale::history;
        setting.number_given = has_history ? one : six_times_448;
        setting.number_kept = row->way_back == WayBack::times_scale_amax ? six_times_448 : one;
    }
    if (setting.elements_b.empty()) setting.elements_b = setting.elements;
    if (setting.scaling.empty()) setting.scaling = "1x32";
    if (setting.scaling == "none") setting.scaling = "";
    return setting;
}

Status check_type(const std::string& option, const std::string& type, int bits_max) {
    const int bits = code_bits(type);
    if (bits > 0 && bits <= bits_max) return success();
    return bad(option + " '" + type + "' is no type of at most " + std::to_string(bits_max) +
               " bits that a tensor can have; u8 holds codes of any format");
}

Status check_options(const RelateOptions& o) {
    for (const std::string& operation : o.operations)
        if (const Status known = check_name("operation", operation, operation_names()); !known)
            return known;
    for (const auto* names : {&o.names, &o.claims})
        for (const std::string& name : *names)
            if (const Status known = check_name("relation", name, relation_names()); !known)
                return known;
    const std::vector<std::string> scalings{"", "none", "tensor", "1x32"};
    for (const Status& status :
         {check_name("input type", o.values, type_names()),
          check_type("--elements", elements_of(o), 8), check_row(o),
          check_type("--scales", scales_of(o), 32), check_name("scaling", o.scaling, scalings)})
        if (!status) return status;
    if (!o.elements_b.empty())
        if (const Status status = check_type("--b-elements", o.elements_b, 8); !status)
            return status;
    if (o.samples == 0 || o.samples > samples_max)
        return bad("--samples '" + std::to_string(o.samples) + "' is not from 1 to " +
                   std::to_string(samples_max));
    if (o.block == 0) return success();
    if (o.block < 2 || o.block % 2 != 0 || o.block > block_max)
        return bad("--block '" + std::to_string(o.block) + "' is no even number up to " +
                   std::to_string(block_max));
    return success();
}

// "2x3" or "2x3x4": positive numbers, and no two of them span more codes than a sample may have.
std::vector<std::int64_t> extents_of(const std::string& text) {
    std::vector<std::int64_t> extents;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, 'x');) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        const bool is_whole = error == std::errc{} && end == word.data() + word.size();
        if (!is_whole || value < 1 || value > 65536) return {};
        for (const std::int64_t other : extents)
            if (value * other > codes_max) return {};
        extents.push_back(value);
    }
    return extents;
}

// Codes in hexadecimal, row by row; those that are not given are 0.
Expected<CodeTensor> tensor_of(const std::string& option, const std::string& text,
                               CodeTensor tensor) {
    std::istringstream words(text);
    std::size_t at = 0;
    const std::uint64_t limit = std::uint64_t{1} << code_bits(tensor.type);
    for (std::string word; std::getline(words, word, ','); ++at) {
        std::uint32_t code = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), code, 16);
        const bool is_code = error == std::errc{} && end == word.data() + word.size();
        if (!is_code || code >= limit || at >= tensor.count())
            return bad(option + ", code " + std::to_string(at) + ": '" + word + "' is no code of " +
                       tensor.type + " among " + std::to_string(tensor.count()));
        tensor.set(at, code);
    }
    return tensor;
}

// The sample that a repro line names.
Expected<Sample> sample_of(const RelateOptions& o, const relation::Subject& subject,
                           const Relation& relation) {
    Sample sample = make_sample(relation, subject.setting(), o.seed);
    const std::vector<std::int64_t> extents = extents_of(o.shape);
    if (relation.operation == "gemm") {
        if (extents.size() != 3)
            return bad("--shape '" + o.shape +
                       "' is no shape such as 24x20x160, of at most 2^22 codes");
        sample.extents = {extents[0], extents[1], extents[2]};
        return sample;
    }
    if (extents.size() != 2)
        return bad("--shape '" + o.shape + "' is no shape such as 1x32, of at most 2^22 codes");
    auto values =
        tensor_of("--bits", o.bits, make_tensor(sample.values.type, extents[0], extents[1]));
    if (!values) return values.error();
    sample.values = values.value();
    if (relation.operation == "quantize") return sample;
    auto scales = tensor_of("--scale-bits", o.scale_bits, subject.scale_grid(sample.values, {}));
    if (!scales) return scales.error();
    sample.scales = scales.value();
    return sample;
}

std::string codes_text(const CodeTensor& tensor) {
    std::string text;
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        char hex[16];
        std::snprintf(hex, sizeof hex, "%s%x", i == 0 ? "" : ",", tensor.at(i));
        text += hex;
    }
    return text;
}

// " --op gemm ... --relation NAME": what is asked, whoever answers, without the samples.
std::string command_of(const RelateOptions& o, const relation::Setting& s, const Result& result) {
    std::string line = " --op " + s.operation;
    if (s.operation == "gemm") {
        line += " --elements " + s.elements + " --b-elements " + s.elements_b + " --scaling " +
                (s.scaling.empty() ? "none" : s.scaling);
        if (!s.accumulation.empty()) line += " --accumulation " + shell_quoted(s.accumulation);
    } else {
        line += " --format " + shell_quoted(s.format) + " --dialect " + shell_quoted(s.dialect);
        if (s.elements != usual_elements(o)) line += " --elements " + s.elements;
    }
    if (s.scales != (s.operation == "gemm" ? "e8m0" : usual_scales(o)))
        line += " --scales " + s.scales;
    if (s.block != (s.operation == "gemm" ? block_of_gemm : usual_block(o)))
        line += " --block " + std::to_string(s.block);
    line += " --input " + s.values + " --relation " + std::string(result.relation->name);
    if (std::ranges::find(o.claims, result.relation->name) != o.claims.end())
        line += " --claim " + std::string(result.relation->name);
    return line;
}

// The command line that asks both inputs again: the first is written out, and the second follows
// from it and the seed.
std::string repro_line(const RelateOptions& o, const relation::Setting& s, const Result& result) {
    std::string line = "mxcheck relate" + device_argument(o.choice) + command_of(o, s, result);
    line += " --seed " + std::to_string(result.sample.seed) + " --shape ";
    const relation::Extents& e = result.sample.extents;
    if (s.operation == "gemm")
        return line + std::to_string(e.m) + "x" + std::to_string(e.n) + "x" + std::to_string(e.k);
    const CodeTensor& values = result.sample.values;
    line += std::to_string(values.rows) + "x" + std::to_string(values.columns) + " --bits " +
            codes_text(values);
    return s.operation == "quantize" ? line
                                     : line + " --scale-bits " + codes_text(result.sample.scales);
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

struct Count {
    std::size_t held = 0, broken = 0, unclaimed = 0, not_run = 0, failed = 0;

    void add(Standing standing) {
        held += standing == Standing::held ? 1 : 0;
        broken += standing == Standing::broken ? 1 : 0;
        unclaimed += standing == Standing::seen || standing == Standing::unlike ? 1 : 0;
        not_run += standing == Standing::unasked ? 1 : 0;
        failed += standing == Standing::faulty ? 1 : 0;
    }
    int exit_code() const {
        if (failed > 0) return exit_device;
        if (broken > 0) return exit_mismatch;
        if (interrupted()) return exit_incomplete;
        return held > 0 ? exit_conformant : exit_nothing_tested;
    }
};

std::string title_of(const relation::Setting& s) {
    if (s.operation != "gemm")
        return s.operation + " " + s.format + " " + s.dialect + " " + s.values;
    return "gemm " + s.elements + " times " + s.elements_b + ", scaling " +
           (s.scaling.empty() ? "none" : s.scaling) + ", D " + s.values;
}

Expected<std::vector<Result>> results_of(const RelateOptions& o, relation::Subject& subject) {
    if (o.shape.empty())
        return relate(subject, {.names = o.names,
                                .seed = o.seed,
                                .samples = o.samples,
                                .claims = o.claims,
                                .is_enough = [] { return interrupted(); }});
    const Relation* relation =
        o.names.size() == 1 ? relation::find_relation(subject.setting().operation, o.names[0])
                            : nullptr;
    if (relation == nullptr)
        return bad("--shape goes with one --op and one --relation that this operation has");
    const auto sample = sample_of(o, subject, *relation);
    if (!sample) return sample.error();
    return std::vector<Result>{relate_once(subject, *relation, sample.value(), o.claims)};
}

results::RunHeader header_of(const RelateOptions& o, const Client& client) {
    results::RunHeader header = new_header();
    header.argv = {"mxcheck",
                   "relate",
                   "--op=" + session::list_text(o.operations),
                   "--format=" + o.format,
                   "--dialect=" + o.dialect,
                   "--seed=" + std::to_string(o.seed),
                   "--samples=" + std::to_string(o.samples)};
    header.level = "relations";
    header.suites = o.names.empty() ? "*" : session::list_text(o.names);
    header.dialects = o.dialect;
    header.seed = o.seed;
    header.device = shown_name(o.choice);
    for (const auto& [key, value] : client.facts) header.device_facts.push_back({key, value});
    return header;
}

void record(const RelateOptions& o, const relation::Setting& setting,
            const std::vector<Result>& found, results::Run& run) {
    const std::string samples =
        " --seed " + std::to_string(o.seed) + " --samples " + std::to_string(o.samples);
    for (const Result& result : found) {
        const bool is_broken = result.standing == Standing::broken;
        run.cases.push_back(record_of({setting, result, command_of(o, setting, result) + samples,
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
    if (o.dialect.empty()) o.dialect = usual_dialect(o.format);
    if (const Status sound = check_options(o); !sound) return fail_with(sound.error());
    const auto client = open_device(o.choice, o.timeout);
    if (!client) return fail_with(client.error());
    if (const Status ready = prepare_record(o.out); !ready) return fail_with(ready.error());
    catch_interrupts();
    Count count;
    results::Run run;
    run.header = header_of(o, client.value());
    for (const std::string& operation : o.operations.empty() ? operation_names() : o.operations) {
        relation::Subject subject(client.value(), setting_of(o, operation));
        const auto results = results_of(o, subject);
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
    if (count.exit_code() == exit_nothing_tested) complain("nothing was tested");
    if (o.out.empty()) return closed(client.value(), count.exit_code());
    // Where it was interrupted, one relation is missing at least.
    run.header.case_count = run.cases.size() + (interrupted() ? 1 : 0);
    return write_record(std::move(run), o.out, closed(client.value(), count.exit_code()));
}

}  // namespace

Command relate_command() {
    auto o = std::make_shared<RelateOptions>();
    std::vector<Option> options = options_of(o->choice, o->timeout);
    options.push_back({"--op", "quantize, dequantize, gemm (default all three)", &o->operations});
    options.push_back(
        {"--format", "as the device calls it; one that no table here has, too", &o->format});
    options.push_back(
        {"--dialect", "as the device calls it (default ocp, or the format's first)", &o->dialect});
    options.push_back(
        {"--input", "type of the numbers, of a gemm that of D: f32, bf16, f16", &o->values});
    options.push_back(
        {"--elements", "type of the codes (default that of the format, else u8)", &o->elements});
    options.push_back({"--b-elements", "gemm: type of B's codes (default A's)", &o->elements_b});
    options.push_back({"--scales",
                       "type of the block scales (default that of the format, else e8m0)",
                       &o->scales});
    options.push_back(
        {"--block",
         "lanes of a block (default those of the format, else 32; those of a gemm have 32)",
         &o->block});
    options.push_back({"--scaling", "gemm: 1x32 (default), tensor or none", &o->scaling});
    options.push_back({"--accumulation", "gemm: as the device calls it", &o->accumulation});
    options.push_back({"--relation", "these alone", &o->names});
    options.push_back({"--claim",
                       "relations that the device claims, where its dialect is in no table here",
                       &o->claims});
    options.push_back({"--seed", "of the first sample", &o->seed});
    options.push_back({"--samples", "pairs of tensors for each relation", &o->samples});
    options.push_back({"--shape", "of one sample, as a failure prints it", &o->shape});
    options.push_back({"--bits", "its codes", &o->bits, false, "--shape"});
    options.push_back({"--scale-bits", "its scales", &o->scale_bits, false, "--shape"});
    options.push_back({"--out", "folder for results.jsonl and the reports, if any", &o->out});
    return {"relate", "hold a device's answers to related inputs against each other: no oracle",
            "mxcheck relate --device ./mydev.so --format myfp5 --dialect mine --elements u8",
            std::move(options), [o] { return relate_device(*o); }};
}

}  // namespace mx::cli
