// See coverage.hpp.
#include "fuzz/search/coverage.hpp"

#include <algorithm>

namespace mx::fuzz {
namespace {

// More than these would be asked too seldom to be of use.
constexpr std::size_t kept_max = 48;

}  // namespace

void Coverage::note(const Rules& actual, const BlockData& block, Depth depth, Random& random) {
    const Reach reached = reach_of(actual, block.lanes, block.scale);
    bool is_new = (reached & ~reach).any();
    reach |= reached;
    if (is_new || depth == Depth::variants)
        for (std::size_t i = 0; i < variants.size(); ++i) {
            if (parted[i] != 0 || !parts(rules, variants[i], block.lanes)) continue;
            parted[i] = 1;
            is_new = true;
        }
    if (!is_new) return;
    if (kept.size() < kept_max)
        kept.push_back(block);
    else
        kept[random.below(kept_max)] = block;
}

std::size_t Coverage::decisions_reached() const {
    const auto to_reach = decisions_of(rules);
    std::size_t count = 0;
    for (std::size_t i = 0; i < decision_count; ++i) count += to_reach[i] && reach[i] ? 1 : 0;
    return count;
}

std::size_t Coverage::variants_parted() const {
    return static_cast<std::size_t>(std::ranges::count(parted, 1));
}

CoverageTotals totals_of(const std::vector<Coverage>& coverage) {
    CoverageTotals totals;
    std::bitset<decision_count> to_reach, reached;
    for (const Coverage& theme : coverage) {
        if (theme.is_refused) continue;
        const auto its = decisions_of(theme.rules);
        to_reach |= its;
        for (std::size_t i = 0; i < decision_count; ++i)
            if (its[i] && theme.reach[i]) reached.set(i);
        if (theme.blocks == 0) continue;
        ++totals.themes;
        totals.reached += theme.decisions_reached();
        totals.to_reach += theme.decisions_to_reach();
        totals.parted += theme.variants_parted();
        totals.variants += theme.variants.size();
    }
    for (std::size_t i = 0; i < decision_count; ++i)
        if (to_reach[i] && !reached[i]) totals.in_no_theme.push_back(decision_names[i]);
    return totals;
}

}  // namespace mx::fuzz
