// See gemm_exact_data.hpp.
#include "conformance/data/gemm_exact_data.hpp"

#include <algorithm>
#include <array>

#include "reference/spec/gemm.hpp"

namespace mx {
namespace {

// How far scales of blocks go to either side of 1, and what stands where a block holds zeros alone.
struct ScaleRange {
    int wide;    // for blocks that are alone in an output
    int medium;  // for blocks whose partners take the opposite
    int least;
};
ScaleRange range_of(const FactorScalingRow& scales) {
    if (scales.scaling == FactorScaling::e8m0_1x32) return {100, 20, -127};
    if (scales.scaling == FactorScaling::ue4m3_1x16) return {4, 3, -9};
    return {50, 20, -60};
}

// Integers whose square is the largest product of each kind, as an exponent of 2.
constexpr int product_exponent = 2;

}  // namespace

GemmExactPlan::GemmExactPlan(GemmExactData kind, const Case& c, int fraction_bits)
    : kind_(kind),
      seed_(seed_of(c)),
      index_(c.index),
      depth_(c.gemm.k),
      a_{c.gemm.a.element, row_of(c.gemm.a.scaling), c.gemm.m},
      b_{c.gemm.b.element, row_of(c.gemm.b.scaling), c.gemm.n} {
    a_.has_partner = b_.has_partner = a_.scales.block != 0 && a_.scales.block == b_.scales.block;
    choose_lowest();
    Side& sparse = is_alone() && a_.scales.block == 0 ? b_ : a_;
    sparse.is_sparse = true;
    // Half of the room for C and the bias, and for each side whose block scales have no partner to
    // take the opposite: they take 1 or 2.
    int room = fraction_bits + 1 - product_exponent;
    has_addend_ = c.gemm.reads_c() || c.gemm.epilogue.adds_bias;
    if (has_addend_) --room;
    // Scales of rows move products beside C and the bias: by 1 or 2 each.
    for (const Side* one : {&a_, &b_})
        if (has_addend_ && one->scales.scaling == FactorScaling::row) --room;
    for (const Side* one : {&a_, &b_})
        if (one->scales.block != 0 && !one->has_partner) --room;
    const bool has_mantissas = kind == GemmExactData::mantissas ||
                               kind == GemmExactData::cancelling || is_alone() ||
                               kind == GemmExactData::one_hot;
    if (has_mantissas) share_mantissas(room);
    // The scales of NVFP4 have three mantissa bits each, which products have as well.
    for (const Side* one : {&a_, &b_})
        if (one->scales.scaling == FactorScaling::ue4m3_1x16) room -= 4;
    room -= a_.mantissa_bits + b_.mantissa_bits;
    // One more or less must show in D, also beside C.
    if (kind == GemmExactData::counting)
        room = std::min(room, c.gemm.output.element.mantissa_bits) - 1;
    products_ = std::int64_t{1} << std::clamp(room, 0, 40);
}

// The side whose scales go down to E8M0 code 0. Its elements are 2, 4 and 6, so that each is a
// normal number of binary32 with its scale; INT8 has none of them.
void GemmExactPlan::choose_lowest() {
    const auto is_mx = [](const Side& side) {
        return side.scales.scaling == FactorScaling::e8m0_1x32;
    };
    if (kind_ != GemmExactData::lowest || !is_mx(a_) || !is_mx(b_)) return;
    const auto has_six = [](const Side& side) { return side.format.exponent_bits != 0; };
    Side& lowest = has_six(a_) && (index_ % 2 == 0 || !has_six(b_)) ? a_ : b_;
    lowest.has_lowest = has_six(lowest);
}

bool GemmExactPlan::is_alone() const {
    return kind_ == GemmExactData::scales || kind_ == GemmExactData::lowest;
}

bool GemmExactPlan::is_lowest(const Side& side, const FactorPlace& block) const {
    return side.has_lowest && bits({GemmPart::scale_out, block.row, block.column + 1}) % 2 != 0;
}

// At least eight products must fit beside the mantissas. Those of one factor are kept whole as long
// as the other has four.
void GemmExactPlan::share_mantissas(int bits) {
    const auto width = [](const Side& side) {
        return side.format.exponent_bits == 0 ? 6 : side.format.mantissa_bits;
    };
    a_.mantissa_bits = width(a_);
    b_.mantissa_bits = width(b_);
    Side& first = index_ % 2 == 0 ? b_ : a_;
    Side& second = index_ % 2 == 0 ? a_ : b_;
    constexpr int least = 4;
    const int over = std::max(0, a_.mantissa_bits + b_.mantissa_bits - std::max(0, bits - 3));
    const int of_first = std::min(over, std::max(0, first.mantissa_bits - least));
    first.mantissa_bits -= of_first;
    second.mantissa_bits -= std::min(second.mantissa_bits, over - of_first);
}

std::uint64_t GemmExactPlan::bits(const FactorPlace& place) const {
    return bits_of(seed_, place);
}

const GemmExactPlan::Side& GemmExactPlan::side_of(GemmPart part) const {
    return is_first(part) ? a_ : b_;
}

// The block that a row has elements in. Rows that share the scales of a tile share the block.
std::int64_t GemmExactPlan::own_block(const Side& side, std::int64_t row) const {
    const std::int64_t length = side.scales.block == 0 ? depth_ : side.scales.block;
    const std::int64_t blocks = (depth_ + length - 1) / length;
    const std::int64_t turn = side.scales.rows > 1 ? row / side.scales.rows : row;
    if (turn == 0) return blocks - 1;
    return (blocks - 1 + turn + static_cast<std::int64_t>(index_ % 65536)) % blocks;
}

// Of a first row always the last, as few rows see it.
std::int64_t GemmExactPlan::hot(const Side& side, std::int64_t row) const {
    if (row % side.batch == 0) return depth_ - 1;
    const auto turn = static_cast<std::int64_t>(index_ % 65536) * side.batch + row;
    return depth_ - 1 - turn % depth_;
}

// One of every so many neighbours; in a first row the last of them, so that the end of K counts.
bool GemmExactPlan::is_chosen(const Side& side, const FactorPlace& place) const {
    if (!side.is_sparse) return true;
    if (kind_ == GemmExactData::one_hot) return place.column == hot(side, place.row);
    std::int64_t first = 0, length = depth_;
    if (is_alone() && side.scales.block != 0) {
        first = own_block(side, place.row) * side.scales.block;
        length = std::min(side.scales.block, depth_ - first);
        if (place.column < first || place.column >= first + length) return false;
    }
    // Those that cancel are chosen in pairs.
    const std::int64_t unit = kind_ == GemmExactData::cancelling ? 2 : 1;
    const std::int64_t units = (length + unit - 1) / unit;
    const std::int64_t chosen = std::max<std::int64_t>(1, products_ / unit);
    const std::int64_t stratum = (units + chosen - 1) / chosen;
    const std::int64_t at = (place.column - first) / unit;
    const std::int64_t begin = at / stratum * stratum;
    const std::int64_t size = std::min(stratum, units - begin);
    const std::uint64_t random = bits({GemmPart::d, place.row, begin});
    const auto offset = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(size));
    return at - begin == (place.row % side.batch == 0 ? size - 1 : offset);
}

// 0 and 1 in turn, from row to row and from batch to batch.
int GemmExactPlan::turn_of(const Side& side, std::int64_t row) {
    return static_cast<int>((row % side.batch + row / side.batch) % 2);
}

// The element where there is one.
Code GemmExactPlan::value(const Side& side, const FactorPlace& place) const {
    const std::uint64_t random = bits(place);
    const bool is_plus = kind_ == GemmExactData::one_hot && side.is_sparse;
    const std::int64_t sign = !is_plus && random >> 63 != 0 ? -1 : 1;
    const bool has_two = side.format.exponent_bits != 0;
    if (kind_ == GemmExactData::counting) return code_of(side.format, 1, -turn_of(side, place.row));
    if (kind_ == GemmExactData::signs || kind_ == GemmExactData::specials) {
        constexpr std::array<std::int64_t, 8> magnitudes{0, 1, 1, 1, 1, 2, 2, 1};
        const std::int64_t magnitude = magnitudes[random % 8];
        return code_of(side.format,
                       sign * (has_two ? magnitude : std::min<std::int64_t>(magnitude, 1)), 0);
    }
    if (a_.has_lowest || b_.has_lowest) {
        const std::int64_t magnitude = has_two ? 1 + static_cast<std::int64_t>(random >> 8) % 3 : 1;
        return code_of(side.format, sign * magnitude, side.has_lowest ? 1 : 0);
    }
    const std::int64_t one = std::int64_t{1} << side.mantissa_bits;
    if (is_plus) return code_of(side.format, 1, 0);
    if (kind_ != GemmExactData::cancelling)
        return code_of(side.format, sign * (one + static_cast<std::int64_t>(random >> 8) % one),
                       -side.mantissa_bits);
    // The second of a pair has the first one's magnitude, now and then another.
    FactorPlace pair = place;
    pair.column &= ~std::int64_t{1};
    const std::uint64_t of_pair = random % 16 == 0 ? random : bits(pair);
    const bool is_second = place.column % 2 != 0;
    const std::int64_t same_sign = bits(pair) >> 63 != 0 ? -1 : 1;
    const std::int64_t turned = side.is_sparse && is_second ? -same_sign : same_sign;
    const std::int64_t magnitude = one + static_cast<std::int64_t>(of_pair >> 8) % one;
    return code_of(side.format, turned * magnitude, -side.mantissa_bits);
}

bool GemmExactPlan::is_special_row(const FactorPlace& place) const {
    return kind_ == GemmExactData::specials && place.row % 5 == 3;
}

Code GemmExactPlan::element(const FactorPlace& place) const {
    const Side& side = side_of(place.part);
    if (is_special_row(place) && place.column == depth_ / 2) {
        if (side.format.has_infinity() && place.row % 2 != 0)
            return Code{side.format.code_infinity()};
        if (side.format.has_nan()) return Code{side.format.code_nan()};
    }
    return is_chosen(side, place) ? value(side, place) : Code{0};
}

// One of both sides takes what the other takes away.
int GemmExactPlan::block_exponent(const Side& side, std::int64_t block) const {
    const std::uint64_t random = bits({GemmPart::scale_out, 0, 0});
    if (!side.has_partner)
        return static_cast<int>((random + static_cast<std::uint64_t>(block)) % 2);
    if (a_.has_lowest || b_.has_lowest) {
        const int high = 98 + static_cast<int>(block % 3);
        return side.has_lowest ? -high : high;
    }
    const ScaleRange a = range_of(a_.scales), b = range_of(b_.scales);
    const int range = is_alone() ? std::min(a.wide, b.wide) : std::min(a.medium, b.medium);
    // As many different ones as there are; none next to 0, where a scale might as well be 1.
    const auto count = static_cast<std::uint64_t>(2 * range + 1);
    const auto turn = (random % count + static_cast<std::uint64_t>(block) % count * 17) % count;
    const int exponent = static_cast<int>(turn) - range;
    const int away = exponent < 0 ? exponent - 2 : exponent + 2;
    return &side == &a_ ? away : -away;
}

int GemmExactPlan::scale_exponent(const Side& side, const FactorPlace& place) const {
    const bool is_a = &side == &a_;
    if (side.scales.scaling == FactorScaling::tensor) {
        const int exponent = static_cast<int>(bits({GemmPart::scale_out, 1, 0}) % 41) - 20;
        return is_a ? exponent : 1 - exponent;
    }
    // Of scales in tiles a row is one of tiles already.
    const std::int64_t sharing = place.row;
    // Where sums count products, rows of A differ as much as its elements do, the same way.
    const bool counts = kind_ == GemmExactData::counting;
    const auto of_batch = static_cast<std::uint64_t>(place.row / side.batch % 2);
    const std::uint64_t of_counted =
        is_a ? 2 - static_cast<std::uint64_t>(turn_of(side, place.row)) : 1 + of_batch;
    const std::uint64_t of_row = counts ? of_counted : bits({place.part, sharing, -1}) % 4;
    const int range_of_row = counts ? 4 : 2;
    if (side.scales.scaling == FactorScaling::row)
        return static_cast<int>(has_addend_ && !counts ? of_row % 2 : of_row);
    if (is_alone() && side.is_sparse &&
        place.column != own_block(side, sharing * std::max<std::int64_t>(1, side.scales.rows)))
        return range_of(side.scales).least;
    if (is_lowest(side, place)) return range_of(side.scales).least;
    return block_exponent(side, place.column) + static_cast<int>(of_row) % range_of_row;
}

Code GemmExactPlan::scale(const FactorPlace& place) const {
    const Side& side = side_of(place.part);
    const ElementFormat& format = side.scales.scale;
    if (is_special_row(place) && side.scales.block != 0 && place.column == 0 && place.row % 3 == 0)
        return Code{format.code_nan()};
    const int exponent = scale_exponent(side, place);
    if (side.scales.scaling != FactorScaling::ue4m3_1x16 || exponent < -6)
        return code_of(format, 1, exponent);
    const auto mantissa = static_cast<std::int64_t>(bits(place) >> 8 & 7);
    return code_of(format, 8 + mantissa, exponent - 3);
}

Code GemmExactPlan::addend(const ElementFormat& format, const FactorPlace& place) const {
    return code_of(format, static_cast<std::int64_t>(bits(place) >> 8 & 7) % 7 - 3, 0);
}

// Small enough for the sums of products of up to 4 under scales of up to 32.
Code GemmExactPlan::scale_out() const {
    const std::int64_t largest = std::min(products_, depth_) * 128;
    int exponent = 1;
    while (largest >> exponent > 256) ++exponent;
    return code_of(formats::f32, 1, -exponent);
}

}  // namespace mx
