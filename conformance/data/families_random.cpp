// Families whose blocks are computed from their index: random codes and exhaustive counts. Integers
// only, so that every machine makes the same data.
#include <bit>

#include "conformance/data/family.hpp"
#include "conformance/data/philox.hpp"
#include "reference/spec/formats.hpp"

namespace mx {
namespace {

// encode_scale takes an amax, which has no sign.
std::uint32_t lane_mask(const Case& c) {
    const ElementFormat& input = *find_element_format(c.type);
    const std::uint32_t sign = c.operation == "encode_scale" ? 0 : input.code_sign_mask();
    return sign | input.code_magnitude_mask();
}

class CountingSource : public BlockSource {
public:
    explicit CountingSource(std::uint32_t mask)
        : mask_(mask), size_((std::uint64_t{mask} + 1) / block_size) {}
    std::uint64_t size() const override { return size_; }
    BlockData block(std::uint64_t index) const override {
        BlockData data;
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
            data.lanes[lane] = static_cast<std::uint32_t>(index * block_size + lane) & mask_;
        return data;
    }

private:
    std::uint32_t mask_;
    std::uint64_t size_;
};

using Shape = std::uint32_t (*)(const ElementFormat& input, std::uint32_t random,
                                std::uint32_t choice);

// Blocks of lanes that `shape` makes from 32 random bits and a few bits more per block.
class RandomSource : public BlockSource {
public:
    RandomSource(const Case& c, std::uint64_t stream, Shape shape)
        : input_(*find_element_format(c.type)),
          mask_(lane_mask(c)),
          seed_(c.seed),
          stream_(stream),
          shape_(shape) {}
    std::uint64_t size() const override { return 0; }
    BlockData block(std::uint64_t index) const override {
        BlockData data;
        const std::uint32_t choice = philox({seed_, stream_ + 1, index})[0];
        for (std::size_t lane = 0; lane < data.lanes.size(); lane += 4) {
            const PhiloxBlock random = philox({seed_, stream_, index * 8 + lane / 4});
            for (std::size_t i = 0; i < 4; ++i)
                data.lanes[lane + i] = shape_(input_, random[i], choice) & mask_;
        }
        return data;
    }

private:
    ElementFormat input_;
    std::uint32_t mask_;
    std::uint64_t seed_, stream_;
    Shape shape_;
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

class AllCodesSource : public BlockSource {
public:
    std::uint64_t size() const override { return 256 * 256 / block_size; }
    BlockData block(std::uint64_t index) const override {
        BlockData data;
        data.scale = static_cast<std::uint32_t>(index / 8) & 0xFF;
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
            data.lanes[lane] = static_cast<std::uint32_t>(index % 8 * block_size + lane);
        return data;
    }
};

class RandomCodesSource : public BlockSource {
public:
    explicit RandomCodesSource(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t size() const override { return 0; }
    BlockData block(std::uint64_t index) const override {
        BlockData data;
        data.scale = philox({seed_, 11, index})[0] & 0xFF;
        for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
            data.lanes[lane] = philox({seed_, 10, index * 8 + lane / 4})[lane % 4] & 0xFF;
        return data;
    }

private:
    std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<BlockSource> open_all_bits(const Case& c) {
    return std::make_unique<CountingSource>(lane_mask(c));
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
std::unique_ptr<BlockSource> open_codes_all(const Case&) {
    return std::make_unique<AllCodesSource>();
}
std::unique_ptr<BlockSource> open_codes_random(const Case& c) {
    return std::make_unique<RandomCodesSource>(c.seed);
}

}  // namespace mx
