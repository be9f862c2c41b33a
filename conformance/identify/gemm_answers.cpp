// See gemm_answers.hpp.
#include "conformance/identify/gemm_answers.hpp"

#include <array>
#include <utility>

namespace mx::identify {
namespace {

// Something that a device need not do.
struct Extra {
    std::string_view name;
    GemmProbes (*probes)(const GemmProblem& setting, std::int64_t depth);
};
constexpr std::array extras{Extra{"C, with alpha and beta of 1", addend_probes},
                            Extra{"alpha and beta", factor_probes},
                            Extra{"scales other than 1", scale_probes}};

}  // namespace

GemmAnswers paired(GemmProbes probes, const std::vector<Code>& bits) {
    GemmAnswers answers;
    for (std::size_t i = 0; i < probes.size(); ++i)
        answers.push_back({std::move(probes[i]), bits[i]});
    return answers;
}

Expected<GemmAnswers> ask_all_probes(GemmSubject& subject, std::vector<std::string>& refusals) {
    const GemmProblem& setting = subject.setting();
    GemmProbes probes = sum_probes(setting, probe_shape.k);
    for (GemmProbe& probe : special_probes(setting, probe_shape.k))
        probes.push_back(std::move(probe));
    const auto bits = subject.ask(probe_shape, probes);
    if (!bits) return bits.error();
    GemmAnswers answers = paired(std::move(probes), bits.value());
    for (const Extra& extra : extras) {
        GemmProbes more = extra.probes(setting, probe_shape.k);
        const auto given = subject.ask(probe_shape, more);
        if (!given && given.error().kind == ErrorKind::device) return given.error();
        if (!given)
            refusals.push_back(std::string(extra.name) + ": " + given.error().message);
        else
            for (GemmAnswer& answer : paired(std::move(more), given.value()))
                answers.push_back(std::move(answer));
    }
    return answers;
}

bool is_sum(const GemmProblem& setting, const GemmProbe& probe) {
    const bool has_scales = !probe.scales_a.empty() || !probe.scales_b.empty();
    return probe.beta.bits << 1 == 0 && probe.alpha == one_f32 &&
           (!has_scales || has_block_scales(setting));
}

GemmAnswers sums_of(const GemmProblem& setting, const GemmAnswers& answers) {
    GemmAnswers sums;
    for (const GemmAnswer& answer : answers)
        if (is_sum(setting, answer.probe)) sums.push_back(answer);
    return sums;
}

}  // namespace mx::identify
