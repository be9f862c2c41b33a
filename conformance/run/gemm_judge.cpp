// See gemm_judge.hpp.
#include "conformance/run/gemm_judge.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "conformance/run/clusters.hpp"
#include "conformance/run/difference.hpp"
#include "conformance/run/gemm_block_judge.hpp"
#include "conformance/run/gemm_confirm.hpp"
#include "conformance/run/gemm_describe.hpp"
#include "conformance/run/gemm_explain.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "conformance/run/gemm_trust.hpp"
#include "reference/exact/arithmetic.hpp"
#include "reference/gemm/bound.hpp"
#include "reference/gemm/exactness.hpp"

namespace mx {
namespace {

using results::Mismatch;
using results::Verdict;

constexpr const char* beyond_bound =
    "further from the exact result than any accumulator of such elements may come";

// Gathers what one case shows.
class Judge {
public:
    Judge(const Evidence& evidence, std::uint64_t confirmed_max)
        : evidence_(evidence),
          confirmed_max_(confirmed_max),
          problem_(gemm_problem_of(evidence.c, evidence.inputs)) {}

    GemmJudgement judge() {
        find_undetermined();
        made_.compared = expected().count() - undetermined_count_;
        for_each_difference(evidence_, [this](const Difference& d) { add(d); });
        explain();
        find_largest_error();
        made_.mismatches = largest_first(std::move(clusters_));
        decide();
        return std::move(made_);
    }

    std::optional<std::vector<const WrongGemm*>> gross_untold() {
        find_undetermined();
        if (undetermined_count_ > 0) return std::nullopt;
        return gross_untold_by(problem_, expected(), [this](std::size_t element, Code code) {
            return accepts(element, code);
        });
    }

private:
    const CodeTensor& expected() const { return evidence_.expected[0]; }
    const ElementFormat& d() const { return problem_.epilogue.output; }
    gemm::OutputPlace place_of(std::size_t element) const {
        return problem_.place(static_cast<std::int64_t>(element));
    }
    std::string place_text(std::size_t element) const {
        return mx::place_text(problem_, place_of(element));
    }

    // Where no model is named, only what every order and accumulator gives is compared; under a
    // bound, only what has one.
    void find_undetermined() {
        if (problem_.is_bounded) return find_bounds();
        if (problem_.model != nullptr) return;
        std::vector<Code> results;
        for (std::size_t i = 0; i < expected().count(); ++i)
            results.push_back(Code{expected().at(i)});
        undetermined_ = undetermined_outputs(problem_, results);
        for (std::size_t i = 0; i < undetermined_.size(); ++i)
            if (undetermined_[i] && undetermined_count_++ == 0)
                first_open_ = place_text(i) + ": " +
                              undetermined_because(problem_, problem_.output(place_of(i)));
    }

    void find_bounds() {
        undetermined_.resize(expected().count());
        for (std::size_t i = 0; i < expected().count(); ++i) {
            bounds_.push_back(bound_of(problem_, problem_.output(place_of(i))));
            const std::string& why = bounds_.back().none_because;
            if (why.empty()) continue;
            undetermined_[i] = true;
            if (undetermined_count_++ == 0) first_open_ = place_text(i) + ": " + why;
        }
    }

    bool accepts(std::size_t element, Code code) const {
        if (!undetermined_.empty() && undetermined_[element]) return true;
        if (problem_.is_bounded) return share_of_bound(problem_, bounds_[element], code) <= 1;
        return is_as_good(problem_, Code{expected().at(element)}, code);
    }

    void add(const Difference& difference) {
        if (difference.flags == 0 && accepts(difference.element, Code{difference.actual})) return;
        ++made_.differing;
        if ((difference.flags & flag_unwritten) != 0) unwritten_.push_back(difference.element);
        // What hangs on pads hangs on what they held in the run that is looked at.
        const bool reads_pads = difference.flags == flag_differs && evidence_.reads_pads;
        if (difference.flags == 0 || reads_pads) differing_.push_back(difference.element);
        const GemmKind kind = gemm_kind_of(d(), evidence_, difference);
        Mismatch& m = clusters_[std::string(kind.mismatch_class.name) + "\n" + kind.direction];
        if (m.count == 0 || made_.differing <= confirmed_max_) confirm(difference);
        if (m.count++ == 0) describe(kind, difference, m);
    }

    void confirm(const Difference& difference) {
        if (!made_.disagreement.empty()) return;
        const Code exact =
            confirmed_result(problem_, problem_.output(place_of(difference.element)));
        if (exact.bits == difference.expected) return;
        made_.disagreement = place_text(difference.element) + ": fast says " +
                             hex(d(), difference.expected) + ", exact says " + hex(d(), exact.bits);
    }

    void describe(const GemmKind& kind, const Difference& difference, Mismatch& m) const {
        const gemm::OutputPlace place = place_of(difference.element);
        m.mismatch_class = kind.mismatch_class.name;
        m.stage = difference.flags != 0 ? "buffer" : "element";
        m.direction = kind.direction;
        m.of = expected().count();
        m.block = static_cast<std::uint64_t>(place.row);
        m.lane = static_cast<std::uint32_t>(place.column);
        m.expected_element = hex(d(), difference.expected);
        m.actual_element = hex(d(), difference.actual);
        m.expected_value = exact::to_text(exact::decode(d(), Code{difference.expected}));
        m.actual_value = exact::to_text(exact::decode(d(), Code{difference.actual}));
        m.exact_value = fraction_text(exact_value(problem_, problem_.output(place)));
        m.source = problem_.model == nullptr
                       ? (problem_.is_bounded ? beyond_bound : any_order)
                       : model_text(*problem_.model) + ": " + std::string(problem_.model->source);
        m.note = "first at " + place_text(difference.element) + ": " + m.actual_element + " (" +
                 m.actual_value + ") expected " + m.expected_element + " (" + m.expected_value +
                 "), exact sum " + m.exact_value;
    }

    // What would make exactly these outputs, as the first words of the notes.
    void explain() {
        const std::string untouched = unwritten_text(problem_, unwritten_);
        const bool has_flagged = differing_.size() != made_.differing;
        if (!problem_.is_bounded && undetermined_count_ == 0 && !has_flagged &&
            !differing_.empty()) {
            made_.looked_at = differing_.size();
            made_.explanations = explanations_of(
                {evidence_.c, problem_, expected(), evidence_.actual[0], differing_});
        }
        const std::string why = made_.explanations.empty() ? "" : made_.explanations[0];
        for (auto& [key, m] : clusters_) {
            if (m.mismatch_class == "unwritten" && !untouched.empty())
                m.note = untouched + "; " + m.note;
            if (m.stage == "element" && !why.empty())
                m.note = "as if " + why + ": that makes every output looked at; " + m.note;
        }
    }

    // The verdict of a case without mismatches.
    void decide() {
        if (!made_.mismatches.empty() || expected().count() == 0) return;
        if (undetermined_count_ > 0) {
            made_.verdict = Verdict::insufficient_data;
            made_.reason = problem_.is_bounded
                               ? "model=bounded takes inputs whose results have a bound; "
                               : "model=any takes inputs whose sums are exact in any order; ";
            made_.reason += std::to_string(undetermined_count_) + " of " +
                            std::to_string(expected().count()) + " outputs are not so, first " +
                            first_open_;
            return;
        }
        made_.reason = untold_by(problem_, expected(), [this](std::size_t element, Code code) {
            return accepts(element, code);
        });
        if (!made_.reason.empty()) {
            made_.verdict = Verdict::insufficient_data;
            return;
        }
        if (problem_.is_bounded) return decide_bounded();
        if (problem_.model != nullptr)
            made_.reason = "bit for bit as " + model_text(*problem_.model);
    }

    void find_largest_error() {
        for (std::size_t i = 0; i < bounds_.size(); ++i) {
            if (undetermined_[i]) continue;
            const double share =
                share_of_bound(problem_, bounds_[i], Code{evidence_.actual[0].at(i)});
            if (!std::isfinite(share) || share < made_.bound_share.value_or(0)) continue;
            if (share > made_.bound_share.value_or(0)) largest_error_ = i;
            made_.bound_share = share;
        }
    }

    void decide_bounded() {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.4f", made_.bound_share.value_or(0));
        made_.verdict = Verdict::pass_bounded;
        made_.reason = std::string("the largest error is ") + text.data() + " of its bound, at " +
                       place_text(largest_error_) + "; bound of " + whose_bound();
    }

    std::string whose_bound() const {
        if (problem_.model != nullptr) return model_text(*problem_.model);
        const GemmModel* row = bounds_.empty() ? nullptr : bounds_[largest_error_].row;
        return row == nullptr ? "sums in binary32, in any order"
                              : "any accumulator that multiplies such factors, in any order; the "
                                "weakest is " +
                                    std::string(row->name);
    }

    const Evidence& evidence_;
    std::uint64_t confirmed_max_;
    gemm::ProblemView problem_;
    std::vector<bool> undetermined_;
    std::vector<gemm::Bound> bounds_;
    std::uint64_t undetermined_count_ = 0;
    std::string first_open_;
    ClustersByKind clusters_;
    std::vector<std::size_t> unwritten_, differing_;  // elements
    std::size_t largest_error_ = 0;                   // as a share of the element's bound
    GemmJudgement made_;
};

}  // namespace

std::vector<CodeTensor> expect_gemm(const Problem& p, const std::vector<CodeTensor>& inputs) {
    const gemm::ProblemView problem = gemm_problem_of(p, inputs);
    if (problem.blocks) return expect_gemm_blocks(p, problem);
    CodeTensor d = make_tensor({p.gemm.output.element, p.rows, p.columns});
    std::size_t element = 0;
    for (const Code result : gemm::expected_results(problem)) d.set(element++, result.bits);
    return {std::move(d)};
}

std::string without_right_bits(const Problem& p, const std::vector<CodeTensor>& inputs) {
    const gemm::ProblemView problem = gemm_problem_of(p, inputs);
    if (problem.is_bounded) return "model=bounded has bounds, and no bits";
    if (problem.model != nullptr) return "";
    const std::vector<bool> open = undetermined_outputs(problem, gemm::expected_results(problem));
    const auto count = std::ranges::count(open, true);
    if (count == 0) return "";
    return std::to_string(count) + " of " + std::to_string(open.size()) +
           " outputs hang on the order of their sums";
}

std::optional<std::vector<const WrongGemm*>> gross_faults_untold(const Evidence& evidence) {
    return Judge(evidence, 0).gross_untold();
}

GemmJudgement judge_gemm(const Evidence& evidence, std::uint64_t confirmed_max) {
    if (has_output_blocks(evidence.c)) return judge_gemm_blocks(evidence, confirmed_max);
    return Judge(evidence, confirmed_max).judge();
}

}  // namespace mx
