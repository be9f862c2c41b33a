// See gemm_block_explain.hpp.
#include "conformance/run/gemm_block_explain.hpp"

#include <algorithm>
#include <utility>

#include "conformance/data/gemm_codes.hpp"
#include "conformance/run/gemm_trust.hpp"
#include "reference/fast/quantize.hpp"

namespace mx {
namespace {

constexpr std::size_t blocks_first = 2, blocks_all = 24;

std::vector<std::int64_t> some_of(const std::vector<std::int64_t>& blocks, std::size_t count) {
    if (blocks.size() <= count) return blocks;
    std::vector<std::int64_t> some;
    for (std::size_t i = 0; i < count; ++i) some.push_back(blocks[i * blocks.size() / count]);
    return some;
}

}  // namespace

GemmBlockExplainer::GemmBlockExplainer(const Problem& p, const gemm::ProblemView& problem,
                                       BlocksOfD expected)
    : problem_(problem), expected_(expected) {
    add_numbers(p);
    add_blocks(p);
}

std::vector<std::string> GemmBlockExplainer::explanations_of(BlocksOfD actual) const {
    Blocks differing, agreeing;
    for (std::int64_t block = 0; block < output_block_count(problem_); ++block)
        (is_that_of(actual, block, right_block(block)) ? agreeing : differing).push_back(block);
    if (differing.empty()) return {};
    std::vector<std::string> found;
    for (const GemmBlockHypothesis& hypothesis : hypotheses_) {
        bool explains = true;
        for (const std::size_t count : {blocks_first, blocks_all})
            for (const Blocks* blocks : {&differing, &agreeing})
                explains = explains && predicts(hypothesis, actual, some_of(*blocks, count));
        if (explains) found.push_back(hypothesis.what);
    }
    return found;
}

std::optional<bool> GemmBlockExplainer::changed_by(const std::string& what) const {
    const auto found = std::ranges::find(hypotheses_, what, &GemmBlockHypothesis::what);
    if (found == hypotheses_.end()) return std::nullopt;
    Blocks all;
    for (std::int64_t block = 0; block < output_block_count(problem_); ++block)
        all.push_back(block);
    return !predicts(*found, expected_, some_of(all, 2 * blocks_all));
}

bool GemmBlockExplainer::is_that_of(const BlocksOfD& d, std::int64_t block,
                                    const gemm::OutputBlock& made) const {
    if (d.scales.at(static_cast<std::size_t>(block)) != made.scale.bits) return false;
    const gemm::OutputBlockPlace place = output_block(problem_, block);
    const std::int64_t first = place.first.row * d.elements.columns + place.first.column;
    for (std::int64_t lane = 0; lane < place.count; ++lane)
        if (!is_as_good(problem_, made.elements[static_cast<std::size_t>(lane)],
                        Code{d.elements.at(static_cast<std::size_t>(first + lane))}))
            return false;
    return true;
}

bool GemmBlockExplainer::predicts(const GemmBlockHypothesis& hypothesis, const BlocksOfD& d,
                                  const Blocks& blocks) const {
    return std::ranges::all_of(blocks, [&](std::int64_t block) {
        return is_that_of(d, block, hypothesis.predict(block));
    });
}

gemm::OutputBlock GemmBlockExplainer::right_block(std::int64_t block) const {
    gemm::OutputBlock right{Code{expected_.scales.at(static_cast<std::size_t>(block))}, {}};
    const gemm::OutputBlockPlace place = output_block(problem_, block);
    const std::int64_t first = place.first.row * expected_.elements.columns + place.first.column;
    for (std::int64_t lane = 0; lane < place.count; ++lane)
        right.elements.push_back(
            Code{expected_.elements.at(static_cast<std::size_t>(first + lane))});
    return right;
}

std::vector<Code> GemmBlockExplainer::numbers_of(std::int64_t block,
                                                 const PredictOutput& number) const {
    const gemm::OutputBlockPlace place = output_block(problem_, block);
    std::vector<Code> numbers;
    for (std::int64_t lane = 0; lane < place.count; ++lane)
        numbers.push_back(number(place.lane(lane)));
    return numbers;
}

gemm::OutputBlock GemmBlockExplainer::block_under_cut_scale(std::int64_t block) const {
    gemm::OutputBlock made = right_block(block);
    const std::vector<Code> numbers = numbers_of(block, [this](const gemm::OutputPlace& place) {
        return expected_result(problem_, problem_.output(place));
    });
    std::vector<std::uint32_t> lanes;
    for (const Code number : numbers) lanes.push_back(number.bits);
    const Quantizer& rules = *problem_.blocks->quantizer;
    const BlockFormat& format = *problem_.blocks->format;
    const fast::BlockQuestion question{rules, format, formats::f32,
                                       fast::tensor_numbers(rules, format, {})};
    const fast::Unpacked amax =
        fast::amax_of(rules, formats::f32, lanes.data(), static_cast<std::int64_t>(lanes.size()));
    const fast::Unpacked ratio = fast::ratio_of(question, amax);
    const fast::Unpacked scale = fast::unpack(format.scale(), made.scale);
    const bool is_cut = ratio.kind == fast::Kind::finite && scale.kind == fast::Kind::finite &&
                        fast::is_larger_magnitude(scale, ratio);
    if (!is_cut) return made;
    --made.scale.bits;
    for (std::size_t lane = 0; lane < numbers.size(); ++lane)
        if (const auto element = element_under(*problem_.blocks, {made.scale, numbers[lane]}))
            made.elements[lane] = *element;
    return made;
}

// What goes wrong before the blocks.
void GemmBlockExplainer::add_numbers(const Problem& p) {
    for (GemmHypothesis& each : general_hypotheses(p, problem_))
        hypotheses_.push_back(
            {each.what, [this, number = std::move(each.predict)](std::int64_t block) {
                 return block_of_numbers(problem_, numbers_of(block, number));
             }});
}

// What goes wrong in them.
void GemmBlockExplainer::add_blocks(const Problem& p) {
    const ElementFormat& scale = problem_.blocks->scale;
    for (const int step : {1, -1})
        hypotheses_.push_back({std::string("the scales of D are stored as the next ") +
                                   (step > 0 ? "larger" : "smaller"),
                               [this, step, largest = scale.code_max_finite()](std::int64_t block) {
                                   gemm::OutputBlock made = right_block(block);
                                   const bool is_at_end =
                                       made.scale.bits == (step > 0 ? largest : 0u);
                                   if (!is_at_end)
                                       made.scale.bits += static_cast<std::uint32_t>(step);
                                   return made;
                               }});
    const std::int64_t of_row = p.rows == 0 ? 0 : output_block_count(problem_) / p.rows;
    for (const int step : {-1, 1})
        hypotheses_.push_back({std::string("a block of D stores the scale of the block ") +
                                   (step < 0 ? "before" : "after"),
                               [this, step, of_row](std::int64_t block) {
                                   gemm::OutputBlock made = right_block(block);
                                   const std::int64_t at = block % of_row + step;
                                   if (at >= 0 && at < of_row)
                                       made.scale = right_block(block + step).scale;
                                   return made;
                               }});
    if (!problem_.blocks->quantizer->has_e8m0_scales())
        hypotheses_.push_back({"the scales of D are rounded toward zero",
                               [this](std::int64_t b) { return block_under_cut_scale(b); }});
    hypotheses_.push_back(
        {"the elements of D are made as if its scales were 1", [this, scale](std::int64_t block) {
             gemm::OutputBlock made = right_block(block);
             const gemm::OutputBlockPlace place = output_block(problem_, block);
             for (std::int64_t lane = 0; lane < place.count; ++lane) {
                 const Code number = expected_result(problem_, problem_.output(place.lane(lane)));
                 const auto element =
                     element_under(*problem_.blocks, {Code{code_of_one(scale)}, number});
                 if (element) made.elements[static_cast<std::size_t>(lane)] = *element;
             }
             return made;
         }});
    hypotheses_.push_back({"neighbouring elements of D change places", [this](std::int64_t block) {
                               gemm::OutputBlock made = right_block(block);
                               for (std::size_t lane = 0; lane + 1 < made.elements.size();
                                    lane += 2)
                                   std::swap(made.elements[lane], made.elements[lane + 1]);
                               return made;
                           }});
}

}  // namespace mx
