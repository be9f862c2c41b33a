// See runner.hpp.
#include "conformance/run/runner.hpp"

#include <algorithm>

#include "conformance/case/fields.hpp"
#include "conformance/run/depth_probes.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/in_slices.hpp"
#include "conformance/run/judge.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

// Cases that fail are looked at closely, but far less so once many have.
constexpr std::uint64_t confirmed_max_later = 256;
constexpr std::uint64_t failing_cases_in_detail = 100;
// Elements of a case whose inputs cost more than one more call of the device.
constexpr std::int64_t worth_asking_beforehand = std::int64_t{1} << 18;
// Clusters of one case whose repro of a single block, or tile, is tried.
constexpr std::size_t narrowed_max = 3;

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

CaseResult Runner::judge(const PlannedCase& planned, Evidence& evidence) {
    CaseResult result = blank_result(planned);
    result.verdict = verdict_of(evidence.answer.kind);
    result.reason = evidence.answer.reason;
    if (evidence.answer.kind != AnswerKind::answered) return result;
    const bool in_detail = failing_cases_ < failing_cases_in_detail;
    judge_bits(evidence,
               {in_detail ? confirmed_max : confirmed_max_later,
                in_detail && !options_.same_effort ? confirmed_max : confirmed_max_later},
               result);
    if (options_.explain) options_.explain(evidence, result);
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

// A bound alone hides what is small beside it. A probe that fails makes the case fail; those that
// pass are what the case is judged by where its bound shows too little. The evidence becomes that
// of the probe that failed.
void Runner::probe_depth(const PlannedCase& planned, Evidence& evidence, CaseResult& result) {
    const bool is_open =
        result.verdict == Verdict::pass_bounded || result.verdict == Verdict::insufficient_data;
    if (!is_open) return;
    std::vector<Case> passed;
    for (const Case& probe : depth_probes(planned.c)) {
        auto asked = gather(probe);
        if (!asked) continue;
        const CaseResult found = judge({planned.suite, probe}, asked.value());
        if (blames_device(found.verdict) || found.verdict == Verdict::oracle_disagreement) {
            evidence = std::move(asked.value());
            return take_fault_of_probe(found, result);
        }
        if (found.verdict == Verdict::pass_exact) passed.push_back(probe);
    }
    if (passed.empty()) return;
    const bool is_insufficient = result.verdict == Verdict::insufficient_data;
    if (is_insufficient && !probes_show_the_rest(evidence, passed)) return;
    const std::string count = std::to_string(passed.size());
    if (is_insufficient)
        result.reason = "within its bound, which alone would not show every gross fault";
    result.verdict = Verdict::pass_bounded;
    result.reason += "; " + count + " probes along K are right bit for bit";
}

// What differs shows in all of it alone: no part of it is tried as a repro line.
Expected<CaseResult> Runner::run_in_slices(const PlannedCase& planned) {
    CaseResult result = blank_result(planned);
    if (const Status judged = judge_in_slices(planned.c, client_, sources_, result); !judged)
        return judged.error();
    for (Mismatch& m : result.mismatches)
        m.repro = "mxcheck replay " + shell_quoted(result.case_text) + options_.device_argument;
    std::uint64_t& timeouts = timeouts_[planned.c.operation];
    timeouts = result.verdict == Verdict::timeout ? timeouts + 1 : 0;
    return result;
}

bool Runner::is_given_up(OperationKind operation) const {
    const auto found = timeouts_.find(operation);
    return options_.timeouts_max != 0 && found != timeouts_.end() &&
           found->second >= options_.timeouts_max;
}

Expected<CaseResult> Runner::run(const PlannedCase& planned) {
    if (is_given_up(planned.c.operation)) {
        CaseResult result = blank_result(planned);
        result.reason = "not asked: " + std::to_string(options_.timeouts_max) + " cases of " +
                        result.operation + " in a row had no answer in time";
        return result;
    }
    if (is_judged_in_slices(planned.c)) return run_in_slices(planned);
    auto evidence = gather(planned.c);
    if (!evidence) return evidence.error();
    CaseResult result = judge(planned, evidence.value());
    probe_depth(planned, evidence.value(), result);
    std::uint64_t& timeouts = timeouts_[planned.c.operation];
    timeouts = result.verdict == Verdict::timeout ? timeouts + 1 : 0;
    if (!result.mismatches.empty()) {
        if (!results::may_pass(result.verdict) && !options_.same_effort) ++failing_cases_;
        find_repro_lines(evidence.value(), result);
    }
    return result;
}

}  // namespace mx
