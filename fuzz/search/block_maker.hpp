// Makes the blocks that a search asks: at random over all binades, from those that reached
// something new with a little changed, and onto the borders that the oracle has: where the scale
// changes, and half way between two elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/data/family.hpp"
#include "fuzz/search/decisions.hpp"
#include "fuzz/search/random.hpp"

namespace mx::fuzz {

class BlockMaker {
public:
    // `kept` holds blocks worth changing; it may grow from call to call.
    BlockMaker(const Rules& rules, const std::vector<BlockData>& kept, Random& random);

    // Fills all the lanes; for dequantize also the scale.
    void make(BlockData& block);

private:
    void make_codes(BlockData& block);
    std::uint32_t any_lane();
    std::uint32_t special_lane();
    std::uint32_t spread_lane(std::uint32_t level);
    void make_fresh(std::span<std::uint32_t> lanes);
    void change(std::span<std::uint32_t> lanes);
    void change_lane(std::uint32_t& lane);
    void put_amax_on_a_border(std::span<std::uint32_t> lanes);
    void put_lane_on_a_tie(std::span<std::uint32_t> lanes);
    std::uint32_t scale_of(std::uint32_t amax) const;
    // An exponent field of an amax.
    std::uint32_t level_at_random();
    fast::Unpacked lane_of_element(const fast::Unpacked& element,
                                   std::span<const std::uint32_t> lanes) const;
    // A magnitude one to the side of where the scale changes, above `from`; 0 if there is none.
    std::uint32_t border_above(std::uint32_t from);
    std::uint32_t sign_at_random();

    const Rules& rules_;
    const ElementFormat& input_;
    const std::vector<BlockData>& kept_;
    Random& random_;
    bool has_signs_, has_scale_;
    std::vector<std::uint32_t> levels_;  // whose scale is not one at an end
    std::uint32_t mask_;
};

}  // namespace mx::fuzz
