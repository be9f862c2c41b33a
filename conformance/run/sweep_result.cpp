// See sweep_result.hpp.
#include "conformance/run/sweep_result.hpp"

#include "conformance/case/fields.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

CaseResult blank_result(const sweep::GpuSweep& sweep) {
    CaseResult result;
    result.suite = sweep_suite;
    result.case_text = text_of(sweep);
    result.operation = "sweep";
    return result;
}

std::string text_of(const sweep::Gpu& gpu) {
    return gpu.name + " (sm_" + std::to_string(gpu.architecture) + ")";
}

Mismatch mismatch_of(const sweep::GpuSweep& sweep, const sweep::SweepAnswer& answer) {
    const bool is_scale = sweep.output == sweep::Output::scales;
    Mismatch m;
    m.mismatch_class = is_scale ? results::MismatchClass("scale").name
                                : results::MismatchClass("unclassified").name;
    m.stage = is_scale ? "scale" : "element";
    const bool is_modelled = sweep.subject == sweep::Subject::plugin;
    // With the name, so that a report does not join what differs in two sweeps.
    m.direction =
        sweep.name + (is_modelled ? ": not the bits of the model" : ": not the oracle's bits");
    m.count = answer.differing;
    m.of = answer.inputs;
    if (!answer.first.empty()) {
        const sweep::SweepPlace& place = answer.first.front();
        m.input_bits = place.input;
        m.input_value = m.expected_value = m.actual_value = "code";
        m.exact_value = "values are not shown: codes were compared";
        (is_scale ? m.expected_scale : m.expected_element) = place.expected;
        (is_scale ? m.actual_scale : m.actual_element) = place.actual;
        if (!is_scale) m.expected_scale = m.actual_scale = place.scale;
    }
    m.note = sweep.name + ", " + sweep.domain;
    for (std::size_t i = 1; i < answer.first.size(); ++i)
        m.note += "; also " + answer.first[i].input + ": " + answer.first[i].actual + " where " +
                  answer.first[i].expected + " is expected";
    m.source = is_modelled ? "reference/spec/gemm_models.hpp: what is known of this machine"
                           : "conformance/sweep/README.md says which oracle was asked";
    m.repro = is_modelled ? "mxcheck replay " + shell_quoted(mx::text_of(sweep)) + " --device " +
                                sweep.device
                          : "mxcheck prove --gpu " + shell_quoted(sweep.name);
    return m;
}

std::string_view who_answered(sweep::Subject subject) {
    switch (subject) {
        case sweep::Subject::device:
            return "code inside mxcheck of the plug-in's sources";
        case sweep::Subject::plugin:
            return "the device, against the model of its arithmetic";
        case sweep::Subject::oracle:
            return "the fast oracle compiled for it";
    }
    return "";
}

Verdict verdict_of(const sweep::GpuSweep& sweep, const sweep::SweepAnswer& answer) {
    if (!answer.wrong_digest.empty()) return Verdict::oracle_disagreement;
    if (answer.inputs == 0) return answer.refused != 0 ? Verdict::not_supported : Verdict::untested;
    if (answer.differing == 0) return Verdict::pass_exact;
    return sweep.subject == sweep::Subject::oracle ? Verdict::oracle_disagreement : Verdict::fail;
}

}  // namespace

std::string text_of(const sweep::GpuSweep& sweep) {
    return "sweep " + print_field("map", sweep.name);
}

CaseResult not_supported(const sweep::GpuSweep& sweep, const std::string& reason) {
    CaseResult result = blank_result(sweep);
    result.verdict = Verdict::not_supported;
    result.reason = reason;
    return result;
}

std::string missing_on(const sweep::Gpu& gpu, const sweep::GpuSweep& sweep) {
    if (gpu.architecture >= sweep.first_architecture) return "";
    return text_of(gpu) + " does not have this instruction: it is unverified";
}

CaseResult result_of(const sweep::GpuSweep& sweep, const sweep::Gpu& gpu,
                     const Expected<sweep::SweepAnswer>& answer) {
    CaseResult result = blank_result(sweep);
    result.verdict = Verdict::device_error;
    if (!answer) {
        result.reason = answer.error().message;
        return result;
    }
    const sweep::SweepAnswer& value = answer.value();
    const bool is_scale = sweep.output == sweep::Output::scales;
    (is_scale ? result.scales : result.elements) = value.inputs;
    (is_scale ? result.mismatched_scales : result.mismatched_elements) = value.differing;
    if (value.differing != 0) result.mismatches.push_back(mismatch_of(sweep, value));
    result.verdict = verdict_of(sweep, value);
    result.reason = "on " + text_of(gpu) + ", by " + std::string(who_answered(sweep.subject));
    if (!value.note.empty()) result.reason += "; " + value.note;
    if (value.refused != 0)
        result.reason +=
            "; " + std::to_string(value.refused) + " problems were not compared: " + value.refusal;
    if (result.verdict == Verdict::not_supported) result.reason = value.refusal;
    if (!value.wrong_digest.empty()) result.reason = value.wrong_digest;
    return result;
}

}  // namespace mx
