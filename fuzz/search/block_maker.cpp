// See block_maker.hpp.
#include "fuzz/search/block_maker.hpp"

#include <algorithm>
#include <array>

namespace mx::fuzz {
namespace {

using fast::Unpacked;

// A number half way between two neighbouring codes that are not negative.
Unpacked half_way(const ElementFormat& format, std::uint32_t code) {
    const Unpacked below = fast::unpack(format, Code{code});
    const Unpacked above = fast::unpack(format, Code{code + 1});
    const int unit = std::min(below.exponent, above.exponent);
    const std::uint64_t sum = (below.significand << (below.exponent - unit)) +
                              (above.significand << (above.exponent - unit));
    return {fast::Kind::finite, false, unit - 1, sum};
}

}  // namespace

BlockMaker::BlockMaker(const Rules& rules, const std::vector<BlockData>& kept, Random& random)
    : rules_(rules),
      input_(rules.values),
      kept_(kept),
      random_(random),
      has_signs_(rules.kind != OperationKind::encode_scale),
      has_scale_(rules.kind != OperationKind::convert || rules.is_cast),
      mask_(input_.code_magnitude_mask() | (has_signs_ ? input_.code_sign_mask() : 0)) {
    if (!rules_.has_real_scales() || rules_.kind != OperationKind::quantize) return;
    const ElementFormat& scale = rules_.format.scale();
    const std::uint32_t fields = input_.code_infinity() >> input_.mantissa_bits;
    for (std::uint32_t field = 0; field < fields; ++field) {
        const Code code{scale_of(field << input_.mantissa_bits)};
        if (!scale.is_zero(code) && code.bits < scale.code_max_finite()) levels_.push_back(field);
    }
}

std::uint32_t BlockMaker::level_at_random() {
    if (!levels_.empty() && !random_.once_in(8)) return random_.one_of(levels_);
    const std::uint32_t fields = input_.code_infinity() >> input_.mantissa_bits;
    return static_cast<std::uint32_t>(random_.below(fields));
}

std::uint32_t BlockMaker::sign_at_random() {
    return has_signs_ && random_.once_in(2) ? input_.code_sign_mask() : 0;
}

std::uint32_t BlockMaker::special_lane() {
    const std::uint32_t infinity = input_.code_infinity();
    const std::uint32_t hidden = input_.code_mantissa_mask() + 1;
    const std::uint32_t one_bit =
        1u << random_.below(static_cast<std::uint64_t>(input_.mantissa_bits));
    const std::array<std::uint32_t, 12> specials{0,
                                                 0,
                                                 1,
                                                 hidden - 1,
                                                 hidden,
                                                 infinity,
                                                 infinity,
                                                 infinity - 1,
                                                 infinity | one_bit,
                                                 infinity | (hidden - 1),
                                                 one_bit,
                                                 static_cast<std::uint32_t>(input_.exponent_bias)
                                                     << input_.mantissa_bits};
    return specials[random_.below(specials.size())] | sign_at_random();
}

// In the binade `level` or below, each binade half as likely as the one above it; mantissas of few
// bits, which lie on ties, as often as any.
std::uint32_t BlockMaker::spread_lane(std::uint32_t level) {
    const std::uint32_t bits = random_.bits();
    const std::uint32_t fall = static_cast<std::uint32_t>(std::countr_zero(bits | 0x80000));
    const std::uint32_t field = level > fall ? level - fall : 0;
    const int kept = rules_.element.mantissa_bits + 1;
    std::uint32_t mantissa = random_.bits() & input_.code_mantissa_mask();
    if ((bits >> 30) == 0 && kept < input_.mantissa_bits)
        mantissa = mantissa >> (input_.mantissa_bits - kept) << (input_.mantissa_bits - kept);
    if ((bits >> 27 & 7) == 0) mantissa ^= 1;
    return (field << input_.mantissa_bits) | mantissa | sign_at_random();
}

std::uint32_t BlockMaker::any_lane() {
    return random_.bits() & mask_;
}

void BlockMaker::make_fresh(std::span<std::uint32_t> lanes) {
    const std::uint32_t level = level_at_random();
    const std::uint64_t manner = random_.below(8);
    for (std::uint32_t& lane : lanes) {
        if (manner == 0)
            lane = any_lane();
        else if (manner == 1)
            lane = random_.once_in(16) ? special_lane() : 0;
        else
            lane = manner == 2 && random_.once_in(8) ? special_lane() : spread_lane(level);
    }
}

void BlockMaker::change_lane(std::uint32_t& lane) {
    switch (random_.below(7)) {
        case 0:
            lane ^= 1u << random_.below(static_cast<std::uint64_t>(input_.code_bits()));
            break;
        case 1:
            lane += static_cast<std::uint32_t>(random_.below(5)) - 2;
            break;
        case 2:
            lane ^= input_.code_sign_mask();
            break;
        case 3:
            lane = special_lane();
            break;
        case 4:
            lane &= ~std::uint32_t{0} << random_.below(24);
            break;
        case 5:
            lane = any_lane();
            break;
        default:
            lane += static_cast<std::uint32_t>(random_.below(17) - 8) << input_.mantissa_bits;
            break;
    }
    lane &= mask_;
}

void BlockMaker::change(std::span<std::uint32_t> lanes) {
    for (std::uint64_t changes = 1 + random_.below(4); changes > 0; --changes) {
        const std::size_t lane = random_.below(lanes.size());
        if (random_.once_in(6))
            std::swap(lanes[lane], lanes[random_.below(lanes.size())]);
        else
            change_lane(lanes[lane]);
    }
    if (!random_.once_in(8)) return;
    // The whole block by a power of two.
    const std::uint32_t by = static_cast<std::uint32_t>(random_.below(17) - 8)
                             << input_.mantissa_bits;
    for (std::uint32_t& lane : lanes) lane = (lane + by) & mask_;
}

std::uint32_t BlockMaker::scale_of(std::uint32_t amax) const {
    const Unpacked value = fast::read_input(rules_.dialect.subnormals, input_, Code{amax});
    return fuzz::scale_of(rules_, value).bits;
}

std::uint32_t BlockMaker::border_above(std::uint32_t from) {
    std::uint32_t below = from;
    std::uint32_t above =
        std::min(from + input_.code_mantissa_mask() + 1, input_.code_max_finite());
    const std::uint32_t scale = scale_of(below);
    if (scale_of(above) == scale) return 0;
    while (above - below > 1) {
        const std::uint32_t middle = below + (above - below) / 2;
        (scale_of(middle) == scale ? below : above) = middle;
    }
    return below + static_cast<std::uint32_t>(random_.below(4)) - 1;
}

void BlockMaker::put_amax_on_a_border(std::span<std::uint32_t> lanes) {
    std::uint32_t from = 0;
    if (levels_.empty())
        from = static_cast<std::uint32_t>(random_.below(input_.code_max_finite()));
    else
        from = level_at_random() << input_.mantissa_bits |
               (random_.bits() & input_.code_mantissa_mask());
    const std::uint32_t border = border_above(from);
    if (border == 0 || border > input_.code_max_finite()) return;
    lanes[random_.below(lanes.size())] = border | sign_at_random();
    if (rules_.kind != OperationKind::quantize) return;
    for (std::uint32_t& lane : lanes) {
        const std::uint32_t magnitude = lane & input_.code_magnitude_mask();
        if (magnitude > border) lane = (lane & input_.code_sign_mask()) | magnitude % border;
    }
}

// The value of a lane that becomes the element, or next to it: under the scale that the lanes have.
Unpacked BlockMaker::lane_of_element(const Unpacked& element,
                                     std::span<const std::uint32_t> lanes) const {
    if (rules_.kind != OperationKind::quantize) return element;
    const Unpacked amax =
        fast::amax_of(rules_.dialect, input_, lanes.data(), static_cast<int>(lanes.size()));
    Unpacked lane = element;
    if (!rules_.has_real_scales()) {
        const Code scale = fast::encode_scale(rules_.dialect, rules_.format, amax);
        lane.exponent += static_cast<int>(scale.bits) - formats::e8m0.exponent_bias;
        return lane;
    }
    const auto lane_at = [&](int at) {
        return fast::read_input(rules_.dialect.subnormals, input_,
                                Code{lanes[static_cast<std::size_t>(at)]});
    };
    const fast::BlockScale scale =
        fast::chosen_scale(rules_.question(), amax, static_cast<int>(lanes.size()), lane_at);
    lane = rules_.dialect.divides_lanes() ? fast::product(element, scale.factor)
                                          : fast::quotient(element, scale.factor);
    return lane.kind == fast::Kind::finite ? lane : element;
}

void BlockMaker::put_lane_on_a_tie(std::span<std::uint32_t> lanes) {
    const auto code = static_cast<std::uint32_t>(random_.below(rules_.element.code_max_finite()));
    const Code tie = fast::round(input_, Rounding::toward_zero, Overflow::saturate,
                                 lane_of_element(half_way(rules_.element, code), lanes));
    const std::uint32_t beside = tie.bits + static_cast<std::uint32_t>(random_.below(4)) - 1;
    lanes[random_.below(lanes.size())] = (beside & input_.code_magnitude_mask()) | sign_at_random();
}

void BlockMaker::make_codes(BlockData& block) {
    const std::uint32_t mask =
        rules_.element.code_magnitude_mask() | rules_.element.code_sign_mask();
    for (std::uint32_t& lane : block.lanes) lane = random_.bits() & mask;
    if (rules_.has_real_scales()) {
        const ElementFormat& scale = rules_.format.scale();
        block.scale = random_.bits() & scale.code_magnitude_mask();
        return;
    }
    constexpr std::array<std::uint32_t, 8> special_scales{0, 1, 2, 126, 127, 253, 254, 255};
    block.scale = random_.once_in(3) ? special_scales[random_.below(special_scales.size())]
                                     : random_.bits() & 0xFF;
}

void BlockMaker::make(BlockData& block) {
    if (rules_.kind == OperationKind::dequantize) return make_codes(block);
    const std::span<std::uint32_t> lanes = block.lanes;
    if (kept_.empty() || random_.once_in(3)) {
        make_fresh(lanes);
    } else {
        const std::vector<std::uint32_t>& parent = random_.one_of(kept_).lanes;
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            lanes[lane] = parent[lane % parent.size()] & mask_;
        change(lanes);
    }
    if (has_scale_ && random_.once_in(6)) put_amax_on_a_border(lanes);
    if (rules_.element.name != formats::e8m0.name && random_.once_in(3)) put_lane_on_a_tie(lanes);
}

}  // namespace mx::fuzz
