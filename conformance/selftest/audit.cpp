// See audit.hpp.
#include "conformance/selftest/audit.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "conformance/run/evidence.hpp"
#include "reference/spec/formats.hpp"

namespace mx::selftest {
namespace {

constexpr std::array<std::string_view, 5> edge_families{"edge.special", "edge.amax", "edge.tie",
                                                        "edge.scale", "edge.mixed"};

// From the words in which a rule names its inputs.
Population population_of(const acceptance::Rule& rule) {
    if (rule.inputs.find("uniform") != std::string_view::npos) return Population::uniform;
    if (rule.inputs.find("normal") != std::string_view::npos) return Population::normal;
    return Population::ramp;
}

std::vector<std::size_t> rules_fed_by(Population population) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < acceptance::rules().size(); ++i)
        if (population_of(acceptance::rules()[i]) == population) indices.push_back(i);
    return indices;
}

std::vector<Setting> all_settings() {
    std::vector<Setting> settings;
    for (const BlockFormat& format : mx_block_formats) {
        if (!format.name.starts_with("mxfp8")) continue;
        for (const std::string& dialect : bug_dialects())
            for (const BlockAxis axis : {BlockAxis::row, BlockAxis::col})
                settings.push_back({&format, find_quantizer(dialect), axis});
    }
    return settings;
}

// The ramp is one block. TransformerEngine's tests take large tensors in its own dialect; for the
// rest a thousand blocks, with a tail along either axis, keep the self-test short.
Shape shape_of(Population population, const Setting& setting) {
    if (population == Population::ramp)
        return setting.axis == BlockAxis::row ? Shape{1, block_size} : Shape{block_size, 1};
    const bool is_large = population == Population::uniform && setting.dialect->name == "nv" &&
                          setting.axis == BlockAxis::row;
    return is_large ? Shape{993, 512} : Shape{67, 496};
}

// A range of elements, and of the scales that belong to them.
struct SamplePart {
    std::size_t element = 0, elements = 0;
    std::size_t scale = 0, scales = 0;
};

acceptance::Quantized part_of(const Numbers& numbers, const SamplePart& part) {
    return {std::span(numbers.scales).subspan(part.scale, part.scales),
            std::span(numbers.codes).subspan(part.element, part.elements),
            std::span(numbers.elements).subspan(part.element, part.elements),
            std::span(numbers.values).subspan(part.element, part.elements)};
}

bool same_bits(const acceptance::Quantized& left, const acceptance::Quantized& right) {
    return std::ranges::equal(left.scales, right.scales) &&
           std::ranges::equal(left.codes, right.codes);
}

// A rule that rejects the right bits too has said nothing about these.
bool tells(const acceptance::Rule& rule, const acceptance::Evidence& evidence) {
    const acceptance::Evidence right{evidence.inputs, evidence.expected, evidence.expected};
    return rule.judge(evidence) == acceptance::Answer::rejects &&
           rule.judge(right) == acceptance::Answer::accepts;
}

std::vector<SamplePart> parts_of(const Sample& sample, bool is_edge) {
    const std::size_t elements = sample.floats.size(), scales = sample.expected.scales.size();
    if (!is_edge) return {{0, elements, 0, scales}};
    std::vector<SamplePart> parts;
    constexpr std::size_t lanes = block_size;
    for (std::size_t block = 0; block < scales; ++block)
        parts.push_back({block * lanes, lanes, block, 1});
    return parts;
}

// The first kill counts; the projects' own data come before the edges.
void note_kill(bool is_edge, Outcome& outcome) {
    if (outcome == Outcome::missed) outcome = is_edge ? Outcome::killed_on_edges : Outcome::killed;
}

std::vector<CodeTensor> outputs_of(const Question& question, const DeviceAnswer& answer) {
    std::vector<CodeTensor> outputs;
    for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
        const TensorSpec& spec = question.outputs[i];
        CodeTensor tensor = make_tensor(spec.type, spec.rows, spec.columns);
        tensor.bytes = answer.outputs[i].bytes;
        outputs.push_back(std::move(tensor));
    }
    return outputs;
}

}  // namespace

Expected<Audit> Audit::prepare(Sources& sources) {
    Audit audit;
    for (const Population population : {Population::uniform, Population::normal, Population::ramp})
        for (const Setting& setting : all_settings())
            audit.tasks_.push_back({draw(population, setting, shape_of(population, setting)),
                                    rules_fed_by(population), false});
    std::vector<std::size_t> every_rule(acceptance::rules().size());
    std::iota(every_rule.begin(), every_rule.end(), std::size_t{0});
    for (const Setting& setting : all_settings()) {
        if (setting.axis != BlockAxis::row) continue;
        for (const std::string_view family : edge_families) {
            auto sample = edge_blocks(family, setting, sources);
            if (!sample) return sample.error();
            audit.tasks_.push_back({std::move(sample).value(), every_rule, true});
        }
    }
    return audit;
}

Status Audit::judge_task(const Task& task, const Client& client, std::vector<Outcome>& outcomes) {
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(task.sample.c, task.sample.inputs, storage);
    const DeviceAnswer answer = client.ask(question);
    if (answer.kind == AnswerKind::host_error) return Error{ErrorKind::system, answer.reason};
    if (answer.kind == AnswerKind::not_supported) return success();
    if (answer.kind != AnswerKind::answered) {
        for (const std::size_t rule : task.rules) note_kill(task.is_edge, outcomes[rule]);
        return success();
    }
    const Numbers actual = numbers_of(task.sample.c, outputs_of(question, answer));
    for (const SamplePart& part : parts_of(task.sample, task.is_edge)) {
        const acceptance::Evidence evidence{
            std::span(task.sample.floats).subspan(part.element, part.elements),
            part_of(task.sample.expected, part), part_of(actual, part)};
        if (same_bits(evidence.expected, evidence.actual)) continue;
        for (const std::size_t rule : task.rules)
            if (outcomes[rule] == Outcome::missed && tells(acceptance::rules()[rule], evidence))
                note_kill(task.is_edge, outcomes[rule]);
    }
    return success();
}

Expected<std::vector<Outcome>> Audit::judge(const Subject& subject, const Limits& limits) const {
    const std::size_t rules = acceptance::rules().size();
    if (!concerns_mxfp8_blocks(subject)) return std::vector<Outcome>(rules, Outcome::not_asked);
    const auto client = open_client(subject.source, limits);
    if (!client) return Error{ErrorKind::device, subject.name + ": " + client.error().message};
    std::vector<Outcome> outcomes(rules, Outcome::missed);
    for (const Task& task : tasks_) {
        const bool is_open = std::ranges::any_of(
            task.rules, [&](std::size_t rule) { return outcomes[rule] == Outcome::missed; });
        if (!is_open) continue;
        const Status status = judge_task(task, client.value(), outcomes);
        if (!status) return Error{ErrorKind::device, subject.name + ": " + status.error().message};
    }
    return outcomes;
}

}  // namespace mx::selftest
