// Recipes in both oracles: numbers typed by hand from what each library does, worked out with
// fractions on paper.
#include <bit>

#include "reference/spec/hadamard.hpp"
#include "reference/test/recipe_both.hpp"

namespace mx {
namespace {

using namespace recipe_test;

constexpr std::uint32_t zero = 0, minus_zero = 0x80000000, one = 0x3F800000, half = 0x3F000000;
constexpr std::uint32_t inf = 0x7F800000, nan = 0x7FC00000, largest = 0x7F7FFFFF;
constexpr std::uint32_t f2 = 0x40000000, f3 = 0x40400000, f4 = 0x40800000, f5 = 0x40A00000,
                        f6 = 0x40C00000, f1_5 = 0x3FC00000, f1_25 = 0x3FA00000, f3_5 = 0x40600000,
                        f2_5 = 0x40200000, f1_75 = 0x3FE00000, f0_75 = 0x3F400000,
                        f0_25 = 0x3E800000, third = 0x3EAAAAAB;

Answered nvfp4(std::string_view recipe, std::uint32_t tensor_amax, const Codes& lanes) {
    return answer({recipe, "nvfp4", formats::f32, lanes, tensor_amax});
}

std::uint32_t tensor_scale(std::string_view recipe, std::uint32_t amax) {
    return nvfp4(recipe, amax, {zero}).tensor_scale;
}

// S = 448 * 6 / amax, at most the largest binary32; 1 where the amax is 0, or so large that S is 0.
TEST(TeNvfp4, TensorScale) {
    EXPECT_EQ(tensor_scale("te-nvfp4", one), 0x45280000u);  // 2688
    EXPECT_EQ(tensor_scale("te-nvfp4", 0x45280000), one);   // amax 2688
    EXPECT_EQ(tensor_scale("te-nvfp4", f3), 0x44600000u);   // 896
    EXPECT_EQ(tensor_scale("te-nvfp4", zero), one);
    EXPECT_EQ(tensor_scale("te-nvfp4", inf), one);
    EXPECT_EQ(tensor_scale("te-nvfp4", 1), largest);           // 2^-149
    EXPECT_EQ(tensor_scale("te-nvfp4", 0x05280000), largest);  // 2688 * 2^-128: S is 2^128
    EXPECT_NE(tensor_scale("te-nvfp4", 0x05280001), largest);
    EXPECT_EQ(tensor_scale("te-nvfp4-4over6-mae", f6), 0x43800000u);  // 256 * 6 / 6
    EXPECT_EQ(tensor_scale("te-nvfp4-4over6-448", f6), 0x43E00000u);
}

TEST(TeNvfp4, BlockScaleFactorAndElements) {
    EXPECT_EQ(nvfp4("te-nvfp4", one, {one}), (Answered{0x45280000, 0x7E, f6, {7}}));
    EXPECT_EQ(nvfp4("te-nvfp4", f3, {one, half}), (Answered{0x44600000, 0x71, 0x40C71C71, {7, 5}}));
    // Ties go to the even code.
    EXPECT_EQ(nvfp4("te-nvfp4", f6, {f6, f5, f3_5, f2_5, f1_75, f0_75, f0_25}),
              (Answered{0x43E00000, 0x7E, one, {7, 6, 6, 4, 4, 2, 0}}));
    EXPECT_EQ(nvfp4("te-nvfp4", f6, {0xC0C00000, minus_zero, 0xBE800000}).elements,
              (Codes{15, 8, 8}));
}

// A zero block has the scale 0x00 here and 0x08 in torchao.
TEST(TeNvfp4, ZeroBlock) {
    EXPECT_EQ(nvfp4("te-nvfp4", one, {zero, minus_zero}),
              (Answered{0x45280000, 0x00, largest, {0, 8}}));
    EXPECT_EQ(nvfp4("te-nvfp4", zero, {zero}), (Answered{one, 0x00, largest, {0}}));
    EXPECT_EQ(nvfp4("torchao-nvfp4", one, {zero}).scale, 0x08u);
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {zero, minus_zero}),
              (Answered{one, 0x08, 0x42800000, {0, 8}}));
}

// A block so small beside its tensor that its scale is 0: the factor is the largest binary32 and
// every lane that is not zero saturates. The way back gives zeros.
TEST(TeNvfp4, ScaleThatUnderflowsSaturatesTheLanes) {
    const std::uint32_t millionth = 0x358637BD;
    EXPECT_EQ(nvfp4("te-nvfp4", one, {millionth, zero, millionth | minus_zero}),
              (Answered{0x45280000, 0x00, largest, {7, 0, 15}}));
}

TEST(TeNvfp4, NanCountsInItsOwnLaneAndInfinityInTheScale) {
    EXPECT_EQ(nvfp4("te-nvfp4", f6, {f6, nan, nan | minus_zero, f3}),
              (Answered{0x43E00000, 0x7E, one, {7, 7, 7, 5}}));
    // S is 1, the scale 448, its factor fl32(1 / 448).
    EXPECT_EQ(nvfp4("te-nvfp4", inf, {one, inf, inf | minus_zero}),
              (Answered{one, 0x7E, 0x3B124925, {0, 7, 15}}));
}

// The factor in bfloat16, rounded to nearest: 87/512 meets 1.5 by one and 2 by the other.
TEST(TeNvfp4, FastMath) {
    const Codes lanes{0x3F1A, 0x3E2E};  // 77/128, 87/512
    const Asked exact{"te-nvfp4", "nvfp4", formats::bf16, lanes, 0x3FAE0000};
    Asked fast = exact;
    fast.recipe = "te-nvfp4-fast";
    EXPECT_EQ(answer(exact), (Answered{0x44F72C23, 0x74, 0x4124C817, {7, 3}}));
    EXPECT_EQ(answer(fast), (Answered{0x44F72C23, 0x74, 0x41250000, {7, 4}}));
    // fma(-0, factor, +0) is +0; what underflows to -0 in binary32 keeps its sign.
    fast.lanes = {0x8000, 0x0000};
    EXPECT_EQ(answer(fast).elements, (Codes{0, 0}));
    fast.tensor_amax = largest;
    fast.lanes = {0x8001, 0x7F7F};
    EXPECT_EQ(answer(fast).elements, (Codes{8, 7}));
    // The scale is zero: the factor is the largest bfloat16.
    fast.tensor_amax = one;
    fast.lanes = {0x3586};
    EXPECT_EQ(answer(fast), (Answered{0x45280000, 0x00, 0x7F7F0000, {7}}));
}

// 1.25 lies half way from 1 to 1.5: 128 of the 256 values of eight bits carry.
TEST(TeNvfp4, StochasticRounding) {
    Asked asked{"te-nvfp4-sr", "nvfp4", formats::f32, {}, f6};
    asked.lanes = {f6, f1_25, f1_25, f1_25, f1_25, f5, f5};
    for (const std::uint32_t bits : {255u, 0u, 127u, 128u, 255u, 127u, 128u})
        asked.random.push_back({bits, 8});
    EXPECT_EQ(answer(asked).elements, (Codes{7, 2, 2, 3, 3, 6, 7}));
}

Codes rotated(const Codes& bf16_lanes) {
    const Quantizer& recipe = *find_quantizer("te-nvfp4-rht");
    std::vector<exact::Value> lanes;
    std::vector<fast::Unpacked> unpacked;
    for (const std::uint32_t bits : bf16_lanes) {
        lanes.push_back(exact::decode(formats::bf16, Code{bits}));
        unpacked.push_back(fast::unpack(formats::bf16, Code{bits}));
    }
    Codes codes, fast_codes;
    for (const exact::Value& value : exact::transformed(recipe, lanes))
        codes.push_back(
            exact::round(formats::bf16, Rounding::nearest_even, Overflow::overflow, value).bits);
    for (int to = 0; to < hadamard_size; ++to)
        fast_codes.push_back(fast::round(formats::bf16, Rounding::nearest_even, Overflow::overflow,
                                         fast::rotated_lane(unpacked.data(), to))
                                 .bits);
    EXPECT_EQ(codes, fast_codes);
    return codes;
}

TEST(TeNvfp4, HadamardTransform) {
    constexpr std::uint32_t quarter = 0x3E80, minus_quarter = 0xBE80;
    Codes unit(16, 0);
    unit[0] = 0x3F80;
    EXPECT_EQ(rotated(unit), Codes(16, quarter));
    // Lane 3 has a negative sign, and row 3 of the matrix is + - - + over and over.
    unit = Codes(16, 0);
    unit[3] = 0x3F80;
    Codes expected(16, quarter);
    for (std::size_t i = 0; i < 16; i += 4) expected[i] = expected[i + 3] = minus_quarter;
    EXPECT_EQ(rotated(unit), expected);
    // Six signs are positive and ten negative: sixteen ones give -4/4 in lane 0.
    EXPECT_EQ(rotated(Codes(16, 0x3F80))[0], 0xBF80u);
    // 2^127 and 2^-133 in one sum: nothing is lost before the one rounding, which drops the small.
    unit = Codes(16, 0);
    unit[0] = 0x7F00;
    unit[1] = 0x0001;
    EXPECT_EQ(rotated(unit)[0], 0x7E00u);
    // ... and 2^127 - 2^127 + 2^-131 leaves 2^-133.
    unit[0] = 0x7F00, unit[3] = 0x7F00, unit[1] = 0x0004;
    EXPECT_EQ(rotated(unit)[0], 0x0001u);
    // Half way between two bfloat16 goes to the even one; what lies far below breaks the tie.
    unit = Codes(16, 0);
    unit[0] = 0x4000, unit[1] = 0x3C00;  // 2 + 2^-7, four times the distance of 2^-9 above 1/2
    EXPECT_EQ(rotated(unit)[0], 0x3F00u);
    unit[2] = 0x0001;
    EXPECT_EQ(rotated(unit)[0], 0x3F01u);
    unit[2] = 0x7F80;
    EXPECT_EQ(rotated(unit)[0], 0x7F80u);
    unit[3] = 0x7F80;
    EXPECT_EQ(rotated(unit)[0], formats::bf16.code_nan());
}

TEST(TeNvfp4, HadamardBlock) {
    Codes lanes(16, 0);
    lanes[0] = 0x3F80;
    EXPECT_EQ(answer({"te-nvfp4-rht", "nvfp4", formats::bf16, lanes, f0_25}).elements,
              Codes(16, 7));
}

// Whether the amax maps to 6 or to 4; a tie goes to 6.
TEST(TeNvfp4, FourOverSix) {
    const auto chosen = [](std::string_view recipe, std::uint32_t tensor_amax, const Codes& lanes) {
        const Answered answered = nvfp4(recipe, tensor_amax, lanes);
        Codes codes{answered.scale};
        codes.insert(codes.end(), answered.elements.begin(), answered.elements.end());
        return codes;
    };
    EXPECT_EQ(chosen("te-nvfp4-4over6-mae", f6, {f6, f4}), (Codes{0x78, 7, 6}));
    EXPECT_EQ(chosen("te-nvfp4-4over6-mae", f6, {f5, 0x40700000}), (Codes{0x7A, 6, 5}));
    EXPECT_EQ(chosen("te-nvfp4-4over6-mae", f6, {f4, f3, f2}), (Codes{0x78, 6, 5, 4}));
    // Both err by 1/4.
    EXPECT_EQ(chosen("te-nvfp4-4over6-mae", f6, {f6, f1_5, f1_25}), (Codes{0x78, 7, 3, 2}));
    // The sum of errors prefers one candidate, the sum of their squares the other.
    const Codes lanes{0x40C40000, 0x4068C000, 0x409C3000, 0x3F86C000};
    EXPECT_EQ(chosen("te-nvfp4-4over6-mae", 0x41000000, lanes), (Codes{0x74, 7, 6, 6, 2}));
    EXPECT_EQ(chosen("te-nvfp4-4over6-mse", 0x41000000, lanes), (Codes{0x79, 6, 4, 5, 1}));
    EXPECT_EQ(chosen("te-nvfp4-4over6-mae", one, {zero}), (Codes{0x00, 0}));
}

TEST(TorchaoNvfp4, BlockScalesAlone) {
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {one, half}),
              (Answered{one, 0x23, 0x40BA2E8C, {7, 5}}));
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {f5, f4, f3}),
              (Answered{one, 0x35, 0x3F9D89D9, {7, 6, 6}}));
    // Clamped to [2^-6, 448].
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {0x3C23D70A}).scale, 0x08u);
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {0x461C4000}),
              (Answered{one, 0x7E, 0x3B124925, {7}}));
}

// S is fl32(amax / 6), the scale e4m3(S) and the factor fl32(1 / scale).
TEST(CublasltNvfp4, BlocksOfD) {
    const auto blocks = [](const Codes& lanes) { return nvfp4("cublaslt-nvfp4", one, lanes); };
    EXPECT_EQ(blocks({f6, f5, f3_5, f2_5, f1_75, f0_75, f0_25}),
              (Answered{one, 0x38, one, {7, 6, 6, 4, 4, 2, 0}}));
    // 5 / 6 lies between 0.8125 and 0.875, nearer the first, whose inverse is 0x3F9D89D9.
    EXPECT_EQ(blocks({f5, 0xBF800000, half}), (Answered{one, 0x35, 0x3F9D89D9, {7, 10, 1}}));
    // 1 / 6 between 0.15625 and 0.171875; 1 becomes 5.8 of them, and 0.25 becomes 1.45.
    EXPECT_EQ(blocks({one, f0_25}), (Answered{one, 0x23, 0x40BA2E8C, {7, 3}}));
    // The scale has no least but its own smallest, 2^-9, which 6 * 2^-10 only ties with: it is 0.
    EXPECT_EQ(blocks({0x3C400000}).scale, 1u);  // 6 * 2^-9
    EXPECT_EQ(blocks({0x3BC00000}), (Answered{one, 0x00, inf, {7}}));
    EXPECT_EQ(blocks({0x3BC00001}).scale, 1u);
    EXPECT_EQ(blocks({0x45280000}).scale, 0x7Eu);  // 2688
    EXPECT_EQ(blocks({0x47000000, f6}), (Answered{one, 0x7E, 0x3B124925, {7, 0}}));
    // Taken at its word: 0 times 1 / 0 is NaN.
    EXPECT_EQ(blocks({zero, minus_zero}), (Answered{one, 0x00, inf, {7, 7}}));
}

TEST(TorchaoNvfp4, TensorScale) {
    EXPECT_EQ(nvfp4("torchao-nvfp4", f6, {f6, f5}),
              (Answered{0x3B124925, 0x7E, 0x3F7FFFFF, {7, 6}}));
    // Division and multiplication by the reciprocal part by one E4M3 code.
    EXPECT_EQ(nvfp4("torchao-nvfp4", 0x412F22A9, {0x3FEDAF0A}),
              (Answered{0x3B856FBE, 0x69, 0x405A48D2, {7}}));
    EXPECT_EQ(nvfp4("torchao-nvfp4-gpu", 0x412F22A9, {0x3FEDAF0A}),
              (Answered{0x3B856FBE, 0x6A, 0x404474BD, {7}}));
}

// A NaN spoils its block. 1.5, the code of the quiet NaN read as a number, is what all lanes get.
TEST(TorchaoNvfp4, NanSpoilsTheBlock) {
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {one, nan}).scale, 0x7Fu);
    EXPECT_EQ(nvfp4("torchao-nvfp4-single", one, {one, nan}).elements, (Codes{3, 3}));
    // A tensor of zeros: 0 / 0.
    EXPECT_EQ(nvfp4("torchao-nvfp4", zero, {zero}).scale, 0x7Fu);
}

Answered block128(std::string_view recipe, const Codes& lanes, const ElementFormat& input) {
    return answer({recipe, "fp8-e4m3-1x128", input, lanes, one});
}
Answered block128(std::string_view recipe, const Codes& lanes) {
    return block128(recipe, lanes, formats::f32);
}

TEST(FloatScales, TransformerEngine) {
    EXPECT_EQ(block128("te-fp8-block", {one, half, third}),
              (Answered{one, 0x3B124925, 0x43E00000, {0x7E, 0x76, 0x71}}));
    EXPECT_EQ(block128("te-fp8-block", {f3, one, f2}),
              (Answered{one, 0x3BDB6DB7, 0x43155555, {0x7E, 0x71, 0x79}}));
    EXPECT_EQ(block128("te-fp8-block-pow2", {f3, one, f2}),
              (Answered{one, 0x3C000000, 0x43000000, {0x7C, 0x70, 0x78}}));
    EXPECT_EQ(block128("te-fp8-block-pow2", {one, half}),
              (Answered{one, 0x3B800000, 0x43800000, {0x78, 0x70}}));
}

// Zero, Inf and NaN as the amax give the scale 1.
TEST(FloatScales, TransformerEngineUselessAmax) {
    for (const std::string_view recipe : {"te-fp8-block", "te-fp8-block-pow2"}) {
        EXPECT_EQ(block128(recipe, {zero, minus_zero}), (Answered{one, one, one, {0, 0x80}}));
        EXPECT_EQ(block128(recipe, {inf, one}), (Answered{one, one, one, {0x7E, 0x38}}));
        EXPECT_EQ(block128(recipe, {nan, nan}), (Answered{one, one, one, {0x7F, 0x7F}}));
    }
    EXPECT_EQ(block128("te-fp8-block", {one, nan}).scale, 0x3B124925u);
}

// 448 / amax beyond binary32 is the largest value of the input's type for a block, and of binary32
// for a tensor. The stored inverse is subnormal.
TEST(FloatScales, TransformerEngineTinyAmax) {
    EXPECT_EQ(block128("te-fp8-block", {1}), (Answered{one, 0x00200000, largest, {0x00}}));
    EXPECT_EQ(block128("te-fp8-block", {1}, formats::bf16).factor, 0x7F7F0000u);
    EXPECT_EQ(block128("te-fp8-block-pow2", {1}, formats::bf16),
              (Answered{one, 0x00400000, 0x7F000000, {0x08}}));
    EXPECT_EQ(answer({"te-fp8-current", "fp8-e4m3-tensor", formats::bf16, {1}, one}).factor,
              largest);
}

// Of any ratio, also where a row with one decision changed gives one that no row has: by the
// processor's own division.
TEST(FloatScales, APowerOfTwoBelowIsTheRatioWithItsMantissaCleared) {
    Quantizer rules = *find_quantizer("te-fp8-block-pow2");
    rules.useless_amax = UselessAmax::as_computed;
    rules.encode_overflow = EncodeOverflow::infinity;
    const BlockFormat& format = *find_block_format("fp8-e4m3-1x128");
    for (const std::uint32_t amax : {zero, 1u, third, one, f3, largest, inf, nan}) {
        const float ratio = 448.0f / std::bit_cast<float>(amax);
        const std::uint32_t scale = std::bit_cast<std::uint32_t>(ratio) & 0x7F800000;
        const exact::BlockScale by_exact =
            exact::block_scale({rules, format, formats::f32, {}}, exact::f32_of_code(amax));
        EXPECT_EQ(f32_code(by_exact.factor), scale) << amax;
        const fast::BlockScale by_fast = fast::block_scale({rules, format, formats::f32, {}},
                                                           fast::unpack(formats::f32, Code{amax}));
        EXPECT_EQ(fast::f32_code(by_fast.factor), scale) << amax;
        EXPECT_EQ(by_fast.stored.bits, by_exact.stored.bits) << amax;
    }
    EXPECT_EQ(fast::f32_code(fast::power_of_two_below({fast::Kind::finite, false, -149, 1})), 0u);
}

TEST(FloatScales, CurrentScalingInE5m2) {
    const Answered answered =
        answer({"te-fp8-current", "fp8-e5m2-tensor", formats::f32, {one, inf}, one});
    EXPECT_EQ(answered, (Answered{one, one, one, {0x3C, 0x7B}}));
    EXPECT_EQ(answer({"te-fp8-current", "fp8-e5m2-tensor", formats::f32, {one}, one}),
              (Answered{one, 0x37924925, 0x47600000, {0x7B}}));
}

TEST(FloatScales, TorchaoBlocks) {
    EXPECT_EQ(block128("torchao-fp8-block", {zero}).factor, 0x57CBBA10u);  // 448 / 1e-12
    EXPECT_EQ(block128("torchao-fp8-block", {one, half}),
              (Answered{one, 0x3B124925, 0x43E00000, {0x7E, 0x76}}));
    // 448 / Inf is 0, and 0 * Inf is NaN.
    EXPECT_EQ(block128("torchao-fp8-block", {inf, one}), (Answered{one, inf, zero, {0x7F, 0}}));
    EXPECT_EQ(block128("torchao-fp8-block", {nan, one}).elements, (Codes{0x7F, 0x7F}));
}

TEST(FloatScales, DeepGemm) {
    EXPECT_EQ(block128("deepgemm-fp8", {one, third}),
              (Answered{one, 0x3B124925, 0x43DFFFFF, {0x7E, 0x71}}));
    EXPECT_EQ(block128("deepgemm-fp8-pow2", {one}),
              (Answered{one, 0x3B800000, 0x43800000, {0x78}}));
    // An amax of at least 1e-4.
    EXPECT_EQ(block128("deepgemm-fp8", {zero}), (Answered{one, 0x346FACAD, 0x4A88B800, {0}}));
    EXPECT_EQ(block128("deepgemm-fp8-pow2", {zero}), (Answered{one, 0x34800000, 0x4A800000, {0}}));
    EXPECT_EQ(block128("deepgemm-fp8", {0x3F9F1186}).scale, 0x3B35CAE2u);
    EXPECT_EQ(block128("deepgemm-fp8-gpu", {0x3F9F1186}).scale, 0x3B35CAE3u);
    // Inf and NaN give 2^127.
    EXPECT_EQ(block128("deepgemm-fp8-pow2", {nan, one}).scale, 0x7F000000u);
    EXPECT_EQ(block128("deepgemm-fp8-pow2", {inf, one}).elements[0], 0x7Eu);  // torch 2.15.0, run
    EXPECT_EQ(block128("deepgemm-fp8-pow2-legacy", {inf, one}).elements[0], 0x7Fu);
}

// AMD's ALTO@74e251d, run in Triton's interpreter: 1, 2, -0, -100 and, in the tensor with a NaN,
// that.
TEST(Ue5m3Scales, OfAltosKernels) {
    const Codes lanes{one, 0x40000000, 0x80000000, 0xC2C80000};
    EXPECT_EQ(answer({"alto-amdfp4-block", "fp4-ue5m3-1x16", formats::f32, lanes, one}),
              (Answered{one, 0x98, 0x41800000, {0, 0, 8, 15}}));
    EXPECT_EQ(answer({"alto-nvfp4-block", "nvfp4", formats::f32, lanes, one}),
              (Answered{one, 0x58, 0x41800000, {0, 0, 8, 15}}));
    EXPECT_EQ(answer({"alto-amdfp4", "fp4-ue5m3-1x16", formats::f32, lanes, 0x42C80000}),
              (Answered{0x39186186, 0xFE, 0x41855555, {0, 0, 8, 15}}));
    // The amax of the tensor is NaN, and its number 1e-30.
    const Answered poisoned = answer({"alto-amdfp4",
                                      "fp4-ue5m3-1x16",
                                      formats::f32,
                                      {one, 0x40000000, 0x80000000, nan, 0xC2C80000},
                                      nan});
    EXPECT_EQ(poisoned.tensor_scale, 0x0DA24260u);
    EXPECT_EQ(poisoned.scale, 0xFEu);
    EXPECT_EQ(poisoned.elements, (Codes{7, 7, 8, 3, 15}));
}

// amax / FP8max as a real number: the amax always becomes the largest code, whatever its mantissa.
TEST(FloatScales, RealValued) {
    EXPECT_EQ(answer({"nexus", "fp8-e4m3-1x32", formats::f32, {one, third}, one}),
              (Answered{one, 0x3B124925, 0x3B124925, {0x7E, 0x71}}));
    // 2.8 / 448 = 1/160; -1.2 * 160 = -192. The E8M0 dialects give 120 or 119 as the scale.
    EXPECT_EQ(answer({"nexus", "fp8-e4m3-1x32", formats::f32, {0x40333333, 0xBF99999A}, one}),
              (Answered{one, 0x3BCCCCCD, 0x3BCCCCCD, {0x7E, 0xF4}}));
    EXPECT_EQ(answer({"nexus", "fp8-e4m3-1x32", formats::f32, {zero}, one}).elements,
              (Codes{0x7F}));
}

struct BackCase {
    std::string_view recipe, format;
    std::uint32_t kept, scale, element, expected;
};

TEST(WayBack, Values) {
    for (const BackCase& c : {
             // fl32(fl32(448 * 3) * fl32(1 / 2688)) = 1/2
             BackCase{"te-nvfp4", "nvfp4", f3, 0x7E, 7, f3},
             BackCase{"te-nvfp4", "nvfp4", f3, 0x7E, 3, f0_75},
             BackCase{"te-nvfp4", "nvfp4", 0x41200000, 0x6B, 7, 0x3FFB6DB7},
             BackCase{"te-nvfp4", "nvfp4", one, 0x00, 15, minus_zero},
             BackCase{"torchao-nvfp4", "nvfp4", 0x3B124925, 0x7E, 5, f3},
             BackCase{"torchao-nvfp4-single", "nvfp4", one, 0x38, 0xE, 0xC0800000},
             BackCase{"te-fp8-block", "fp8-e4m3-1x128", one, 0x3B124925, 0x7E, one},
             BackCase{"te-fp8-block", "fp8-e4m3-1x128", one, 0x3B124925, 0x7F, 0x7FFFFFFF},
         }) {
        const Quantizer& recipe = *find_quantizer(c.recipe);
        const BlockFormat& format = *find_block_format(c.format);
        EXPECT_EQ(f32_code(exact::dequantize_f32(recipe, format, exact::f32_of_code(c.kept),
                                                 {Code{c.scale}, Code{c.element}})),
                  c.expected)
            << c.recipe << " exact";
        EXPECT_EQ(
            f32_code(fast::dequantize_f32(recipe, format, fast::unpack(formats::f32, Code{c.kept}),
                                          {Code{c.scale}, Code{c.element}})),
            c.expected)
            << c.recipe << " fast";
    }
}

// What a billion parameters need beside their elements, in bytes.
TEST(Storage, OfScales) {
    const auto scale_bytes = [](std::int64_t scale_bits, std::int64_t block) {
        return std::int64_t{1'000'000'000} * scale_bits / 8 / block;
    };
    const BlockFormat& real = *find_block_format("fp8-e4m3-1x32");
    EXPECT_EQ(scale_bytes(real.scale().code_bits(), real.block_columns), 125'000'000);
    EXPECT_EQ(scale_bytes(formats::f16.code_bits(), real.block_columns), 62'500'000);
    EXPECT_EQ(scale_bytes(formats::e8m0.code_bits(), 32), 31'250'000);
    // NVFP4: 8 bits of scale for 64 bits of elements, an eighth; 32 bits become 4.5.
    const BlockFormat& nvfp4 = *find_block_format("nvfp4");
    const int block_bits = nvfp4.element().code_bits() * nvfp4.block_columns;
    EXPECT_EQ(block_bits / nvfp4.scale().code_bits(), 8);
    EXPECT_EQ(block_bits + nvfp4.scale().code_bits(), 72);  // of 512: 7.11 times less
}

}  // namespace
}  // namespace mx
