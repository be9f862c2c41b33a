// All outputs by several threads: each once, and no more of them once the watch says so.
#include "conformance/emulate/gemm_outputs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace mx::emulate {
namespace {

// Ones of bfloat16, many enough for several pieces.
TensorGemm problem_of(std::int64_t side) {
    constexpr std::int64_t depth = 8;
    data::HostTensor ones{"values", "bf16", {side, depth}, {}};
    for (std::int64_t i = 0; i < side * depth; ++i)
        for (const int byte : {0x80, 0x3F}) ones.bytes.push_back(std::byte(byte));
    data::TensorFile file;
    file.tensors.push_back(std::move(ones));
    const GemmFactor factor = gemm_factor("f.npy", std::move(file)).value();
    auto problem = tensor_gemm(factor, factor, {}, {});
    EXPECT_TRUE(problem) << problem.error().message;
    return std::move(problem).value();
}

TEST(GemmOutputs, EachIsDoneOnceByHoweverManyThreads) {
    const TensorGemm problem = problem_of(1500);
    ASSERT_LT(gemm::outputs_at_once(problem.view()), problem.outputs());
    for (const std::uint64_t jobs : {0u, 1u, 3u, 64u}) {
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(problem.outputs()));
        std::int64_t last = 0;
        const std::int64_t count = do_outputs(
            problem, jobs,
            [&](gemm::OutputRange range) {
                for (std::int64_t i = range.first; i < range.end; ++i)
                    ++done[static_cast<std::size_t>(i)];
            },
            [&](std::int64_t so_far) {
                EXPECT_GE(so_far, last);
                last = so_far;
                return true;
            });
        EXPECT_EQ(count, problem.outputs());
        for (const std::atomic<int>& times : done) ASSERT_EQ(times, 1);
    }
}

TEST(GemmOutputs, NoPieceIsBegunOnceTheWatchSaysSo) {
    const TensorGemm problem = problem_of(1500);
    const std::int64_t piece = gemm::outputs_at_once(problem.view());
    int pieces = 0;
    const std::int64_t count = do_outputs(
        problem, 1, [&](gemm::OutputRange) { ++pieces; }, [](std::int64_t) { return false; });
    EXPECT_EQ(pieces, 1);
    EXPECT_EQ(count, piece);
}

}  // namespace
}  // namespace mx::emulate
