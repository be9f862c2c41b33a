// Where dialects part and why, and that a disagreement between the oracles is seen.
#include "conformance/emulate/answers.hpp"

#include <gtest/gtest.h>

#include "reference/spec/quantizers.hpp"

namespace mx::emulate {
namespace {

using Sets = std::vector<FieldNames>;

Sets partings(const std::string& values, const std::string& here, const std::string& there) {
    const auto target = target_of_values({values, "mxfp8-e4m3", here, "f32"});
    EXPECT_TRUE(target.ok());
    return parting_fields(target.value(), {*find_quantizer(here), *find_quantizer(there)});
}

TEST(PartingFields, NameTheDecision) {
    EXPECT_EQ(partings("480", "ocp", "nv"), Sets{{"scale_rounding"}});
    EXPECT_EQ(partings("1,inf", "ocp", "nv"), Sets{{"scale_infinity"}});
    EXPECT_EQ(partings("1,inf", "nv", "torchao-rceil"), Sets{{"scale_infinity"}});
    EXPECT_EQ(partings("1,nan", "ocp", "nv"), Sets{{"nan_in_block"}});
    EXPECT_EQ(partings("480,nan", "nv", "ocp"), Sets{{"nan_in_block"}});
    EXPECT_EQ(partings("480,nan", "ocp", "nv"), (Sets{{"scale_rounding", "nan_in_block"}}));
    EXPECT_EQ(partings("inf,nan", "ocp", "nv"), (Sets{{"scale_infinity", "nan_in_block"}}));
    EXPECT_EQ(partings("0x1p-120", "torchao-floor", "torchao-floor-legacy"), Sets{{"inverse"}});
    EXPECT_EQ(partings("0", "ocp", "deepgemm"), Sets{{"amax_min"}});
    EXPECT_EQ(partings("2.8,-1.2", "ocp", "nv"), Sets{});
    EXPECT_EQ(partings("2.8,-1.2", "ocp", "torchao-floor"), Sets{});
}

// 496 gets the next scale from either rule alone.
TEST(PartingFields, NameEverySmallestSet) {
    const auto target = target_of_values({"496", "mxfp8-e4m3", "ocp", "f32"});
    ASSERT_TRUE(target.ok());
    const Quantizer& ocp = *find_quantizer("ocp");
    Quantizer both = ocp;
    both.amax_rounding = AmaxRounding::nearest_away;
    both.scale_cast.rounding = ScaleRounding::toward_positive;
    EXPECT_EQ(parting_fields(target.value(), {ocp, both}),
              (Sets{{"amax_rounding"}, {"scale_rounding"}}));
}

TEST(Applies, ToTheFormatsAndTypesOfTheRow) {
    const auto applies_to = [](const char* dialect, const char* format, const char* input) {
        const auto target = target_of_values({"1", format, "ocp", input});
        EXPECT_TRUE(target.ok());
        return applies(target.value(), *find_quantizer(dialect));
    };
    EXPECT_TRUE(applies_to("nv", "mxfp8-e4m3", "f32"));
    EXPECT_FALSE(applies_to("thunderkittens", "mxfp8-e4m3", "f32"));
    EXPECT_TRUE(applies_to("thunderkittens", "mxfp8-e4m3", "bf16"));
    EXPECT_FALSE(applies_to("deepgemm-fp4", "mxfp8-e4m3", "f32"));
    EXPECT_FALSE(applies_to("fbgemm-nearest", "mxfp4-e2m1", "f32"));
    EXPECT_FALSE(applies_to("ml_dtypes", "mxfp8-e4m3", "f32"));
}

TEST(DisagreementIn, NamesTheFirstPlace) {
    const Answers exact{{lane_of_scale, Code{0x77}}, {0, Code{1}}, {1, Code{2}}};
    EXPECT_EQ(disagreement_in({exact, exact}), "");
    Answers fast = exact;
    fast[2].code = Code{3};
    EXPECT_EQ(disagreement_in({exact, fast}),
              "lane 1: the exact oracle says 0x02, the fast oracle 0x03");
    fast[0].code = Code{0x78};
    EXPECT_EQ(disagreement_in({exact, fast}),
              "the scale: the exact oracle says 0x77, the fast oracle 0x78");
}

TEST(Answers, OfEveryOperation) {
    const auto answers = [](const char* text) {
        const auto c = parse_case(text);
        EXPECT_TRUE(c.ok()) << c.error().message;
        Sources sources;
        const auto target = target_of_case(c.value(), 0, sources);
        EXPECT_TRUE(target.ok());
        const Quantizer rules = rules_in(target.value(), *c.value().dialect);
        EXPECT_EQ(exact_answers(target.value(), rules), fast_answers(target.value(), rules));
        return exact_answers(target.value(), rules);
    };
    EXPECT_EQ(answers("quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie").size(), 33u);
    EXPECT_EQ(answers("quantize format=mxfp8-e4m3 shape=2x5 data=edge.tie").size(), 6u);
    EXPECT_EQ(answers("convert format=e5m2 shape=1x32 data=edge.tie").size(), 32u);
    EXPECT_EQ(answers("encode_scale format=mxfp8-e5m2 shape=1x7 data=edge.amax").size(), 7u);
    EXPECT_EQ(answers("dequantize format=mxfp8-e5m2 shape=1x32 data=codes.all").size(), 32u);
}

TEST(RulesIn, ConvertKeepsItsOwnOverflow) {
    const auto c = parse_case("convert format=e4m3 overflow=overflow shape=1x1 data=edge.tie");
    ASSERT_TRUE(c.ok());
    ExplainTarget target;
    target.c = c.value();
    target.lanes = {Code{0x43f00000}};  // 480
    const Quantizer rules = rules_in(target, *find_quantizer("nv"));
    EXPECT_EQ(rules.name, "nv");
    EXPECT_EQ(exact_answers(target, rules)[0].code.bits, 0x7fu);
    target.c.rules->overflow = Overflow::saturate;
    EXPECT_EQ(exact_answers(target, rules_in(target, *find_quantizer("nv")))[0].code.bits, 0x7eu);
}

}  // namespace
}  // namespace mx::emulate
