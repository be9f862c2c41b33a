// See device_judge.hpp.
#include "fuzz/search/device_judge.hpp"

#include <utility>

#include "conformance/run/classify.hpp"
#include "conformance/run/difference.hpp"
#include "conformance/run/expected.hpp"

namespace mx::fuzz {
namespace {

using results::Mismatch;

// Differences of one answer that are looked at closely.
constexpr std::uint64_t classified_max = 128;
// Of the differences of one answer: the first so many, then one in so many, up to a limit, so that
// those that are open do not hide one that is not.
bool is_looked_at(std::uint64_t number) {
    constexpr std::uint64_t first = 512, one_in = 61, last = 16384;
    return number < first || (number < last && number % one_in == 0);
}

Outcome outcome_of(AnswerKind kind) {
    switch (kind) {
        case AnswerKind::answered:
            return Outcome::clean;
        case AnswerKind::not_supported:
            return Outcome::refused;
        case AnswerKind::device_error:
            return Outcome::error;
        case AnswerKind::crash:
            return Outcome::crash;
        case AnswerKind::timeout:
            return Outcome::timeout;
        case AnswerKind::host_error:
            return Outcome::unasked;
    }
    return Outcome::unasked;
}

Mismatch of_memory(results::MismatchClass kind, std::string direction) {
    Mismatch m;
    m.mismatch_class = kind.name;
    m.stage = "buffer";
    m.direction = std::move(direction);
    return m;
}

std::vector<Mismatch> mismatches_of_memory(const Evidence& evidence) {
    std::vector<Mismatch> found;
    if (!evidence.wrong_pads.empty())
        found.push_back(of_memory("padding", "pads that must be written as 0"));
    if (!evidence.answer.findings.modified_inputs.empty())
        found.push_back(of_memory("input_modified", "memory the device must not write"));
    if (!evidence.answer.findings.red_zone_hits.empty())
        found.push_back(of_memory("red_zone", "memory the device must not write"));
    return found;
}

Judgement compared(const Evidence& evidence) {
    Judgement judgement{Outcome::clean, "", mismatches_of_memory(evidence)};
    bool is_open = false;
    std::string disagreement;
    for_each_side(evidence, [&](const Evidence& side) {
        Clusters clusters(side, classified_max);
        std::uint64_t differences = 0;
        for_each_difference(side, [&](const Difference& difference) {
            if (is_looked_at(differences++)) clusters.add(difference);
        });
        if (disagreement.empty()) disagreement = clusters.disagreement();
        for (Mismatch& m : clusters.take()) {
            is_open = is_open || !m.open_decision.empty();
            if (!m.open_decision.empty() || m.mismatch_class == "unclassified") continue;
            if (side.c.axis != evidence.c.axis) m.axis = name_of(side.c.axis);
            judgement.mismatches.push_back(std::move(m));
        }
    });
    if (!disagreement.empty()) return {Outcome::own_fault, disagreement, {}};
    if (!judgement.mismatches.empty())
        judgement.outcome = Outcome::wrong;
    else if (is_open)
        judgement.outcome = Outcome::deviation;
    return judgement;
}

}  // namespace

// A device that crashes, hangs or fails over the question refuses nothing: the search goes on to
// judge the case, and is given that answer, whether or not the device does so again.
bool DeviceJudge::supports(const Case& c) {
    failure_.reset();
    auto answer = client_.refuses(question_without_data(c));
    if (!answer) return true;
    if (answer->kind == AnswerKind::not_supported) return false;
    failure_ = std::move(answer);
    return true;
}

Judgement DeviceJudge::judge(const Case& c, const std::vector<CodeTensor>& inputs) {
    Evidence evidence;
    evidence.c = c;
    evidence.inputs = inputs;
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(c, evidence.inputs, storage);
    const auto failure = std::exchange(failure_, std::nullopt);
    evidence.answer = failure ? *failure : client_.ask(question);
    const Outcome outcome = outcome_of(evidence.answer.kind);
    if (outcome != Outcome::clean) return {outcome, evidence.answer.reason, {}};
    evidence.expected = expect(c, evidence.inputs);
    read_answer(evidence);
    return compared(evidence);
}

}  // namespace mx::fuzz
