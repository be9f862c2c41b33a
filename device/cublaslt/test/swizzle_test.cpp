// Whether cuBLASLt reads a scale of layout "128x4" where this project says it lies. Needs a GPU of
// compute capability 10.0 or later: has not run yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/cublaslt/test/gemm_data.hpp"
#include "device/cublaslt/test/plugin.hpp"
#include "device/cublaslt/test/swizzle.hpp"

namespace mx::cublaslt::test {
namespace {

class CublasLtSwizzleOnGpu : public OnGpu {};

// Ones times ones, every scale 1 but one that is 2: the row or column of that scale is K + 32, all
// else K. The scales of every third row get their turn.
TEST_F(CublasLtSwizzleOnGpu, OneScaleChangesItsOwnBlockOnly) {
    if (capability() < 100) GTEST_SKIP() << "block scales need compute capability 10.0 or later";
    const Asked asked{.m = 160, .n = 160, .k = 160, .scaling_a = "1x32", .scaling_b = "1x32"};
    Scene scene(asked);
    scene.place_on_host();
    for (const std::size_t index : {0u, 2u})
        std::fill(scene.inputs[index].begin(), scene.inputs[index].end(),
                  static_cast<std::uint8_t>(encode("e4m3", 1)));
    for (const std::size_t index : {1u, 3u})
        std::fill(scene.inputs[index].begin(), scene.inputs[index].end(),
                  static_cast<std::uint8_t>(encode("e8m0", 1)));
    for (const std::size_t index : {1u, 3u})
        for (std::int64_t outer = 0; outer < 160; outer += 3)
            for (std::int64_t inner = 0; inner < 5; ++inner) {
                std::uint8_t& scale =
                    scene.inputs[index][static_cast<std::size_t>(swizzled({outer, inner}, 5))];
                scale = static_cast<std::uint8_t>(encode("e8m0", 2));
                const Answer answer = run(scene.call);
                ASSERT_EQ(answer.status, MX_OK) << answer.sentence;
                const Values d = values_of(scene.call.outputs[0], scene.outputs[0]);
                for (std::int64_t r = 0; r < 160; ++r)
                    for (std::int64_t c = 0; c < 160; ++c)
                        ASSERT_EQ(d.at(r, c), (index == 1 ? r : c) == outer ? 192 : 160)
                            << "scale (" << outer << ", " << inner << ") at D(" << r << ", " << c
                            << ")";
                scale = static_cast<std::uint8_t>(encode("e8m0", 1));
            }
}

// D in MXFP8. A picks one element of each row of B, so that D is that element times the scales of
// its row and column, which give every block of D another scale.
TEST_F(CublasLtSwizzleOnGpu, ScalesOfAnOutputLieWhereTheyShould) {
    if (capability() < 100) GTEST_SKIP() << "block scales need compute capability 10.0 or later";
    constexpr std::int64_t size = 160, k = 32;
    Scene scene({.m = size,
                 .n = size,
                 .k = k,
                 .type_d = "e4m3",
                 .scaling_a = "1x32",
                 .scaling_b = "1x32",
                 .scaling_out = "1x32"});
    scene.place_on_host();
    const auto factor = [](std::int64_t exponent) {
        return std::ldexp(1.0, static_cast<int>(exponent));
    };
    std::fill(scene.inputs[0].begin(), scene.inputs[0].end(), std::uint8_t{0});
    for (std::int64_t i = 0; i < size; ++i) {
        const auto place = static_cast<std::size_t>(swizzled({i, 0}, 1));
        scene.inputs[0][static_cast<std::size_t>(i * k + i % k)] =
            static_cast<std::uint8_t>(encode("e4m3", 1));
        scene.inputs[1][place] = static_cast<std::uint8_t>(encode("e8m0", factor(i % 16)));
        scene.inputs[3][place] = static_cast<std::uint8_t>(encode("e8m0", factor(i / 32)));
    }
    const Answer answer = run(scene.call);
    ASSERT_EQ(answer.status, MX_OK) << answer.sentence;
    const Values b = values_of(scene.call.inputs[2], scene.inputs[2]);
    const Values codes = values_of(scene.call.outputs[0], scene.outputs[0]);
    const Values scales = values_of(scene.call.outputs[1], scene.outputs[1]);
    for (std::int64_t r = 0; r < size; ++r)
        for (std::int64_t c = 0; c < size; ++c)
            ASSERT_EQ(codes.at(r, c) * scales.at(r, c / 32),
                      b.at(c, r % k) * factor(r % 16 + c / 32))
                << "D(" << r << ", " << c << ")";
}

}  // namespace
}  // namespace mx::cublaslt::test
