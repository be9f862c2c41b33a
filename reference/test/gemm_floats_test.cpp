// The exact GEMM gives the same bits whatever a process has set of its floating point: the
// rounding, and whether numbers below the normal ones are 0.
#include <gtest/gtest.h>

#include <cfenv>
#include <random>
#include <vector>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "reference/fast/round.hpp"
#include "reference/gemm/exact_gemm.hpp"

namespace mx {
namespace {

constexpr std::size_t side = 32;
constexpr std::int64_t depth = 96;

struct Codes {
    std::vector<std::uint8_t> elements, scales;
    std::vector<ScaledRow> rows;

    explicit Codes(std::uint32_t seed) {
        std::mt19937 random(seed);
        // E4M3 with many a subnormal number, and no NaN.
        for (std::size_t i = 0; i < side * depth; ++i)
            elements.push_back(static_cast<std::uint8_t>((random() & 0x80) | random() % 24));
        for (std::size_t i = 0; i < side * depth / 32; ++i)
            scales.push_back(static_cast<std::uint8_t>(120 + random() % 16));
        for (std::size_t row = 0; row < side; ++row) {
            ScaledRow scaled{formats::e4m3, {elements.data() + row * depth, 1, 1}};
            scaled.scale = formats::e8m0;
            scaled.scales = {scales.data() + row * depth / 32, 1, 1};
            scaled.block = 32;
            rows.push_back(scaled);
        }
    }
};

// By each of the two ways, one behind the other.
std::vector<std::uint32_t> products(const gemm::Kernel& kernel) {
    const Codes a(1), b(2);
    std::vector<std::uint32_t> found(2 * side * side);
    gemm::for_each_value(
        kernel, {a.rows, b.rows, depth},
        [&](const gemm::Place& place, const fast::Unpacked& value) {
            found[place.row * side + place.column] =
                fast::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
        });
    gemm::for_each_sum(kernel, {a.rows, b.rows, depth},
                       [&](const gemm::Place& place, const gemm::ExactSum& sum) {
                           found[side * side + place.row * side + place.column] =
                               fast::round_total(formats::f32, Rounding::nearest_even,
                                                 Overflow::overflow, gemm::total_of(sum))
                                   .bits;
                       });
    return found;
}

void flush_small_numbers() {
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // both of what is read and of what is written
#endif
}

TEST(GemmFloats, WhatTheProcessHasSetChangesNoBit) {
    for (const gemm::Kernel& kernel : gemm::kernels()) {
        const Codes a(1), b(2);
        if (!gemm::takes(kernel, a.rows.front(), b.rows.front())) continue;
        const std::vector<std::uint32_t> expected = products(kernel);
        std::fenv_t before;
        std::fegetenv(&before);
        for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
            std::fesetround(rounding);
            flush_small_numbers();
            const std::vector<std::uint32_t> found = products(kernel);
            EXPECT_EQ(std::fegetround(), rounding) << kernel.name;
            std::fesetenv(&before);
            EXPECT_EQ(found, expected) << kernel.name << ", rounding " << rounding;
        }
    }
}

}  // namespace
}  // namespace mx
