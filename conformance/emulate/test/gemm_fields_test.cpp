// The sentences of accumulation models: two rows by heart, and every field shows.
#include <gtest/gtest.h>

#include <set>

#include "conformance/emulate/gemm_fields.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate {
namespace {

TEST(GemmFields, SayWhatARowSays) {
    EXPECT_EQ(gemm_model_text(*find_gemm_model("hopper-fp8-promoted")),
              "32 products a step, 13 fraction bits kept; e8m13 accumulator, rounded toward_zero; "
              "promoted to f32 every 128 along k; no block scales");
    EXPECT_EQ(gemm_model_text(*find_gemm_model("blackwell-fp4")),
              "4 groups of 16 products a step, each group summed exactly, 35 fraction bits kept; "
              "f32 accumulator, rounded toward_zero; no promotion; block scales multiply the "
              "groups");
    EXPECT_EQ(gemm_model_text(*find_gemm_model("fma-chain")),
              "1 product a step, nothing cut; f32 accumulator, rounded nearest_even; no "
              "promotion; no block scales");
}

TEST(GemmFields, EveryDecisionChangesTheSentence) {
    std::set<std::string> texts;
    const auto add = [&texts](const auto& change) {
        GemmModel model = *find_gemm_model("mma-sync-fp8");
        change(model);
        EXPECT_TRUE(texts.insert(gemm_model_text(model)).second) << gemm_model_text(model);
    };
    add([](GemmModel&) {});
    add([](GemmModel& m) { m.products = 8; });
    add([](GemmModel& m) { m.fraction_bits = 24; });
    add([](GemmModel& m) { m.accumulator = e8m13; });
    add([](GemmModel& m) { m.rounding = Rounding::nearest_even; });
    add([](GemmModel& m) { m.promotion = 0; });
    add([](GemmModel& m) { m.promotion = 64; });
    add([](GemmModel& m) { m.promoted = formats::f16; });
    add([](GemmModel& m) { m.exact_group = 4; });
    add([](GemmModel& m) { m.scaling = BlockScaling::product_exponent; });
    add([](GemmModel& m) { m.scaling = BlockScaling::group; });
    add([](GemmModel& m) { m.scaling = BlockScaling::promoted_a_first; });
    add([](GemmModel& m) { m.scaling = BlockScaling::promoted_product; });
    add([](GemmModel& m) { m.scaling = BlockScaling::promoted_in_turn; });
    add([](GemmModel& m) { m.scaling = BlockScaling::dequantised; });
    add([](GemmModel& m) { m.order = ProductOrder::along_k; });
    add([](GemmModel& m) { m.exponents = FactorExponents::own; });
    add([](GemmModel& m) { m.zero_products = ZeroProducts::counted; });
    add([](GemmModel& m) { m.exponent_floor = -133; });
    add([](GemmModel& m) { m.residue_tile = 32; });
    add([](GemmModel& m) { m.lanes = 16; });
    add([](GemmModel& m) { m.alpha = AlphaPlace::factor_a; });
    add([](GemmModel& m) { m.sum = StepSum::products_first; });
    add([](GemmModel& m) { m.sum = StepSum::even_and_odd; });
    add([](GemmModel& m) { m.sum = StepSum::pairs_flushed; });
    add([](GemmModel& m) { m.sum = StepSum::fused; });
    add([](GemmModel& m) { m.sum = StepSum::chain_flushed; });
    add([](GemmModel& m) { m.sum = StepSum::lanes_flushed; });
    add([](GemmModel& m) { m.sum = StepSum::products_alone; });
}

TEST(GemmFields, APredictionSaysThatNothingOfItHasRun) {
    EXPECT_EQ(standing_text(Standing::predicted), "predicted, nothing of it has run here");
    EXPECT_EQ(standing_text(Standing::simulated), "held to a simulator, no machine has answered");
    EXPECT_EQ(standing_text(Standing::verified_here), "verified here");
    EXPECT_EQ(standing_text(Standing::verified_by_others), "verified by others");
}

}  // namespace
}  // namespace mx::emulate
