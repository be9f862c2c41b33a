// The MX GEMMs that a device is asked on a GPU, without a GPU: which model answers, and could what
// is asked have shown a wrong one? Some outputs are worked out here by the model and by others.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "conformance/sweep/gemm_sweeps.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

constexpr const char* ways[] = {"wgmma", "slices-of-32", "dequantised-bf16"};

const GemmModel& model_of(const DrawnGemm& s, const std::string& way) {
    return gemm_models[modelled(s, way, 90).value().model];
}

TEST(MxGemmFamilies, CoverTypesScalesAndDepths) {
    std::set<std::string> names;
    for (const GemmFamily& family : mx_gemm_families(GemmEffort::full)) {
        EXPECT_TRUE(names.insert(family.name).second) << family.name;
        std::set<std::uint32_t> binades;
        std::set<std::int64_t> depths;
        std::set<std::int64_t> columns;
        for (const DrawnGemm& s : family.gemms) {
            binades.insert(s.draw.scale_binades);
            depths.insert(s.gemm.k);
            columns.insert(s.gemm.n);
        }
        EXPECT_TRUE(columns.contains(16800)) << family.name;  // another kernel may do these
        EXPECT_EQ(binades, (std::set<std::uint32_t>{8, 60, 255}));
        EXPECT_TRUE(depths.contains(16) && depths.contains(32768)) << family.name;
    }
    EXPECT_EQ(names.size(), 8u);
    EXPECT_TRUE(names.contains("gemm mxfp8-e5m2 x mxfp8-e4m3 to bf16"));
}

TEST(MxGemmModelled, EveryWayHasItsRow) {
    DrawnGemm s{{.a = {formats::e4m3, FactorScaling::e8m0_1x32},
                 .b = {formats::e5m2, FactorScaling::e8m0_1x32},
                 .m = 16,
                 .n = 16,
                 .k = 64},
                {}};
    EXPECT_EQ(model_of(s, "wgmma").name, "hopper-mx-wgmma");
    EXPECT_EQ(model_of(s, "slices-of-32").name, "hopper-mx-slices");
    EXPECT_EQ(model_of(s, "dequantised-bf16").name, "hopper-mx-bf16");
    EXPECT_FALSE(modelled(s, "another", 90));
    EXPECT_FALSE(modelled(s, "", 90)) << "the device's own choice says nothing of its arithmetic";
    EXPECT_FALSE(modelled(s, "wgmma", 100));
    s.gemm.b.scaling = FactorScaling::tensor;
    EXPECT_FALSE(modelled(s, "wgmma", 90));
}

CodeRow row_of(const DrawnGemm& s, GemmPart part, std::uint64_t row) {
    const auto tensor = static_cast<std::uint32_t>(part);
    const auto depth = static_cast<std::uint64_t>(s.gemm.k);
    CodeRow codes{(part == GemmPart::a ? s.gemm.a : s.gemm.b).element, {}};
    codes.block = 32;
    for (std::uint64_t k = 0; k < depth; ++k)
        codes.codes.push_back(
            gemm_code(s.draw.data, codes.element, {s.draw.seed, tensor, row, k}).bits);
    for (std::uint64_t k = 0; k < (depth + 31) / 32; ++k)
        codes.scales.push_back(gemm_number(s.draw.data, codes.scale,
                                           {s.draw.seed, tensor + 1, row, k}, s.draw.scale_binades)
                                   .bits);
    return codes;
}

struct WrongModel {
    const char* name;
    std::function<void(GemmModel&)> spoil;
    std::set<std::string> spares = {};  // ways that it does not change
};
const WrongModel wrong_models[] = {
    {"zeros counted", [](GemmModel& m) { m.zero_products = ZeroProducts::counted; }},
    {"a bit less", [](GemmModel& m) { --m.fraction_bits; }},
    {"a bit more", [](GemmModel& m) { ++m.fraction_bits; }},
    {"half a step", [](GemmModel& m) { m.products /= 2; }},
    {"steps to nearest", [](GemmModel& m) { m.rounding = Rounding::nearest_even; }},
    {"promoted twice as often", [](GemmModel& m) { m.products = m.promotion = 16; }},
    {"promoted half as often", [](GemmModel& m) { m.promotion = 64; }},
    {"A's scale first", [](GemmModel& m) { m.scaling = BlockScaling::promoted_a_first; }},
    {"the scales' product",
     [](GemmModel& m) { m.scaling = BlockScaling::promoted_product; },
     {"wgmma"}},
    {"scales in turn",
     [](GemmModel& m) { m.scaling = BlockScaling::promoted_in_turn; },
     {"slices-of-32"}},
    {"exact scales", [](GemmModel& m) { m.scaling = BlockScaling::product_exponent; }},
    // Of bfloat16 it changes sums below 2^-133, too rare to be among those looked at here.
    {"no floor",
     [](GemmModel& m) { m.exponent_floor = -all_bits; },
     {"wgmma", "slices-of-32", "dequantised-bf16"}},
};

// Outputs of one family that a wrong model changes, by its name.
std::map<std::string, int> seen_in(const GemmFamily& family, const std::string& way) {
    std::map<std::string, int> seen;
    for (const DrawnGemm& s : family.gemms) {
        if (s.gemm.k > 1024 || s.gemm.m < 200 || s.gemm.alpha != 0x3F800000 || s.gemm.beta != 0)
            continue;
        const GemmModelled right = modelled(s, way, 90).value();
        for (std::uint64_t i = 0; i < 16; ++i) {
            const CodeRow a = row_of(s, GemmPart::a, i / 4), b = row_of(s, GemmPart::b, i % 4);
            const auto bits_by = [&](const GemmModel& model) {
                return fast::finish(right.epilogue, {},
                                    fast::accumulate(model, a.row(), b.row(), s.gemm.k, {}))
                    .bits;
            };
            const std::uint32_t expected = bits_by(gemm_models[right.model]);
            for (const WrongModel& wrong : wrong_models) {
                GemmModel model = gemm_models[right.model];
                wrong.spoil(model);
                seen[wrong.name] += bits_by(model) != expected;
            }
        }
    }
    return seen;
}

TEST(MxGemmPower, EveryWrongModelIsSeenInBinary32) {
    for (const GemmFamily& family : mx_gemm_families(GemmEffort::quick)) {
        if (family.name != "gemm mxfp8-e5m2 x mxfp8-e4m3 to f32") continue;
        for (const std::string way : ways) {
            const auto seen = seen_in(family, way);
            for (const WrongModel& wrong : wrong_models)
                EXPECT_EQ(seen.at(wrong.name) > 0, !wrong.spares.contains(way))
                    << way << ": " << wrong.name << ", " << seen.at(wrong.name);
        }
    }
}

}  // namespace
}  // namespace mx::sweep
