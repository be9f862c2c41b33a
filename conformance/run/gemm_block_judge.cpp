// See gemm_block_judge.hpp.
#include "conformance/run/gemm_block_judge.hpp"

#include <set>

#include "conformance/run/clusters.hpp"
#include "conformance/run/difference.hpp"
#include "conformance/run/gemm_block_explain.hpp"
#include "conformance/run/gemm_confirm.hpp"
#include "conformance/run/gemm_describe.hpp"
#include "conformance/run/gemm_explain.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "conformance/run/gemm_trust.hpp"
#include "reference/gemm/exactness.hpp"

namespace mx {
namespace {

using results::Mismatch;
using results::Verdict;

constexpr std::size_t scales_output = 1;

class BlockJudge {
public:
    BlockJudge(const Evidence& evidence, std::uint64_t confirmed_max)
        : evidence_(evidence),
          confirmed_max_(confirmed_max),
          problem_(gemm_problem_of(evidence.c, evidence.inputs)) {}

    GemmJudgement judge() {
        find_undetermined();
        made_.compared = elements().count() - undetermined_count_;
        made_.compared_scales = scales().count() - undetermined_.size();
        for_each_difference(evidence_, [this](const Difference& d) { add(d); });
        explain();
        made_.mismatches = largest_first(std::move(clusters_));
        decide();
        return std::move(made_);
    }

private:
    const gemm::OutputBlocks& blocks() const { return *problem_.blocks; }
    std::string dialect() const { return std::string(blocks().quantizer->name); }
    const CodeTensor& elements() const { return evidence_.expected[0]; }
    const CodeTensor& scales() const { return evidence_.expected[scales_output]; }

    // A block is as good as its lanes: one whose value is open opens its scale and its neighbours.
    void find_undetermined() {
        if (problem_.model != nullptr) return;
        numbers_ = gemm::expected_results(problem_);
        const std::vector<bool> open_outputs = undetermined_outputs(problem_, numbers_);
        for (std::int64_t block = 0; block < output_block_count(problem_); ++block) {
            const gemm::OutputBlockPlace place = output_block(problem_, block);
            std::string why;
            for (std::int64_t lane = 0; lane < place.count && why.empty(); ++lane)
                if (open_outputs[index_of(place.lane(lane))])
                    why = undetermined_because(problem_, problem_.output(place.lane(lane)));
            if (const std::string open = open_decision(block); why.empty() && !open.empty())
                why = "dialect " + dialect() + " leaves open: " + open;
            if (why.empty()) continue;
            if (undetermined_.empty()) first_open_ = place_text(problem_, place.first) + ": " + why;
            undetermined_.insert(block);
            undetermined_count_ += static_cast<std::uint64_t>(place.count);
        }
    }

    // What the source of D's dialect does not say, and this block meets; "" where there is nothing.
    std::string open_decision(std::int64_t block) const {
        const bool is_closed = blocks().quantizer->open == 0;
        if (is_closed) return "";
        return open_decision_of(blocks(), numbers_of(block),
                                Code{scales().at(static_cast<std::size_t>(block))});
    }

    std::vector<Code> numbers_of(std::int64_t block) const {
        const gemm::OutputBlockPlace place = output_block(problem_, block);
        std::vector<Code> numbers;
        for (std::int64_t lane = 0; lane < place.count; ++lane)
            numbers.push_back(number_at(place.lane(lane)));
        return numbers;
    }

    std::size_t index_of(const gemm::OutputPlace& place) const {
        return static_cast<std::size_t>(place.row * elements().columns + place.column);
    }
    // What an element is made of, as binary32.
    Code number_at(const gemm::OutputPlace& place) const {
        return numbers_.empty() ? expected_result(problem_, problem_.output(place))
                                : numbers_[index_of(place)];
    }

    std::string open_decision(const Difference& d, const GemmKind& kind) const {
        if (d.flags != 0) return "";
        const bool is_sign = kind.mismatch_class.name == "sign_of_zero";
        std::string open = is_sign ? open_sign_of_zero(blocks()) : "";
        if (open.empty()) open = open_decision(block_of(d));
        return open.empty() || fits_scale_of_device(d) ? open : "";
    }

    // Under whatever scale the device chose, an element must be the right one. A NaN may have
    // spread to it, or to the scale.
    bool fits_scale_of_device(const Difference& d) const {
        const std::int64_t block = block_of(d);
        const Code actual{d.actual};
        const Code scale{evidence_.actual[scales_output].at(static_cast<std::size_t>(block))};
        const bool is_element = d.output != scales_output;
        if (blocks().scale.is_nan(scale) || (is_element && problem_.element.is_nan(actual)))
            return may_become_nan(blocks(), numbers_of(block));
        if (!is_element) return true;
        const Code number = number_at(problem_.place(static_cast<std::int64_t>(d.element)));
        const std::optional<Code> right = element_under(blocks(), {scale, number});
        const bool are_zeros =
            right && problem_.element.is_zero(*right) && problem_.element.is_zero(actual);
        return !right || *right == actual || are_zeros;
    }

    std::int64_t block_of(const Difference& d) const {
        if (d.output == scales_output) return static_cast<std::int64_t>(d.element);
        return output_block_of(problem_, problem_.place(static_cast<std::int64_t>(d.element)));
    }

    bool accepts(const Difference& d) const {
        if (d.flags != 0) return false;
        if (undetermined_.contains(block_of(d))) return true;
        return d.output == 0 && is_as_good(problem_, Code{d.expected}, Code{d.actual});
    }

    const ElementFormat& format_of(const Difference& d) const {
        return d.output == scales_output ? blocks().scale : problem_.element;
    }

    GemmKind kind_of(const Difference& d) const {
        GemmKind kind = gemm_kind_of(format_of(d), evidence_, d);
        if (d.flags != 0) return kind;
        if (d.output == scales_output) return {"scale", kind.direction};
        return wrong_scales_.contains(block_of(d)) ? GemmKind{"scale", "under a wrong scale"}
                                                   : kind;
    }

    // Scales come first.
    void add(const Difference& d) {
        if (accepts(d)) return;
        is_flagged_ = is_flagged_ || d.flags != 0;
        const bool is_scale = d.output == scales_output;
        ++(is_scale ? made_.differing_scales : made_.differing);
        if (is_scale) wrong_scales_.insert(block_of(d));
        const GemmKind kind = kind_of(d);
        const std::string open = open_decision(d, kind);
        Mismatch& m = clusters_[std::string(kind.mismatch_class.name) + "\n" + kind.direction +
                                (is_scale ? "\nscale\n" : "\n\n") + open];
        if (m.count == 0 || made_.differing + made_.differing_scales <= confirmed_max_) confirm(d);
        if (m.count++ != 0) return;
        m.mismatch_class = kind.mismatch_class.name;
        m.direction = kind.direction;
        m.open_decision = open;
        describe(d, m);
    }

    void confirm(const Difference& d) {
        if (!made_.disagreement.empty()) return;
        const std::int64_t block = block_of(d);
        const gemm::OutputBlock exact = confirmed_block(problem_, output_block(problem_, block));
        const gemm::OutputPlace place = problem_.place(static_cast<std::int64_t>(d.element));
        const Code right = d.output == scales_output
                               ? exact.scale
                               : exact.elements[lane_in_output_block(problem_, place)];
        if (right.bits == d.expected) return;
        made_.disagreement = where(d) + ": fast says " + hex(format_of(d), d.expected) +
                             ", exact says " + hex(format_of(d), right.bits);
    }

    std::string where(const Difference& d) const {
        if (d.output == 0)
            return place_text(problem_, problem_.place(static_cast<std::int64_t>(d.element)));
        return "the scale of the block at " +
               place_text(problem_, output_block(problem_, block_of(d)).first);
    }

    void describe(const Difference& d, Mismatch& m) const {
        const bool is_scale = d.output == scales_output;
        const ElementFormat& format = format_of(d);
        const gemm::OutputPlace place = is_scale
                                            ? output_block(problem_, block_of(d)).first
                                            : problem_.place(static_cast<std::int64_t>(d.element));
        const std::string expected = hex(format, d.expected), actual = hex(format, d.actual);
        m.stage = d.flags != 0 ? "buffer" : is_scale ? "scale" : "element";
        m.of = is_scale ? scales().count() : elements().count();
        m.block = static_cast<std::uint64_t>(place.row);
        m.lane = static_cast<std::uint32_t>(place.column);
        (is_scale ? m.expected_scale : m.expected_element) = expected;
        (is_scale ? m.actual_scale : m.actual_element) = actual;
        m.expected_value = exact::to_text(exact::decode(format, Code{d.expected}));
        m.actual_value = exact::to_text(exact::decode(format, Code{d.actual}));
        m.exact_value = fraction_text(exact_value(problem_, problem_.output(place)));
        m.source = (problem_.model == nullptr ? std::string(any_order)
                                              : model_text(*problem_.model) + ": " +
                                                    std::string(problem_.model->source)) +
                   "; blocks of D by dialect " + dialect() + ": " +
                   std::string(blocks().quantizer->source);
        m.note = "first at " + where(d) + ": " + actual + " (" + m.actual_value + ") expected " +
                 expected + " (" + m.expected_value + "), exact sum " + m.exact_value;
    }

    bool accepts_block(std::int64_t block, const gemm::OutputBlock& made) const {
        if (undetermined_.contains(block)) return true;
        if (made.scale.bits != scales().at(static_cast<std::size_t>(block))) return false;
        const gemm::OutputBlockPlace place = output_block(problem_, block);
        for (std::int64_t lane = 0; lane < place.count; ++lane) {
            const gemm::OutputPlace at = place.lane(lane);
            if (!is_as_good(problem_, Code{elements().at(index_of(at))},
                            made.elements[static_cast<std::size_t>(lane)]))
                return false;
        }
        return true;
    }

    // What would make exactly these blocks.
    void explain() {
        const std::uint64_t places = made_.differing + made_.differing_scales;
        if (places == 0 || is_flagged_ || !undetermined_.empty()) return;
        made_.looked_at = places;
        made_.explanations =
            GemmBlockExplainer(evidence_.c, problem_, {elements(), scales()})
                .explanations_of({evidence_.actual[0], evidence_.actual[scales_output]});
    }

    // The verdict of a case without mismatches.
    void decide() {
        if (!made_.mismatches.empty() || elements().count() == 0) return;
        if (!undetermined_.empty())
            made_.reason = "model=any takes inputs whose sums are exact in any order; " +
                           std::to_string(undetermined_.size()) + " of " +
                           std::to_string(scales().count()) +
                           " blocks of D are not so, first the one at " + first_open_;
        else
            made_.reason = untold_by_blocks(
                problem_, scales(), [this](std::int64_t block, const gemm::OutputBlock& made) {
                    return accepts_block(block, made);
                });
        if (!made_.reason.empty())
            made_.verdict = Verdict::insufficient_data;
        else if (problem_.model != nullptr)
            made_.reason =
                "bit for bit as " + model_text(*problem_.model) + ", and dialect " + dialect();
    }

    const Evidence& evidence_;
    std::uint64_t confirmed_max_;
    gemm::ProblemView problem_;
    std::vector<Code> numbers_;  // exact results as binary32, in the order of D; none under a model
    std::set<std::int64_t> undetermined_, wrong_scales_;  // blocks
    std::uint64_t undetermined_count_ = 0;                // elements in them
    bool is_flagged_ = false;                             // not written, or not twice the same
    std::string first_open_;
    ClustersByKind clusters_;
    GemmJudgement made_;
};

}  // namespace

std::vector<CodeTensor> expect_gemm_blocks(const Problem& p, const gemm::ProblemView& problem) {
    const std::int64_t blocks = output_block_count(problem);
    std::vector<CodeTensor> made;
    made.push_back(make_tensor({problem.element, p.rows, p.columns}));
    made.push_back(make_tensor({problem.blocks->scale, p.rows, p.rows == 0 ? 0 : blocks / p.rows}));
    const std::vector<gemm::OutputBlock> all = gemm::expected_blocks(problem);
    for (std::int64_t block = 0; block < blocks; ++block) {
        const gemm::OutputBlockPlace place = output_block(problem, block);
        const gemm::OutputBlock& right = all[static_cast<std::size_t>(block)];
        const std::int64_t first = place.first.row * p.columns + place.first.column;
        for (std::size_t lane = 0; lane < right.elements.size(); ++lane)
            made[0].set(static_cast<std::size_t>(first) + lane, right.elements[lane].bits);
        made[scales_output].set(static_cast<std::size_t>(block), right.scale.bits);
    }
    return made;
}

GemmJudgement judge_gemm_blocks(const Evidence& evidence, std::uint64_t confirmed_max) {
    return BlockJudge(evidence, confirmed_max).judge();
}

}  // namespace mx
