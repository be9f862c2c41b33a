// Families whose blocks are computed from their index: random codes and exhaustive counts. Integers
// only, so that every machine makes the same data.
#include <bit>

#include "conformance/data/family.hpp"
#include "conformance/data/philox.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

// encode_scale takes an amax, which has no sign.
std::uint32_t lane_mask(const Case& c) {
    const ElementFormat& input = c.type;
    const bool has_signs = c.operation != OperationKind::encode_scale;
    const std::uint32_t sign = has_signs ? input.code_sign_mask() : 0;
    return sign | input.code_magnitude_mask();
}

class CountingSource : public BlockSource {
public:
    explicit CountingSource(const Case& c) : zeros_(block_of_zeros(c)), mask_(lane_mask(c)) {}
    std::uint64_t size() const override { return (std::uint64_t{mask_} + 1) / zeros_.lanes.size(); }
    BlockData block(std::uint64_t index) const override {
        BlockData data = zeros_;
        const std::uint64_t first = index * data.lanes.size();
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
            data.lanes[lane] = static_cast<std::uint32_t>(first + lane) & mask_;
        return data;
    }

private:
    BlockData zeros_;
    std::uint32_t mask_;
};

using Shaping = std::uint32_t (*)(const ElementFormat& input, std::uint32_t random,
                                  std::uint32_t choice);

// Blocks of lanes that `shape` makes from 32 random bits and a few bits more per block.
class RandomSource : public BlockSource {
public:
    RandomSource(const Case& c, std::uint64_t stream, Shaping shape)
        : zeros_(block_of_zeros(c)),
          input_(c.type),
          mask_(lane_mask(c)),
          seed_(c.seed),
          stream_(stream),
          shape_(shape) {}
    std::uint64_t size() const override { return 0; }
    BlockData block(std::uint64_t index) const override {
        BlockData data = zeros_;
        const std::size_t lanes = data.lanes.size();
        const std::uint32_t choice = philox({seed_, stream_ + 1, index})[0];
        for (std::size_t lane = 0; lane < lanes; lane += 4) {
            const PhiloxBlock random = philox({seed_, stream_, (index * lanes + lane) / 4});
            for (std::size_t i = 0; i < 4 && lane + i < lanes; ++i)
                data.lanes[lane + i] = shape_(input_, random[i], choice) & mask_;
        }
        return data;
    }

private:
    BlockData zeros_;
    ElementFormat input_;
    std::uint32_t mask_;
    std::uint64_t seed_, stream_;
    Shaping shape_;
};

std::uint32_t any_bits(const ElementFormat&, std::uint32_t random, std::uint32_t) {
    return random;
}

// Mantissa and sign from the top bits; the exponent falls off by halves below a level that the
// block chooses within 16 binades of one: about what activations look like.
std::uint32_t spread_bits(const ElementFormat& input, std::uint32_t random, std::uint32_t choice) {
    const std::uint32_t kept = random >> (32 - input.mantissa_bits - input.sign_bits);
    const std::uint32_t sign = (kept >> input.mantissa_bits) != 0 ? input.code_sign_mask() : 0;
    const std::uint32_t fall = static_cast<std::uint32_t>(std::countr_zero(random | 0x80u));
    const std::uint32_t level = static_cast<std::uint32_t>(input.exponent_bias) - 8 + choice % 16;
    return sign | ((level - fall) << input.mantissa_bits) | (kept & input.code_mantissa_mask());
}

// Exponent fields 0 to 3 of the input type.
std::uint32_t subnormal_bits(const ElementFormat& input, std::uint32_t random,
                             std::uint32_t choice) {
    const std::uint32_t field = choice % 4 == 3 ? random >> 28 & 3 : 0;
    const std::uint32_t sign = random >> 31 != 0 ? input.code_sign_mask() : 0;
    return sign | field << input.mantissa_bits | (random & input.code_mantissa_mask());
}

// Scales of any format by number: of a byte every code; of binary32 each exponent field, with other
// mantissas, and from 256 on the codes of zero and NaN.
class Scales {
public:
    explicit Scales(const Case& c) : format_(scale_format_of(c)), seed_(c.seed) {}
    std::uint32_t at(std::uint32_t number) const {
        if (format_.code_bytes() == 1) return number & format_.code_magnitude_mask();
        const std::uint32_t field = number & 0xFF;
        const bool is_other = number > 0xFF;
        if (field == 0xFF) return format_.code_infinity() | (is_other ? 1 : 0);
        const std::uint32_t mantissa = philox({seed_, 14, number})[0] >> 9;
        return field << format_.mantissa_bits | (field == 0 && is_other ? 0 : mantissa);
    }

private:
    ElementFormat format_;
    std::uint64_t seed_;
};

class AllCodesSource : public BlockSource {
public:
    explicit AllCodesSource(const Case& c)
        : zeros_(block_of_zeros(c)),
          scales_(c),
          codes_(std::uint64_t{1} << element_format_of(c).code_bits()),
          blocks_of_a_scale_((codes_ + zeros_.lanes.size() - 1) / zeros_.lanes.size()) {}
    std::uint64_t size() const override { return 256 * blocks_of_a_scale_; }
    BlockData block(std::uint64_t index) const override {
        BlockData data = zeros_;
        data.scale = scales_.at(static_cast<std::uint32_t>(index / blocks_of_a_scale_) & 0xFF);
        const std::uint64_t first = index % blocks_of_a_scale_ * data.lanes.size();
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
            data.lanes[lane] = static_cast<std::uint32_t>((first + lane) % codes_);
        return data;
    }

private:
    BlockData zeros_;
    Scales scales_;
    std::uint64_t codes_;
    std::uint64_t blocks_of_a_scale_;
};

class RandomCodesSource : public BlockSource {
public:
    explicit RandomCodesSource(const Case& c)
        : zeros_(block_of_zeros(c)),
          scales_(c),
          mask_((std::uint32_t{1} << element_format_of(c).code_bits()) - 1),
          seed_(c.seed) {}
    std::uint64_t size() const override { return 0; }
    BlockData block(std::uint64_t index) const override {
        BlockData data = zeros_;
        data.scale = scales_.at(philox({seed_, 11, index})[0] & 0x1FF);
        const std::size_t lanes = data.lanes.size();
        for (std::size_t lane = 0; lane < lanes; lane += 4) {
            const PhiloxBlock random = philox({seed_, 10, (index * lanes + lane) / 4});
            for (std::size_t i = 0; i < 4 && lane + i < lanes; ++i)
                data.lanes[lane + i] = random[i] & mask_;
        }
        return data;
    }

private:
    BlockData zeros_;
    Scales scales_;
    std::uint32_t mask_;
    std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<BlockSource> open_all_bits(const Case& c) {
    return std::make_unique<CountingSource>(c);
}
std::unique_ptr<BlockSource> open_random_bits(const Case& c) {
    return std::make_unique<RandomSource>(c, 2, any_bits);
}
std::unique_ptr<BlockSource> open_random_spread(const Case& c) {
    return std::make_unique<RandomSource>(c, 4, spread_bits);
}
std::unique_ptr<BlockSource> open_random_subnormal(const Case& c) {
    return std::make_unique<RandomSource>(c, 6, subnormal_bits);
}
std::unique_ptr<BlockSource> open_codes_all(const Case& c) {
    return std::make_unique<AllCodesSource>(c);
}
std::unique_ptr<BlockSource> open_codes_random(const Case& c) {
    return std::make_unique<RandomCodesSource>(c);
}

}  // namespace mx
