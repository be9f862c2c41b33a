// The exact oracle is asked about every element of cases of every kind: a device that is wrong
// everywhere must be told so, and never that the oracles disagree.
#include "conformance/run/runner.hpp"
#include "conformance/run/test/evidence_of.hpp"

namespace mx {
namespace {

void expect_confirmed(const std::string& text) {
    const Evidence e = wrong_everywhere(text);
    const Classified result = classified(e, ~std::uint64_t{0});
    EXPECT_EQ(result.disagreement, "") << text;
    std::uint64_t wrong = 0;
    for (const CodeTensor& output : e.expected) wrong += output.count();
    // Two NaN values of dequantized output agree.
    if (e.c.operation != OperationKind::dequantize) {
        EXPECT_EQ(result.elements + result.scales, wrong) << text;
    }
}

TEST(Confirm, ConvertInEveryRounding) {
    for (const std::string element : {"e4m3", "e5m2", "e2m3", "e2m1", "int8", "int8-symmetric"})
        for (const auto& [name, rounding] : roundings) {
            if (rounding == Rounding::stochastic) continue;
            for (const std::string data : {"edge.special", "edge.tie"})
                expect_confirmed("convert format=" + element + " rounding=" + std::string(name) +
                                 " overflow=overflow shape=8x32 index=9 data=" + data);
        }
}

TEST(Confirm, ConvertByRandomBits) {
    for (const std::string element : {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8"})
        for (const StochasticForm& form : stochastic_forms) {
            const std::string text = "convert format=" + element +
                                     " rounding=" + std::string(form.name) +
                                     " shape=7x37 data=random.spread";
            if (parse_case(text)) expect_confirmed(text);
        }
}

TEST(Confirm, ConvertInEveryRuleForSubnormals) {
    for (const std::string element : {"e5m2", "e2m1", "int8"})
        for (const std::string type : {"f32", "bf16", "f16"})
            for (const auto& [name, rule] : subnormal_rules)
                for (const std::string data : {"edge.special", "edge.tie"})
                    expect_confirmed("convert format=" + element + " input=" + type +
                                     " subnormals=" + std::string(name) +
                                     " shape=16x32 data=" + data);
}

TEST(Confirm, CastsToAScaleInEveryDialect) {
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const std::string_view type : input_types)
            if (dialect.reads(type))
                for (const std::string data : {"edge.special", "edge.tie", "random.subnormal"})
                    expect_confirmed("convert format=e8m0 dialect=" + std::string(dialect.name) +
                                     " input=" + std::string(type) + " shape=8x32 data=" + data);
}

TEST(Confirm, EveryFormatInEveryDialectBlockByBlock) {
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const BlockFormat& format : mx_block_formats) {
            if (!dialect.is_known() || !dialect.quantizes(format)) continue;
            const std::string names =
                " format=" + std::string(format.name) + " dialect=" + std::string(dialect.name);
            const std::string type = dialect.reads("f32") ? "f32" : "bf16";
            for (const std::string data : {"edge.special", "edge.amax"})
                expect_confirmed("quantize" + names + " input=" + type +
                                 " shape=2x32 index=40 data=" + data);
            expect_confirmed("encode_scale" + names + " input=" + type +
                             " shape=1x32 index=100 data=edge.amax");
        }
}

TEST(Confirm, BlocksOfEverySizeAndShape) {
    for (const std::string axis : {"row", "col", "tile"})
        for (const std::string block : {"16", "32", "64"}) {
            const std::string tail = " axis=" + axis + " block=" + block + " shape=37x70 data=";
            expect_confirmed("quantize format=mxfp6-e3m2" + tail + "random.spread");
            expect_confirmed("dequantize format=mxint8" + tail + "codes.random");
        }
}

TEST(Confirm, ADisagreementIsToldWhereOneIs) {
    Evidence e = wrong_everywhere("convert format=e2m1 shape=1x32 data=edge.special");
    e.expected[0].set(3, e.expected[0].at(3) ^ 2);
    EXPECT_NE(classified(e).disagreement, "");
}

// Every lane of a tile has its place in the map, in the record's 32 columns.
TEST(HeatMap, HoldsTheLanesOfLargeBlocksInEqualShares) {
    struct Row {
        std::string blocks, shape;
        std::uint64_t in_each, columns;
    };
    for (const Row& row :
         {Row{"axis=row block=16", "2x16", 2, 16}, Row{"axis=row block=32", "1x32", 1, 32},
          Row{"axis=col block=64", "64x1", 2, 32}, Row{"axis=tile block=16", "16x16", 8, 32},
          Row{"axis=tile block=64", "64x64", 128, 32}}) {
        Evidence e = wrong_everywhere("quantize format=mxfp8-e4m3 " + row.blocks +
                                      " shape=" + row.shape + " data=random.spread");
        e.actual[1] = e.expected[1];
        std::vector<std::uint64_t> lanes(32);
        for (const results::Mismatch& m : classified(e).mismatches)
            for (std::size_t i = 0; i < m.lanes.size(); ++i) lanes.at(i) += m.lanes[i];
        for (std::size_t i = 0; i < lanes.size(); ++i)
            EXPECT_EQ(lanes[i], i < row.columns ? row.in_each : 0) << row.blocks << " " << i;
    }
}

// The block alone has the inputs it had in the whole tensor, for tiles that are cut off too.
TEST(SingleBlock, OfATileHasTheSameInputs) {
    for (const std::string block : {"16", "32"}) {
        const Case c = parse_case("quantize format=mxfp8-e4m3 axis=tile block=" + block +
                                  " shape=37x70 data=random.bits index=5")
                           .value();
        Sources sources;
        const auto source = sources.open(c).value();
        const CodeTensor whole = make_inputs(c, *source)[0];
        const BlockGrid grid = block_grid(c);
        for (std::int64_t b = 0; b < grid.count(); ++b) {
            const Case narrow = single_block(c, b);
            EXPECT_EQ(block_grid(narrow).count(), 1);
            const CodeTensor alone = make_inputs(narrow, *source)[0];
            const BlockPlace place = place_of(blocking_of(c), b);
            ASSERT_EQ(alone.count(), static_cast<std::size_t>(place.count));
            for (int lane = 0; lane < place.count; ++lane)
                ASSERT_EQ(alone.at(static_cast<std::size_t>(lane)), whole.at(place.element(lane)))
                    << print(narrow);
        }
    }
}

}  // namespace
}  // namespace mx
