// Tests of the data families: pure functions of case and index, and complete where they claim to
// be. The borders of edge.tie and edge.scale are held against the exact oracle in border_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <set>
#include <sstream>

#include "conformance/data/test/case_of.hpp"

namespace mx {
namespace {

// A case for each family, operation that it serves, and input type; formats of eight bits and of
// four, blocks of both ends of their sizes.
std::vector<Case> every_use() {
    struct Kind {
        std::string element, format, blocks;
    };
    std::vector<Case> cases;
    for (const Kind& kind : {Kind{"e5m2", "mxfp8-e4m3", ""}, Kind{"int8", "mxint8", " block=16"},
                             Kind{"e2m1", "mxfp4-e2m1", " axis=tile block=16"}})
        for (const Family& family : families()) {
            std::istringstream operations{std::string(family.operations)};
            for (std::string operation; operations >> operation;)
                for (const std::string_view type : input_types) {
                    const bool converts = operation == "convert";
                    const bool has_blocks = !converts && operation != "encode_scale";
                    cases.push_back(case_of(
                        operation + " format=" + (converts ? kind.element : kind.format) +
                        " dialect=nv " + (operation == "dequantize" ? "output=" : "input=") +
                        std::string(type) + (has_blocks ? kind.blocks : "") +
                        " shape=1x32 seed=5 data=" + std::string(family.name)));
                }
        }
    return cases;
}

bool same(const BlockData& a, const BlockData& b) {
    return a.lanes == b.lanes && a.scale == b.scale;
}

std::uint64_t block_count(const BlockSource& source) {
    return source.size() == 0 ? 1000 : std::min<std::uint64_t>(source.size(), 1000);
}

TEST(Families, EveryOneHasAUse) {
    EXPECT_GT(every_use().size(), 3 * families().size());
}

TEST(Families, ABlockDependsOnCaseAndIndexAlone) {
    for (const Case& c : every_use()) {
        const auto source = open_data(c), again = open_data(c);
        const std::uint64_t count = block_count(*source);
        std::vector<BlockData> forward;
        for (std::uint64_t i = 0; i < count; ++i) forward.push_back(source->block(i));
        for (std::uint64_t i = count; i-- > 0;) {
            ASSERT_TRUE(same(source->block(i), forward[i])) << print(c) << " block " << i;
            ASSERT_TRUE(same(again->block(i), forward[i])) << print(c) << " block " << i;
        }
        if (source->size() == 0) continue;
        for (const std::uint64_t i : {std::uint64_t{0}, count - 1})
            ASSERT_TRUE(same(source->block(i + 3 * source->size()), forward[i])) << print(c);
    }
}

TEST(Families, CodesFitTheirType) {
    for (const Case& c : every_use()) {
        const auto source = open_data(c);
        const bool codes = c.operation == OperationKind::dequantize;
        const ElementFormat& input = codes ? c.format->element() : c.type;
        const std::uint32_t mask =
            input.code_magnitude_mask() |
            (c.operation == OperationKind::encode_scale ? 0 : input.code_sign_mask());
        for (std::uint64_t i = 0; i < block_count(*source); ++i)
            for (const std::uint32_t lane : source->block(i).lanes)
                ASSERT_EQ(lane & ~mask, 0u) << print(c) << " block " << i;
    }
}

TEST(Families, OnlyEndlessOnesHearOfTheSeed) {
    for (Case c : every_use()) {
        const auto source = open_data(c);
        c.seed = 6;
        const auto other = open_data(c);
        if (source->size() == 0)
            EXPECT_FALSE(same(source->block(0), other->block(0))) << print(c);
        else
            EXPECT_EQ(source->size(), other->size()) << print(c);
    }
}

// One list serves cases of other rows, formats and seeds, where the family says so.
TEST(Families, ThatIgnoreRulesGiveTheSameBlocksUnderAny) {
    std::size_t compared = 0;
    for (const Family& family : families()) {
        if (!family.ignores_rules) continue;
        for (const std::string head : {"quantize format=mxfp8-e5m2 dialect=ocp",
                                       "quantize format=mxfp4-e2m1 dialect=aiter-even",
                                       "quantize format=mxint8 dialect=nv seed=3"}) {
            const Case c =
                case_of(head + " input=bf16 shape=1x32 data=" + std::string(family.name));
            const Case other = case_of(
                "quantize format=mxfp8-e4m3 dialect=nv input=bf16 "
                "shape=1x32 data=" +
                std::string(family.name));
            const auto one = family.open(c), another = family.open(other);
            ASSERT_EQ(one->size(), another->size()) << print(c);
            for (std::uint64_t i = 0; i < one->size(); ++i, ++compared)
                ASSERT_TRUE(same(one->block(i), another->block(i))) << print(c) << " block " << i;
        }
    }
    EXPECT_GT(compared, 1000u);
}

// Different families and neighbouring blocks must not repeat each other's numbers.
TEST(Families, RandomBlocksAreDifferent) {
    std::set<std::vector<std::uint32_t>> seen;
    for (const std::string seed : {"0", "1"}) {
        const auto source = open_data(case_of(
            "quantize format=mxfp8-e4m3 shape=1x32 data=random.bits input=f32 seed=" + seed));
        for (std::uint64_t i = 0; i < 500; ++i)
            EXPECT_TRUE(seen.insert(source->block(i).lanes).second) << "block " << i;
        EXPECT_TRUE(seen.insert(source->block(~std::uint64_t{0}).lanes).second);
    }
}

// Blocks of more lanes than the format has codes hold each code more than once.
TEST(CodesAll, HoldsEveryPair) {
    for (const BlockFormat& format : mx_block_formats)
        for (const std::string blocks : {"axis=row block=16", "axis=row", "axis=tile block=32"}) {
            const Case c = case_of("dequantize format=" + std::string(format.name) + " " + blocks +
                                   " shape=1x32 data=codes.all");
            const auto source = open_data(c);
            const std::size_t codes = std::size_t{1} << format.element().code_bits();
            const auto lanes = static_cast<std::size_t>(lanes_of(c));
            EXPECT_EQ(source->size(), 256 * std::max(codes / lanes, std::size_t{1})) << print(c);
            std::vector<bool> seen(256 * codes);
            for (std::uint64_t i = 0; i < source->size(); ++i) {
                const BlockData data = source->block(i);
                for (const std::uint32_t lane : data.lanes) {
                    ASSERT_LT(lane, codes);
                    const std::size_t pair = data.scale * codes + lane;
                    EXPECT_TRUE(!seen[pair] || lanes > codes) << print(c) << " " << pair;
                    seen[pair] = true;
                }
            }
            EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0) << print(c);
        }
}

TEST(CodesRandom, ReachesEveryCodeAndScale) {
    const auto source =
        open_data(case_of("dequantize format=mxfp8-e4m3 shape=1x32 data=codes.random"));
    std::bitset<256> codes, scales;
    for (std::uint64_t i = 0; i < 4096; ++i) {
        const BlockData data = source->block(i);
        scales[data.scale] = true;
        for (const std::uint32_t lane : data.lanes) codes[lane] = true;
    }
    EXPECT_TRUE(codes.all() && scales.all());
}

TEST(AllBits, HoldsEveryCodeOnce) {
    for (const std::string type : {"bf16", "f16"}) {
        const auto source =
            open_data(case_of("convert format=e4m3 shape=1x32 data=all.bits input=" + type));
        std::bitset<65536> seen;
        ASSERT_EQ(source->size(), 2048u);
        for (std::uint64_t i = 0; i < source->size(); ++i)
            for (const std::uint32_t lane : source->block(i).lanes) seen[lane] = true;
        EXPECT_TRUE(seen.all());
    }
}

// An amax has no sign, so there are half as many.
TEST(AllBits, HoldsEveryAmaxOnce) {
    const auto source =
        open_data(case_of("encode_scale format=mxfp8-e4m3 shape=1x32 data=all.bits input=bf16"));
    std::bitset<32768> seen;
    ASSERT_EQ(source->size(), 1024u);
    for (std::uint64_t i = 0; i < source->size(); ++i)
        for (const std::uint32_t lane : source->block(i).lanes) seen[lane] = true;
    EXPECT_TRUE(seen.all());
}

TEST(AllBits, OfF32ReachesBothEnds) {
    const Case c = case_of("convert format=e4m3 shape=1x32 data=all.bits input=f32");
    const auto source = open_data(c);
    ASSERT_EQ(source->size(), std::uint64_t{1} << 27);
    EXPECT_EQ(source->block(0).lanes[1], 1u);
    EXPECT_EQ(source->block(source->size() - 1).lanes[31], 0xFFFFFFFFu);
}

// Sign and exponent field of the first blocks' lanes, and how often.
std::map<std::uint32_t, int> fields_of(const Case& c, std::uint64_t blocks) {
    std::map<std::uint32_t, int> fields;
    const auto source = open_data(c);
    for (std::uint64_t i = 0; i < blocks; ++i)
        for (const std::uint32_t lane : source->block(i).lanes)
            ++fields[lane >> c.type.mantissa_bits];
    return fields;
}

TEST(RandomBits, HasEveryExponentWithBothSigns) {
    for (const std::string type : {"f32", "bf16", "f16"}) {
        const Case c =
            case_of("quantize format=mxfp8-e4m3 shape=1x32 data=random.bits input=" + type);
        EXPECT_EQ(fields_of(c, 512).size(), std::size_t{2} << c.type.exponent_bits);
    }
}

TEST(RandomSubnormal, StaysInTheLowestBinadesWithBothSigns) {
    for (const std::string type : {"f32", "bf16", "f16"}) {
        const Case c =
            case_of("quantize format=mxfp8-e4m3 shape=1x32 data=random.subnormal input=" + type);
        const std::uint32_t sign = 1u << c.type.exponent_bits;
        const auto fields = fields_of(c, 512);
        EXPECT_EQ(fields.size(), 8u);
        for (const std::uint32_t field : {0u, 1u, 2u, 3u, sign, sign + 1, sign + 2, sign + 3})
            EXPECT_TRUE(fields.contains(field)) << field;
    }
}

TEST(RandomSpread, IsFiniteAndSpreadOverManyBinadesWithBothSigns) {
    for (const std::string type : {"f32", "bf16", "f16"}) {
        const Case c =
            case_of("quantize format=mxfp8-e4m3 shape=1x32 data=random.spread input=" + type);
        const std::uint32_t sign = 1u << c.type.exponent_bits;
        int negative = 0, positive = 0;
        for (const auto& [field, count] : fields_of(c, 512)) {
            EXPECT_NE(field & (sign - 1), sign - 1) << "Inf or NaN";
            (field >= sign ? negative : positive) += count;
        }
        EXPECT_GT(negative, 512 * 32 / 3);
        EXPECT_GT(positive, 512 * 32 / 3);
        EXPECT_GE(fields_of(c, 512).size(), 2 * 16u);
    }
}

}  // namespace
}  // namespace mx
