// See search.hpp.
#include "fuzz/search/search.hpp"

#include <algorithm>

#include "fuzz/search/block_maker.hpp"
#include "fuzz/search/sample.hpp"

namespace mx::fuzz {
namespace {

// Elements of a call. Most passes over the themes ask few, so that many layouts and shapes are met;
// every fourth asks more and more, as many as a fast device likes.
constexpr std::int64_t elements_few = 4096, elements_max = std::int64_t{1} << 20;
std::int64_t elements_of(std::uint64_t pass) {
    if (pass % 4 != 3) return elements_few;
    return std::min(elements_few << std::min<std::uint64_t>(pass, 20), elements_max);
}
// Blocks of a call whose decisions are looked at, and those also held against the variants.
constexpr std::int64_t blocks_looked_at = 256, blocks_held_against_variants = 24;
// A device with more kinds of failure than this is not shrunk any further.
constexpr std::size_t finds_max = 40;
constexpr std::uint64_t errors_in_a_row_max = 20;
// Calls of one shape, so that a device that answers the call before is caught.
constexpr int calls_of_a_round = 2;

constexpr std::uint64_t order_of_themes = ~std::uint64_t{0};

std::vector<Coverage> in_random_order(const std::vector<Case>& themes, const Share& share) {
    std::vector<Coverage> order(themes.begin(), themes.end());
    Random random({share.seed, share.worker, order_of_themes});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

BlockData block_at(const Case& c, std::int64_t block, const std::vector<CodeTensor>& inputs) {
    const BlockPlace place = place_of(blocking_of(c), block);
    BlockData data;
    for (int lane = 0; lane < place.count; ++lane)
        data.lanes.push_back(inputs[0].at(place.element(lane)));
    if (c.operation == OperationKind::dequantize)
        data.scale = inputs[1].at(static_cast<std::size_t>(block));
    return data;
}

// Those that lie in the tensor: of axis both not all of the grid do.
std::uint64_t blocks_of(const Case& c) {
    const BlockGrid grid = block_grid(c);
    if (c.axis != BlockAxis::both) return static_cast<std::uint64_t>(grid.count());
    std::uint64_t blocks = 0;
    for (std::int64_t block = 0; block < grid.count(); ++block)
        blocks += place_of(blocking_of(c), block).count > 0 ? 1 : 0;
    return blocks;
}

}  // namespace

Search::Search(const std::vector<Case>& themes, const Share& share, Judge& judge)
    : share_(share), judge_(judge), coverage_(in_random_order(themes, share)) {}

void Search::run(const std::function<bool(const Search&)>& is_enough,
                 const std::function<bool()>& is_stopped) {
    is_stopped_ = is_stopped;
    std::size_t left = static_cast<std::size_t>(
        std::ranges::count_if(coverage_, [](const auto& c) { return !c.is_refused; }));
    while (left > 0 && given_up_.empty() && !is_enough(*this)) {
        Coverage& coverage = coverage_[counts_.rounds % coverage_.size()];
        const std::uint64_t pass = counts_.rounds / coverage_.size();
        Random random({share_.seed, share_.worker, counts_.rounds});
        ++counts_.rounds;
        if (coverage.is_refused) continue;
        play(coverage, elements_of(pass), random);
        if (coverage.is_refused) --left;
    }
    if (left == 0) given_up_ = "the device does nothing of what was to be searched";
}

// A layout that the device has, the plain one if need be.
Case Search::choose_case(Coverage& coverage, std::int64_t elements, Random& random) {
    constexpr int attempts = 3;
    Case c = coverage.theme;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        c = draw_case(coverage.theme, elements, random);
        c.seed = random.next();
        if (judge_.supports(c)) return c;
        ++counts_.refused;
    }
    c = plain_case(c);
    if (judge_.supports(c)) return c;
    Case plainest = coverage.theme;
    plainest.rows = 4;
    plainest.columns = 64;
    coverage.is_refused = !judge_.supports(plainest);
    return plainest;
}

std::vector<CodeTensor> Search::make_batch(const Case& c, const Rules& rules, Coverage& coverage,
                                           Random& random) {
    std::vector<CodeTensor> inputs;
    const bool has_scales = c.operation == OperationKind::dequantize;
    for (const Part part : inputs_of(c))
        if (inputs.size() < (has_scales ? 2u : 1u))
            inputs.push_back(make_tensor(shape_of(c, part)));
    const BlockGrid grid = block_grid(c);
    BlockMaker maker(rules, coverage.kept, random);
    BlockData data;
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(blocking_of(c), block);
        if (place.count == 0) continue;
        data.lanes.resize(static_cast<std::size_t>(place.count));
        maker.make(data);
        for (int lane = 0; lane < place.count; ++lane)
            inputs[0].set(place.element(lane), data.lanes[static_cast<std::size_t>(lane)]);
        if (has_scales) inputs[1].set(static_cast<std::size_t>(block), data.scale);
    }
    add_beside_blocks(c, inputs);
    return inputs;
}

void Search::look_at(const Case& c, const Rules& rules, const std::vector<CodeTensor>& inputs,
                     Coverage& coverage, Random& random) {
    const BlockGrid grid = block_grid(c);
    const std::int64_t step = std::max<std::int64_t>(grid.count() / blocks_looked_at, 1);
    std::int64_t seen = 0;
    for (std::int64_t block = 0; block < grid.count(); block += step) {
        const BlockData data = block_at(c, block, inputs);
        if (data.lanes.empty()) continue;
        coverage.note(rules, data,
                      seen++ < blocks_held_against_variants ? Depth::variants : Depth::decisions,
                      random);
    }
}

void Search::play(Coverage& coverage, std::int64_t elements, Random& random) {
    const Case c = choose_case(coverage, elements, random);
    if (coverage.is_refused) return;
    const Rules rules(c);
    for (int call = 0; call < calls_of_a_round && given_up_.empty(); ++call) {
        const std::vector<CodeTensor> inputs = make_batch(c, rules, coverage, random);
        look_at(c, rules, inputs, coverage, random);
        const Judgement judgement = judge_.judge(c, inputs);
        ++counts_.calls;
        weigh(c, inputs, judgement);
        if (judgement.outcome == Outcome::refused || judgement.outcome == Outcome::unasked) return;
        const std::uint64_t blocks = blocks_of(c);
        counts_.blocks += blocks;
        coverage.blocks += blocks;
    }
}

void Search::weigh(const Case& c, const std::vector<CodeTensor>& inputs,
                   const Judgement& judgement) {
    if (judgement.outcome == Outcome::deviation) ++counts_.deviations;
    const bool unasked = judgement.outcome == Outcome::unasked;
    const bool is_error = unasked || judgement.outcome == Outcome::error;
    errors_in_a_row_ = is_error ? errors_in_a_row_ + 1 : 0;
    if (errors_in_a_row_ == errors_in_a_row_max)
        given_up_ = (unasked ? "no question can be asked, at last: "
                             : "the device answered errors only, at last: ") +
                    judgement.reason;
    if (!is_find(judgement.outcome)) return;
    const std::size_t mismatches = std::max<std::size_t>(judgement.mismatches.size(), 1);
    for (std::size_t i = 0; i < mismatches; ++i) {
        const std::string kind = kind_of(c, judgement, i);
        const auto known = finds_.find(kind);
        const bool is_known = known != finds_.end();
        if (is_known) ++known->second.find.seen;
        // One that a search before this could not write down is tried again.
        if (is_known && (!known->second.find.cases.empty() || tried_.contains(kind))) continue;
        tried_.insert(kind);
        const Round round{share_.seed, share_.worker, counts_.rounds - 1};
        Find find{kind, {}, judgement.reason, judgement.outcome};
        if (is_known || finds_.size() < finds_max)
            find = shrink(judge_, {c, inputs, judgement, i}, {.is_stopped = is_stopped_});
        if (is_known) find.seen = known->second.find.seen;
        finds_[kind] = Found{std::move(find), round};
    }
}

}  // namespace mx::fuzz
