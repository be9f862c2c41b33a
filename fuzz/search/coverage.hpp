// What one theme of a search has reached so far, and the blocks that got it there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/data/family.hpp"
#include "fuzz/search/decisions.hpp"
#include "fuzz/search/random.hpp"
#include "fuzz/search/theme.hpp"
#include "fuzz/search/variants.hpp"

namespace mx::fuzz {

// Whether a block is also held against the variants that nothing has parted yet, which costs more.
enum class Depth { decisions, variants };

struct Coverage {
    explicit Coverage(Case of)
        : theme(std::move(of)),
          rules(theme),
          variants(variants_of(rules)),
          parted(variants.size(), 0) {}

    Case theme;
    Rules rules;
    std::vector<Variant> variants;
    std::vector<char> parted;  // one for each variant
    Reach reach;
    std::vector<BlockData> kept;
    bool is_refused = false;  // the device does not do it
    std::uint64_t blocks = 0;

    // Notes what the block reaches under `actual`, the rules of the case it was asked in, and
    // keeps it if any of that is new.
    void note(const Rules& actual, const BlockData& block, Depth depth, Random& random);

    std::size_t decisions_reached() const;
    std::size_t decisions_to_reach() const { return decisions_of(rules).count(); }
    std::size_t variants_parted() const;
};

// What a whole search has reached: the sums over the themes that were searched.
struct CoverageTotals {
    std::uint64_t themes = 0, reached = 0, to_reach = 0, parted = 0, variants = 0;
    std::vector<std::string_view> in_no_theme;  // decisions that some theme has, and none reached
};
CoverageTotals totals_of(const std::vector<Coverage>& coverage);

}  // namespace mx::fuzz
