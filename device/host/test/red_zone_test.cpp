// Every single changed byte is found, wherever the range begins and ends.
#include "device/host/red_zone.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mx {
namespace {

TEST(RedZone, FindsEachChangedByteOfEachRange) {
    alignas(8) std::array<std::byte, 40> memory{};
    for (std::size_t begin = 0; begin < memory.size(); ++begin) {
        for (std::size_t end = begin; end <= memory.size(); ++end) {
            memory.fill(std::byte{0});
            fill_zone(memory, {begin, end});
            EXPECT_EQ(changed_in_zone(memory, {begin, end}).count, 0u);
            for (std::size_t at = 0; at < memory.size(); ++at) {
                const bool inside = at >= begin && at < end;
                memory[at] ^= std::byte{1};
                const ChangedBytes changed = changed_in_zone(memory, {begin, end});
                EXPECT_EQ(changed.count, inside ? 1u : 0u);
                if (inside) {
                    EXPECT_EQ(changed.first, at);
                }
                memory[at] ^= std::byte{1};
            }
        }
    }
}

TEST(RedZone, FillsNothingBesideTheRange) {
    alignas(8) std::array<std::byte, 40> memory{};
    fill_zone(memory, {11, 29});
    for (std::size_t at = 0; at < memory.size(); ++at) {
        if (at < 11 || at >= 29) {
            EXPECT_EQ(memory[at], std::byte{0}) << at;
        }
    }
}

TEST(RedZone, CountsAndTellsTheLowest) {
    alignas(8) std::array<std::byte, 64> memory{};
    fill_zone(memory, {0, 64});
    for (const std::size_t at : {13u, 14u, 15u, 16u, 63u}) memory[at] ^= std::byte{0x80};
    const ChangedBytes changed = changed_in_zone(memory, {0, 64});
    EXPECT_EQ(changed.first, 13u);
    EXPECT_EQ(changed.count, 5u);
}

TEST(RedZone, NoConstantLooksUntouched) {
    alignas(8) std::array<std::byte, 64> memory{};
    for (int value = 0; value < 256; ++value) {
        memory.fill(static_cast<std::byte>(value));
        EXPECT_GE(changed_in_zone(memory, {0, 64}).count, 56u) << value;
    }
}

}  // namespace
}  // namespace mx
