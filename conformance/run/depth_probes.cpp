// See depth_probes.hpp.
#include "conformance/run/depth_probes.hpp"

#include <algorithm>

#include "conformance/case/fields.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "conformance/run/gemm_trust.hpp"
#include "conformance/run/gemm_wrong.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

// More of one kind of data, until there is a product at every k.
constexpr std::uint64_t more_max = 8;

// Sums stay exact under a power of two alone; 2 stands for what would be 1, which shows nothing.
std::uint32_t power_of_two(std::uint32_t factor) {
    constexpr std::uint32_t one = 0x3F800000, two = 0x40000000, mantissa = 0x007FFFFF;
    const bool has_exponent = (factor & 0x7F800000) != 0;
    if (!has_exponent || (factor & mantissa) == 0) return has_exponent ? factor : 0;
    // Far from 1 products might leave the range that a sum is exact in.
    const std::uint32_t sign = factor & 0x80000000;
    return sign | (sign == 0 ? two : one);
}

bool has_block_scales(const Case& c) {
    return row_of(c.gemm.a.scaling).block != 0 || row_of(c.gemm.b.scaling).block != 0;
}

// Marks every k at which some row of both factors has a number.
void note_products(const Case& c, std::vector<bool>& covered) {
    const std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    const std::vector<GemmTensor> tensors = tensors_of(c);
    std::vector<bool> of_a(covered.size()), of_b(covered.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool is_a = tensors[i].part == GemmPart::a;
        if (!is_a && tensors[i].part != GemmPart::b) continue;
        const ElementFormat& format = tensors[i].type;
        const auto columns = static_cast<std::size_t>(inputs[i].columns);
        for (std::size_t at = 0; at < inputs[i].count(); ++at)
            if (!format.is_zero(Code{inputs[i].at(at) >> format.spare_bits()}))
                (is_a ? of_a : of_b)[at % columns] = true;
    }
    for (std::size_t k = 0; k < covered.size(); ++k)
        covered[k] = covered[k] || (of_a[k] && of_b[k]);
}

}  // namespace

std::vector<Case> depth_probes(const Case& c) {
    const GemmProblem& gemm = c.gemm;
    if (!is_gemm(c) || !gemm.model.is_bounded || gemm.model.row != nullptr) return {};
    Case probe = c;
    probe.gemm.model = {};
    probe.gemm.alpha = power_of_two(gemm.alpha);
    if (gemm.reads_c()) probe.gemm.beta = power_of_two(gemm.beta);
    std::vector<Case> probes;
    const auto add = [&](const char* data, std::uint64_t index) {
        probe.data = data;
        probe.index = index;
        if (check_combination(probe)) probes.push_back(probe);
    };
    for (const char* data : {"gemm.exact-mantissas", "gemm.counting", "gemm.one-hot"})
        add(data, c.index);
    if (has_block_scales(c)) add("gemm.exact-scales", c.index);
    std::vector<bool> covered(static_cast<std::size_t>(gemm.k));
    for (std::uint64_t more = 0; more < more_max; ++more) {
        add("gemm.exact-signs", c.index + more);
        if (probes.empty()) return probes;
        note_products(probes.back(), covered);
        if (std::ranges::all_of(covered, [](bool is_covered) { return is_covered; })) break;
    }
    return probes;
}

bool probes_show_the_rest(const Evidence& bounded, const std::vector<Case>& passed) {
    const auto untold = gross_faults_untold(bounded);
    if (!untold) return false;
    return std::ranges::all_of(*untold, [&](const WrongGemm* wrong) {
        return std::ranges::any_of(
            passed, [&](const Case& probe) { return wrong->applies(gemm_problem_of(probe, {})); });
    });
}

void take_fault_of_probe(const CaseResult& probe, CaseResult& result) {
    result.verdict = probe.verdict;
    result.reason = "of the probe along K " + probe.case_text +
                    (probe.reason.empty() ? "" : ": " + probe.reason);
    result.elements = probe.elements;
    result.scales = probe.scales;
    result.mismatched_elements = probe.mismatched_elements;
    result.mismatched_scales = probe.mismatched_scales;
    result.mismatches = probe.mismatches;
    result.explanations = probe.explanations;
    result.looked_at = probe.looked_at;
    result.bound_share = {};
    for (Mismatch& m : result.mismatches) m.note = "in a probe along K, " + m.note;
}

}  // namespace mx
