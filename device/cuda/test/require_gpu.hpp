// Whether a missing GPU is a reason to skip a test or to fail it. Used by the tests of this device.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace mx::cuda::test {

inline bool must_have_gpu() {
    const char* wish = std::getenv("MX_REQUIRE_GPU");
    return wish != nullptr && *wish != '\0';
}

}  // namespace mx::cuda::test

// Ends the test. ctest takes a program that says the second sentence for skipped.
#define MX_END_WITHOUT_GPU(reason)                                                 \
    do {                                                                           \
        if (mx::cuda::test::must_have_gpu())                                       \
            FAIL() << "MX_REQUIRE_GPU is set, and a GPU is missing: " << (reason); \
        GTEST_SKIP() << "skipped for want of a GPU: " << (reason);                 \
    } while (false)
