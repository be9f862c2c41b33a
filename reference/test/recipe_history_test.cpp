// Delayed scaling in both oracles: what becomes of the history and of the scale.
#include <gtest/gtest.h>

#include "reference/exact/delayed_scaling.hpp"
#include "reference/fast/delayed_scaling.hpp"
#include "reference/spec/delayed_scaling.hpp"

namespace mx {
namespace {

using Codes = std::vector<std::uint32_t>;

constexpr std::uint32_t zero = 0, one = 0x3F800000, f2 = 0x40000000, f4 = 0x40800000,
                        f7 = 0x40E00000, f448 = 0x43E00000, inf = 0x7F800000, nan = 0x7FC00000,
                        largest = 0x7F7FFFFF;

struct Step {
    Codes history;
    std::uint32_t scale;
    bool operator==(const Step&) const = default;
};

Step next(const DelayedScaling& rules, const Step& before) {
    exact::ScaleHistory history;
    for (const std::uint32_t bits : before.history)
        history.amax.push_back(exact::f32_of_code(bits));
    history.scale = exact::f32_of_code(before.scale);
    const exact::ScaleHistory after = exact::next_history(rules, formats::e4m3, history);
    Step fast = before;
    fast.scale = fast::next_history(rules, formats::e4m3, fast.history.data(),
                                    static_cast<int>(fast.history.size()), Code{before.scale})
                     .bits;
    const auto code_of = [](const exact::Value& value) {
        return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
    };
    for (std::size_t i = 0; i < after.amax.size(); ++i) {
        const Code fast_code{fast.history[i]};
        if (formats::f32.is_nan(fast_code))
            EXPECT_TRUE(after.amax[i].is_nan());
        else
            EXPECT_EQ(code_of(after.amax[i]), fast_code);
    }
    EXPECT_EQ(code_of(after.scale), Code{fast.scale});
    return fast;
}

TEST(DelayedScaling, TheLargestOfTheHistoryDecides) {
    EXPECT_EQ(next({}, {{one, f7, f2}, one}), (Step{{zero, f2, one}, 0x42800000}));  // 448 / 7
    EXPECT_EQ(next({}, {{f7}, one}), (Step{{zero}, 0x42800000}));
    EXPECT_EQ(next({}, {{f2, zero, one, zero}, one}), (Step{{zero, one, zero, f2}, 0x43600000}));
}

TEST(DelayedScaling, TheNewestDecides) {
    EXPECT_EQ(next({.algorithm = AmaxAlgorithm::most_recent}, {{one, f7, f2}, f4}),
              (Step{{zero, f2, one}, f448}));
}

TEST(DelayedScaling, Margin) {
    EXPECT_EQ(next({.margin = 2}, {{one}, one}).scale, 0x42E00000u);   // 112
    EXPECT_EQ(next({.margin = -1}, {{one}, one}).scale, 0x44600000u);  // 896
}

// One kernel moves the history on for every tensor, the one for many tensors only for an amax.
TEST(DelayedScaling, ZeroAsTheNewestAmax) {
    EXPECT_EQ(next({.on_zero = ZeroAmaxHistory::rolls}, {{zero, f2, f7}, f4}),
              (Step{{zero, f7, zero}, 0x42800000}));
    EXPECT_EQ(next({.on_zero = ZeroAmaxHistory::stays}, {{zero, f2, f7}, f4}),
              (Step{{zero, f2, f7}, f4}));
    const DelayedScaling newest{.algorithm = AmaxAlgorithm::most_recent,
                                .on_zero = ZeroAmaxHistory::rolls};
    EXPECT_EQ(next(newest, {{zero, f2, f7}, f4}), (Step{{zero, f7, zero}, f4}));
}

// Without a finite amax above zero the scale stays; a NaN in the window is passed over.
TEST(DelayedScaling, InfinityAndNan) {
    EXPECT_EQ(next({}, {{inf, one}, f4}), (Step{{zero, inf}, f4}));
    EXPECT_EQ(next({}, {{one, inf}, f4}).scale, f4);
    EXPECT_EQ(next({}, {{nan, f7}, f4}).scale, 0x42800000u);
    const DelayedScaling newest{.algorithm = AmaxAlgorithm::most_recent};
    EXPECT_EQ(next(newest, {{nan, f7}, f4}).scale, f4);
    EXPECT_EQ(next(newest, {{0xBF800000, f7}, f4}).scale, f4);
}

TEST(DelayedScaling, ScaleBeyondBinary32) {
    EXPECT_EQ(next({}, {{1}, one}).scale, largest);
    EXPECT_EQ(next({}, {{zero}, inf}).scale, largest);
}

}  // namespace
}  // namespace mx
