// See comparison.hpp.
#include "conformance/library/comparison.hpp"

#include <nlohmann/json.hpp>

#include "conformance/cause/cause.hpp"
#include "conformance/cause/explainer.hpp"
#include "conformance/data/gemm_tensors.hpp"
#include "conformance/library/answer.hpp"
#include "conformance/results/record_json.hpp"
#include "conformance/run/classify.hpp"
#include "conformance/run/difference.hpp"
#include "conformance/run/judge.hpp"
#include "conformance/run/runner.hpp"
#include "reference/base/hex.hpp"

namespace mx::library {
namespace {

using nlohmann::ordered_json;

struct Types {
    std::vector<ElementFormat> inputs, outputs;
};
Types types_of(const Problem& p) {
    Types types;
    if (is_gemm(p)) {
        for (const GemmTensor& tensor : tensors_of(p))
            (is_output(tensor.part) ? types.outputs : types.inputs).push_back(tensor.type);
        return types;
    }
    for (const Part part : inputs_of(p)) types.inputs.push_back(shape_of(p, part).type);
    for (const Part part : outputs_of(p)) types.outputs.push_back(shape_of(p, part).type);
    return types;
}

// What the call should have had as outputs, by the same way as mx_oracle_run.
std::vector<CodeTensor> right_outputs(const OracleCall& call, const Types& types) {
    OracleCall right = call;
    std::vector<CodeTensor> tensors;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        kit::Shape shape = call.outputs[i].shape();
        if (is_gemm(call.question)) shape.rows = std::min(shape.rows, call.question.rows);
        tensors.push_back(make_tensor({types.outputs[i], shape.rows, shape.columns}));
        right.outputs[i] = {reinterpret_cast<unsigned char*>(tensors.back().bytes.data()),
                            tensors.back().width,
                            shape.rows,
                            shape.columns,
                            shape.columns,
                            1};
    }
    answer(right);
    return tensors;
}

Evidence evidence_of(const OracleCall& call) {
    const Types types = types_of(call.question);
    Evidence evidence;
    evidence.c = call.question;
    evidence.c.data = "given";
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
        evidence.inputs.push_back(dense_copy(call.inputs[i], types.inputs[i].name));
    evidence.expected = right_outputs(call, types);
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        kit::Strided written = call.outputs[i];
        written.rows = evidence.expected[i].rows;
        evidence.actual.push_back(dense_copy(written, types.outputs[i].name));
        evidence.flags.emplace_back(evidence.expected[i].count(), std::uint8_t{0});
    }
    evidence.answer.kind = AnswerKind::answered;
    return evidence;
}

results::CaseResult judged(const Evidence& evidence, std::size_t index) {
    results::CaseResult result = blank_result({"library", evidence.c});
    result.index = index;
    judge_bits(evidence, {}, result);
    cause::Explainer()(evidence, result);
    return result;
}

ordered_json json_of(const results::CaseResult& result) {
    return ordered_json::parse(results::line_of(result));
}

// The judge's own witness of that one place.
ordered_json witness_of(const Evidence& evidence, const Difference& difference) {
    Clusters clusters(evidence, 1);
    clusters.add(difference);
    results::CaseResult alone = blank_result({"library", evidence.c});
    alone.mismatches = clusters.take();
    return json_of(alone).at("mismatches").at(0);
}

ordered_json place_of(const Evidence& evidence, const Difference& difference,
                      std::size_t first_output) {
    const CodeTensor& tensor = evidence.expected[difference.output];
    const auto element = static_cast<std::int64_t>(difference.element);
    const int digits = 2 * tensor.width;
    return {{"output", first_output + difference.output},
            {"row", element / tensor.columns},
            {"column", element % tensor.columns},
            {"expected", "0x" + hex(difference.expected, digits)},
            {"actual", "0x" + hex(difference.actual, digits)},
            {"witness", witness_of(evidence, difference)}};
}

// Stops the walk over differences once there are enough.
struct Enough {};

void add_places(const Evidence& evidence, std::size_t first_output, std::size_t places_max,
                ordered_json& places) {
    if (is_gemm(evidence.c)) return;
    try {
        for_each_difference(evidence, [&](const Difference& difference) {
            if (places.size() >= places_max) throw Enough{};
            places.push_back(place_of(evidence, difference, first_output));
        });
    } catch (const Enough&) {
    }
}

}  // namespace

// As a run says it: what was tested, else what kinds of difference there are.
static std::string cause_of(const std::vector<results::CaseResult>& results) {
    Sources sources;
    const std::string sentence = cause::cause_of(results, sources).sentence;
    return sentence.empty() ? cause::differences_of(results) : sentence;
}

std::string comparison_of(const std::vector<OracleCall>& calls, std::size_t places_max) {
    std::vector<results::CaseResult> results;
    ordered_json lines = ordered_json::array(), places = ordered_json::array();
    std::size_t first_output = 0;
    for (const OracleCall& call : calls) {
        const Evidence evidence = evidence_of(call);
        results.push_back(judged(evidence, results.size()));
        lines.push_back(json_of(results.back()));
        if (places.size() < places_max) add_places(evidence, first_output, places_max, places);
        first_output += call.outputs.size();
    }
    return ordered_json{{"cause", cause_of(results)}, {"results", lines}, {"places", places}}.dump(
        2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mx::library
