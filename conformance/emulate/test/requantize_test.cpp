// A quantized tensor under other names: what is counted as changed, and what is refused.
#include <cmath>
#include <limits>

#include "conformance/emulate/test/tensors.hpp"

namespace mx::emulate::test {
namespace {

Requantized requantized(const data::TensorFile& file, const BlockNames& names) {
    const auto facts = read_facts(file, {});
    EXPECT_TRUE(facts.ok()) << error_of(facts);
    auto result = requantize_tensor(file, facts.value(), names, {.program_version = "9.9.9"});
    EXPECT_TRUE(result.ok()) << error_of(result);
    return std::move(result).value();
}

// One block of amax 448: scale 2^0 under ocp. Of it the values 448, 416 and 1.125 become 448, 416
// and 1.125 in e4m3; in e5m2 448 and 1.25 or 1 remain, and 416 goes to the even 384.
TEST(Requantize, CountsWhatDiffers) {
    const QuantizedTensor before =
        quantized(f32_tensor({1, 4}, {448, 416, 1.125f, 0}), names_of("mxfp8-e4m3"));
    const Requantized after = requantized(before.file, names_of("mxfp8-e5m2"));
    const Changes& changes = after.changes;
    EXPECT_TRUE(changes.has_codes);
    EXPECT_TRUE(changes.is_same_grid);
    EXPECT_EQ(changes.elements, 4u);
    EXPECT_EQ(changes.scales, 1u);
    EXPECT_EQ(changes.scales_changed, 1u);  // e5m2 reaches 2^15, e4m3 2^8
    EXPECT_EQ(changes.elements_changed, 3u);
    EXPECT_EQ(changes.values_changed, 2u);
    EXPECT_EQ(changes.signal, 448.0 * 448 + 416.0 * 416 + 1.125 * 1.125);
    EXPECT_EQ(changes.noise, 32.0 * 32 + 0.125 * 0.125);
    EXPECT_EQ(changes.not_finite, 0u);
    const auto facts = read_facts(after.tensor.file, {});
    ASSERT_TRUE(facts.ok());
    EXPECT_EQ(facts.value().names, names_of("mxfp8-e5m2"));
}

// A round-up scale over a floor scale: 480 saturated at 448 when it was quantized, and that stays.
TEST(Requantize, DoesNotRegainWhatWasLost) {
    const QuantizedTensor before = quantized(f32_tensor({1, 2}, {480, 1}), names_of("mxfp8-e4m3"));
    const Requantized after = requantized(before.file, names_of("mxfp8-e4m3", "nv"));
    EXPECT_EQ(after.changes.values_changed, 0u);
    EXPECT_EQ(after.changes.scales_changed, 0u);
}

TEST(Requantize, LayoutAloneChangesNoValue) {
    const data::HostTensor tensor = powers_of_two({3, 33, 35});
    BlockNames names = names_of("mxfp4-e2m1", "ocp", "col");
    const QuantizedTensor before = quantized(tensor, names);
    names.scales = "8x4";
    names.packing = "high_first";
    const Requantized after = requantized(before.file, names);
    EXPECT_EQ(after.changes.elements_changed, 0u);
    EXPECT_EQ(after.changes.scales_changed, 0u);
    EXPECT_EQ(after.changes.values_changed, 0u);
    EXPECT_EQ(after.tensor.file.tensors, quantized(tensor, names).file.tensors);
}

TEST(Requantize, OtherBlocksHaveNoScalesToCompare) {
    BlockNames names = names_of("mxfp8-e4m3", "ocp", "col");
    const QuantizedTensor before = quantized(powers_of_two({64, 64}), names_of("mxfp8-e4m3"));
    EXPECT_FALSE(requantized(before.file, names).changes.is_same_grid);
    names = names_of("mxfp8-e4m3");
    names.block = "16";
    const Requantized after = requantized(before.file, names);
    EXPECT_FALSE(after.changes.is_same_grid);
    EXPECT_EQ(after.changes.scales, 0u);
    EXPECT_EQ(after.changes.elements, 4096u);
}

TEST(Requantize, LeavesNaNOutOfTheRatio) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const QuantizedTensor before = quantized(f32_tensor({1, 2}, {1, nan}), names_of("mxfp8-e4m3"));
    const Requantized after = requantized(before.file, names_of("mxfp8-e4m3", "nv"));
    EXPECT_EQ(after.changes.not_finite, 2u);
    EXPECT_EQ(after.changes.values_changed, 0u);
    EXPECT_EQ(after.changes.signal, 0);
}

// 256 * 2^120 = 2^128 is no f32.
TEST(Requantize, RefusesWhatF32CannotHold) {
    QuantizedTensor before = quantized(f32_tensor({1, 2}, {1, 256}), names_of("mxfp8-e4m3"));
    before.file.tensors[1].bytes[0] = std::byte{127 + 120};
    const auto facts = read_facts(before.file, {});
    const auto refused = requantize_tensor(before.file, facts.value(), names_of("mxfp8-e5m2"),
                                           {.program_version = "0"});
    EXPECT_EQ(error_of(refused),
              "element 1 times its scale is beyond the largest f32, so the tensor cannot go "
              "through f32 exactly");
    before.file.tensors[1].bytes[0] = std::byte{127 + 119};
    EXPECT_TRUE(requantize_tensor(before.file, facts.value(), names_of("mxfp8-e5m2"),
                                  {.program_version = "0"})
                    .ok());
}

// To a recipe and back: values alone are compared, since its scales are of another kind.
TEST(Requantize, RecipesToo) {
    const data::HostTensor tensor = powers_of_two({32, 32});
    const QuantizedTensor before = quantized(tensor, names_of("mxfp4-e2m1"));
    const Requantized there = requantized(before.file, names_of("nvfp4", "te-nvfp4"));
    EXPECT_FALSE(there.changes.has_codes);
    EXPECT_EQ(there.changes.elements, 1024u);
    const auto facts = read_facts(there.tensor.file, {"nvfp4", "te-nvfp4", "", "16", "", ""});
    ASSERT_TRUE(facts.ok()) << error_of(facts);
    data::TensorFile other = there.tensor.file;
    other.tensors[0].shape = {16, 64};
    EXPECT_EQ(error_of(dequantize_tensor(other, facts.value(), "f32")),
              "its metadata need tensor 'elements' to be e2m1 of shape (32, 32), but it is e2m1 of "
              "shape (16, 64)");
    const Requantized back = requantized(there.tensor.file, names_of("mxfp4-e2m1"));
    EXPECT_EQ(back.changes.elements, 1024u);
}

}  // namespace
}  // namespace mx::emulate::test
