// The one assertion of the oracle, on in release too: an oracle that guesses is worse than one that
// stops. Used by all of reference/; errors a user can cause are met before they reach it.
#pragma once

#include <cstdio>
#include <cstdlib>

// Marks what a GPU may call too. Formats and dialects are values that most callers know when they
// compile; inlining always lets the compiler fold them, which makes a sweep ten times faster. A
// kernel that learns its model when it runs gains nothing by copies of whole steps: it defines
// MX_CALL_STEPS, and nvcc makes it in a fraction of the time. MX_FOLDED_INTO_STEPS is for what
// steps do with each summand.
#if defined(__CUDACC__)
#if defined(MX_CALL_STEPS)
#define MX_HOST_DEVICE __host__ __device__ __noinline__
#define MX_FOLDED_INTO_STEPS __host__ __device__ __noinline__
#else
#define MX_HOST_DEVICE __host__ __device__
#define MX_FOLDED_INTO_STEPS __host__ __device__ __forceinline__
#endif
#define MX_FOLDED __host__ __device__ __forceinline__
#else
#define MX_HOST_DEVICE
#define MX_FOLDED [[gnu::always_inline]]
#define MX_FOLDED_INTO_STEPS [[gnu::always_inline]]
#endif

#if defined(__FAST_MATH__)
#error "mxcheck compares bits: build it without -ffast-math"
#endif

namespace mx {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line,
                                          long long left, long long right) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s (values: %lld, %lld)\n", file, line,
                 condition, left, right);
    std::abort();
}

}  // namespace mx

// One condition each. The values of both sides are printed.
#if defined(__CUDA_ARCH__)
#define MX_ASSERT_COMPARE(left, comparison, right) ((void)0)
#else
#define MX_ASSERT_COMPARE(left, comparison, right)                                      \
    (((left)comparison(right))                                                          \
         ? (void)0                                                                      \
         : ::mx::assertion_failed(#left " " #comparison " " #right, __FILE__, __LINE__, \
                                  static_cast<long long>(left), static_cast<long long>(right)))
#endif
#define MX_ASSERT(condition) MX_ASSERT_COMPARE((condition) ? 1 : 0, ==, 1)
