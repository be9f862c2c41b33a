// See probes.hpp.
#include "conformance/identify/probes.hpp"

#include <set>

#include "conformance/data/philox.hpp"
#include "reference/exact/preimage.hpp"
#include "reference/exact/round.hpp"
#include "reference/fast/block.hpp"

namespace mx::identify {
namespace {

std::uint32_t power(const ElementFormat& input, int exponent) {
    return static_cast<std::uint32_t>(exponent + input.exponent_bias) << input.mantissa_bits;
}

struct Range {
    std::uint32_t first, last;
};

// Both sides of every change of scale within a range of amax codes.
void add_borders(std::set<std::uint32_t>& codes, const Setting& setting, const Quantizer& dialect,
                 Range range) {
    const auto scale = [&](std::uint32_t bits) {
        const fast::Unpacked amax = fast::read_input(dialect.subnormals, setting.input, Code{bits});
        return fast::encode_scale(dialect, setting.format, amax).bits;
    };
    for (const exact::Run& run : exact::runs_of(range.first, range.last, scale)) {
        codes.insert(run.first);
        codes.insert(run.last);
    }
}

Pool pool_of(const std::set<std::uint32_t>& amaxes) {
    Pool pool;
    for (const std::uint32_t amax : amaxes) pool.push_back(block_of_amax(amax));
    return pool;
}

Pool amaxes_in(const Setting& setting, std::span<const Quantizer> hypotheses, Range range) {
    std::set<std::uint32_t> codes{range.first, range.last};
    for (const Quantizer& dialect : hypotheses) add_borders(codes, setting, dialect, range);
    return pool_of(codes);
}

// Below this exponent ratios may be subnormal, or raised by a least amax; above the other, scales
// may leave the range.
int ordinary_exponent_min(const ElementFormat& input) {
    return std::max(-8, input.exponent_min() + 2);
}
int ordinary_exponent_max(const ElementFormat& input) {
    return std::min(100, input.exponent_max() - 1);
}

std::uint32_t input_code_of(const ElementFormat& input, const exact::Rational& magnitude) {
    return exact::round(input, Rounding::toward_zero, Overflow::saturate,
                        {exact::Value::Kind::finite, false, magnitude})
        .bits;
}

// The ties between neighbouring element codes, in units of the scale: the first few, some in the
// middle, the last, and the one beyond the largest code.
std::vector<exact::Rational> ties(const ElementFormat& element) {
    const std::uint32_t largest = element.code_max_finite();
    std::set<std::uint32_t> below;
    for (const std::uint32_t code : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 20u, 21u})
        if (code <= largest) below.insert(code);
    for (const std::uint32_t back : {0u, 1u, 2u, 3u})
        if (back <= largest) below.insert(largest - back);
    std::vector<exact::Rational> middles;
    for (const std::uint32_t code : below)
        middles.push_back(
            (exact::magnitude_of(element, code) + exact::magnitude_of(element, code + 1)) / 2);
    return middles;
}

// Fills blocks with the codes, each block's lane 0 holding the amax.
void add_filled(Pool& pool, std::uint32_t amax, const std::vector<std::uint32_t>& codes) {
    for (std::size_t next = 0; next < codes.size();) {
        Lanes block{};
        block[0] = amax;
        for (std::size_t lane = 1; lane < lane_count && next < codes.size(); ++lane)
            block[lane] = codes[next++];
        pool.push_back(block);
    }
}

// The element borders under the scale of an amax near 2^exponent: the largest amax of that scale
// stands in the block, so that values beyond the largest element fit.
void add_ties(Pool& pool, const Setting& setting, const Quantizer& known, int exponent) {
    const ElementFormat& input = setting.input;
    const auto scale_of = [&](std::uint32_t bits) {
        return fast::encode_scale(known, setting.format, fast::unpack(input, Code{bits})).bits;
    };
    const std::uint32_t start = power(input, exponent);
    const std::uint32_t amax = static_cast<std::uint32_t>(
        exact::end_of_run({start, scale_of(start), input.code_max_finite(), start}, scale_of));
    const Code scale{scale_of(start)};
    if (setting.format.scale().is_nan(scale)) return;
    const exact::Rational factor = exact::decode(setting.format.scale(), scale).magnitude;
    std::vector<std::uint32_t> codes{0, input.code_sign_mask(), amax | input.code_sign_mask()};
    for (const exact::Rational& tie : ties(setting.format.element())) {
        const std::uint32_t code = input_code_of(input, tie * factor);
        for (const std::uint32_t near : {code == 0 ? 0 : code - 1, code, code + 1})
            for (const std::uint32_t sign : {0u, input.code_sign_mask()})
                if (near <= amax) codes.push_back(near | sign);
    }
    add_filled(pool, amax, codes);
}

// An amax and what lies below it, falling by one binade a lane with changing mantissas and signs:
// down to subnormals and zero.
Lanes ladder(const ElementFormat& input, std::uint32_t amax) {
    Lanes block{};
    const std::uint32_t binade = std::uint32_t{1} << input.mantissa_bits;
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
        const std::uint32_t drop = lane * binade;
        const std::uint32_t sign = lane % 2 == 0 ? 0 : input.code_sign_mask();
        const std::uint32_t small = (amax & input.code_mantissa_mask()) >> (lane % 24);
        block[lane] = sign | (amax > drop ? amax - drop : small);
    }
    return block;
}

}  // namespace

Lanes block_of_amax(std::uint32_t code) {
    Lanes block{};
    block[0] = code;
    return block;
}

Pool ordinary_amaxes(const Setting& setting, std::span<const Quantizer> hypotheses) {
    std::set<std::uint32_t> codes;
    const int last = ordinary_exponent_max(setting.input);
    for (const int exponent : {ordinary_exponent_min(setting.input), -1, 0, 1, 8, 40, 63, last}) {
        if (exponent > last) continue;
        const std::uint32_t first = power(setting.input, exponent);
        for (const Quantizer& dialect : hypotheses)
            add_borders(codes, setting, dialect,
                        {first, first | setting.input.code_mantissa_mask()});
    }
    return pool_of(codes);
}

Pool tiny_amaxes(const Setting& setting, std::span<const Quantizer> hypotheses) {
    return amaxes_in(setting, hypotheses,
                     {0, power(setting.input, ordinary_exponent_min(setting.input))});
}

Pool huge_amaxes(const Setting& setting, std::span<const Quantizer> hypotheses) {
    return amaxes_in(setting, hypotheses,
                     {power(setting.input, ordinary_exponent_max(setting.input)),
                      setting.input.code_max_finite()});
}

Pool special_blocks(const Setting& setting) {
    const ElementFormat& input = setting.input;
    const std::uint32_t quiet = input.code_infinity() | (1u << (input.mantissa_bits - 1));
    Pool pool;
    for (const std::uint32_t magnitude : {quiet, input.code_infinity()})
        for (const std::uint32_t sign : {0u, input.code_sign_mask()})
            for (const std::uint32_t rest : {0u, power(input, 0), power(input, 6)}) {
                Lanes block{};
                block.fill(rest);
                block[5] = magnitude | sign;
                block[6] = rest | input.code_sign_mask();
                pool.push_back(block);
            }
    for (const std::uint32_t code : {quiet, input.code_infinity()}) {
        Lanes block{};
        block.fill(code);
        pool.push_back(block);
    }
    Lanes both{};
    both.fill(power(input, 0));
    both[3] = quiet;
    both[20] = input.code_infinity();
    pool.push_back(both);
    return pool;
}

Pool element_blocks(const Setting& setting, const Quantizer& known) {
    Pool pool;
    add_ties(pool, setting, known, 0);
    add_ties(pool, setting, known, 5);
    for (const Lanes& block : special_blocks(setting)) pool.push_back(block);
    const ElementFormat& input = setting.input;
    for (const std::uint32_t mantissa : {0u, input.code_mantissa_mask(), 3u})
        for (const int exponent :
             {0, -100, -112, -118, -120, -124, input.exponent_min() + 1, input.exponent_min()})
            if (exponent >= input.exponent_min())
                pool.push_back(ladder(input, power(input, exponent) | mantissa));
    pool.push_back(ladder(input, input.code_mantissa_mask()));
    return pool;
}

Pool unseen_blocks(const Setting& setting) {
    const ElementFormat& input = setting.input;
    Pool pool;
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
        Lanes block{};
        for (std::uint32_t other = 0; other < lane_count; ++other)
            block[other] = power(input, -1 - static_cast<int>(other % 5)) + other * 3;
        const std::uint32_t sign = lane % 2 == 0 ? 0 : input.code_sign_mask();
        block[lane] = sign | (power(input, static_cast<int>(lane % 9)) + lane);
        pool.push_back(block);
    }
    for (std::uint64_t row = 0; row < 32; ++row) {
        Lanes block{};
        for (std::uint64_t lane = 0; lane < lane_count; ++lane) {
            const std::uint32_t random = philox({3, 21, row * 8 + lane / 4})[lane % 4];
            const int exponent = static_cast<int>(random % 12) - static_cast<int>(row % 8);
            const std::uint32_t sign = random >> 31 != 0 ? input.code_sign_mask() : 0;
            block[lane] =
                sign | power(input, exponent) | (random >> 4 & input.code_mantissa_mask());
        }
        pool.push_back(block);
    }
    return pool;
}

}  // namespace mx::identify
