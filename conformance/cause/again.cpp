// See again.hpp.
#include "conformance/cause/again.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/cause/places.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/gemm_block_explain.hpp"
#include "conformance/run/gemm_explain.hpp"
#include "conformance/run/gemm_problem.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;

constexpr std::int64_t elements_checked_max = std::int64_t{1} << 14;

// A case made again from its line, with its right answer and with that of any hypothesis.
struct Made {
    Case c;
    Tensors inputs, expected;
    std::vector<Alteration> hypotheses;
    Places places;
    // What was asked last: those of one hypothesis in several places follow each other.
    std::string altered_by = {};
    Tensors altered = {};
};

// Would the hypothesis have changed anything in that case? Nothing where it is none of that case.
std::optional<bool> changes(Made& made, const std::string& kind) {
    const PlacedKind read = read_placed_kind(kind);
    if (made.altered_by != read.alteration) {
        const auto found = std::ranges::find(made.hypotheses, read.alteration, &Alteration::kind);
        if (found == made.hypotheses.end()) return std::nullopt;
        const Alteration* const alone[] = {&*found};
        made.altered = answer_with(alone, made.c, made.inputs);
        made.altered_by = read.alteration;
    }
    if (read.place == places_max)
        return !std::ranges::equal(made.altered, made.expected, {}, &CodeTensor::bytes,
                                   &CodeTensor::bytes);
    if (made.places.is_empty()) return false;
    for (std::size_t output = 0; output < made.expected.size(); ++output)
        for (std::size_t at = 0; at < made.expected[output].count(); ++at)
            if (made.places.at(output, at)[read.place] &&
                made.altered[output].at(at) != made.expected[output].at(at))
                return true;
    return false;
}

std::optional<Tensors> answer_of(const Made& made, const std::vector<std::string>& kinds) {
    std::vector<Placed> placed;
    for (const std::string& kind : kinds) {
        const PlacedKind read = read_placed_kind(kind);
        const auto found = std::ranges::find(made.hypotheses, read.alteration, &Alteration::kind);
        if (found == made.hypotheses.end()) return std::nullopt;
        // A cast has no places.
        if (read.place == places_max || !made.places.is_empty())
            placed.push_back({&*found, read.place});
    }
    if (placed.empty()) return made.expected;
    return answer_with(placed, made.places, made.c, made.inputs);
}

Again blocks_again(const Case& c, Tensors inputs) {
    auto made = std::make_shared<Made>(Made{c, std::move(inputs), {}, {}, Places(c)});
    made->expected = expect(made->c, made->inputs);
    made->hypotheses = hypotheses_for(made->c);
    Again again{c, [made](const std::string& kind) { return changes(*made, kind); }};
    for (const Alteration& hypothesis : made->hypotheses)
        if (!hypothesis.kind.starts_with(dialect_kind)) again.kinds.push_back(hypothesis.kind);
    again.answer_with = [made](const std::vector<std::string>& kinds) {
        return answer_of(*made, kinds);
    };
    return again;
}

// A GEMM with what its hypotheses look into.
struct MadeGemm {
    MadeGemm(const Case& asked, Tensors made)
        : c(asked),
          inputs(std::move(made)),
          expected(expect(c, inputs)),
          problem(gemm_problem_of(c, inputs)) {
        if (has_output_blocks(c))
            of_blocks.emplace(c, problem, BlocksOfD{expected[0], expected[1]});
        else
            of_outputs.emplace(c, problem, expected[0]);
    }
    MadeGemm(const MadeGemm&) = delete;
    MadeGemm& operator=(const MadeGemm&) = delete;

    Case c;
    Tensors inputs, expected;
    gemm::ProblemView problem;
    std::optional<GemmChanges> of_outputs;
    std::optional<GemmBlockExplainer> of_blocks;

    std::optional<bool> changed_by(const std::string& what) const {
        return of_blocks ? of_blocks->changed_by(what) : of_outputs->by(what);
    }
};

Again gemm_again(const Case& c, Tensors inputs) {
    auto made = std::make_shared<const MadeGemm>(c, std::move(inputs));
    return {c,
            [made](const std::string& kind) -> std::optional<bool> {
                if (is_of_any_number(kind)) return std::nullopt;
                return made->changed_by(kind.substr(gemm_kind.size()));
            },
            {},
            {}};
}

// Has the case right bits that are known one by one, and few enough of them?
bool can_be_held_against(const Case& c) {
    if (element_count(c) > elements_checked_max) return false;
    return is_gemm(c) ? !c.gemm.model.is_bounded : unknown_scale(c).empty();
}

}  // namespace

std::optional<Again> made_again(const CaseResult& result, Sources& sources) {
    const auto c = parse_case(result.case_text);
    if (!c || !can_be_held_against(c.value())) return std::nullopt;
    const auto source = sources.open(c.value());
    if (!source) return std::nullopt;
    Tensors inputs = make_inputs(c.value(), *source.value());
    return is_gemm(c.value()) ? gemm_again(c.value(), std::move(inputs))
                              : blocks_again(c.value(), std::move(inputs));
}

}  // namespace mx::cause
