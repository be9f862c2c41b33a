// Numbers in hexadecimal, as many digits as they need or as are asked for.
#include "reference/base/hex.hpp"

#include <gtest/gtest.h>

namespace mx {
namespace {

TEST(Hex, HasAsManyDigitsAsTheNumberNeeds) {
    EXPECT_EQ(hex(0), "0");
    EXPECT_EQ(hex(0xf), "f");
    EXPECT_EQ(hex(0x10), "10");
    EXPECT_EQ(hex(0xfedcba9876543210), "fedcba9876543210");
}

TEST(Hex, HasAsManyDigitsAsAreAskedFor) {
    EXPECT_EQ(hex(0x7f, 8), "0000007f");
    EXPECT_EQ(hex(0x3f800000, 2), "00");
    EXPECT_EQ(hex(0xfedcba9876543210, 16), "fedcba9876543210");
}

}  // namespace
}  // namespace mx
