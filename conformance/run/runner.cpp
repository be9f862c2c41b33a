// See runner.hpp.
#include "conformance/run/runner.hpp"

#include <algorithm>

#include "conformance/case/fields.hpp"
#include "conformance/run/classify.hpp"
#include "conformance/run/clusters.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

// Differences that one case may have classified; far fewer once many cases have failed.
constexpr std::uint64_t classified_max = 4096;
constexpr std::uint64_t classified_max_later = 256;
constexpr std::uint64_t failing_cases_in_detail = 100;
// Sums of fractions are slow.
constexpr std::uint64_t gemms_confirmed_max = 16;
// Elements of a case whose inputs cost more than one more call of the device.
constexpr std::int64_t worth_asking_beforehand = std::int64_t{1} << 18;
// Clusters of one case whose repro of a single block, or tile, is tried.
constexpr std::size_t narrowed_max = 3;

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

std::string open_decisions_of(const CaseResult& result) {
    std::string text;
    for (const Mismatch& m : result.mismatches)
        if (text.find(m.open_decision) == std::string::npos)
            text += (text.empty() ? "" : ", ") + m.open_decision;
    return "the source leaves open: " + text;
}

}  // namespace

CaseResult blank_result(const PlannedCase& planned) {
    CaseResult result;
    result.suite = planned.suite;
    result.case_text = print(planned.c);
    result.operation = name_of(planned.c.operation);
    result.format = format_name(planned.c);
    result.dialect = dialect_name(planned.c);
    result.input = type_name(planned.c);
    if (is_gemm(planned.c)) {
        const GemmProblem& gemm = planned.c.gemm;
        if (gemm.a != gemm.b) result.format = name_of(gemm.a) + " x " + name_of(gemm.b);
        result.dialect = name_of(gemm.model);
    }
    return result;
}

Case single_block(const Case& c, std::int64_t block) {
    const BlockPlace place = place_of(blocking_of(c), block);
    Case narrow = c;
    narrow.index = c.index + static_cast<std::uint64_t>(block);
    const auto width = std::min(static_cast<std::int64_t>(place.width), std::int64_t{place.count});
    narrow.rows = place.count / width;
    narrow.columns = width;
    narrow.layout = RowLayout::dense;
    return narrow;
}

// In the data of the case a tile of columns follows one of rows, so the tile may need one before
// it.
Case single_tile(const Case& c, const BlockOfSide& wanted) {
    const Blocking side = blocking_of(along(c, wanted.axis));
    const auto first = static_cast<std::int64_t>(place_of(side, wanted.block).first);
    const std::int64_t row = first / c.columns / c.block, column = first % c.columns / c.block;
    const std::int64_t tile = row * (block_grid(c).block_columns / c.block) + column;
    const std::int64_t before = (row + column) % 2;
    Case narrow = c;
    narrow.index = c.index + static_cast<std::uint64_t>((tile - before) * c.block);
    narrow.rows = before * c.block + std::min(c.block, c.rows - row * c.block);
    narrow.columns = std::min(c.block, c.columns - column * c.block);
    narrow.layout = RowLayout::dense;
    return narrow;
}

// A device whose two runs differ although only the pads of its inputs did, is asked once more with
// the same pads twice: if it then agrees with itself, it reads pads and is not flaky.
bool Runner::changes_with_pads(Question question, const DeviceAnswer& answer) {
    const auto differs = [](const OutputTensor& output) { return output.differing > 0; };
    const auto has_pads = [](const InputTensor& input) { return !input.second_data.empty(); };
    if (std::ranges::none_of(answer.outputs, differs)) return false;
    if (std::ranges::none_of(question.inputs, has_pads)) return false;
    for (InputTensor& input : question.inputs) input.second_data = {};
    const DeviceAnswer again = client_.ask(question);
    return again.kind == AnswerKind::answered && std::ranges::none_of(again.outputs, differs);
}

// Inputs of millions of values are not made for a device that will not take them.
std::optional<DeviceAnswer> Runner::refused_beforehand(const Case& c) {
    if (element_count(c) < worth_asking_beforehand) return std::nullopt;
    return client_.refuses(question_without_data(c));
}

Expected<Evidence> Runner::gather(const Case& c) {
    Evidence evidence;
    evidence.c = c;
    if (const std::string unknown = unknown_scale(c); !unknown.empty()) {
        evidence.answer.kind = AnswerKind::not_supported;
        evidence.answer.reason = unknown;
        return evidence;
    }
    if (const auto refusal = refused_beforehand(c)) {
        evidence.answer = *refusal;
        return evidence;
    }
    const auto source = sources_.open(c);
    if (!source) return source.error();
    evidence.inputs = make_inputs(c, *source.value());
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(c, evidence.inputs, storage);
    evidence.answer = client_.ask(question);
    if (evidence.answer.kind != AnswerKind::answered) return evidence;
    evidence.settled = tables_.right_codes(c, evidence.answer);
    if (evidence.settled > 0) return evidence;
    evidence.expected = expect(c, evidence.inputs);
    evidence.reads_pads = changes_with_pads(question, evidence.answer);
    read_answer(evidence);
    return evidence;
}

namespace {

void judge_gemm_bits(Evidence& evidence, CaseResult& result) {
    GemmJudgement judged = judge_gemm(evidence, gemms_confirmed_max);
    result.elements = judged.compared;
    result.scales = judged.compared_scales;
    result.mismatched_elements = judged.differing;
    result.mismatched_scales = judged.differing_scales;
    result.mismatches = std::move(judged.mismatches);
    result.bound_share = judged.bound_share;
    add_wrong_pads(evidence.wrong_pads, result);
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

void Runner::judge_bits(Evidence& evidence, CaseResult& result) {
    if (is_gemm(evidence.c)) return judge_gemm_bits(evidence, result);
    (holds_scales(evidence.c, 0) ? result.scales : result.elements) = evidence.settled;
    for (std::size_t i = 0; i < evidence.expected.size(); ++i) {
        const bool scales = holds_scales(evidence.c, i);
        (scales ? result.scales : result.elements) += evidence.expected[i].count();
    }
    const std::uint64_t effort =
        failing_cases_ < failing_cases_in_detail ? classified_max : classified_max_later;
    Heat heat;
    std::string disagreement;
    bool is_trusted = true;
    for_each_side(evidence, [&](const Evidence& side) {
        Clusters clusters(side, effort);
        for_each_difference(side, [&](const Difference& d) { clusters.add(d); });
        result.mismatched_elements += clusters.elements();
        result.mismatched_scales += clusters.scales();
        for (Mismatch& m : clusters.take()) {
            if (side.c.axis != evidence.c.axis) m.axis = name_of(side.c.axis);
            result.mismatches.push_back(std::move(m));
        }
        heat.add(clusters.heat());
        if (disagreement.empty()) disagreement = clusters.disagreement();
        is_trusted = is_trusted && !is_mistrusted(side);
    });
    result.mismatches = largest_first(std::move(result.mismatches));
    heat.write(result, options_.same_effort ? classified_max_later : effort);
    count_scales(evidence, result);
    add_wrong_pads(evidence.wrong_pads, result);
    add_findings(evidence.answer.findings, result);
    result.verdict = verdict_of_mismatches(result);
    if (result.verdict == Verdict::deviation) result.reason = open_decisions_of(result);
    if (!disagreement.empty()) {
        result.verdict = Verdict::oracle_disagreement;
        result.reason = disagreement;
    } else if (result.verdict == Verdict::pass_exact && !is_trusted) {
        result.verdict = Verdict::mistrusted;
        result.reason = "every expected element is the same code: this data could not have failed";
    }
}

CaseResult Runner::judge(const PlannedCase& planned, Evidence& evidence) {
    CaseResult result = blank_result(planned);
    result.verdict = verdict_of(evidence.answer.kind);
    result.reason = evidence.answer.reason;
    if (evidence.answer.kind == AnswerKind::answered) judge_bits(evidence, result);
    return result;
}

bool Runner::shows_alone(const Case& narrow, const Mismatch& mismatch) {
    auto evidence = gather(narrow);
    if (!evidence || evidence.value().answer.kind != AnswerKind::answered) return false;
    const CaseResult alone = judge({"", narrow}, evidence.value());
    for (const Mismatch& m : alone.mismatches)
        if (m.mismatch_class == mismatch.mismatch_class && m.direction == mismatch.direction &&
            m.axis == mismatch.axis && m.open_decision == mismatch.open_decision)
            return true;
    return false;
}

// The axis of the block that a mismatch lies in: of axis both that of its side.
BlockAxis axis_of(const Mismatch& m, const Case& c) {
    if (m.axis.empty()) return c.axis;
    return m.axis == name_of(BlockAxis::col) ? BlockAxis::col : BlockAxis::row;
}

// A repro line names one block where that block alone shows the mismatch again, by the same open
// decision or none, of axis both its tile; else the whole case.
void Runner::find_repro_lines(const Evidence& evidence, CaseResult& result) {
    const Case& c = evidence.c;
    std::size_t narrowed = 0;
    for (Mismatch& m : result.mismatches) {
        std::string text = print(c);
        const bool has_place = !m.input_bits.empty();
        if (has_place && element_count(c) > 0 && narrowed < narrowed_max &&
            failing_cases_ <= failing_cases_in_detail) {
            ++narrowed;
            const auto block = static_cast<std::int64_t>(m.block);
            Case narrow =
                m.axis.empty() ? single_block(c, block) : single_tile(c, {axis_of(m, c), block});
            // One block keeps the number that its tensor had.
            if (has_tensor_number(c) && c.operation == OperationKind::quantize && !c.tensor_number)
                narrow.tensor_number = derived_amax(along(c, axis_of(m, c)), evidence.inputs[0]);
            const bool is_smaller = element_count(narrow) <= element_count(c);
            if (is_smaller && shows_alone(narrow, m)) text = print(narrow);
        }
        m.repro = "mxcheck replay " + shell_quoted(text) + options_.device_argument;
    }
}

Expected<CaseResult> Runner::run(const PlannedCase& planned) {
    auto evidence = gather(planned.c);
    if (!evidence) return evidence.error();
    CaseResult result = judge(planned, evidence.value());
    if (!result.mismatches.empty()) {
        if (!results::may_pass(result.verdict) && !options_.same_effort) ++failing_cases_;
        find_repro_lines(evidence.value(), result);
    }
    return result;
}

}  // namespace mx
