// See judge.hpp.
#include "conformance/run/judge.hpp"

#include "conformance/run/classify.hpp"
#include "conformance/run/clusters.hpp"
#include "conformance/run/gemm_judge.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

// Sums of fractions are slow.
constexpr std::uint64_t gemms_confirmed_max = 16;

std::string side_text(RedZoneSide side) {
    if (side == RedZoneSide::before) return "before";
    return side == RedZoneSide::gap ? "between the rows of" : "after";
}

// Writes beside a tensor or into an input, as clusters.
void add_findings(const Findings& findings, CaseResult& result) {
    const auto add = [&result](results::MismatchClass kind, std::uint64_t count, std::string note) {
        Mismatch m;
        m.mismatch_class = kind.name;
        m.stage = "buffer";
        m.direction = "memory the device must not write";
        m.count = count;
        m.note = std::move(note);
        m.source = "device/abi/mx_device.h: outputs are written, and nothing beside them";
        result.mismatches.push_back(std::move(m));
    };
    for (const ModifiedInput& input : findings.modified_inputs)
        add("input_modified", input.count,
            "input " + std::to_string(input.tensor) + ", first at element " +
                std::to_string(input.first_element));
    for (const RedZoneHit& hit : findings.red_zone_hits)
        add("red_zone", hit.count,
            std::to_string(hit.count) + " bytes " + side_text(hit.side) +
                (hit.role == TensorRole::input ? " input " : " output ") +
                std::to_string(hit.tensor) + ", first at byte " + std::to_string(hit.first_byte));
}

// Pads that the layout says are 0 and the device left, or wrote as something else.
void add_wrong_pads(const std::vector<WrongPads>& wrong_pads, CaseResult& result) {
    for (const WrongPads& wrong : wrong_pads) {
        Mismatch m;
        m.mismatch_class = results::MismatchClass("padding").name;
        m.stage = "buffer";
        m.direction = "pads that must be written as 0";
        m.count = wrong.count;
        m.note = std::to_string(wrong.count) + " bytes of output " + std::to_string(wrong.buffer) +
                 ", " + std::to_string(wrong.unwritten) + " of them never written, first at byte " +
                 std::to_string(wrong.first_byte) + " with " + std::to_string(wrong.first_value);
        m.source = "device/abi/mx_device.h: the pads of this layout are 0";
        result.mismatches.push_back(std::move(m));
    }
}

// Rows of D that no group has.
void add_written_tail(const WrittenTail& tail, CaseResult& result) {
    if (tail.count == 0) return;
    Mismatch m;
    m.mismatch_class = results::MismatchClass("red_zone").name;
    m.stage = "buffer";
    m.direction = "rows of D that belong to no group";
    m.count = tail.count;
    m.note = std::to_string(tail.count) +
             " elements beyond the end of the last group were written, first in row " +
             std::to_string(tail.first_row) + " of D";
    m.source = "device/abi/mx_device.h: rows of D beyond the last offset are not written";
    result.mismatches.push_back(std::move(m));
}

std::string open_decisions_of(const CaseResult& result) {
    std::string text;
    for (const Mismatch& m : result.mismatches)
        if (text.find(m.open_decision) == std::string::npos)
            text += (text.empty() ? "" : ", ") + m.open_decision;
    return "the source leaves open: " + text;
}

void judge_gemm_bits(const Evidence& evidence, CaseResult& result) {
    GemmJudgement judged = judge_gemm(evidence, gemms_confirmed_max);
    result.elements = judged.compared;
    result.scales = judged.compared_scales;
    result.mismatched_elements = judged.differing;
    result.mismatched_scales = judged.differing_scales;
    result.mismatches = std::move(judged.mismatches);
    result.bound_share = judged.bound_share;
    result.looked_at = judged.looked_at;
    for (const std::string& what : judged.explanations)
        result.explanations.push_back("gemm:" + what);
    add_wrong_pads(evidence.wrong_pads, result);
    add_written_tail(evidence.written_tail, result);
    add_findings(evidence.answer.findings, result);
    result.verdict = verdict_of_mismatches(result);
    if (!judged.disagreement.empty()) {
        result.verdict = Verdict::oracle_disagreement;
        result.reason = judged.disagreement;
    } else if (result.verdict == Verdict::pass_exact) {
        result.verdict = judged.verdict;
        result.reason = judged.reason;
    } else if (result.verdict == Verdict::deviation) {
        result.reason = open_decisions_of(result);
    }
}

}  // namespace

Verdict verdict_of(AnswerKind kind) {
    switch (kind) {
        case AnswerKind::answered:
            return Verdict::pass_exact;
        case AnswerKind::not_supported:
            return Verdict::not_supported;
        case AnswerKind::device_error:
            return Verdict::device_error;
        case AnswerKind::crash:
            return Verdict::crash;
        case AnswerKind::timeout:
            return Verdict::timeout;
        case AnswerKind::host_error:
            return Verdict::untested;
    }
    return Verdict::untested;
}

Verdict verdict_of_mismatches(const CaseResult& result) {
    bool flaky = false, binding = false;
    for (const Mismatch& m : result.mismatches) {
        flaky = flaky || m.mismatch_class == "flaky";
        binding = binding || (m.open_decision.empty() && m.mismatch_class != "flaky");
    }
    if (binding) return Verdict::fail;
    if (flaky) return Verdict::flaky;
    return result.mismatches.empty() ? Verdict::pass_exact : Verdict::deviation;
}

bool blames_device(Verdict verdict) {
    switch (verdict) {
        case Verdict::flaky:
        case Verdict::fail:
        case Verdict::device_error:
        case Verdict::crash:
        case Verdict::timeout:
            return true;
        default:
            return false;
    }
}

void judge_bits(const Evidence& evidence, const Effort& effort, CaseResult& result) {
    if (is_gemm(evidence.c)) return judge_gemm_bits(evidence, result);
    (holds_scales(evidence.c, 0) ? result.scales : result.elements) = evidence.settled;
    for (std::size_t i = 0; i < evidence.expected.size(); ++i) {
        const bool scales = holds_scales(evidence.c, i);
        (scales ? result.scales : result.elements) += evidence.expected[i].count();
    }
    Heat heat;
    std::string disagreement;
    bool is_trusted = true;
    for_each_side(evidence, [&](const Evidence& side) {
        Clusters clusters(side, effort.confirmed_max);
        for_each_difference(side, [&](const Difference& d) { clusters.add(d); });
        result.mismatched_elements += clusters.elements();
        result.mismatched_scales += clusters.scales();
        for (Mismatch& m : clusters.take()) {
            if (side.c.axis != evidence.c.axis) m.axis = name_of(side.c.axis);
            result.mismatches.push_back(std::move(m));
        }
        heat.add(clusters.heat());
        if (disagreement.empty()) disagreement = clusters.disagreement();
        is_trusted = is_trusted && !has_insufficient_data(side);
    });
    result.mismatches = largest_first(std::move(result.mismatches));
    heat.write(result, effort.heat_runs_max);
    count_scales(evidence, result);
    add_wrong_pads(evidence.wrong_pads, result);
    add_findings(evidence.answer.findings, result);
    result.verdict = verdict_of_mismatches(result);
    if (result.verdict == Verdict::deviation) result.reason = open_decisions_of(result);
    if (!disagreement.empty()) {
        result.verdict = Verdict::oracle_disagreement;
        result.reason = disagreement;
    } else if (result.verdict == Verdict::pass_exact && !is_trusted) {
        result.verdict = Verdict::insufficient_data;
        result.reason = "every expected element is the same code: this data could not have failed";
    }
}

}  // namespace mx
