// The fields scales= and packing=: printed where there are blocks, refused where no source says
// what they would mean.
#include <gtest/gtest.h>

#include "conformance/case/case.hpp"

namespace mx {
namespace {

std::string error_of(const std::string& text) {
    const auto c = parse_case(text + " shape=1x32 data=random.bits");
    return c.ok() ? "none" : c.error().message;
}

TEST(LayoutFields, StandInEveryCaseWithBlocks) {
    const std::string text =
        "quantize format=mxfp4-e2m1 dialect=ocp input=f32 axis=col block=32 layout=dense "
        "scales=128x4 packing=high_first shape=32x1 data=random.bits index=0 seed=0";
    const auto c = parse_case(text);
    ASSERT_TRUE(c.ok()) << c.error().message;
    EXPECT_EQ(c.value().scales, ScaleStorage::tiles_128x4);
    EXPECT_EQ(c.value().packing, find_packing("high_first"));
    EXPECT_EQ(print(c.value()), text);
    const Case plain = parse_case("quantize format=mxint8 shape=1x32 data=random.bits").value();
    EXPECT_NE(print(plain).find(" scales=linear packing=bytes "), std::string::npos);
    const Case convert = parse_case("convert format=e4m3 shape=1x32 data=random.bits").value();
    EXPECT_EQ(print(convert).find("scales="), std::string::npos);
    EXPECT_EQ(print(convert).find("packing="), std::string::npos);
}

TEST(LayoutFields, WhatDoesNotGoTogetherIsASentence) {
    const std::string fp8 = "quantize format=mxfp8-e4m3 ", fp4 = "quantize format=mxfp4-e2m1 ";
    EXPECT_EQ(error_of(fp8 + "scales=128x5"), "unknown scales '128x5'; did you mean '128x4'?");
    EXPECT_EQ(error_of(fp8 + "packing=low_frist"),
              "unknown packing 'low_frist'; did you mean 'low_first'?");
    EXPECT_EQ(error_of(fp8 + "packing=low_first"),
              "packing=low_first is for codes of 4 bits, and those of mxfp8-e4m3 have 8");
    EXPECT_EQ(error_of(fp4 + "packing=six"),
              "packing=six is for codes of 6 bits, and those of mxfp4-e2m1 have 4");
    EXPECT_EQ(error_of(fp4 + "axis=col packing=inline"),
              "packing=inline puts each scale behind its block of a row, so it has no axis=col "
              "with scales=linear");
    EXPECT_EQ(error_of(fp4 + "scales=8x4 packing=inline"),
              "packing=inline puts each scale behind its block of a row, so it has no axis=row "
              "with scales=8x4");
    EXPECT_EQ(error_of(fp4 + "axis=both packing=inline"),
              "packing=inline puts each scale behind its block of a row, so it has no axis=both "
              "with scales=linear");
    EXPECT_EQ(error_of(fp8 + "axis=both scales=te-padded"), "none");
    EXPECT_EQ(error_of(fp8 + "axis=tile scales=128x4"),
              "no source puts the scales of axis=tile in the order scales=128x4");
    EXPECT_EQ(error_of("convert format=e2m1 packing=low_first"),
              "convert has no blocks, so it has no scales=linear packing=low_first");
    EXPECT_EQ(error_of(fp4 + "axis=tile packing=low_first"), "none");
    EXPECT_EQ(error_of(fp8 + "packing=inline"), "none");
}

}  // namespace
}  // namespace mx
