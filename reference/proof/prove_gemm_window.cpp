// gemm/window_sum.hpp: every place of a window's leading bits, as those of the wide sum.
#include "reference/proof/gemm_problem.hpp"

#include "reference/gemm/window_sum.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {

// Two bits of a window's sum at every distance up to 64 and far apart, and what the digits borrow
// from each other: the window's leading bits against those of the wide sum.
Proof gemm_window_proof() {
    return {"gemm tiles leading bits", "two bits of a window in every place, digits of either sign",
            [](int threads) {
                constexpr std::uint32_t distances = 80, bits = 41 * 16, signs = 4;
                const auto window_of = [](std::uint32_t input) {
                    const auto high = static_cast<int>(input / signs / distances);
                    const auto place = static_cast<int>(input / signs % distances);
                    const int low =
                        place < 64 ? std::max(0, high - 1 - place) : (place - 64) * high / 16;
                    gemm::WindowSum window{-286, gemm::levels_max, {}};
                    const auto put = [&](int bit, bool negative) {
                        const std::int64_t one = std::int64_t{1} << bit % gemm::level_bits;
                        window.digits[bit / gemm::level_bits] += negative ? -one : one;
                    };
                    put(high, (input & 1) != 0);
                    put(low, (input & 2) != 0);
                    return window;
                };
                return compare_everywhere(
                    bits * distances * signs, threads,
                    [&](std::uint32_t input) {
                        fast::WideSum wide;
                        gemm::add_to(wide, window_of(input));
                        return both_codes(fast::leading_bits(wide));
                    },
                    [&](std::uint32_t input) {
                        return both_codes(gemm::leading_bits(window_of(input)));
                    });
            }};
}

}  // namespace mx::proof
