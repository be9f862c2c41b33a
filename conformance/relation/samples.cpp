// What relations are asked with: blocks of every kind of number, from a seed alone.
#include <algorithm>
#include <array>

#include "conformance/relation/relation.hpp"
#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

std::uint32_t special(const ElementFormat& type, Random& random) {
    const std::uint32_t infinity = type.code_infinity(), hidden = type.code_mantissa_mask() + 1;
    const std::uint32_t nan = infinity | std::max(random.bits() & (hidden - 1), 1u);
    const std::array<std::uint32_t, 8> codes{0,  0, 1, hidden - 1, hidden, infinity, infinity - 1,
                                             nan};
    return codes[random.below(codes.size())];
}

// Numbers of a mantissa of few bits lie on ties, those of one that ends in many equal bits beside
// them.
std::uint32_t mantissa(const ElementFormat& type, Random& random) {
    const std::uint32_t mask = type.code_mantissa_mask();
    const auto length = random.once_in(2)
                            ? 1 + random.below(4)
                            : random.below(static_cast<std::uint64_t>(type.mantissa_bits));
    const auto unused = static_cast<std::uint64_t>(type.mantissa_bits) - length;
    const std::uint32_t few = random.bits() & mask & ~std::uint32_t{0} << unused;
    const auto manner = random.below(5);
    if (manner == 0) return random.bits() & mask;
    if (manner == 1) return mask - (random.once_in(2) ? 1 : 0);
    if (manner == 2) return few;
    return (few + static_cast<std::uint32_t>(random.below(3)) - 1) & mask;
}

// The binades of one row of a tensor.
struct Level {
    std::int64_t top;    // exponent field of the largest
    std::int64_t depth;  // binades below it
};

Level draw_level(const ElementFormat& type, Data data, Random& random) {
    const std::int64_t last = (type.code_infinity() >> type.mantissa_bits) - 1;
    if (data == Data::any)
        return {static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last))) + 1,
                1 + static_cast<std::int64_t>(random.below(16))};
    const std::int64_t depth = type.exponent_bits == 8 ? 10 : 4;
    if (data == Data::ordinary)
        return {type.exponent_bias + static_cast<std::int64_t>(random.below(8)) - 3, depth};
    const std::int64_t span = type.exponent_bits == 8 ? 80 : 10;
    return {type.exponent_bias - span / 2 +
                static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span))),
            depth};
}

std::uint32_t number(const ElementFormat& type, Data data, const Level& level, Random& random) {
    const std::uint32_t sign = random.once_in(2) ? type.code_sign_mask() : 0;
    if (data == Data::numbers && random.once_in(24)) return sign;
    if (data == Data::any && random.once_in(48)) return sign | special(type, random);
    const std::int64_t below =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(level.depth)));
    const std::int64_t lowest = data == Data::any ? 0 : 1;
    const auto field = static_cast<std::uint32_t>(std::max(level.top - below, lowest));
    return sign | field << type.mantissa_bits | mantissa(type, random);
}

CodeTensor make_values(const ElementFormat& type, Data data, std::int64_t block, Random& random) {
    CodeTensor tensor = make_tensor(type.name, block + 5, 2 * block + 5);
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const bool is_any_bits = data == Data::any && random.once_in(4);
        Level level = draw_level(type, data, random);
        for (std::int64_t column = 0; column < tensor.columns; ++column) {
            if (column % block == 0) level = draw_level(type, data, random);
            const auto at = static_cast<std::size_t>(row * tensor.columns + column);
            tensor.set(at, is_any_bits ? random.bits() : number(type, data, level, random));
        }
    }
    return tensor;
}

Sample make_codes(const Setting& setting, Sample sample, Random& random) {
    sample.values = make_tensor(setting.elements, setting.block + 5, 2 * setting.block + 5);
    for (std::size_t i = 0; i < sample.values.count(); ++i)
        sample.values.set(i, random.low_bits(code_bits(setting.elements)));
    sample.scales = make_tensor(setting.scales, sample.values.rows, 3);
    const std::uint32_t mask = ~std::uint32_t{0} >> (32 - std::max(8, code_bits(setting.scales)));
    constexpr std::array<std::uint32_t, 8> ends{0, 1, 2, 126, 127, 253, 254, 255};
    for (std::size_t i = 0; i < sample.scales.count(); ++i)
        sample.scales.set(
            i, random.once_in(4) ? ends[random.below(ends.size())] : random.bits() & mask);
    return sample;
}

}  // namespace

Sample make_sample(const Relation& relation, const Setting& setting, std::uint64_t seed) {
    Random random(seed);
    Sample sample{.seed = seed};
    if (relation.operation == "gemm") {
        // A last block that is short, too.
        sample.extents.k = 160 + (random.once_in(2) ? 8 : 0);
        return sample;
    }
    if (relation.operation == "dequantize") return make_codes(setting, sample, random);
    sample.values =
        make_values(*find_element_format(setting.values), relation.data, setting.block, random);
    return sample;
}

std::span<const Relation> relations() {
    static const std::vector<Relation> all = [] {
        std::vector<Relation> rows;
        for (const auto part :
             {quantize_place_relations(), quantize_number_relations(), dequantize_relations(),
              gemm_place_relations(), gemm_number_relations()})
            rows.insert(rows.end(), part.begin(), part.end());
        return rows;
    }();
    return all;
}

const Relation* find_relation(std::string_view operation, std::string_view name) {
    for (const Relation& relation : relations())
        if (relation.operation == operation && relation.name == name) return &relation;
    return nullptr;
}

}  // namespace mx::relation
