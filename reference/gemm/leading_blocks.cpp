// See leading_blocks.hpp.
#include "reference/gemm/leading_blocks.hpp"

#include <algorithm>

#include "reference/gemm/settled_value.hpp"

namespace mx::gemm {
namespace {

// How far below the largest product's bound blocks are summed: so far as most often will do, and as
// settled_value can hold.
constexpr std::array<int, 2> reaches{60, 120};

std::array<std::int64_t, 256> all_quanta(const ScaledRow& row) {
    std::array<std::int64_t, 256> quanta{};
    for (std::uint32_t bits = 0; bits < 256; ++bits)
        quanta[bits] = quanta_of(row.element, Code{bits});
    return quanta;
}

int exponent_of(const ScaledRow& row, std::int64_t block) {
    return fast::unpack(formats::e8m0, row.scales.at(block)).exponent;
}

}  // namespace

bool has_leading_blocks(const Factors& factors) {
    constexpr std::int64_t block_max = 1 << 10, blocks_max = 1 << 20;
    const auto is_e8m0 = [](const ScaledRow& row) { return row.scale.name == formats::e8m0.name; };
    const ScaledRow &a = factors.a.front(), &b = factors.b.front();
    return a.block > 0 && a.block == b.block && is_e8m0(a) && is_e8m0(b) && a.block <= block_max &&
           factors.depth / a.block < blocks_max;
}

LeadingBlocks::LeadingBlocks(const Factors& factors, const TopsPair& tops)
    : factors_(factors),
      tops_(tops),
      count_bits_(fast::bit_width(static_cast<std::uint64_t>(factors.depth))),
      a_(all_quanta(factors.a.front())),
      b_(all_quanta(factors.b.front())) {
    const Span a = span_of(factors.a.front()), b = span_of(factors.b.front());
    digits_ = a.digits + b.digits;
    low_ = a.low + b.low;
}

std::optional<fast::Unpacked> LeadingBlocks::value(const Place& place) const {
    const std::int16_t* a = tops_.a.of(place.row);
    const std::int16_t* b = tops_.b.of(place.column);
    std::int16_t top = 2 * no_top;
    for (std::int64_t block = 0; block < tops_.a.count(); ++block)
        top = std::max(top, static_cast<std::int16_t>(a[block] + b[block]));
    if (top < no_top / 2) return fast::Unpacked{};
    std::optional<fast::Unpacked> value;
    for (const int reach : reaches)
        if (!value) value = value_above(place, {top - reach, top});
    return value;
}

// A block that is not left out has a product that may reach the floor, and so its quantum lies less
// than digits_ below that.
std::optional<fast::Unpacked> LeadingBlocks::value_above(const Place& place,
                                                         const Reach& reach) const {
    const std::int16_t* a = tops_.a.of(place.row);
    const std::int16_t* b = tops_.b.of(place.column);
    WindowSum sum{reach.floor - digits_, (reach.top - reach.floor + digits_) / level_bits + 3, {}};
    for (std::int64_t block = 0; block < tops_.a.count(); ++block)
        if (a[block] + b[block] > reach.floor) add_block(sum, place, block);
    return settled_value(sum, digits_ + count_bits_);
}

// A sum of products of 64 bits or less, and the three digits that it may reach into.
void LeadingBlocks::add_block(WindowSum& sum, const Place& place, std::int64_t block) const {
    const ScaledRow &left = factors_.a[place.row], &right = factors_.b[place.column];
    const std::int64_t first = block * left.block;
    const auto count = static_cast<int>(std::min(left.block, factors_.depth - first));
    const std::uint8_t* a = left.codes.bytes + first * left.codes.stride;
    const std::uint8_t* b = right.codes.bytes + first * right.codes.stride;
    Int128 total = 0;
    for (int k = 0; k < count; ++k, a += left.codes.stride, b += right.codes.stride)
        total += Int128{a_[*a]} * b_[*b];
    const int place_of_quantum =
        exponent_of(left, block) + exponent_of(right, block) + low_ - sum.exponent;
    const int level = place_of_quantum / level_bits;
    constexpr std::uint64_t mask = (std::uint64_t{1} << level_bits) - 1;
    total *= Int128{1} << place_of_quantum % level_bits;
    for (int i = level; i < level + 2; ++i, total >>= level_bits)
        sum.digits[i] += static_cast<std::int64_t>(static_cast<std::uint64_t>(total) & mask);
    sum.digits[level + 2] += static_cast<std::int64_t>(total);
}

}  // namespace mx::gemm
